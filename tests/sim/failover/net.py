# SPDX-License-Identifier: BSD-2-Clause
"""Relays that sum chunks and die, and connections between ranks that lose nothing."""


class Relay:
    """The slots of one tree, 2W of them; all packets can be lost, doubled or late."""

    def __init__(self, world, tree):
        self.world = world
        self.tree = tree
        self.dead = False
        self.epoch = 0
        self.slots = {}

    def start(self, epoch):
        self.dead = False
        self.epoch = epoch
        if self.world.rules.return_has_a_new_epoch:
            self.slots = {}

    def receive(self, rank, epoch, chunk, value):
        if self.dead:
            return
        if epoch != self.epoch and self.world.rules.return_has_a_new_epoch:
            return
        key = chunk % (2 * self.world.window)
        at, seen, total = self.slots.get(key, (-1, frozenset(), 0))
        if chunk < at:
            return
        if chunk > at:
            at, seen, total = chunk, frozenset(), 0
        if rank not in seen:
            seen, total = seen | {rank}, total + value
        elif len(seen) == self.world.n:
            self.give(self.world.ranks[rank], epoch, chunk, total)
        self.slots[key] = (at, seen, total)
        if len(seen) == self.world.n:
            for r in self.world.ranks:
                self.give(r, epoch, chunk, total)

    def give(self, rank, epoch, chunk, total):
        self.world.lossy(rank.on_result, self.tree, epoch, chunk, total)


class Mesh:
    """Ordered connections between all ranks, by boot/."""

    def __init__(self, world):
        self.world = world
        self.last = {}

    def tell(self, src, dst, what, *args):
        net = self.world.net
        at = net.now + 1 + self.world.rng.randint(0, self.world.slow_mesh)
        at = self.last[src, dst] = max(at, self.last.get((src, dst), 0))
        net.at(at - net.now, getattr(self.world.ranks[dst], what), src, *args)

    def tell_all(self, src, what, *args):
        for dst in range(self.world.n):
            self.tell(src, dst, what, *args)
