# SPDX-License-Identifier: BSD-2-Clause
"""Worlds that measure: a star of ranks, with the time that programs take. One unit
is a microsecond.

Bare: all programs share two CPUs, and packets need no time between them. Wires: packets
need time, and programs none.
"""

from collections import deque

from net import GRAD, RESULT, Net
from reflex.memory import Task
from reflex.rules import Rules
from reflex.world import World
from relay import Relay
from scenarios import Scenario
from stream import GROUP, INT, Chunk, add_groups

# Round numbers, measured on two cores at MTU 1500.
COST_ADD = 0.15      # a relay adds a GRAD
COST_COPY = 0.25     # it sends one copy down
COST_TURN = 0.45     # a worker's XDP program: delivers, and answers with a GRAD
COST_SMALL = 0.3     # any other packet
COST_READ, COST_FILL = 0.2, 0.35
COST_SEND, COST_CALL, COST_WAKE = 0.7, 1.0, 5.0


class Cpus:
    """Each runs packets before threads."""

    def __init__(self, net, n):
        self.net = net
        self.packets = [deque() for _ in range(n)]
        self.threads = deque()
        self.busy = [False] * n
        self.used = 0.0

    def packet(self, cpu, cost, fn, *args):
        self.packets[cpu].append((cost, fn, args))
        self.next(cpu)

    def thread(self, cost, fn):
        self.threads.append((cost, fn, ()))
        for cpu, busy in enumerate(self.busy):
            if not busy:
                self.next(cpu)
                return

    def next(self, cpu):
        if self.busy[cpu]:
            return
        mine = self.packets[cpu] or self.threads
        if not mine:
            return
        cost, fn, args = mine.popleft()
        self.busy[cpu] = True
        self.used += cost
        self.net.at(cost, self.end, cpu, fn, args)

    def end(self, cpu, fn, args):
        self.busy[cpu] = False
        fn(*args)
        self.next(cpu)


class BareNet(Net):
    """Veths: the CPU that a chunk is at home on runs what receives it."""

    def __init__(self, rng, loss, world):
        super().__init__(rng, loss, 0)
        self.late = self.late_copy = 0
        self.world = world
        self.cpus = Cpus(self, world.cpus)
        self.lost = set()

    def is_lost(self, dst, m):
        if m.type not in (GRAD, RESULT) or self.rng.random() >= self.loss:
            return False
        self.lost.add((m.child if m.up else dst.name, m.chunk))
        return True

    def send(self, dst, m):
        if not self.is_lost(dst, m):
            self.arrive(dst, m)

    def arrive(self, dst, m):
        if m.type == GRAD:
            cost = COST_ADD
            z = dst.slots.get(m.chunk & dst.mask)
            if z and z.chunk == m.chunk and z.seen | 1 << m.child == dst.full:
                cost += COST_COPY * len(dst.children)
        else:
            cost = COST_TURN if m.type == RESULT else COST_SMALL
        self.cpus.packet(self.world.cpu_of(m.chunk), cost, dst.receive, m)


class WireNet(BareNet):
    """Wires of a rate, with a delay."""

    def __init__(self, rng, loss, world):
        super().__init__(rng, loss, world)
        self.free = {}

    def send(self, dst, m):
        wire = ("up", m.child) if m.up else ("down", dst.name)
        begin = max(self.now, self.free.get(wire, 0))
        size = 1 if m.type in (GRAD, RESULT) else 0.1   # of a full packet
        end = self.free[wire] = begin + size * self.world.packet_time
        if not self.is_lost(dst, m):
            self.at(end - self.now + self.world.delay, dst.receive, m)


class TimedTask(Task):
    """A thread whose steps need a CPU; an XDP program, which has one."""

    def pauses(self, what):
        if what:
            self.world.net.cpus.thread(what, self.run)
        return bool(what)

    def ring(self, delay):
        if self.asleep and delay:
            self.asleep = False
            self.world.net.cpus.thread(delay, self.run)
        else:
            super().ring(delay)


