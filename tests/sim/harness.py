# SPDX-License-Identifier: BSD-2-Clause
"""Runs scenarios over seeds, with all rules and without one, as TAP tests.

A scenario passes if it holds in all seeds. A rule passes if the protocol
without it fails in some seed with the expected verdict, or costs more over all
seeds. So the simulator shows that it notices each missing rule.
"""

import argparse
from collections import namedtuple
from functools import lru_cache

# red: verdicts that show that the rule is missing, or a Cost.
Rule = namedtuple("Rule", "text scenario red")
# Without the rule, cost `name` grows to at least `times` its size.
Cost = namedtuple("Cost", "name times")

RULE_SEEDS = 3000


class Switches:
    """One attribute per rule, and per rule of `also`: True if it is in force."""

    def __init__(self, rules, without=None, also=()):
        if without is not None and without not in rules:
            raise ValueError(f"no rule is called {without!r}")
        for name in (*also, *rules):
            setattr(self, name, name != without)


class Tap:
    """Numbers the tests and prints the plan at the end."""

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


class Worlds:
    """A model whose runs are one world each."""

    def __init__(self, world, rules, verdicts):
        self.world, self.rules, self.VERDICTS = world, rules, verdicts

    def run(self, seed, scenario, without=None):
        """None, or a verdict and its text."""
        return self.world(seed, self.rules(without), scenario).run()

    def measure(self, seed, scenario, without=None):
        """The costs of a run, or None."""
        world = self.world(seed, self.rules(without), scenario)
        return None if world.run() else world.cost


class Suite:
    """Rules and scenarios by name.

    model.run(seed, scenario, without) returns None or (verdict, text);
    model.measure returns the costs, or None if the run fails. seeds(name) is
    the number of seeds of a scenario, cost_seeds that of a cost.
    """

    def __init__(self, model, rules, scenarios, seeds, cost_seeds=0):
        self.model = model
        self.rules = rules
        self.scenarios = scenarios
        self.seeds = seeds
        self.cost_seeds = cost_seeds
        self.extra = []           # (name of a test, function)

    def holds(self, name, seeds):
        scenario = self.scenarios[name]
        for seed in range(seeds):
            bad = self.model.run(seed, scenario)
            if bad:
                return False, f"seed {seed}: {bad[1]}"
        return True, f"{seeds} seeds: {scenario.__doc__.split('.')[0]}"

    @lru_cache(maxsize=None)
    def total(self, name, seeds, without=None):
        """The sums of all costs over the seeds, or None if a run fails."""
        scenario = self.scenarios[name]
        costs = [self.model.measure(seed, scenario, without)
                 for seed in range(seeds)]
        if None in costs:
            return None
        return {key: sum(c[key] for c in costs) for key in costs[0]}

    def is_missed(self, name, seeds):
        rule = self.rules[name]
        if isinstance(rule.red, Cost):
            return self.costs_more(name, rule, seeds or self.cost_seeds)
        for seed in range(seeds or RULE_SEEDS):
            bad = self.model.run(seed, self.scenarios[rule.scenario], name)
            if bad and bad[0] in rule.red.split():
                return True, f"{rule.scenario} seed {seed}: {bad[1]}"
        return False, f"no run fails without it: {rule.text}"

    def costs_more(self, name, rule, seeds):
        cost, times = rule.red
        with_it = self.total(rule.scenario, seeds)
        without = self.total(rule.scenario, seeds, name)
        if with_it is None:
            return False, f"{rule.scenario} fails"
        if without is None:
            return True, f"{rule.scenario} fails without it"
        ratio = without[cost] / (with_it[cost] or 1)
        return ratio >= times, (f"{rule.scenario}, {seeds} seeds: "
                                f"{ratio:.3f} times the {cost} without it")

    def run_all(self, seeds, only):
        tap = Tap(only)
        for name, check in self.extra:
            tap.test(name, check)
        for name in self.scenarios:
            tap.test(f"sound__{name}", self.holds, name,
                     seeds or self.seeds(name))
        for name in self.rules:
            tap.test(f"rule__{name}", self.is_missed, name, seeds)
        return tap.end()

    def run_one(self, name, seed, without):
        bad = self.model.run(int(seed), self.scenarios[name], without)
        print(f"{bad[1]}\n({self.model.VERDICTS[bad[0]]})" if bad
              else "holds")
        return 1 if bad else 0

    def main(self, usage):
        p = argparse.ArgumentParser(usage=usage)
        p.add_argument("--seeds", type=int, default=0)
        p.add_argument("--only", default="")
        p.add_argument("--run", nargs=2, metavar=("SCENARIO", "SEED"))
        p.add_argument("--without", choices=self.rules)
        args = p.parse_args()
        if args.run:
            return self.run_one(*args.run, args.without)
        return self.run_all(args.seeds, args.only)
