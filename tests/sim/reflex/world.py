# SPDX-License-Identifier: BSD-2-Clause
"""One run: a tree with ranks whose XDP programs send for them, and others."""

from reflex.host import Host
from reflex.machines import Machines
from reflex.rank import Rank
from world import VERDICTS as DEDICATED_VERDICTS
from world import World as Tree

VERDICTS = DEDICATED_VERDICTS | {
    "twice": "two first copies of one GRAD leave",
    "early": "a GRAD leaves although its rank lacks the RESULT a window before",
    "escape": "the XDP program sends what a rank has chosen, or too much",
    "costly": "losses cost more than the bar",
}


class World(Machines, Tree):
    def __init__(self, seed, rules, scenario):
        self.share = 0.7          # of ranks with an XDP program that sends
        self.host_share = 0.3     # of these, hosts with several ranks
        self.prepare()
        super().__init__(seed, rules, scenario)

    def build(self):
        self.choose_cells()
        # A host that adds up is one level more.
        self.depth, self.fan = min(self.depth, 2), min(self.fan, 4)
        super().build()

    def add_worker(self, relay, host):
        rng = self.rng
        if rng.random() >= self.share:
            return super().add_worker(relay, host)
        if rng.random() < self.host_share:
            self.add_host(relay)
        else:
            self.add_rank(relay)
        return host

    def add_rank(self, relay):
        w = Rank(self, len(self.workers), relay)
        w.child = relay.add_child(w, w, w.rank)
        w.lazy = self.rng.choice((1, 5, 30))
        self.workers.append(w)
        return w

    def add_host(self, relay, ranks=0):
        host = Host(self, relay)
        self.relays.append(host)
        host.up_child = relay.add_child(host, host, -1)
        for _ in range(ranks or self.rng.randint(2, 3)):
            host.equip(self.add_rank(host))

    def fail(self, verdict, text):
        if self.judges_sums or verdict == "escape":
            super().fail(verdict, text)