class Bench(World):
    """Four ranks sum one long message."""

    net_class = BareNet
    ranks, chunks = 4, 600
    window, dist, cells = 16, 16, 512
    loss = 0.0
    bar = 0.0        # least share of the speed without loss
    slowest = 60     # microseconds a chunk: slower counts as a hang
    long = 1200      # chunks for the bar

    def __init__(self, seed, rules, loss):
        self.loss = loss
        self.begun = None
        self.useful = 0
        super().__init__(seed, rules, Steady)
        self.stream = self.make_chunks()
        self.length = len(self.stream)
        self.limit = self.length * self.slowest

    def build(self):
        shape = type(self)
        self.cpus = 2
        net = self.net_class(self.rng, 0, self)
        net._queue, net._count = self.net._queue, self.net._count
        self.net = net
        self.window, self.dist, self.cells = (shape.window, shape.dist,
                                              shape.cells)
        self.cost_read, self.cost_fill = COST_READ, COST_FILL
        self.cost_call, self.cost_send = COST_CALL, COST_SEND
        self.cost_wake = COST_WAKE
        self.slow_stores = self.resets = self.base = 0
        self.timeout = self.heartbeat = 1000000000
        self.rto, self.rto_max, self.rto_least = 400, 20000, 50
        root = Relay(self)
        self.relays.append(root)
        self.add_ranks(root)
        for w in self.workers:
            w.lazy = 0

    def add_ranks(self, root):
        for _ in range(self.ranks):
            self.add_rank(root)

    def make_chunks(self):
        n = self.chunks
        return [Chunk(INT, -1, 0, 0, 0, i == n - 1, False) for i in range(n)]

    def cpu_of(self, chunk):
        return chunk >> 3 & 1

    def task(self, steps, alive, pace):
        return TimedTask(self, steps, alive, pace)

    def on_resend(self, rank, index):
        key = rank.rank, rank.wire(index)
        if key in self.net.lost:
            self.net.lost.remove(key)
            self.useful += 1
        else:
            rank.false_resends += 1

    def size_of(self, chunk, index):
        return 3

    def frame_size(self, m):
        return 3

    def costs(self):
        """Per chunk and rank; time per chunk, in microseconds."""
        ranks, n = self.workers, self.length * len(self.workers)
        return {
            "time": (self.net.now - self.begun) / self.length,
            "resends": sum(w.resends for w in ranks) / n,
            "false": sum(w.false_resends for w in ranks) / n,
            "wakes": sum(w.wakes for w in ranks) / n,
            "socket": sum(w.by_socket for w in ranks) / n,
        }


class Steady(Scenario):
    """The message is measured, not how ranks join."""

    def begins(self, _worker):
        return 0

    def finished(self):
        world = self.world
        if world.begun is None:
            if all(w.state == "running" and w.ready for w in world.workers):
                world.begun = world.net.now
                world.net.loss = world.loss
            return False
        return all(w.done >= world.length for w in world.workers)

    def judge(self):
        if not self.finished():
            self.world.fail("hang", f"{[w.done for w in self.world.workers]}")


class Lossy(Bench):
    """Two CPUs for all, 1 % of all packets lost: half of the speed at least."""

    loss, bar = 0.01, 0.5


class Worse(Bench):
    """The same with 5 %."""

    loss = 0.05


class Wired(Bench):
    """Wires of 500 Mb/s, 1 % of all packets lost."""

    net_class = WireNet
    packet_time, delay = 23.0, 30.0
    loss, bar = 0.01, 0.6
    slowest, long = 60, 600

    def task(self, steps, alive, pace):
        return Task(self, steps, alive, 0.1)


class Exponents(Bench):
    """One float sum, with exponents ahead of the data."""

    cells = 64

    def make_chunks(self):
        chunks = []
        ahead = 1
        if self.rules.exponents_run_ahead:
            ahead = self.cells // (GROUP + 1) + 1
        add_groups(chunks, 0, [GROUP] * (self.chunks // (GROUP + 1)), ahead)
        return chunks


class Bursts(Exponents, Wired):
    """The same on wires without loss: lanes start together, their round trips differ."""

    loss, bar = 0.0, 0.0


class Hosts(Bench):
    """Two hosts with two ranks each, that add up."""

    def add_ranks(self, root):
        for _ in range(2):
            self.add_host(root, 2)


class Uneven(Hosts):
    """The same, and the ranks of a host have different distances."""

    def dist_of(self, rank):
        return self.dist // (2 - rank.rank % 2)


BENCHES = {cls.__name__.lower(): cls for cls in (
    Lossy, Worse, Wired, Exponents, Bursts, Hosts, Uneven)}


def measure(seed, kind, without=None, loss=None):
    """The costs, or None if the run fails."""
    world = kind(seed, Rules(without), kind.loss if loss is None else loss)
    return None if world.run() else world.costs()


def share(kind, seeds):
    """Speed with loss, over the speed without."""
    both = [sum((measure(seed, kind, loss=loss) or {"time": float("inf")})["time"]
                for seed in range(seeds)) for loss in (0, kind.loss)]
    return both[0] / both[1]


def run(seed, kind, without=None):
    """None, or a verdict and its text."""
    bad = kind(seed, Rules(without), kind.loss).run()
    if bad:
        return bad
    got = 1
    if kind.bar:
        got = share(type("Long", (kind,), {"chunks": kind.long}), 1)
    return ("costly", f"{got:.2f} of the speed") if got < kind.bar else None
