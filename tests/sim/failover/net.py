# SPDX-License-Identifier: BSD-2-Clause
"""Relays that sum chunks and die, and connections between ranks that lose nothing."""


class Relay:
    """The slots of one tree, 2W of them; all packets can be lost, doubled or late."""

    def __init__(self, world, tree):
        self.world = world
        self.tree = tree
        self.dead = False
        self.deaf = None            # a rank that gets nothing from it
        self.epoch = 1
        self.newest = 1
        self.joined = set()
        self.slots = {}

    def start(self):
        """It is there again, and waits for all ranks."""
        self.dead = False
        self.deaf = None
        self.epoch = 0
        self.joined = set()

    def join(self, rank):
        """A JOIN and its answer. Return: the epoch that runs for the rank, or 0."""
        if self.dead or self.deaf == rank or self.world.rng.random() < self.world.loss:
            return 0
        if self.epoch and rank not in self.joined:
            self.start()            # it joins anew: that ends the epoch of before
        self.joined.add(rank)
        if len(self.joined) == self.world.n and not self.epoch:
            self.newest += 1
            self.epoch = self.newest
            self.slots = {}
        return self.epoch

    def receive(self, rank, epoch, chunk, value):
        if self.dead:
            return
        if epoch != self.epoch:
            return
        if chunk is None:
            self.tell("on_alive", epoch)
            return
        key = chunk % (2 * self.world.window)
        at, seen, total = self.slots.get(key, (-1, frozenset(), 0))
        if chunk < at:
            return
        if chunk > at:
            at, seen, total = chunk, frozenset(), 0
        if rank not in seen:
            seen, total = seen | {rank}, total + value
        self.slots[key] = (at, seen, total)
        if len(seen) == self.world.n:
            self.tell("on_result", epoch, chunk, total)

    def tell(self, what, *args):
        for r in self.world.ranks:
            if r.no != self.deaf:
                self.world.lossy(getattr(r.stream[self.tree], what), *args)


class Mesh:
    """Ordered connections between all ranks."""

    def __init__(self, world):
        self.world = world
        self.last = {}

    def tell(self, src, dst, what, *args):
        net = self.world.net
        at = net.now + 1 + self.world.rng.randint(0, self.world.slow_mesh)
        at = self.last[src, dst] = max(at, self.last.get((src, dst), 0))
        net.at(at - net.now, self.world.ranks[dst].hear, src, what, *args)

    def tell_all(self, src, what, *args):
        for dst in range(self.world.n):
            self.tell(src, dst, what, *args)
