# SPDX-License-Identifier: BSD-2-Clause
"""Ranks of jobs on shared pools: the relays, the PS and the plain workers are those of
../pool."""

from net import GRAD
from pool.job import Job
from pool.packet import PS_NUMBER, Packet
from pool.worker import PoolWorker
from pool.world import World
from reflex.machines import Machines
from reflex.rank import Reflex


class PoolRank(Reflex, PoolWorker):
    def __init__(self, job, rank, path, label):
        self.ready = False
        super().__init__(job, rank, path, label)
        self.equip(job.window)

    def grad(self, epoch, chunk, resend, push, shape, value, room, mask):
        relay = PS_NUMBER
        if self.label < len(self.path):
            relay = self.path[self.label].number
        return Packet(GRAD, epoch, chunk, True, self.rank, resend, push, shape,
                      value, room, job=self.job.number, tree=self.job.tree,
                      workers=1 << self.rank, relay=relay,
                      mask=mask if value is not None else 0)

    def send_message(self, m):
        """By the way of tribd's row, which knows no dead relay."""
        self.sign(m)
        self.net.send(self.node(self.label if self.job.direct else 0), m)

    def transmit(self, chunk, resend, push, shape, value, room, mask):
        """By socket: as any worker of a shared pool. XDP counts no attempts."""
        index = self.index(chunk)
        if index not in self.unsent:
            self.attempts.setdefault(index, 0)
        if index in self.attempts:
            self.frozen[index] = shape, value, room
        PoolWorker.send_grad(self, index, resend)

    def choose_way(self):
        bypass = self.first_living() and self.rules.bypass_goes_by_socket
        self.array.dist = 0 if bypass else self.world.dist


def some_rank(job, rank, path, label):
    kind = PoolRank if job.rng.random() < 0.7 else PoolWorker
    return kind(job, rank, path, label)


class PoolJob(Machines, Job):
    worker_class = staticmethod(some_rank)

    def __init__(self, world, number, tree):
        self.rng = world.rng
        self.prepare()
        super().__init__(world, number, tree)

    def add_worker(self, path, label):
        if not self.workers:
            self.choose_cells()
        return super().add_worker(path, label)


class PoolWorld(World):
    job_class = PoolJob
