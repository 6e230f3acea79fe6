# SPDX-License-Identifier: BSD-2-Clause
"""The XDP program of a worker's host: delivers RESULT c into a rank's cell and turns
the same frame into the GRAD of a cell that the rank has filled.

Every yield is a place where another CPU, or the rank, may run.
"""

from collections import deque

from net import serial_diff
from reflex.memory import (READY, RESULT, SENT, WRITING, Thread,
                           add,
                           is_stamped, torn)
from stream import SHAPE

KNOWN = frozenset(SHAPE.values())
STEPS_MAX = 60


class Cpus:
    """RESULTs that wait: a CPU runs one program at a time."""

    def __init__(self, world, turn):
        self.world, self.turn = world, turn
        self.busy = {}        # CPU -> RESULTs

    def take(self, m):
        cpu = self.world.cpu_of(m.chunk)
        waiting = self.busy.setdefault(cpu, deque())
        waiting.append(m)
        if len(waiting) == 1:
            self.world.net.at(0, self.next, cpu)

    def next(self, cpu):
        task = self.world.task(self.turn(self.busy[cpu][0], cpu),
                               lambda: True, self.world.xdp_pace)
        task.done = lambda: self.ended(cpu)
        task.run()

    def ended(self, cpu):
        self.busy[cpu].popleft()
        if self.busy[cpu]:
            self.world.net.at(0, self.next, cpu)


class Program:
    """One rank's row, which only tribd writes, and the rank's array."""

    def __init__(self, rank, array):
        self.rank = rank
        self.world = rank.world
        self.rules = rank.world.rules
        self.net = rank.world.net
        self.array = array
        self.window = rank.world.window
        self.epoch = 0        # of the row; 0: none
        self.base = 0         # first chunk of the epoch
        self.cpus = Cpus(self.world, self.turn)
        self.admitted = self.emitted = 0

    def begin(self, epoch, base):
        self.epoch, self.base = epoch, base

    def end(self):
        self.epoch = 0

    def receive(self, m):
        self.cpus.take(m)

    def thread(self):
        return Thread(self.world.rng, self.world.slow_stores)

    # --- one RESULT

    def turn(self, m, cpu):
        t = self.thread()
        epoch = self.epoch        # of the row, read once
        if not epoch or not self.rank.admits(m):
            return
        if m.epoch != epoch and self.rules.old_results_are_refused:
            return
        self.admitted += 1
        if (yield from self.deliver(t, m, epoch, cpu)):
            yield from self.carry(t, m, epoch)
        t.flush()

    def deliver(self, t, m, epoch, cpu):
        """True if the RESULT is new to the rank."""
        rules, array = self.rules, self.array
        cell = array.at(m.chunk)
        name = (epoch, m.chunk)
        yield
        if not rules.xdp_never_waits:
            yield from self.wait(t, cell)
        if rules.delivery_is_claimed:
            if not t.swap(cell, "st", name + (SENT,), name + (WRITING,)):
                return False
        elif t.load(cell, "st") != name + (SENT,):
            return False
        yield
        # A rank that lies about its own cells only harms itself.
        if (rules.result_fits and self.world.judges_sums and
                t.load(cell, "shape") != m.shape):
            t.exchange(cell, "st", name + (SENT,))
            return False
        t.store(cell, "lo", m.value)
        yield
        t.store(cell, "hi", m.value)
        t.store(cell, "shape", m.shape)
        t.store(cell, "push", m.push)
        array.count[cpu] += 1
        t.store(cell, "took", self.net.now - cell.when
                if is_stamped(m.chunk) else None)
        if rules.result_is_exchanged:
            t.exchange(cell, "st", name + (RESULT,))
        else:
            t.store(cell, "st", name + (RESULT,))
        yield
        self.wake(t, cpu)
        return True

    def wait(self, t, cell):
        """Without a rule: until whoever writes has done."""
        steps = 0
        while t.load(cell, "st")[2] == WRITING:
            steps += 1
            if steps > STEPS_MAX:
                self.world.fail("escape", "waits for a rank's word")
            yield

    def wake(self, t, cpu):
        array = self.array
        if t.load(array, "armed")[cpu] and (array.count[cpu] >=
                                            array.wake_at[cpu]):
            armed = list(array.armed)
            armed[cpu] = False
            array.armed = armed
            self.rank.ring()

    # --- the GRAD that it lets go

    def distance(self, t):
        d = t.load(self.array, "dist")
        if self.rules.distance_is_bounded:
            d = min(max(d, 0), self.window)
        return d

    def held(self, t, chunk, epoch):
        """RESULT of the chunk is in its cell, or it was before the epoch."""
        return (serial_diff(chunk, self.base) < 0 or
                t.load(self.array.at(chunk), "st") == (epoch, chunk, RESULT))

    def carry(self, t, m, epoch):
        dist = self.distance(t)
        yield
        if not dist:
            self.rank.ring()      # it sends all by socket
            return
        used = False
        for p in self.places(m.chunk, dist):
            cell, ready = self.array.at(p), (epoch, p, READY)
            if t.load(cell, "st") != ready:
                continue
            yield
            if not self.may_go(t, p, dist, epoch):
                continue
            if used:
                self.rank.ring()
            else:
                used = yield from self.take(t, p, cell, ready, m)

    def places(self, chunk, dist):
        """What a RESULT lets go, or let wait although D is smaller than W."""
        yield add(chunk, dist)
        if dist != self.window and self.rules.second_look:
            yield add(chunk, self.window)

    def may_go(self, t, p, dist, epoch):
        return ((self.held(t, add(p, -self.window), epoch) or
                 not self.rules.window_is_checked) and
                self.held(t, add(p, -dist), epoch))

    def take(self, t, p, cell, ready, m):
        """Win the cell, and answer with its GRAD. True: the frame is used. If the rank
        has sent the GRAD again meanwhile, and RESULT has come, none leaves."""
        size = t.load(cell, "size")
        yield
        if self.rules.long_chunk_is_left and self.exceeds(size, m):
            self.rank.ring()
            return False
        if is_stamped(p):
            t.store(cell, "when", self.net.now)
        if self.rules.cell_is_won:
            if not t.swap(cell, "st", ready, ready[:2] + (SENT,)):
                return False
        else:
            t.store(cell, "st", ready[:2] + (SENT,))
        yield
        if self.world.steals and self.world.rng.random() < self.world.steals:
            yield (self.world.rng.randint(30, 200),)
        shape = t.load(cell, "shape")
        push, mask = t.load(cell, "push"), t.load(cell, "mask")
        lo = t.load(cell, "lo")
        yield
        hi = t.load(cell, "hi")
        if (t.load(cell, "st") != ready[:2] + (SENT,) and
                self.rules.frame_is_checked):
            return True
        if not self.rules.field_is_read_once:
            size = t.load(cell, "size")
        if self.rules.fields_are_bounded and not bounded(shape):
            return False
        value = self.world.bits(shape, torn(lo, hi))
        self.emit(self.rank.grad(ready[0], p, False, bool(push), shape, value,
                                 size > 0, mask), m, size)
        return True

    def exceeds(self, size, m):
        return size < 0 or size > self.world.frame_size(m)

    def emit(self, grad, m, size):
        """The frame leaves. Its header is of the row and of the RESULT."""
        self.emitted += 1
        self.rank.carried += 1
        self.world.on_carry(self, grad, m, size)
        self.world.on_first(self.rank, grad.epoch, grad.chunk)
        self.rank.send_message(grad)


def bounded(shape):
    """Are operation and format known?"""
    return shape is not None and shape[:2] in KNOWN
