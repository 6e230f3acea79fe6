#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of the dedicated-pool protocol; prints TAP.

    tests/sim/sim.t                     what `make check` runs
    tests/sim/sim.t --seeds 5000        of each scenario
    tests/sim/sim.t --only rule__grad   tests whose name starts so
    tests/sim/sim.t --run storm 17 [--without grad_is_frozen]

sound__SCENARIO passes if the protocol holds in all seeds. rule__RULE passes if
the protocol without that rule fails, as rules.py foresees, in one of them: a
simulator that would not notice proves nothing.
"""

import argparse
import sys

sys.dont_write_bytecode = True

from rules import RULES
from scenarios import SCENARIOS
from world import VERDICTS, run

# Seeds per scenario: thousands in all, in well under a minute and a half.
SEEDS = {"storm": 700, "mapped": 150, "quiet": 80, "copies": 100,
         "eager": 150, "idle": 150, "deaf": 150, "parting": 200, "liar": 100,
         "die": 150, "gone": 80, "quitter": 100, "late": 50, "dark": 80,
         "rejoin": 250, "restless": 200, "overtaken": 100, "again": 80}
RULE_SEEDS = 3000


def sound(name, seeds):
    """The first bad seed and its text, or None."""
    for seed in range(seeds):
        bad = run(seed, SCENARIOS[name])
        if bad:
            return seed, bad[1]
    return None


def crippled(name, seeds):
    """The first seed that shows that the rule is missing, and its text."""
    rule = RULES[name]
    for seed in range(seeds):
        bad = run(seed, SCENARIOS[rule.scenario], without=name)
        if bad and bad[0] in rule.red.split():
            return seed, bad[1]
    return None


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def result(self, good, name, notes):
        self.count += 1
        self.failed += not good
        for note in notes:
            print(f"# {note}")
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}",
              flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def run_all(seeds, only):
    tap = Tap()
    for name, scenario in SCENARIOS.items():
        title = f"sound__{name}"
        if title.startswith(only):
            n = seeds or SEEDS[name]
            bad = sound(name, n)
            notes = [f"{n} seeds: {scenario.__doc__.split('.')[0]}"]
            if bad:
                notes = [f"seed {bad[0]}: {bad[1]}"]
            tap.result(not bad, title, [" ".join(s.split()) for s in notes])
    for name, rule in RULES.items():
        title = f"rule__{name}"
        if title.startswith(only):
            bad = crippled(name, seeds or RULE_SEEDS)
            note = f"{rule.scenario} seed {bad[0]}: {bad[1]}" if bad else \
                f"nothing happens without it: {rule.text}"
            tap.result(bad, title, [note])
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
