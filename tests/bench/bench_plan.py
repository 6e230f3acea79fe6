# SPDX-License-Identifier: BSD-2-Clause
"""The planner: its time on two fat-trees, and its rates beside an exact MILP of
the seed LP on three families of instances."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from figures import Figures
from nets import TOP, BenchError
from pairs import progress

sys.path.insert(0, os.path.join(TOP, "tests", "plan"))

from compare import compare  # noqa: E402 # pylint: disable=wrong-import-position
from families import FAMILIES  # noqa: E402 # pylint: disable=wrong-import-position

TRIB = os.path.join(TOP, "build", "trib")
INSTANCES = 150


def resident(pid):
    """Sum of the peak memory of a process and its children, in bytes."""
    total = 0
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as f:
            pids = [pid, *f.read().split()]
        for p in pids:
            with open(f"/proc/{p}/status", encoding="utf-8") as f:
                for line in f:
                    if line.startswith("VmHWM:"):
                        total += int(line.split()[1]) * 1024
    except OSError:
        pass  # the process has ended
    return total


def fat_tree(k, relays, mode):
    """Plan a fat-tree: seconds, peak bytes, and the job of the plan."""
    job = {"name": "j", "workers": "all", "ps": f"h{k ** 3 // 4 - 1}",
           "max_relays": relays, "mode": mode}
    with tempfile.TemporaryDirectory(prefix="trib-bench-") as folder:
        jobs, out = (os.path.join(folder, n) for n in ("jobs", "plan"))
        with open(jobs, "w", encoding="utf-8") as f:
            json.dump({"jobs": [job]}, f)
        begun, most = time.monotonic(), 0
        with subprocess.Popen([TRIB, "-j", "plan", "--builtin",
                               f"fat-tree:{k}", jobs, "-o", out],
                              stdout=subprocess.DEVNULL) as p:
            while p.poll() is None:
                most = max(most, resident(p.pid))
                time.sleep(0.02)
        took = time.monotonic() - begun
        if p.returncode:
            raise BenchError(f"trib plan fat-tree:{k}: exit {p.returncode}")
        with open(out, encoding="utf-8") as f:
            made = json.load(f)["jobs"][0]
    progress()
    return took, most, made


def time_fat_tree(figures, k, relays, bar, times):
    """Figures of shared pools have no tag; their trees take longer."""
    for mode, tag in (("shared", ""), ("dedicated", "_dedicated")):
        runs = [fat_tree(k, relays, mode) for _ in range(times)]
        name = f"fat{k}_m{relays}{tag}"
        figures.add(f"{name}_s", [r[0] for r in runs], bar=bar, at_most=True,
                    note=f"fat-tree({k}), {relays} relays, {mode}, total")
        figures.add(f"{name}_gib", [r[1] / 2 ** 30 for r in runs], bar=2,
                    at_most=True, note="with the LP solver")
        figures.add(f"{name}_gbps", [r[2]["tree_lp"] / 1e9 for r in runs],
                    note="tree LP, links of 10 Gb/s")
        figures.add(f"{name}_scheduled", [r[2]["rate"] / r[2]["tree_lp"]
                                          for r in runs],
                    note="share of it with at most 64 entries, 16 trees")


def compare_all(figures):
    """Cap ratios at 1: a high rate must not offset a low one."""
    ratios = {}
    for family in FAMILIES:
        ratios[family] = [compare(TRIB, family, n) for n in range(INSTANCES)]
        progress()
    for k, tag, note in ((1, "", "trees, capped at 1"),
                         (0, "_seed", "placed by and judged with the seed LP")):
        capped = {f: [min(1, x[k]) for x in r] for f, r in ratios.items()}
        figures.add(f"mean{tag}_vs_milp",
                    [min(statistics.mean(c) for c in capped.values())],
                    bar=0.99, note=f"worst of three families; {note}")
        figures.add(f"worst{tag}_vs_milp",
                    [min(min(c) for c in capped.values())], bar=0.95,
                    note=f"of {len(FAMILIES) * INSTANCES} instances")
    for family, r in ratios.items():
        figures.add(f"trees_vs_milp_{family}", [x[1] for x in r],
                    note="not capped: depth may beat the seed LP")


def measure(pairs, _transport):
    figures = Figures("plan")
    time_fat_tree(figures, 8, 8, 2, pairs)
    time_fat_tree(figures, 16, 16, 60, min(pairs, 3))
    compare_all(figures)
    progress(end=True)
    return figures
