# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch for the benches, from PyPI, in build/torch."""

import os
import subprocess
import sys

from nets import TOP

HOME = os.path.join(TOP, "build", "torch")
PYTHON = os.path.join(HOME, "bin", "python")


def has_torch():
    return os.path.exists(PYTHON) and subprocess.run(
        [PYTHON, "-c", "import numpy, torch.distributed"], stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, check=False).returncode == 0


def install():
    """(Python that has PyTorch, ""), or (None, what went wrong)."""
    if has_torch():
        return PYTHON, ""
    print("  installs PyTorch into build/torch: some gigabytes, minutes", flush=True)
    for argv in ([sys.executable, "-m", "venv", HOME],
                 [PYTHON, "-m", "pip", "install", "-q", "--no-input", "torch", "numpy"]):
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except OSError as e:
            return None, str(e)
        if done.returncode:
            return None, f"{' '.join(argv)}: {done.stdout.strip()[-300:]}"
    return (PYTHON, "") if has_torch() else (None, "torch cannot be imported")
