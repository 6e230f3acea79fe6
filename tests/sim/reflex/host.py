# SPDX-License-Identifier: BSD-2-Clause
"""A host that adds up its ranks: a node of the tree, with a slot for each chunk, whose
children are the ranks. Its XDP program delivers a RESULT into the cells of all of
them, and adds the cells that they have filled to the slot; the last one of these, or
a late rank's packet, completes it. So nothing is new in what the tree sees.
"""

from relay import Relay
from reflex.memory import READY, Thread, add
from reflex.xdp import Cpus, Program


class HostProgram(Program):
    """A cell that is won goes to the slot, not to the wire."""

    def emit(self, grad, m, size):
        self.rank.carried += 1
        self.world.on_first(self.rank, grad.epoch, grad.chunk)
        self.rank.relay.on_grad(grad)


class Host(Relay):
    def __init__(self, world, parent):
        super().__init__(world, parent)
        self.local = []
        self.cpus = Cpus(world, self.turn)
        self.distance = world.dist

    def equip(self, rank):
        rank.program = HostProgram(rank, rank.array)
        rank.program.dist = self.distance
        self.local.append(rank)

    def send_result_down(self, z):
        if z.passed:
            self.world.fail("echo", f"RESULT {z.chunk} went down twice")
        z.passed = True
        self.cpus.take(self.result(z))

    def turn(self, m, cpu):
        t = Thread(self.world.rng, self.world.slow_stores)
        for rank in self.local:
            program = rank.program
            if program.epoch == m.epoch:
                yield from program.deliver(t, m, m.epoch, cpu)
        places = self.local[0].program.places(m.chunk, self.distance)
        for n, p in enumerate(places):
            for rank in self.local:
                yield from self.add_cell(t, m, p, rank, n)
        t.flush()

    def add_cell(self, t, m, p, rank, used):
        """Add a rank's cell to the slot; or ring, if the frame is for another."""
        program = rank.program
        cell, ready = rank.array.at(p), (m.epoch, p, READY)
        if (t.load(cell, "st") != ready or program.epoch != m.epoch or
                not self.rules.host_adds_ready_cells):
            return
        yield
        if not program.may_go(t, p, self.distance, m.epoch):
            return
        if used:
            rank.ring()
        else:
            yield from program.take(t, p, cell, ready, m)
