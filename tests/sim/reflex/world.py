# SPDX-License-Identifier: BSD-2-Clause
"""One run: a tree with ranks whose XDP programs send for them, and others."""

from reflex.rank import Rank
from reflex.rules import Rules
from stream import BARRIER, DATA, DETACH, EXP, mix
from world import VERDICTS as DEDICATED_VERDICTS
from world import World as Tree

VERDICTS = DEDICATED_VERDICTS | {
    "twice": "two first copies of one GRAD leave",
    "early": "a GRAD leaves although its rank lacks the RESULT a window before",
    "escape": "the XDP program sends what a rank has chosen, or too much",
}


class World(Tree):
    def __init__(self, seed, rules, scenario):
        self.share = 0.7          # of ranks with an XDP program that sends
        self.preempted = 0.01
        self.xdp_pace, self.rank_pace = 0.5, 1
        self.cpus = 1
        self.slack = 4
        self.slow_stores = 0.3
        self.cost_read = self.cost_fill = self.cost_call = self.cost_send = 0
        self.cost_wake = 1
        self.firsts = {}
        self.ready = False
        super().__init__(seed, rules, scenario)

    def build(self):
        rng = self.rng
        self.cells = max(8, self.window * rng.choice((2, 4, 8)))
        self.dist = rng.choice((self.window, self.window,
                                rng.randint(1, self.window)))
        self.cpus = rng.choice((1, 2, 3))
        super().build()

    def add_worker(self, relay, host):
        rng = self.rng
        if rng.random() >= self.share:
            return super().add_worker(relay, host)
        w = Rank(self, len(self.workers), relay)
        w.child = relay.add_child(w, w, w.rank)
        w.lazy = rng.choice((1, 5, 30))
        self.workers.append(w)
        return host

    def cpu_of(self, chunk):
        return (chunk >> 1) % self.cpus

    # --- sizes

    def size_of(self, chunk, index):
        """Units of a chunk's values."""
        if chunk.kind in (BARRIER, DETACH):
            return 0
        if chunk.kind == EXP:
            return 2
        return 1 + mix(index) % 3 if chunk.last else 3

    def frame_size(self, m):
        """Units that the frame of a RESULT has room for."""
        index = (m.chunk - self.base) & 0xFFFFFFFF
        if index >= self.length or m.value is None and not m.room:
            return 0
        return self.size_of(self.stream[index], index)

    # --- the oracle

    def on_carry(self, program, m):
        """An XDP program sends a GRAD."""


def run(seed, scenario, without=None):
    return World(seed, Rules(without), scenario).run()
