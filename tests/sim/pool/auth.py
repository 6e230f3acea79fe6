# SPDX-License-Identifier: BSD-2-Clause
"""What packets of shared trees prove, and adversaries. As in tests/sim/auth.py, a
proof is a tuple that only the holder of a key can make."""

from net import GRAD, RESULT

from auth import another
from pool.packet import PROBE, Packet

DATA = (GRAD, RESULT)
RELAYS, ALL = "relays", "all"


def secret(rules, m, who):
    """Of data packets from a rank, from RELAYS, or down to ALL."""
    return (who if rules.up_secret_differs else ALL,) + m.row()


def signed(m, rank):
    """Of other packets from or to a rank."""
    return (rank, m.type, m.epoch, m.chunk, m.up, m.child, m.relay,
            m.number) + m.row()


def proves_up(rules, m):
    """Is a packet that goes up from its rank, or from a relay?"""
    if m.type not in DATA:
        return (m.auth == signed(m, m.child) or
                not rules.control_is_authentic)
    if m.auth == secret(rules, m, RELAYS) and rules.up_secret_differs:
        return True
    if m.auth != secret(rules, m, m.child):
        return False
    return (m.type == RESULT or m.workers == 1 << m.child or
            not rules.worker_brings_own_values or not rules.up_secret_differs)


def proves_down(rules, m, rank):
    """The same, for a rank that it comes to."""
    if m.type in DATA:
        return m.auth == secret(rules, m, ALL)
    return m.auth == signed(m, rank) or not rules.control_is_authentic


class Adversary:
    """Hears packets, and acts every few ticks."""

    def __init__(self, world, act, pace):
        self.world = world
        self.net = world.net
        self.rng = world.rng
        self.heard = []
        self.act = act
        self.pace = pace
        self.net.tap = self.hear
        self.net.at(self.pace, self.turn)

    def hear(self, dst, m):
        self.heard.append((dst, m))
        if len(self.heard) > 4000:
            del self.heard[:1000]

    def turn(self):
        if not self.world.scenario.finished():
            self.act(self)
        self.net.at(self.rng.randint(1, self.pace), self.turn)

    def inject(self, dst, m):
        self.net.at(1, dst.receive, m)

    def grad(self, like, child, auth, workers):
        """A GRAD of nobody's values, to the PS or a relay that would add it."""
        dst = self.rng.choice([*self.world.relays, self.world.server])
        number = getattr(dst, "number", 0)
        self.inject(dst, Packet(
            GRAD, like.epoch, like.chunk + self.rng.randint(0, 2), True, child,
            shape=like.shape, value=another(self.rng, like), job=like.job,
            tree=like.tree, relay=number, workers=workers, auth=auth))

    # --- what it may try

    def forge(self):
        """With the secret of a RESULT that came down."""
        down = [m for _, m in self.heard[-200:]
                if m.type == RESULT and not m.up and m.shape]
        if down:
            m = self.rng.choice(down)
            child = self.rng.randrange(2)
            self.grad(m, child, m.auth, 1 << child)

    def betray(self):
        """As rank 0, which has a secret of its own, with values for rank 1."""
        own = [m for _, m in self.heard[-200:]
               if m.type == GRAD and m.auth[0] == 0 and m.shape]
        if own:
            m = self.rng.choice(own)
            self.grad(m, 0, m.auth, 2)

    def revive(self):
        """A dead relay's answers, as they came, or with another's number."""
        answers = [(dst, m) for dst, m in self.heard
                   if m.type == PROBE and not m.up]
        if answers:
            self.inject(*self.rng.choice(answers))

    def pretend(self):
        """An answer to each PROBE, without the key."""
        asks = [m for _, m in self.heard[-20:] if m.type == PROBE and m.up]
        for m in asks:
            job = next(j for j in self.world.jobs
                       if (j.number, j.tree) == m.row())
            self.inject(job.workers[m.child], Packet(
                PROBE, m.epoch, child=m.child, job=m.job, tree=m.tree,
                relay=m.relay, number=m.number, auth=m.auth))
