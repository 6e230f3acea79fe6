# SPDX-License-Identifier: BSD-2-Clause
"""One run: a tree with ranks whose XDP programs send for them, and others."""

from net import serial_diff
from reflex.host import Host
from reflex.memory import RESULT, Task
from reflex.rank import Rank
from reflex.rules import Rules
from reflex.xdp import bounded
from stream import BARRIER, DETACH, EXP, SHAPE, mix
from world import VERDICTS as DEDICATED_VERDICTS
from world import World as Tree

VERDICTS = DEDICATED_VERDICTS | {
    "twice": "two first copies of one GRAD leave",
    "early": "a GRAD leaves although its rank lacks the RESULT a window before",
    "escape": "the XDP program sends what a rank has chosen, or too much",
}


class World(Tree):
    rank_class = Rank

    def __init__(self, seed, rules, scenario):
        self.share = 0.7          # of ranks with an XDP program that sends
        self.judges_sums = True
        self.host_share = 0.3     # of these, hosts with several ranks
        self.preempted = 0.01
        self.xdp_pace, self.rank_pace = 0.5, 1
        self.cpus = 1
        self.rto_least = 0        # of measured time-outs; 0: not measured
        self.slow_stores = 0.3
        self.cost_read = self.cost_fill = self.cost_call = self.cost_send = 0
        self.cost_wake = 1
        self.firsts = set()
        self.ready = False
        super().__init__(seed, rules, scenario)

    def build(self):
        rng = self.rng
        self.cells = max(8, self.window * rng.choice((2, 4, 8)))
        self.dist = rng.choice((self.window, self.window,
                                rng.randint(1, self.window)))
        self.cpus = rng.choice((1, 2, 3))
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
        w = self.rank_class(self, len(self.workers), relay)
        w.child = relay.add_child(w, w, w.rank)
        w.lazy = self.rng.choice((1, 5, 30))
        self.workers.append(w)
        return w

    def add_host(self, relay):
        host = Host(self, relay)
        self.relays.append(host)
        host.up_child = relay.add_child(host, host, -1)
        for _ in range(self.rng.randint(2, 3)):
            host.equip(self.add_rank(host))

    def task(self, steps, alive, pace):
        return Task(self, steps, alive, pace)

    def cpu_of(self, chunk):
        return (chunk >> 1) % self.cpus

    # --- sizes

    def size_of(self, chunk, index):
        """Units of a chunk's values."""
        if chunk.kind in (BARRIER, DETACH):
            return 0
        if chunk.kind == EXP:
            return 2
        return 1 + mix(index) % 3 if chunk.last else 3

    def frame_size(self, m):
        """Units that the frame of a RESULT has room for."""
        index = (m.chunk - self.base) & 0xFFFFFFFF
        if index >= self.length or m.value is None and not m.room:
            return 0
        return self.size_of(self.stream[index], index)

    # --- the oracle

    def on_resend(self, rank, index):
        """A rank sends a chunk again."""

    def on_carry(self, program, grad, m, size):
        """An XDP program answers RESULT m with a GRAD."""
        if not 0 < serial_diff(grad.chunk, m.chunk) <= self.window:
            self.fail("escape", f"{grad.chunk} for RESULT {m.chunk}")
        if program.emitted > program.admitted:
            self.fail("escape", "more GRADs than RESULTs")
        if not 0 <= size <= self.frame_size(m) or not bounded(grad.shape):
            self.fail("escape", f"{grad.chunk}: {size} {grad.shape}")

    def on_first(self, rank, epoch, chunk):
        """A GRAD leaves for the first time. Those of an older epoch count nowhere."""
        key = rank.rank, epoch, chunk
        if epoch != rank.epoch:
            return
        if key in self.firsts:
            self.fail("twice", f"{chunk} of {rank.rank}")
        self.firsts.add(key)
        index = rank.index(chunk)
        before = index - self.window
        if before >= rank.done and rank.state_of(before, rank.truth) != RESULT:
            self.fail("early", f"{chunk} of {rank.rank}")

    def bits(self, shape, value):
        """Values are bits: any of a rogue count as some of that format."""
        if self.judges_sums or shape is None:
            return value
        if shape[:2] == SHAPE[EXP]:
            return value if isinstance(value, tuple) else (7, 7, 7)
        return 7 if isinstance(value, tuple) else value

    def fail(self, verdict, text):
        if self.judges_sums or verdict == "escape":
            super().fail(verdict, text)


def run(seed, scenario, without=None):
    return World(seed, Rules(without), scenario).run()

