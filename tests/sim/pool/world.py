# SPDX-License-Identifier: BSD-2-Clause
"""One run: racks with relays, a core, a PS, and jobs that share the pools."""

import random

from net import Net
from pool.job import Job
from pool.relay import Relay, Row
from pool.rules import Rules
from pool.server import Row as ServerRow
from pool.server import Server
from world import VERDICTS as DEDICATED_VERDICTS
from world import Failed

# Ways for a run to fail.
VERDICTS = DEDICATED_VERDICTS | {
    "overdrawn": "a job holds more slots of a pool than its cap",
}


class LongNet(Net):
    """Some packets arrive long after their chunk is done."""

    ancient = 0.1     # share of the late ones

    def delay(self, late):
        d = super().delay(late)
        if d > 20 and self.rng.random() < self.ancient:
            d += self.rng.randint(300, 6000)
        return d


class World:
    job_class = Job

    def __init__(self, seed, rules, scenario):
        self.seed = seed
        self.rules = rules
        self.rng = rng = random.Random(seed * 1000003 + 29)
        self.net = LongNet(rng, rng.choice((0.01, 0.05, 0.05, 0.1, 0.2)),
                       rng.choice((0, 0.05, 0.2)))
        self.no_timeout = False
        self.rto, self.rto_max = 60, 400
        self.detach_time = 30 * self.rto_max
        self.limit = 60000
        self.resets = rng.randint(0, 6)
        self.restarts = rng.choice((0, 0, 1, 2))
        self.span = 2500          # time in which they happen
        self.slots = rng.choice((1, 1, 2, 4, 8, 16))
        self.racks = rng.randint(1, 3)
        self.jobs_n = rng.randint(1, 3)
        self.ranks = 5            # limit of ranks of a job
        self.least = rng.randint(6, 20)
        self.local = False        # ranks choose masks of their own
        self.bare = 0.1           # share of racks without a relay
        self.relays = []
        self.jobs = []
        self.ends = []            # when each worker left
        self.scenario = scenario(self)
        self.scenario.shape()
        self.server = Server(self)
        for i in range(self.racks + 1):     # the last one is the core
            self.relays.append(Relay(self, i + 1, self.slots))
        for j in range(self.jobs_n):
            self.plan(j)
        for _ in range(self.resets):
            self.net.at(rng.randint(20, self.span), self.reset)
        for _ in range(self.restarts):
            self.net.at(rng.randint(20, self.span), self.server.restart)
        for job in self.jobs:
            start = rng.randint(0, 60)
            for w in job.workers:
                self.net.at(start + rng.randint(0, 9), w.begin, 1)
        self.scenario.script()

    # --- plans

    def plan(self, j):
        """Add a job, or a second tree of the job before."""
        rng = self.rng
        number, tree = j, 0
        if j and rng.random() < 0.3:
            number, tree = self.jobs[-1].number, self.jobs[-1].tree + 1
        job = self.job_class(self, number, tree)
        self.jobs.append(job)
        self.scenario.shape_job(job)
        tor = rng.randrange(self.racks)
        bare = [rng.random() < self.bare for _ in range(self.racks)]
        through_core = rng.random() < 0.4
        skips = rng.choice((0, 0, 0.5))
        for _ in range(rng.randint(2, self.ranks)):
            rack = rng.randrange(self.racks)
            path = [] if bare[rack] else [self.relays[rack]]
            if rack != tor:
                if through_core:
                    path.append(self.relays[-1])
                if not bare[tor]:
                    path.append(self.relays[tor])
            label = 0
            if rng.random() < skips and path:
                label = rng.randrange(len(path) + 1)
            w = job.add_worker(path, label)
            w.slow = rng.choice((1, 1, 1, 20))
        job.set_stream(self.least)
        self.write_rows(job)

    def write_rows(self, job):
        top = self.server.rows[job.number, job.tree] = ServerRow(job)
        for w in job.workers:
            below = w
            for i, relay in enumerate(w.path):
                parent, number = self.server, 0
                if i + 1 < len(w.path):
                    parent = w.path[i + 1]
                    number = parent.number
                row = relay.rows.setdefault(
                    (job.number, job.tree), Row(job, 0, parent, number))
                if i >= w.label:
                    row.mask |= 1 << w.rank
                if below not in row.group:
                    row.group.append(below)
                below = relay
            if below not in top.group:
                top.group.append(below)

    # --- events

    def reset(self):
        rng = self.rng
        what = rng.choice(((True, True), (True, False), (False, True)))
        rng.choice(self.relays).wipe(*what)

    def took_slot(self, relay, row):
        self.scenario.on_slot(relay, row)

    def fail(self, verdict, text):
        raise Failed(verdict, f"{text} (tick {self.net.now})")

    def workers(self):
        return [w for job in self.jobs for w in job.workers]

    def run(self):
        """Returns None, or the verdict and its text."""
        try:
            self.net.run(self.limit, self.scenario.finished)
            self.scenario.judge()
        except Failed as e:
            return e.verdict, str(e)
        return None

    def costs(self):
        """Costs of a good run: per chunk, or in ticks."""
        chunks = sum(job.length for job in self.jobs)
        return {
            "packets": self.server.gradients / chunks,
            "time": sum(self.ends) / max(1, len(self.ends)),
            "resends": sum(sum(w.attempts.values())
                           for w in self.workers()) / chunks,
        }


def run(seed, scenario, without=None):
    return World(seed, Rules(without), scenario).run()


def measure(seed, scenario, without=None):
    """The costs, or None if the run failed."""
    world = World(seed, Rules(without), scenario)
    return None if world.run() else world.costs()
