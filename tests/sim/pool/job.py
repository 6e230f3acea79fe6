# SPDX-License-Identifier: BSD-2-Clause
"""One (job, tree): its plan, its stream, and the oracle for its RESULTs. Its
workers see it as their world."""

from pool.worker import PoolWorker
from stream import Values, make_stream


class Job:
    worker_class = PoolWorker
    ahead = 1

    def __init__(self, world, number, tree):
        rng = world.rng
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.scenario = world.scenario
        self.number = number
        self.tree = tree
        self.fail = world.fail
        self.rto, self.rto_max = world.rto, world.rto_max
        self.no_timeout = world.no_timeout
        self.local = world.local
        self.heartbeat = self.timeout = 1000000
        self.detach_time = world.detach_time
        self.window = rng.choice((1, 2, 4, 4, 8))
        self.base = rng.choice((0, (1 << 32) - rng.randint(1, 20)))
        self.cap = rng.choice((0, 0, 1, 2, 3))
        self.direct = rng.random() < 0.5  # workers reach the PS without a relay
        self.workers = []
        self._values = {}
        self._results = {}

    def set_stream(self, least):
        self.size = len(self.workers)
        self.everybody = (1 << self.size) - 1
        self.stream = make_stream(self.world.rng, least, self.size,
                                  ahead=self.ahead)
        self.length = len(self.stream)

    def add_worker(self, path, label):
        w = self.worker_class(self, len(self.workers), path, label)
        self.workers.append(w)
        return w

    def values(self, epoch):
        if epoch not in self._values:
            seed = self.world.seed * 64 + self.number * 8 + self.tree
            self._values[epoch] = Values(seed, self.stream, self.size, epoch)
        return self._values[epoch]

    def check(self, worker, index, shape, value):
        """Check a RESULT that a worker takes."""
        name = f"{self.number}.{self.tree} chunk {index}"
        first = self._results.setdefault((worker.epoch, index), value)
        if first != value:
            self.fail("differ", f"{name}: {first} and {value}")
        if index >= worker.total:
            good = value is None
        else:
            values = worker.values
            good = (value == values.sum(index) and shape is not None and
                    shape[2] == values.scale(index))
        if not good:
            self.fail("wrong", f"{name} at {worker.rank}: {value}")

    def left(self, worker):
        self.world.ends.append(self.net.now)
        self.scenario.on_left(worker)

    def failed(self, worker):
        self.fail("false-alarm", f"{worker.rank}: {worker.error}")
