# SPDX-License-Identifier: BSD-2-Clause
"""What packets prove, and an adversary who hears, forges and repeats them.

A proof is a tuple that only the holder of a key can make: of a key alone (data
packets), or of a key and the whole packet (all others). The adversary knows no key.
It can put any proof that it heard into any packet.
"""

from dataclasses import replace

from net import (ABORT, ALIVE, GRAD, JOIN, NEED, RESULT, START, Msg)

DATA = (GRAD, RESULT)
COUNTED = (NEED, ALIVE, ABORT)
LATE = 64             # numbers that may come late
TRIBD = 1 << 30       # numbers of tribd's own ABORTs begin here


def proof(rules, m, who):
    """What m must carry if who sent it; for START, whom it is for."""
    if m.type in DATA or (m.type in COUNTED and
                          not rules.control_is_authentic):
        if not rules.up_secret_differs:
            return ("job",)
        return ("up", who) if m.up else ("down",)
    if m.up or m.type == START:
        key = ("up", who)
    else:
        key = ("down", who if rules.control_names_sender else None)
    return key + (m.type, m.epoch, m.chunk, m.up, m.child, m.resend, m.seen,
                  m.rank, m.why, m.nonce, m.run, m.number, m.token)


class Window:
    """struct trib_replay: the numbers that came from one sender."""

    def __init__(self):
        self.epoch = 0
        self.top = 0
        self.seen = set()

    def take(self, epoch, number):
        """False: it came before, or is too old to tell."""
        if epoch != self.epoch:
            self.epoch, self.top, self.seen = epoch, number, {number}
            return True
        if number <= self.top - LATE or number in self.seen:
            return False
        self.top = max(self.top, number)
        self.seen.add(number)
        return True


class Windows:
    """Those of one receiver, by sender."""

    def __init__(self, rules):
        self.rules = rules
        self.of = {}

    def admit(self, m, who, sender):
        """True if who sent m, and it is no copy. sender: where it came from."""
        if m.auth != proof(self.rules, m, who):
            return False
        if m.type not in COUNTED or not self.rules.control_is_counted:
            return True
        return self.of.setdefault(sender, Window()).take(m.epoch, m.number)


def another(rng, like):
    """A value of the same kind as like's."""
    if isinstance(like.value, int):
        return rng.getrandbits(20)
    return like.value


class Adversary:
    """Hears packets, and sends what it can make of them."""

    def __init__(self, world, hears_up, act, pace):
        self.world = world
        self.net = world.net
        self.rng = world.rng
        self.hears_up = hears_up
        self.heard = []
        self.act = act
        self.pace = pace
        self.net.tap = self.hear
        self.net.at(self.pace, self.turn)

    def hear(self, dst, m):
        if self.hears_up or not m.up:
            self.heard.append((dst, m, self.net.now))
            if len(self.heard) > 4000:
                del self.heard[:1000]

    def turn(self):
        if self.heard and not self.world.scenario.finished():
            self.act(self)
        self.net.at(self.rng.randint(1, self.pace), self.turn)

    def inject(self, dst, m):
        self.net.at(1, dst.receive, m)

    # --- what it may try

    def forge(self):
        """A new packet, with a proof that came down."""
        rng = self.rng
        _, like, _ = rng.choice(self.heard[-200:])
        relay = rng.choice(self.world.relays)
        child = rng.randrange(len(relay.children))
        kind = rng.choice((GRAD, RESULT, NEED, ALIVE, ABORT, JOIN))
        m = Msg(kind, like.epoch, like.chunk + rng.randint(-1, 2), True, child,
                resend=rng.random() < 0.5, shape=like.shape,
                value=another(rng, like), rank=child, why="dead",
                nonce=rng.getrandbits(60), auth=like.auth,
                number=like.number + rng.randint(1, 3), token=like.token)
        if kind in COUNTED and rng.random() < 0.5:
            m.up = False
            self.inject(rng.choice(relay.down), m)
        else:
            self.inject(relay, m)

    def repeat(self, types, least):
        """A packet as it was, later."""
        old = [(dst, m) for dst, m, when in self.heard
               if m.type in types and self.net.now - when >= least]
        if old:
            dst, m = self.rng.choice(old)
            self.inject(dst, replace(m))

    def mislead(self):
        """What one node sent down comes to a child of another."""
        relay = self.rng.choice(self.world.relays)
        old = [m for dst, m, _ in self.heard[-300:]
               if m.type in COUNTED and not m.up and
               relay is not (dst.parent if dst.parent else dst.relay)]
        if old:
            m = max(old, key=lambda m: m.number)
            self.inject(self.rng.choice(relay.down), replace(m))
