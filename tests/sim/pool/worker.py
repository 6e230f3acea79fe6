# SPDX-License-Identifier: BSD-2-Clause
"""A rank of a job on shared pools: its differences from dedicated pools.
Stream, window, frozen GRADs, retained RESULTs and detach are in worker.py."""

from net import GRAD, NEED, START, Msg
from pool.auth import DATA, proves_down, secret, signed
from pool.packet import PROBE, PS_NUMBER, Packet
from worker import Worker

TO_PS = 2          # attempt from which on only the PS takes the packet
PROBE_PACE = 50
PROBE_AGAIN = 200  # pace while a relay counts as dead
PROBES = 4         # unanswered probes of a dead relay


class PoolWorker(Worker):
    def __init__(self, job, rank, path, label):
        super().__init__(job, rank, None)
        self.job = job
        self.child = rank
        self.path = path       # relays from here to the PS
        self.label = label     # index in path of the relay that aggregates

    def begin(self, epoch):
        """START of the epoch; a rank in an older epoch drops that."""
        self.life += 1
        self.attempts = {}
        self.unanswered = [0] * len(self.path)
        self.answered = [0] * len(self.path)  # newest PROBE
        self.probed_at = -PROBE_PACE
        self.probing = False
        self.state = "joining"
        self.nonce = 0
        self.error = None
        self.on_start(Msg(START, epoch, run=True))

    def tick(self, life):
        """Liveness of ranks is not part of this model."""

    def say_alive(self):
        pass

    def send_leave(self):
        pass

    def leaf_bit_is_clear(self, m, index):
        """The PS sends NEED only to ranks that it lacks."""
        return True

    # --- the way up

    def first_living(self):
        """Index in path of the first relay that answers, with all above it."""
        i = len(self.path)
        if not self.rules.dead_relay_is_bypassed:
            return 0
        while i and self.unanswered[i - 1] < PROBES:
            i -= 1
        return i

    def send_grad(self, index, resend):
        first = index not in self.attempts
        if first or resend:
            self.attempts[index] = self.attempts.get(index, -1) + 1
            attempt = self.attempts[index]
            if not self.rules.second_resend_is_for_ps:
                attempt = min(attempt, 1)
        else:
            attempt = TO_PS    # answer to NEED
        if first or not self.rules.grad_is_frozen:
            self.frozen[index] = self.contribution(index)
        if resend:
            self.probe()
            if attempt >= TO_PS and self.rules.later_resends_ask:
                self.send(NEED, self.epoch, self.wire(index), room=False)
                return
        shape, value, room = self.frozen[index]
        self.dispatch(Packet(
            GRAD, self.epoch, self.wire(index), True, self.rank, not first,
            self.push(index), shape, value, room, job=self.job.number,
            tree=self.job.tree, workers=1 << self.rank,
            mask=self.mask_of(index)),
            attempt >= TO_PS)

    def send(self, kind, epoch, chunk=0, **fields):
        """Send a NEED, or a RESULT that answers NEED."""
        self.dispatch(Packet(kind, epoch, chunk, True, self.rank,
                             job=self.job.number, tree=self.job.tree,
                             **fields), True)

    def dispatch(self, m, to_ps):
        living = self.first_living()
        aim = len(self.path) if to_ps else max(living, self.label)
        m.relay = PS_NUMBER
        if aim < len(self.path):
            m.relay = self.path[aim].number
        self.sign(m)
        if living or self.job.direct:
            self.net.send(self.node(aim), m)
        else:
            self.net.send(self.node(0), m)

    def sign(self, m):
        if m.type in DATA:
            m.auth = secret(self.rules, m, self.rank)
        else:
            self.count += 1
            m.number = self.count
            m.auth = signed(m, self.rank)

    def admits(self, m):
        return proves_down(self.rules, m, self.rank)

    def node(self, i):
        return self.path[i] if i < len(self.path) else self.job.world.server

    # --- dead relays

    def probe(self):
        now = self.net.now
        if now - self.probed_at < PROBE_PACE:
            return
        self.probed_at = now
        for i, relay in enumerate(self.path):
            self.unanswered[i] += 1
            self.net.send(relay, self.probe_packet(relay.number))
        living = self.first_living()
        if living:
            self.net.send(self.job.world.server,
                          self.probe_packet(self.path[living - 1].number))
            if not self.probing:
                self.probing = True
                self.net.at(PROBE_AGAIN, self.probe_again, self.life)

    def probe_again(self, life):
        if life == self.life:
            self.probing = False
            self.probe()

    def probe_packet(self, number):
        m = Packet(PROBE, self.epoch, up=True, child=self.rank,
                   job=self.job.number, tree=self.job.tree, relay=number)
        self.sign(m)
        return m

    def receive(self, m):
        if m.type != PROBE:
            super().receive(m)
            return
        if self.state != "running" or not self.admits(m):
            return
        for i, relay in enumerate(self.path):
            if relay.number != m.relay or (
                    m.number <= self.answered[i] and
                    self.rules.probe_answer_is_new):
                continue
            self.answered[i] = m.number
            self.unanswered[i] = 0
