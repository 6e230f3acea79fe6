# SPDX-License-Identifier: BSD-2-Clause
"""What happens to ranks whose XDP programs send for them. Most is what happens to any
tree: ../scenarios.py."""

from auth import proof
from net import GRAD, Msg
from net import RESULT as RESULT_TYPE
from reflex.memory import FREE, READY, RESULT, SENT, WRITING
from scenarios import (FOREVER, Deaf, Eager, Floats, Forged, Gone, Idle, Masks,
                       Parting, Quiet, Rejoin, Scenario, Storm)
from stream import INT, SHAPE, Chunk


class Torn(Storm):
    """Two ranks send again at once, copies of RESULTs abound, and the relay forgets
    all the time: a GRAD that is half a RESULT would be added."""

    def shape(self):
        super().shape()
        world = self.world
        world.share, world.host_share = 1, 0
        world.depth, world.fan = 1, 2
        world.rto = world.rto_max = 25
        world.window = 2
        world.resets, world.reset_span = 150, 2500
        world.xdp_pace, world.rank_pace = 4, 4
        self.net.loss = self.rng.choice((0.1, 0.3))
        self.net.dup = self.net.late_copy = 0.3


class Stolen(Torn):
    """Torn on a virtual machine: CPUs are taken away for long."""

    def shape(self):
        super().shape()
        self.world.xdp_pace = 0.5
        self.world.steals, self.world.cpus = 0.2, 2


class Shrinks(Storm):
    """Ranks change their distance all the time, or send all by their window (0). No
    time-out may be needed if nothing is lost."""

    def shape(self):
        super().shape()
        self.world.share, self.world.host_share = 1, 0
        self.world.window = self.rng.choice((4, 8))
        self.world.min_length = 60
        if self.rng.random() < 0.3:
            self.no_loss()

    def script(self):
        for w in self.world.workers:
            self.change(w)

    def change(self, worker):
        window = self.world.window
        worker.set_distance(self.rng.choice((0, self.rng.randint(1, window))))
        self.net.at(self.rng.randint(10, 100), self.change, worker)


class Several(Shrinks):
    """Shrinks, of hosts with several ranks; one of each host is late."""

    def shape(self):
        super().shape()
        self.world.host_share = 1
        self.world.depth, self.world.fan = 1, 2

    def script(self):
        super().script()
        for w in self.world.workers:
            w.lazy = 60 if w.child == 0 else 1


class Overlap(Rejoin):
    """Rejoin with XDP programs so slow that they outlive the epoch: a rank restarts
    while one of them writes into a cell of another."""

    def shape(self):
        super().shape()
        self.world.share, self.world.host_share = 1, 0
        self.world.depth, self.world.fan = 1, 3
        self.world.xdp_pace, self.world.preempted = 12, 0.2
        self.net.late = self.net.late_copy = 0.3
        self.net.dup = 0.3

    def script(self):
        self.lost = None
        self.pace = 30
        self.net.at(self.rng.randint(30, 400), self.watch)

    def calm(self):
        self.world.xdp_pace, self.world.preempted = 0.5, 0.01

    def watch(self):
        end = self.world.length - 2 * self.world.window
        if any(getattr(w, "done", 0) > end for w in self.world.workers):
            return
        for w in self.world.workers:
            if w.state == "running" and any(c.st[2] == WRITING
                                            for c in w.array.cells):
                self.restart(self.rng.choice(self.others(w) or [w]))
                self.net.at(800, self.calm)
                return
        self.net.at(1, self.watch)


class Killed(Gone):
    """A process dies while cells that it filled are ready."""

    def shape(self):
        super().shape()
        self.world.share = 1


class Steps(Quiet):
    """Quiet, with CPUs that interrupt each other at every step."""

    def shape(self):
        super().shape()
        self.world.share = 1
        self.world.preempted = 0.2
        self.world.slow_stores = self.rng.choice((0.8, 1))
        self.world.depth, self.world.fan = 1, 3
        self.world.min_length = 20


