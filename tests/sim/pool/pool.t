#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of shared pools with a PS; prints TAP.

    tests/sim/pool/pool.t                     what `make check` runs
    tests/sim/pool/pool.t --seeds 5000        of each scenario
    tests/sim/pool/pool.t --only rule__ack    tests whose name starts so
    tests/sim/pool/pool.t --run storm 17 [--without ack_clears]

sound__SCENARIO passes if the protocol holds in all seeds. rule__RULE passes if
the protocol without that rule fails, as rules.py foresees, in one of them, or
costs more over all of them.
"""

import argparse
import os
import sys
from functools import lru_cache

sys.dont_write_bytecode = True
sys.path[0] = os.path.join(sys.path[0], "..")

from pool.hashing import BUCKETS, table
from pool.rules import COST_SEEDS, RULES, Cost
from pool.scenarios import SCENARIOS
from pool.world import VERDICTS, measure, run

# Seeds per scenario, 100 unless named.
SEEDS = {"storm": 500, "amnesia": 200, "anew": 200, "dead": 150, "deaf": 100,
         "parting": 100, "busy": 50, "litter": 20, "wipes": 20, "ghosts": 30,
         "bypass": 50, "echoes": 30, "straggler": 20}
RULE_SEEDS = 3000


class Tap:
    """Numbers the tests; the last line says how many there were."""

    def __init__(self, only):
        self.only = only
        self.count = self.failed = 0

    def test(self, name, check, *args):
        if not name.startswith(self.only):
            return
        good, note = check(*args)
        self.count += 1
        self.failed += not good
        print(f"# {' '.join(note.split())}")
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}",
              flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def place_moves_a_share():
    """A slot that is added takes buckets, and gives none to others."""
    for n in range(1, 64):
        moved = [(a, b) for a, b in zip(table(n), table(n + 1)) if a != b]
        if any(b != n for a, b in moved):
            return False, f"{n + 1} slots: a bucket moved between old ones"
        if len(moved) > 8 + 3 * BUCKETS // (2 * (n + 1)):
            return False, f"{n + 1} slots: {len(moved)} buckets moved"
    return True, f"up to 64 slots, {BUCKETS} buckets"


def holds(name, seeds):
    scenario = SCENARIOS[name]
    for seed in range(seeds):
        bad = run(seed, scenario)
        if bad:
            return False, f"seed {seed}: {bad[1]}"
    return True, f"{seeds} seeds: {scenario.__doc__.split('.')[0]}"


@lru_cache(maxsize=None)
def total(name, cost, seeds, without=None):
    """Over seeds runs, or None if one fails."""
    costs = [measure(seed, SCENARIOS[name], without) for seed in range(seeds)]
    return None if None in costs else sum(c[cost] for c in costs)


def is_missed(name, seeds):
    rule = RULES[name]
    if isinstance(rule.red, Cost):
        return costs_more(name, rule, seeds or COST_SEEDS)
    for seed in range(seeds or RULE_SEEDS):
        bad = run(seed, SCENARIOS[rule.scenario], name)
        if bad and bad[0] in rule.red.split():
            return True, f"{rule.scenario} seed {seed}: {bad[1]}"
    return False, f"nothing happens without it: {rule.text}"


def costs_more(name, rule, seeds):
    cost, times = rule.red
    with_it = total(rule.scenario, cost, seeds)
    without = total(rule.scenario, cost, seeds, name)
    if not with_it or without is None:
        return False, f"{rule.scenario} fails"
    ratio = without / with_it
    return ratio >= times, (f"{rule.scenario}, {seeds} seeds: {ratio:.3f} "
                            f"times the {cost} without it")


def run_all(seeds, only):
    tap = Tap(only)
    tap.test("place__moves_its_share_only", place_moves_a_share)
    for name in SCENARIOS:
        tap.test(f"sound__{name}", holds, name, seeds or SEEDS.get(name, 100))
    for name in RULES:
        tap.test(f"rule__{name}", is_missed, name, seeds)
    return tap.end()


def run_one(name, seed, without):
    bad = run(int(seed), SCENARIOS[name], without)
    print(f"{bad[1]}\n({VERDICTS[bad[0]]})" if bad else "holds")
    return 1 if bad else 0


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--seeds", type=int, default=0)
    p.add_argument("--only", default="")
    p.add_argument("--run", nargs=2, metavar=("SCENARIO", "SEED"))
    p.add_argument("--without", choices=RULES)
    args = p.parse_args()
    if args.run:
        return run_one(*args.run, args.without)
    return run_all(args.seeds, args.only)


if __name__ == "__main__":
    sys.exit(main())
