# SPDX-License-Identifier: BSD-2-Clause
"""One run: a random tree, a scenario, and the checks at the end."""

import random

from leaf import Leaf
from net import Net
from relay import Relay
from rules import Rules
from stream import Values, bits_of, make_stream
from worker import Worker

# Ways for a run to fail.
VERDICTS = {
    "wrong": "a RESULT differs from the sum of all ranks' values",
    "differ": "two ranks hold different RESULTs of one chunk",
    "hang": "a rank is not done at the time limit",
    "slow": "done, but much later than the rules allow",
    "false-alarm": "an error, but no rank died",
    "unnamed": "an error that does not name the rank that died",
    "unfetched": "a RESULT exists, and a live rank cannot get it",
    "overwritten": "a cell was overwritten before its rank consumed it",
    "echo": "a packet goes where it came from, or twice",
    "noise": "an answer to a NEED that did not name the sender",
    "stall": "a time-out was needed, but nothing was lost",
    "thrash": "epochs start and end without limit",
}

MAX_WORKERS = 12


class Failed(Exception):
    def __init__(self, verdict, text):
        super().__init__(f"{verdict}: {text}")
        self.verdict = verdict


class World:
    def __init__(self, seed, rules, scenario):
        self.seed = seed
        self.rules = rules
        self.no_timeout = False   # a time-out is a failure
        self.rng = rng = random.Random(seed * 1000003 + 17)
        lossy = rng.choice((0.01, 0.05, 0.05, 0.1, 0.2))
        self.net = Net(rng, lossy, rng.choice((0, 0.05, 0.2)))
        self.window = rng.choice((1, 1, 2, 4))
        self.base = rng.choice((0, (1 << 32) - rng.randint(1, 20)))
        self.rto, self.rto_max = 60, 400
        self.timeout = 4000
        self.detach_time = 4000
        self.heartbeat = self.timeout // 16
        self.limit = 60000
        self.mapped_share = rng.choice((0, 0.5, 1))
        self.resets = rng.randint(0, 8)
        self.reset_span = 3000
        self.depth = rng.randint(1, 3)
        self.fan = rng.randint(1, 5)
        self.min_length = rng.randint(8, 30)
        self.floats = False       # a job of floats
        self.local = False        # ranks choose masks of their own
        self.ahead = 1            # groups between exponents and their data
        self.relays = []
        self.workers = []
        self.made = set()         # chunks with a RESULT at the root
        self._values = {}
        self._results = {}
        self.scenario = scenario(self)
        self.scenario.shape()
        self.build()
        self.size = len(self.workers)
        self.stream = make_stream(rng, self.min_length, self.size,
                                  self.floats, self.ahead)
        self.length = len(self.stream)
        for _ in range(self.resets):
            self.net.at(rng.randint(50, self.reset_span), self.reset)
        for w in self.workers:
            self.net.at(self.scenario.begins(w), w.attach)
        self.scenario.script()

    # --- the tree

    def build(self):
        root = Relay(self)
        self.relays.append(root)
        self.grow_tree(root, self.depth - 1)

    def grow_tree(self, relay, depth):
        rng = self.rng
        host = None
        least = min(2, self.fan) if relay.parent is None else 1
        for _ in range(rng.randint(least, self.fan)):
            room = len(self.workers) < MAX_WORKERS
            if depth and rng.random() < 0.8:
                child = Relay(self, relay)
                self.relays.append(child)
                child.up_child = relay.add_child(child, child, -1)
                self.grow_tree(child, depth - 1)
            elif room or not relay.children:
                host = self.add_worker(relay, host)

    def add_worker(self, relay, host):
        """host: a Leaf that may get a second rank, or None."""
        rng = self.rng
        w = Worker(self, len(self.workers), relay)
        if rng.random() < self.mapped_share:
            if not host or rng.random() < 0.5:
                host = Leaf(self, relay)
            w.leaf = host
            host.workers.append(w)
        w.child = relay.add_child(w.leaf or w, w, w.rank)
        if w.leaf and w.leaf.up_child < 0:
            w.leaf.up_child = w.child
        w.slow = rng.choice((1, 1, 1, 20))
        w.lazy = rng.choice((1, 5, 30))
        self.workers.append(w)
        return host

    # --- events

    def reset(self):
        self.rng.choice(self.relays).wipe()

    def values(self, epoch):
        if epoch not in self._values:
            # Values differ from epoch to epoch, and from one life of the
            # cluster to the next.
            self._values[epoch] = Values(self.seed * 64 + self.scenario.era,
                                         self.stream, self.size, epoch)
        return self._values[epoch]

    def forget_values(self):
        self._values = {}
        self._results = {}

    def fail(self, verdict, text):
        raise Failed(verdict, f"{text} (tick {self.net.now})")

    def failed(self, worker):
        self.scenario.on_error(worker)

    def left(self, worker):
        self.scenario.on_left(worker)

    def check(self, worker, index, shape, value):
        """Check a RESULT that a worker takes."""
        key = worker.epoch, index
        first = self._results.setdefault(key, value)
        if bits_of(first) != bits_of(value):
            self.fail("differ", f"chunk {index}: {first} and {value}")
        if index >= worker.total:
            good = value is None
        else:
            values = worker.values
            good = (value == values.sum(index) and shape is not None and
                    shape[2] == values.scale(index))
        if not good:
            self.fail("wrong", f"chunk {index} at {worker.rank}: {value}")

    def run(self):
        """Returns None, or the verdict and its text."""
        try:
            self.net.run(self.limit, self.scenario.finished)
            self.scenario.judge()
        except Failed as e:
            return e.verdict, str(e)
        return None


def run(seed, scenario, without=None):
    return World(seed, Rules(without), scenario).run()
