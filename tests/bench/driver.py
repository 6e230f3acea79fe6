# SPDX-License-Identifier: BSD-2-Clause
"""Runs one driver of build/ and returns its figures."""

import json
import os
import tempfile

from nets import TOP, BenchError, call
from pairs import progress


def drive(name):
    with tempfile.TemporaryDirectory(prefix="trib-bench-") as folder:
        path = os.path.join(folder, "out.json")
        out = call(os.path.join(TOP, "build", name), "-o", path)
        progress()
        try:
            with open(path, encoding="utf-8") as f:
                return json.load(f)["figures"]
        except (OSError, ValueError, KeyError) as e:
            raise BenchError(f"{name} left no figures:\n{out}") from e
