# SPDX-License-Identifier: BSD-2-Clause
"""The PS (trib-ps): completes sums and answers resends."""

from net import GRAD, NEED, RESULT, TORN, serial_diff
from pool.auth import ALL, proves_up, secret, signed
from pool.packet import PROBE, Packet
from pool.relay import merge

NEED_PACE = 30    # least time between NEEDs for a chunk
LEASE = 500       # time that a rank is served directly after its last PROBE


class Chunk:
    """State of one chunk at the PS."""

    __slots__ = ("epoch", "chunk", "workers", "shape", "value", "push",
                 "done", "asks", "asked_at")

    def __init__(self, m):
        self.epoch = m.epoch
        self.chunk = m.chunk
        self.workers = 0
        self.shape = None
        self.value = None
        self.push = False
        self.done = False
        self.asks = 0
        self.asked_at = -NEED_PACE


class Row:
    """One (job, tree) at the PS. Only the plan survives a restart: the job, its
    multicast group and the addresses of its workers."""

    def __init__(self, job):
        self.job = job
        self.window = job.window
        self.group = []        # relays and workers right below the PS
        self.forget()

    def forget(self):
        self.epoch = None      # the newest epoch in a packet
        self.chunks = {}
        self.leases = {}


class Server:
    def __init__(self, world):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.rows = {}
        self.gradients = 0     # received GRADs; relays should reduce them

    def restart(self):
        for row in self.rows.values():
            row.forget()

    def receive(self, m):
        row = self.rows.get(m.row())
        if row is None or not m.up or not proves_up(self.rules, m):
            return
        if not self.is_current(row, m.epoch):
            return
        if m.mask == TORN and self.rules.ps_checks_mask:
            return
        if m.type == PROBE:
            row.leases[m.child] = self.net.now + LEASE
            return
        z = self.find(row, m)
        self.gradients += m.type == GRAD
        if z is None:
            return
        if m.type == GRAD:
            self.on_grad(row, z, m)
        elif m.type == NEED:
            self.on_ask(row, z, m)
        elif m.type == RESULT:
            if not z.done and self.rules.ps_takes_results:
                z.shape, z.value, z.push = m.shape, m.value, m.push
                self.complete(row, z)

    def is_current(self, row, epoch):
        age = 1 if row.epoch is None else serial_diff(epoch, row.epoch)
        if age > 0:
            row.epoch = epoch
        return age >= 0 or not self.rules.ps_keeps_newest_epoch

    def find(self, row, m):
        """The chunk's place; None if a newer chunk has it."""
        windows = 2 if self.rules.ps_keeps_two_windows else 1
        i = m.chunk & windows * row.window - 1
        z = row.chunks.get(i)
        if z and z.epoch == m.epoch:
            age = serial_diff(m.chunk, z.chunk)
            if age < 0 and self.rules.ps_drops_stale:
                return None
            if not age:
                return z
        z = row.chunks[i] = Chunk(m)
        return z

    def on_grad(self, row, z, m):
        rules = self.rules
        if z.done:
            if m.resend:
                self.answer(row, z, m)
            return
        if z.workers and z.shape != m.shape and rules.ps_compares_shape:
            return
        common = z.workers & m.workers
        if not common or not rules.ps_merges_disjoint_only:
            merge(z, m)
        elif (common == z.workers != m.workers and
              rules.superset_replaces):
            z.workers, z.value, z.push = m.workers, m.value, m.push
        elif m.resend:
            self.ask(row, z, m)
        if z.workers == row.job.everybody:
            self.complete(row, z)

    def on_ask(self, row, z, m):
        if z.done:
            self.answer(row, z, m)
            return
        if not z.workers >> m.child & 1:
            self.unicast(row, m.child, self.need(row, z))
        self.ask(row, z, m)

    def answer(self, row, z, m):
        if self.rules.finished_resend_is_answered:
            self.unicast(row, m.child, self.result(row, z))

    def complete(self, row, z):
        z.done = True
        result = self.result(row, z)
        self.multicast(row, result)
        if not self.rules.ps_keeps_result:
            del row.chunks[z.chunk & 2 * row.window - 1]

    def result(self, row, z):
        m = Packet(RESULT, z.epoch, z.chunk, push=z.push, shape=z.shape,
                   value=z.value, job=row.job.number, tree=row.job.tree)
        m.auth = secret(self.rules, m, ALL)
        return m

    def ask(self, row, z, m):
        """Send NEED to a worker whose values are missing; twice as many each
        time. The sender of m lacks the RESULT, so it is not asked."""
        if (self.net.now - z.asked_at < NEED_PACE or
                not self.rules.ps_asks):
            return
        z.asked_at = self.net.now
        count = 1 << z.asks
        if self.rules.need_reaches_ever_more:
            z.asks += 1
        have = z.workers | 1 << m.child
        lacking = [r for r in range(row.job.size) if not have >> r & 1]
        for rank in lacking[:count]:
            self.unicast(row, rank, self.need(row, z))

    def need(self, row, z):
        return Packet(NEED, z.epoch, z.chunk, truth=z.workers,
                      job=row.job.number, tree=row.job.tree)

    def multicast(self, row, m):
        for port in row.group:
            self.net.send(port, m)
        for rank, end in row.leases.items():
            if end > self.net.now and self.rules.lease_is_served:
                self.unicast(row, rank, m)

    def unicast(self, row, rank, m):
        if m.type == NEED:
            m.auth = signed(m, rank)
        self.net.send(row.job.workers[rank], m)
