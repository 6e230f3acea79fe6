# SPDX-License-Identifier: BSD-2-Clause
"""The XDP program of a worker's host: delivers RESULT c into a rank's cell and turns
the same frame into the GRAD of a cell that the rank has filled.

Every yield is a place where another CPU, or the rank, may run.
"""

from collections import deque

from net import GRAD, RESULT as RESULT_TYPE, Msg, serial_diff
from reflex.memory import (BOUND, READY, RESULT, SENT, WRITING, Task, Thread,
                           add, torn)
from stream import SHAPE

KNOWN = frozenset(SHAPE.values())
STEPS_MAX = 60


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
        self.busy = {}        # CPU -> RESULTs that wait for it
        self.admitted = self.emitted = 0
        self.dist = None      # that the host row sets; None: the rank's word

    def begin(self, epoch, base):
        self.epoch, self.base = epoch, base

    def end(self):
        self.epoch = 0

    def receive(self, m):
        if m.epoch != self.epoch and self.rules.old_results_are_refused:
            return
        if not self.epoch or not self.rank.admits(m):
            return
        self.admitted += 1
        self.queue(self.world.cpu_of(m.chunk), m)

    def queue(self, cpu, m):
        """A CPU runs one program at a time."""
        waiting = self.busy.setdefault(cpu, deque())
        waiting.append(m)
        if len(waiting) == 1:
            self.next(cpu)

    def next(self, cpu):
        task = Task(self.world, self.turn(self.busy[cpu][0], cpu),
                    lambda: True, self.world.xdp_pace)
        task.done = lambda: self.ended(cpu)
        task.run()

    def ended(self, cpu):
        self.busy[cpu].popleft()
        if self.busy[cpu]:
            self.next(cpu)

    def thread(self):
        return Thread(self.world.rng, self.world.slow_stores)

    # --- one RESULT

    def turn(self, m, cpu):
        t = self.thread()
        if (yield from self.deliver(t, m, cpu)):
            yield from self.carry(t, m, cpu)
        t.flush()

    def deliver(self, t, m, cpu):
        """True if the RESULT is new to the rank."""
        rules, array = self.rules, self.array
        cell = array.at(m.chunk)
        name = (self.epoch, m.chunk)
        yield
        if rules.delivery_is_claimed:
            if not t.swap(cell, "st", name + (SENT,), name + (WRITING,)):
                return False
        elif t.load(cell, "st") != name + (SENT,):
            return False
        yield
        t.store(cell, "lo", m.value)
        yield
        t.store(cell, "hi", m.value)
        t.store(cell, "shape", m.shape)
        t.store(cell, "push", m.push)
        array.count[cpu] += 1
        same = t.load(cell, "cpu") == cpu
        t.store(cell, "age", array.count[cpu] - cell.stamp if same else None)
        t.store(cell, "cpu", cpu)
        if rules.result_is_exchanged:
            t.exchange(cell, "st", name + (RESULT,))
        else:
            t.store(cell, "st", name + (RESULT,))
        yield
        self.wake(t, m, cpu)
        return True

    def wake(self, t, m, cpu):
        array = self.array
        if array.wanted == m.chunk and self.rules.wanted_chunk_rings:
            array.wanted = None
            self.rank.ring()
        elif array.armed[cpu] and array.count[cpu] >= array.wake_at[cpu]:
            array.armed[cpu] = False
            self.rank.ring()

    # --- the GRAD that it lets go

    def distance(self, t):
        if self.dist:
            return self.dist
        d = t.load(self.array, "dist")
        if self.rules.distance_is_bounded:
            d = min(max(d, 1), self.window) if isinstance(d, int) else 1
        return d

    def held(self, t, chunk):
        """RESULT of the chunk is in its cell, or it was before the epoch."""
        return (serial_diff(chunk, self.base) < 0 or
                t.load(self.array.at(chunk), "st") ==
                (self.epoch, chunk, RESULT))

    def carry(self, t, m, cpu):
        dist = self.distance(t)
        yield
        places = [add(m.chunk, dist)]
        if dist != self.window and self.rules.second_look:
            places.append(add(m.chunk, self.window))
        for p in places:
            cell = self.array.at(p)
            ready = (self.epoch, p, READY)
            if t.load(cell, "st") != ready:
                continue
            yield
            if not self.may_go(t, p, dist):
                continue
            if (yield from self.take(t, p, cell, ready, m, cpu)):
                return

    def may_go(self, t, p, dist):
        return ((self.held(t, add(p, -self.window)) or
                 not self.rules.window_is_checked) and
                self.held(t, add(p, -dist)))

    def take(self, t, p, cell, ready, m, cpu):
        """Win the cell, and answer with its GRAD. True: the frame is used."""
        size = t.load(cell, "size")
        yield
        if self.rules.long_chunk_is_left and self.exceeds(size, m):
            self.rank.ring()
            return False
        t.store(cell, "stamp", self.array.count[cpu])
        t.store(cell, "cpu", cpu)
        if not p & 15:
            t.store(cell, "when", self.net.now)
        if self.rules.cell_is_won:
            if not t.swap(cell, "st", ready, ready[:2] + (SENT,)):
                return False
        else:
            t.store(cell, "st", ready[:2] + (SENT,))
        yield
        shape = t.load(cell, "shape")
        push, mask = t.load(cell, "push"), t.load(cell, "mask")
        lo = t.load(cell, "lo")
        yield
        hi = t.load(cell, "hi")
        if not self.rules.field_is_read_once:
            size = t.load(cell, "size")
        self.emit(p, shape, torn(lo, hi), push, mask, size)
        return True

    def exceeds(self, size, m):
        return (not isinstance(size, int) or size < 0 or
                size > self.world.frame_size(m))

    def emit(self, p, shape, value, push, mask, size):
        """The frame leaves: header fields are of the row and of the RESULT."""
        if self.rules.fields_are_bounded and not bounded(shape):
            return
        self.emitted += 1
        self.rank.carried += 1
        self.send(Msg(GRAD, self.epoch, p, True, self.rank.child,
                      push=bool(push), shape=shape, value=value,
                      room=size > 0, mask=mask if value is not None else 0))

    def send(self, m):
        self.world.on_carry(self, m)
        self.rank.send_message(m)


def bounded(shape):
    """Are operation and format known, and the scale a number?"""
    return (isinstance(shape, tuple) and len(shape) == 3 and
            shape[:2] in KNOWN and isinstance(shape[2], int))
