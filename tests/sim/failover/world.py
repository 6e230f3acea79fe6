# SPDX-License-Identifier: BSD-2-Clause
"""One run: ranks, relays that die and return; checks every sum."""

import random

from failover.net import Mesh, Relay
from failover.rank import Rank
from net import Net

LIMIT = 60000
STRIPE = 2      # neighbouring chunks that have one owner

VERDICTS = {
    "wrong": "a call returns a wrong sum",
    "hang": "a call does not return",
}


class Failure(Exception):
    pass


class World:
    def __init__(self, seed, rules, scenario):
        self.rng = random.Random(seed)
        self.rules = rules
        self.net = Net(self.rng, 0, 0)
        self.n = self.rng.randint(2, 4)
        self.trees = self.rng.randint(1, 3)
        self.window = self.rng.choice((1, 2, 4, 8))
        self.depth = self.rng.choice((1, 1, 2, 4))
        self.length = self.rng.randint(8, 24)
        self.think = self.rng.choice((1, 5, 20))
        self.loss = self.rng.choice((0, 0.02, 0.1))
        self.patience = 150
        self.slow_mesh = self.rng.choice((1, 10, 60))
        self.sloth = 0              # more think time of the last rank
        self.over = False
        self.bad = None
        self.cost = {"changes": 0, "held": 0}
        self.sizes = {}
        self.scenario = scenario(self)
        self.scenario.shape()
        self.relays = [Relay(self, t) for t in range(self.trees)]
        self.mesh = Mesh(self)
        self.ranks = [Rank(self, r) for r in range(self.n)]
        for relay in self.relays:
            relay.joined = set(range(self.n))
        self.keys = [self.rng.getrandbits(20) for _ in range(self.n)]

    def owner(self, chunk):
        return chunk // STRIPE % self.n

    def size(self, call, tree):
        if (call, tree) not in self.sizes:
            self.sizes[call, tree] = random.Random(f"{self.keys}{call}.{tree}").randint(0, 10)
        return self.sizes[call, tree]

    def value(self, rank, call, tree, i):
        return random.Random(f"{self.keys[rank]}.{call}.{tree}.{i}").getrandbits(30)

    def values(self, rank, call):
        return [[self.value(rank, call, t, i) for i in range(self.size(call, t))]
                for t in range(self.trees)]

    def lossy(self, fn, *args):
        """A packet: lost, doubled, late."""
        if self.over or self.rng.random() < self.loss:
            return
        for _ in range(2 if self.rng.random() < self.loss else 1):
            late = 60 if self.rng.random() < self.loss else 0
            self.net.at(1 + self.rng.randint(0, 8) + self.rng.randint(0, late), fn, *args)

    def check(self, rank, call, tree, i, got):
        if got != sum(self.value(r, call, tree, i) for r in range(self.n)):
            self.fail("wrong", f"rank {rank}, call {call}, tree {tree}, chunk {i}")

    def fail(self, verdict, text):
        if not self.bad:
            self.bad = verdict, text
        self.over = True
        raise Failure

    def finished(self):
        return self.over or all(r.returned == self.length for r in self.ranks)

    def run(self):
        for r in self.ranks:
            self.net.at(self.rng.randint(0, 30), r.step)
            self.net.at(self.rng.randint(0, 9), r.watch)
        self.scenario.script()
        try:
            self.net.run(LIMIT, self.finished)
        except Failure:
            pass
        if not self.bad and not self.finished():
            self.bad = "hang", f"returned {[r.returned for r in self.ranks]} of {self.length}"
        return self.bad