class Liar(Storm):
    """A member sends RESULTs that do not fit, for chunks that ranks wait for."""

    def shape(self):
        super().shape()
        self.world.share, self.world.host_share = 1, 0

    def script(self):
        self.net.at(20, self.lie)

    def lie(self):
        w = self.rng.choice(self.world.workers)
        if w.ready and w.state == "running":
            index = w.done + self.rng.randrange(w.window)
            m = Msg(RESULT_TYPE, w.epoch, w.wire(index), False, 0, value=1,
                    shape=SHAPE[INT] + (self.rng.randint(100, 120),))
            m.auth = proof(self.world.rules, m, w.relay.name)
            w.receive(m)
        self.net.at(self.rng.randint(1, 20), self.lie)


class Hostile(Scenario):
    """A rank writes whatever it likes into its array, at any time."""

    def shape(self):
        self.world.share, self.world.host_share = 1, 0
        self.world.depth, self.world.fan = 1, 2
        self.world.limit = 600
        self.world.timeout = self.world.heartbeat = FOREVER
        self.world.judges_sums = False

    def script(self):
        world = self.world
        world.stream = [Chunk(INT, -1, 0, 0, 0, False, False)] * world.length
        self.rogue = self.rng.choice(world.workers)
        self.net.at(20, self.write)

    def write(self):
        rng, rogue, world = self.rng, self.rogue, self.world
        if rogue.ready:
            rogue.life += 1               # its engine ends
            rogue.deaf_until = FOREVER
        a = rogue.array
        near = rogue.program.admitted
        chunk = world.base + near + rng.randint(-2, 2 * world.window)
        cell = a.at(chunk)
        what = rng.choice((0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 9, 10, 11, 11, 11))
        if what > 8 and rogue.ready:
            self.go_on(chunk)
        if what == 11:
            self.set_trap(world.base + near)
        if what == 0:
            for n in range(2 * world.window):
                cell = a.at(chunk + n)
                cell.size = rng.choice((0, 1, 2, 3))
                self.net.at(rng.random() * 0.5, setattr, cell, "size",
                            rng.choice((-1, 9, 1 << 20)))
        elif what == 1:
            shape = rng.choice((SHAPE[INT], ("or", "i32"), ("add", "x")))
            for n in range(2 * world.window):
                a.at(chunk + n).shape = shape + (rng.randint(-99, 99),)
        elif what == 2:
            cell.lo = rng.choice((1, 2, None, (1, 2, 3)))
        elif what == 3:
            a.dist = rng.choice((-5, 0, 1, 2, 3, 50, 1 << 31))
        else:
            state = rng.choice((FREE, READY, READY, READY, SENT, SENT, WRITING,
                                RESULT))
            cell.st = (rogue.epoch, chunk & 0xFFFFFFFF, state)
        self.net.at(rng.random() * 0.3, self.write)

    def set_trap(self, chunk):
        """Cells that a RESULT would let go at a distance too far, or just right."""
        rogue, window = self.rogue, self.world.window
        far = rogue.array.dist = self.rng.choice((window, 2 * window))
        for n, state in ((far, READY), (far - window, RESULT), (0, SENT)):
            there = chunk + n & 0xFFFFFFFF
            rogue.array.at(there).st = (rogue.epoch, there, state)

    def go_on(self, chunk):
        """Results come only while it contributes."""
        rogue = self.rogue
        rogue.send(GRAD, rogue.epoch, chunk & 0xFFFFFFFF, resend=True,
                   shape=SHAPE[INT] + (0,), value=1)

    def on_error(self, worker):
        """All may fail: a rank may end its own job."""

    def judge(self):
        """The XDP program is judged packet by packet."""


SCENARIOS = {cls.__name__.lower(): cls for cls in (
    Storm, Floats, Masks, Quiet, Steps, Shrinks, Several, Torn, Stolen, Eager, Idle, Deaf,
    Parting, Rejoin, Overlap, Killed, Forged, Liar, Hostile)}
