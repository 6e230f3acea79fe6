# SPDX-License-Identifier: BSD-2-Clause
"""What ranks with XDP programs need of a world: CPUs, sizes of chunks, and the oracle
of their GRADs."""

from net import serial_diff
from reflex.memory import RESULT, Task
from reflex.xdp import bounded
from stream import BARRIER, DETACH, EXP, GROUP, SHAPE, mix


class Machines:
    """Mixed into a world, or into a job of shared pools."""

    def prepare(self):
        self.preempted = 0.01     # share of steps after which a CPU is taken away
        self.steals = 0           # share of cells after whose winning that happens
        self.xdp_pace, self.rank_pace = 0.5, 1   # ticks of a step, at most
        self.slow_stores = 0.3
        self.cpus = 0             # of each host; 0: 1 to 3
        self.rto_least = 0        # of measured time-outs; 0: not measured
        self.cost_read = self.cost_fill = self.cost_call = self.cost_send = 0
        self.cost_wake = 1
        self.judges_sums = True
        self.firsts = set()

    def choose_cells(self):
        rng = self.rng
        self.cells = max(8, self.window * rng.choice((2, 4, 8)))
        self.dist = rng.choice((self.window, self.window,
                                rng.randint(1, self.window)))
        self.cpus = self.cpus or rng.choice((1, 2, 3))
        if self.rules.exponents_run_ahead:
            self.ahead = self.cells // GROUP + 1

    def dist_of(self, _rank):
        """D of a rank that begins."""
        return self.dist

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

