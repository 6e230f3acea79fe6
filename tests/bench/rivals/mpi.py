# SPDX-License-Identifier: BSD-2-Clause
"""Intel MPI's own benchmark, IMB-MPI1, on the hosts of a fabric."""

import os
import re

from nets import FABRIC, TOP, BenchError, call
from rivals.pypi import MPI

# I_MPI_ADJUST_ALLREDUCE: MPI's own choice, recursive doubling, Rabenseifner, ring,
# Shumilin's ring, and the one with a pipeline.
ALGORITHMS = ("", "1", "2", "8", "9", "14")
# Ranks that wait poll, yield or sleep. Those that poll starve each other on few CPUs.
WAITS = ({}, {"I_MPI_THREAD_YIELD": "2"}, {"I_MPI_WAIT_MODE": "1"})
# Seconds in which a setting of use ends many times.
TRIAL = 20
SHELL = os.path.join(TOP, "tests", "bench", "rivals", "mpi-shell")


def ways():
    """Settings of which the best one is the peer."""
    for wait in WAITS:
        for algorithm in ALGORITHMS:
            yield {**wait, **({"I_MPI_ADJUST_ALLREDUCE": algorithm} if algorithm else {})}


def allreduce_us(net, ranks, log2, count, way, limit=120):
    """Mean time of an allreduce of 2^log2 bytes of floats over TCP."""
    env = {"MPI_FABRIC": net.argv[2], "I_MPI_ROOT": MPI.home, "LD_LIBRARY_PATH": MPI.path("lib"),
           "FI_PROVIDER_PATH": MPI.path("lib"), "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0",
           "I_MPI_FABRICS": "ofi", **way}
    text = call(FABRIC, "-n", net.argv[2], "exec", "w0", "--", "env",
                *(f"{name}={value}" for name, value in env.items()),
                MPI.path("bin", "mpiexec.hydra"), "-iface", "eth0", "-launcher", "ssh",
                "-launcher-exec", SHELL, "-hosts", ",".join(f"w{i}" for i in range(ranks)),
                "-n", str(ranks), "-ppn", "1", MPI.path("bin", "IMB-MPI1"),
                "-npmin", str(ranks), "-msglog", f"{log2}:{log2}", "-iter", str(count),
                "-iter_policy", "off", "-time", "1000", "Allreduce", timeout=limit)
    row = re.search(rf"^\s*{1 << log2}\s+\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)", text, re.M)
    if not row:
        raise BenchError(f"IMB-MPI1 left no figures:\n{text}")
    return float(row[1])


def best_way(net, ranks, log2, count):
    """The fastest settings, by one run of each; those that fail or hang do not count."""
    found = []
    for way in ways():
        try:
            took = allreduce_us(net, ranks, log2, count, way, TRIAL)
            found.append((took, sorted(way.items())))
        except BenchError:
            continue
    if not found:
        raise BenchError("IMB-MPI1 runs with none of its settings")
    return dict(min(found)[1])
