#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the planner with an independent exact MILP of the seed LP on three
families, and the MILP with enumeration. Prints TAP. The bench runs more
instances (tests/bench/bench_plan.py)."""

import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

from compare import compare  # noqa: E402
from families import FAMILIES  # noqa: E402
from oracle import Model  # noqa: E402

TRIB = os.path.join(os.environ.get("TRIB_BUILD", "build"), "trib")
INSTANCES = 40
ENUMERATED = 8


def enumeration():
    """Compare the first instances with few enough placements."""
    bad, done = [], 0
    for family, make in FAMILIES.items():
        tried = 0
        for n in range(INSTANCES):
            topo, job = make(n)
            if job["max_relays"] > 2 or tried == ENUMERATED:
                continue
            tried += 1
            model = Model(topo, job)
            exact, listed = model.solve()[0], model.enumerate()
            if abs(exact - listed) > 1e-6:
                bad.append(f"{family} {n}: {exact}, enumerated {listed}")
        done += tried
    return bad, done


def main():
    failed = 0

    def tell(n, good, name):
        nonlocal failed
        failed |= not good
        print(f"{'' if good else 'not '}ok {n} - {name}", flush=True)

    bad, done = enumeration()
    for line in bad:
        print(f"# {line}")
    tell(1, not bad and done >= 20, "milp__agrees_with_enumeration")
    for i, family in enumerate(FAMILIES):
        ratios = [compare(TRIB, family, n) for n in range(INSTANCES)]
        for k, what in enumerate(("seed", "trees")):
            # A rate above the seed LP's optimum does not offset a lower one.
            capped = [min(1, r[k]) for r in ratios]
            worst = min(range(INSTANCES), key=lambda n, c=capped: c[n])
            print(f"# {family}, {what}: mean {statistics.mean(capped):.4f}, "
                  f"worst {capped[worst]:.4f} (instance {worst})")
            tell(2 + 2 * i + k, statistics.mean(capped) >= 0.99 and
                 capped[worst] >= 0.95, f"planner__by_{what}_is_near_the_milp"
                 f"_on_{family}")
            if what == "seed" and max(r[k] for r in ratios) > 1 + 1e-5:
                failed = 1
                print("# better than the optimum: planner or MILP is wrong")
    print(f"1..{1 + 2 * len(FAMILIES)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
