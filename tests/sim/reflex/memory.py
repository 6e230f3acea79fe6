# SPDX-License-Identifier: BSD-2-Clause
"""Cells that a rank and its host's XDP program share, and how CPUs see them.

A word of state is (epoch, chunk, state). Values are two halves, so that a copy made
while somebody writes is torn, and shows.
"""

from net import CHUNK_MASK

FREE, READY, SENT, WRITING, RESULT = "free", "ready", "sent", "writing", "result"
SLEEP = object()  # what a rank's steps yield when it waits for its ring


class Cell:
    """struct trib_cell: GRAD p of the rank, and later RESULT p."""

    __slots__ = ("st", "lo", "hi", "shape", "size", "push", "mask",
                 "when", "took")

    def __init__(self):
        self.st = (0, 0, FREE)
        self.lo = self.hi = None
        self.shape = None
        self.size = 0
        self.push = False
        self.mask = 0
        self.when = 0     # time of sending, if is_stamped()
        self.took = None  # from then to the RESULT


class Array:
    """The cells of one rank, and what it says to its XDP program."""

    def __init__(self, cells, cpus, dist):
        self.mask = cells - 1
        self.cells = [Cell() for _ in range(cells)]
        self.dist = dist              # D
        self.armed = [False] * cpus
        self.wake_at = [0] * cpus
        self.count = [0] * cpus       # RESULTs delivered; by XDP

    def at(self, chunk):
        return self.cells[chunk & self.mask]


def torn(lo, hi):
    """The value that two halves make."""
    if lo is hi or lo == hi:
        return lo
    if isinstance(lo, tuple) and isinstance(hi, tuple):
        return lo[:1] + hi[1:]
    whole = lo if lo is not None else hi
    if isinstance(whole, tuple):
        return tuple(x + 1 for x in whole)
    return whole + type(whole)(500001)


class Thread:
    """A CPU that runs one program. A plain store waits in a buffer, behind those
    before it, until the CPU exchanges a word or time passes; the CPU itself sees
    it at once (TSO, as on x86)."""

    __slots__ = ("stores", "rng", "slow")

    def __init__(self, rng, slow):
        self.stores = []
        self.rng = rng
        self.slow = slow          # share of stores that wait

    def load(self, where, name):
        for w, n, value in reversed(self.stores):
            if w is where and n == name:
                return value
        return getattr(where, name)

    def store(self, where, name, value):
        self.stores.append((where, name, value))
        if not self.slow or self.rng.random() >= self.slow:
            self.flush()

    def flush(self):
        for where, name, value in self.stores:
            setattr(where, name, value)
        self.stores.clear()

    def exchange(self, where, name, value):
        self.flush()
        old = getattr(where, name)
        setattr(where, name, value)
        return old

    def swap(self, where, name, old, new):
        """Compare and swap: true if the word was @old."""
        self.flush()
        if getattr(where, name) != old:
            return False
        setattr(where, name, new)
        return True


class Task:
    """Runs the steps of a program, with those of others between them."""

    def __init__(self, world, steps, alive, pace):
        self.world = world
        self.steps = steps
        self.alive = alive
        self.pace = pace
        self.asleep = False
        self.rung = False
        self.done = None      # called at the end

    def run(self, *_):
        while self.alive():
            what = next(self.steps, self)
            if what is self:
                break
            if what is SLEEP:
                if not self.rung:
                    self.asleep = True
                    return
                self.rung = False
            elif self.pauses(what):
                return
        self.steps.close()
        if self.done:
            self.done()

    def pauses(self, what):
        """True if others run first: then run() is called again."""
        rng = self.world.rng.random
        if what.__class__ is tuple:     # the CPU is taken away
            self.world.net.at(what[0], self.run)
            return True
        if rng() >= 0.4:
            return False
        late = rng() < self.world.preempted
        self.world.net.at(rng() * (100 if late else 1) * self.pace, self.run)
        return True

    def ring(self, delay):
        if self.asleep:
            self.asleep = False
            self.world.net.at(delay, self.run)
        else:
            self.rung = True


def is_stamped(chunk):
    """Every 16th chunk, of each lane in turn: a burst makes the last lanes slow."""
    return chunk & 15 == chunk >> 4 & 15


def add(chunk, n):
    return chunk + n & CHUNK_MASK
