# SPDX-License-Identifier: BSD-2-Clause
"""Compares the planner with the exact optimum of the seed LP."""

import json
import os
import subprocess
import tempfile

from families import FAMILIES
from oracle import Model


def plan(trib, topo, job, *options):
    """The plan; RuntimeError with trib's text if there is none."""
    with tempfile.TemporaryDirectory(prefix="trib-plan-") as folder:
        paths = [os.path.join(folder, n) for n in ("topo", "jobs")]
        for path, what in zip(paths, (topo, {"jobs": [job]})):
            with open(path, "w", encoding="utf-8") as f:
                json.dump(what, f)
        done = subprocess.run([trib, "-j", "plan", *paths, "--no-rows",
                               *options], capture_output=True, text=True,
                              check=False)
    answer = json.loads(done.stdout)
    if done.returncode:
        raise RuntimeError(answer["error"])
    return answer


def compare(trib, family, number):
    """Three rates over the exact optimum: of the seed LP with its own placement;
    of the tree LP and of the schedule by default. The optimum for the last two
    counts results, which load each link in the other direction."""
    topo, job = FAMILIES[family](number)
    model = Model(topo, job)
    best = best_both = model.solve()[0] * model.scale
    by_seed = plan(trib, topo, job, "--objective", "seed")["jobs"][0]
    by_trees = plan(trib, topo, job)["jobs"][0]
    # A rate at the optimum without results is at the one with results too.
    if by_trees["rate"] < best:
        best_both = Model(topo, job, both_ways=True).solve()[0] * model.scale
    return by_seed["seed_lp"] / best, by_trees["tree_lp"] / best_both, \
        by_trees["rate"] / best_both
