# SPDX-License-Identifier: BSD-2-Clause
"""A host that adds up its ranks: a node of the tree, with a slot for each chunk, whose
children are the ranks. Its XDP program delivers a RESULT into the cells of all of
them, and adds the cells that they have filled to the slots; the last one of these, or
a late rank's packet, completes a slot. So nothing is new in what the tree sees.

The frame of a RESULT carries one sum at most.
"""

from relay import Relay
from reflex.memory import READY, Thread
from reflex.xdp import Cpus, Program


class HostProgram(Program):
    """A cell that is won goes to the slot, not to the wire."""

    def emit(self, grad, m, size):
        self.rank.carried += 1
        self.world.on_first(self.rank, grad.epoch, grad.chunk)
        self.rank.relay.add(grad, m)


class Host(Relay):
    def __init__(self, world, parent):
        super().__init__(world, parent)
        self.local = []
        self.cpus = Cpus(world, self.turn)
        self.sums = {}       # that the frames of RESULTs under way carry
        self.frame = None    # in which a contribution is being added

    def equip(self, rank):
        rank.program = HostProgram(rank, rank.array)
        self.local.append(rank)

    def send_result_down(self, z):
        if z.passed:
            self.world.fail("echo", f"RESULT {z.chunk} went down twice")
        z.passed = True
        self.cpus.take(self.result(z))

    def turn(self, m, cpu):
        t = Thread(self.world.rng, self.world.slow_stores)
        self.sums[id(m)] = 0
        for rank in self.local:
            program = rank.program
            if program.epoch == m.epoch:
                yield from program.deliver(t, m, m.epoch, cpu)
        for last in (False, True):
            for rank in self.local:
                yield from self.look(t, m, rank, last)
        t.flush()
        del self.sums[id(m)]

    def look(self, t, m, rank, last):
        """Add the cells that RESULT m lets the rank send; at @last also those that fill
        a slot."""
        program = rank.program
        if (program.epoch != m.epoch or not self.rules.host_adds_ready_cells or
                not program.held(t, m.chunk, m.epoch)):
            return
        dist = program.distance(t)
        yield
        for p in program.places(m.chunk, dist) if dist else ():
            cell, ready = rank.array.at(p), (m.epoch, p, READY)
            if t.load(cell, "st") != ready:
                continue
            yield
            if not program.may_go(t, p, dist, m.epoch):
                continue
            if not last and self.fills(rank, p) and self.rules.fillers_go_last:
                continue
            if self.sums[id(m)] and self.rules.frame_carries_one_sum:
                if last:
                    rank.ring()
            else:
                yield from program.take(t, p, cell, ready, m)

    def fills(self, rank, chunk):
        """Would the rank's contribution complete its slot?"""
        z, age = self.find(chunk)
        seen = z.seen if z and not age else 0
        return seen | 1 << rank.child == self.full

    def add(self, grad, m):
        self.frame = id(m)
        self.on_grad(grad)
        self.frame = None

    def complete(self, z, m):
        if self.frame in self.sums:
            self.sums[self.frame] += 1
            if self.sums[self.frame] > 1:
                self.world.fail("escape", f"{z.chunk}: a second sum in a frame")
        super().complete(z, m)
