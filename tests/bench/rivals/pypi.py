# SPDX-License-Identifier: BSD-2-Clause
"""Peers from PyPI, each in a virtual environment of its own in build/pypi."""

import os
import subprocess
import sys

from nets import TOP


class Package:
    """A package, what it needs beside it, and a command that shows that it works."""

    def __init__(self, folder, packages, size, probe):
        self.home = os.path.join(TOP, "build", "pypi", folder)
        self.packages = packages
        self.size = size
        self.probe = probe

    def path(self, *names):
        return os.path.join(self.home, *names)

    def works(self):
        argv = [self.path("bin", self.probe[0]), *self.probe[1:]]
        return os.path.exists(argv[0]) and subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False).returncode == 0

    def install(self):
        """Return: "", or what went wrong."""
        if self.works():
            return ""
        name = " ".join(self.packages)
        print(f"  installs {name} into {os.path.relpath(self.home, TOP)}: {self.size}",
              flush=True)
        for argv in ([sys.executable, "-m", "venv", self.home],
                     [self.path("bin", "python"), "-m", "pip", "install", "-q",
                      "--no-input", *self.packages]):
            try:
                done = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            except OSError as e:
                return str(e)
            if done.returncode:
                return f"{' '.join(argv)}: {done.stdout.strip()[-300:]}"
        return "" if self.works() else f"{name}: installed, but does not start"


TORCH = Package("torch", ["torch", "numpy"], "some gigabytes, minutes",
                ["python", "-c", "import numpy, torch.distributed"])
MPI = Package("impi", ["impi-rt"], "300 MB", ["mpiexec.hydra", "-V"])
