# SPDX-License-Identifier: BSD-2-Clause
"""The networks of a bench: a star of scripts/fabric around a relay for Tributary, and
the same star around a bridge for its peer, whose ranks must reach each other."""

import json
import os
import subprocess
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FABRIC = os.path.join(TOP, "scripts", "fabric")
# Real-time priority for all ranks, ours and the peer's: other work on the
# machine then hardly counts.
PRIORITY = ["chrt", "-r", "1"] if os.environ.get("BENCH_RT") == "1" else []


class BenchError(Exception):
    """Something a bench needs did not work; the text says what."""


def call(*argv, timeout=120, env=None):
    """Run a command; its output, or BenchError with what it said."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout, text=True, check=False)
    except subprocess.TimeoutExpired as e:
        raise BenchError(f"{' '.join(argv)}: no end after {timeout} s") from e
    if done.returncode:
        raise BenchError(f"{' '.join(argv)}: exit {done.returncode}:\n"
                         f"{done.stdout}")
    return done.stdout


def measured(run, *argv, option="-J"):
    """Have `run` start a program that takes -J FILE, or another option; its parsed JSON."""
    with tempfile.TemporaryDirectory(prefix="trib-bench-") as folder:
        path = os.path.join(folder, "out.json")
        out = run(*argv, option, path)
        try:
            with open(path, encoding="utf-8") as f:
                return json.load(f)
        except (OSError, ValueError) as e:
            raise BenchError(f"{argv[0]} left no figures:\n{out}") from e


class Fabric:
    """An emulated cluster of scripts/fabric, taken down at the end."""

    count = 0
    kind = "star"
    limit = 120  # seconds of a run

    def __init__(self, *options):
        Fabric.count += 1
        self.options = options
        self.argv = [FABRIC, "-n", f"bench{os.getpid()}-{Fabric.count}"]

    def __enter__(self):
        call(*self.argv, "up", self.kind, *self.options)
        return self

    def __exit__(self, *_):
        subprocess.run([*self.argv, "down"], stdin=subprocess.DEVNULL,
                       check=False)

    def run(self, *argv):
        """One process per worker; their output."""
        return call(*self.argv, "run", "--fail-fast", "--", *PRIORITY, *argv,
                    timeout=self.limit)


class Ours(Fabric):
    """Workers that sum in the network."""

    def trib(self, host, *argv):
        """What trib says on a host."""
        return call(*self.argv, "exec", host, "--", "trib", *argv)

    def perf_report(self, *options):
        """All that trib-perf says of one size."""
        return measured(self.run, "trib-perf", *options)

    def perf(self, *options):
        """trib-perf's figures of one size."""
        return self.perf_report(*options)["results"][0]


class Star(Ours):
    """Workers around a relay."""

    def __init__(self, workers, *options):
        super().__init__("--workers", str(workers), *options)


class BCube(Ours):
    """n^k servers with k ports each, which sum themselves."""

    kind = "bcube"

    def __init__(self, n, k, *options):
        super().__init__("--n", str(n), "--k", str(k), *options)


class Switch(Ours):
    """The same workers on the same wires, but around a bridge: for Gloo and our peers."""

    def __init__(self, workers, *options):
        super().__init__("--workers", str(workers), "--one-nic", "--plain",
                         *options)

    def gloo(self, algorithm, *options):
        """bench-gloo's figures of one size."""
        with tempfile.TemporaryDirectory(prefix="trib-gloo-") as folder:
            got = measured(self.run, "bench-gloo", "-A", algorithm, "-D",
                           folder, "-I", "eth0", *options)
        return got["results"][0]
