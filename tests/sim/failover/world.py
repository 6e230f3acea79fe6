# SPDX-License-Identifier: BSD-2-Clause
"""One run: ranks, relays that die and return, peers; checks every sum."""

import random

from failover.net import Mesh, Relay
from failover.rank import Rank
from net import Net

LIMIT = 60000

VERDICTS = {
    "wrong": "a call returns a wrong sum",
    "hang": "a call does not return",
}


class Failure(Exception):
    pass


class Peers:
    """The exact sums of the other engine: one call after the other, in the order issued."""

    def __init__(self, world):
        self.world = world
        self.groups = {}            # place in the order -> contributions
        self.count = {}             # rank -> sums that it took part in, by generation

    def contribute(self, rank, key, call):
        order = self.count.setdefault((rank.no, key[0]), 0)
        self.count[rank.no, key[0]] += 1
        place = key[0], order
        group = self.groups.setdefault(place, {})
        group[rank.no] = (key, [call.cells[t][i] for t, i in call.rest])
        if len(group) < self.world.n:
            return
        widths = {len(v) for _, v in group.values()}
        if len(widths) != 1:
            return                  # ranks that disagree wait for each other
        sums = [sum(column) for column in zip(*(v for _, v in group.values()))]
        for r in self.world.ranks:
            own = group[r.no][0]
            self.world.net.at(1 + self.world.rng.randint(0, 20), r.on_sums, own, sums)


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
        self.early = {}
        self.nexts = {}
        self.sizes = {}
        self.scenario = scenario(self)
        self.scenario.shape()
        self.relays = [Relay(self, t) for t in range(self.trees)]
        self.ranks = [Rank(self, r) for r in range(self.n)]
        self.mesh = Mesh(self)
        self.peers = Peers(self)
        self.keys = [self.rng.getrandbits(20) for _ in range(self.n)]

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
        if self.rng.random() < self.loss:
            return
        for _ in range(2 if self.rng.random() < self.loss else 1):
            late = 60 if self.rng.random() < self.loss else 0
            self.net.at(1 + self.rng.randint(0, 8) + self.rng.randint(0, late), fn, *args)

    def check(self, rank, call):
        for t in range(self.trees):
            for i, got in enumerate(call.cells[t]):
                want = sum(self.value(r, call.no, t, i) for r in range(self.n))
                if got != want:
                    self.fail("wrong", f"rank {rank.no}, call {call.no}, tree {t}, chunk {i}")

    def fail(self, verdict, text):
        if not self.bad:
            self.bad = verdict, text
        self.over = True
        raise Failure

    def finished(self):
        return self.over or all(r.returned == self.length for r in self.ranks)

    def run(self):
        for relay in self.relays:
            relay.start(1)
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
