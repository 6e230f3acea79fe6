# SPDX-License-Identifier: BSD-2-Clause
"""The PS: trib-ps for one job."""

from ndn.endpoint import Endpoint, Estimate
from ndn.packet import DELETE, DISTRIBUTE, INSERT, NEWEST


class Model:
    """A version: the gradients in it, and its number of segments."""

    __slots__ = ("version", "applied", "line", "final", "size", "since")

    def __init__(self, version, parent, gradients, size, final):
        self.version = version
        self.applied = gradients + (parent.applied if parent else ())
        self.line = (version,) + (parent.line if parent else ())
        self.size = size
        self.final = final


class Gradient:
    __slots__ = ("gpu", "base", "size")

    def __init__(self, gpu, base, size):
        self.gpu = gpu
        self.base = base          # the version that it was computed on
        self.size = size


class Guest:
    """State that the PS keeps of a GPU of the job."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.member = False
        self.heard = 0            # when it last said that it takes part
        self.asked = 0            # version last asked for
        self.taken = 0            # version that its last gradient was for
        self.asking = False
        self.tries = 0
        self.gradient = None      # that the parts are of
        self.parts = {}
        self.wait = 0             # until the next offer
        self.estimate = Estimate(100)
        self.since = 0            # when it was first asked for this version
        self.moved = 0            # ... and when it last sent a segment
        self.owing = 0            # since when it owes a gradient, for verdicts


class Server(Endpoint):
    def __init__(self, world, prefix, sync, last):
        super().__init__(world)
        self.name = "PS"
        self.base = (*prefix, "job")
        self.sync = sync
        self.last = last                  # versions that the job has
        self.size = world.size or world.rng.choice((1, 2, 5, 12))
        self.gradient_size = (world.gradient_size or
                              world.rng.choice((1, 1, 2, 3)))
        self.candidates = []
        self.interests = 0
        # On disk:
        self.incarnation = 0
        self.saved = None
        self.every = world.rng.choice((1, 2, 3))

    def start(self):
        super().start()
        if self.rules.incarnation_is_durable or not self.incarnation:
            self.incarnation += 1
        old = self.saved
        count = old.version & 0xffffffff if old else 0
        self.model = Model(self.incarnation << 32 | count, old, (),
                           self.size, count >= self.last)
        self.published = None             # being, or been, distributed
        self.kept = {}
        self.busy = False                 # distributing
        self.got = []                     # gradients for the next version
        self.guests = {g: Guest(g) for g in self.candidates}
        for guest in self.guests.values():
            guest.heard = self.net.now
            self.set(guest, self.rng.randint(0, 20), self.offer, guest)
        self.publish()

    @property
    def done(self):
        return self.up and self.published.final

    # --- membership

    def offer(self, guest):
        """Send an offer, which is a keep-alive, too."""
        if self.model.final:
            return
        lease = self.world.lease
        if (guest.member and self.net.now - guest.heard > (
                lease if self.rules.silence_takes_a_lease else lease / 8)
                and self.rules.dead_is_excluded):
            self.exclude(guest)
        if guest.member and not self.rules.offer_is_sign_of_life:
            self.set(guest, lease // 4, self.offer, guest)
            return
        self.express((guest.gpu, *self.base), lease // 4, fresh=True)
        guest.wait = min(max(2 * guest.wait, self.world.rto),
                         lease // (16 if guest.member else 4))
        if guest.member or self.rules.offer_is_repeated:
            self.set(guest, guest.wait, self.offer, guest)

    def answered(self, guest, accepts):
        if self.model.final:
            return
        if accepts and self.timers.get(guest):
            guest.wait = 0
            self.set(guest, self.world.lease // 4, self.offer, guest)
        if accepts:
            guest.heard = self.net.now
            if not guest.member:
                guest.member = True
                self.plan_ask(guest)
        elif guest.member:
            self.exclude(guest)

    def exclude(self, guest):
        guest.member = guest.asking = False
        self.world.excluded(self, guest.gpu)
        guest.asked = guest.taken
        self.complete()

    # --- collecting

    def plan_ask(self, guest):
        v = self.published.version
        if (guest.asking or not guest.member or self.published.final or
                guest.asked >= v):
            return
        if self.sync and self.published is not self.model:
            return
        guest.owing = self.net.now
        self.begin(guest, v)
        timed = self.rules.collect_is_timed
        self.at(guest.estimate.early() if timed else 0, self.ask, guest, v)

    def begin(self, guest, v):
        guest.asking = True
        guest.asked = v
        guest.tries = 0
        guest.gradient = None
        guest.parts = {}
        guest.since = guest.moved = self.net.now

    def moves_on(self, guest):
        """The gradient may have gone to another who asked, and for a newer
        version: the guest answers no older one."""
        v = self.published
        return (not self.sync and self.rules.collect_moves_on and
                not v.final and v.version > guest.asked and
                self.net.now - guest.moved > self.world.lease)

    def ask(self, guest, v):
        if not guest.asking or guest.asked != v:
            return
        if self.moves_on(guest):
            v = self.published.version
            self.begin(guest, v)
        life = min((2 * self.world.rto + int(4 * guest.estimate.dev))
                   << min(guest.tries, 4), self.world.lease // 4)
        guest.tries += 1
        self.ask_now(guest, v, life)
        if self.rules.collect_is_repeated:
            self.at(life, self.ask, guest, v)

    def ask_now(self, guest, v, life):
        name = guest.gpu, *self.base, v
        self.world.collects += 1
        self.world.collecting(self, guest)
        if guest.gradient is None:
            self.express(name, life, prefix=True)
            return
        for s in range(guest.gradient.size):
            if s not in guest.parts:
                self.express((*name, s), life)

    def on_gradient(self, guest, v, s, gradient):
        rules = self.rules
        if rules.applied_once and not (guest.asking and guest.asked == v):
            return
        guest.heard = self.net.now
        first = not guest.parts
        if rules.segments_are_of_one and gradient is not guest.gradient:
            guest.parts = {}
        guest.gradient = gradient
        guest.moved = self.net.now
        guest.parts[s] = gradient
        if len(guest.parts) < gradient.size:
            if first:
                self.ask_now(guest, v, 2 * self.world.rto)
            return
        guest.asking = False
        guest.taken = v
        guest.estimate.take(self.net.now - guest.since)
        self.world.assembled(self, guest.parts, gradient)
        self.got.append(gradient)
        self.complete()
        self.plan_ask(guest)

    # --- versions

    def complete(self):
        """Make the next version if its gradients are complete."""
        have = {g.gpu for g in self.got}
        members = {g.gpu for g in self.guests.values() if g.member}
        if not have or self.model.final:
            return
        if self.sync and not members <= have:
            if self.rules.waits_for_all or not members:
                return
        if self.sync and not members:
            return
        old = self.model
        count = (old.version & 0xffffffff) + 1
        self.model = Model(self.incarnation << 32 | count, old,
                           tuple(self.got), self.size, count >= self.last)
        self.world.built(self, old, self.got, members)
        self.got = []
        if count % self.every == 0 or self.model.final:
            self.saved = self.model
        self.publish()

    def publish(self):
        if self.busy:
            return
        self.busy = True
        model = self.published = self.model
        self.world.published(self, model)
        self.kept[model.version] = model
        for v in sorted(self.kept)[:-2]:
            del self.kept[v]
        self.distribute(model, 0)
        for guest in self.guests.values():
            self.plan_ask(guest)

    def distribute(self, model, s):
        pace = self.world.pace if self.rules.distribution_is_paced else 0
        while s < model.size:
            self.put((DISTRIBUTE, *self.base, model.version, s), model)
            s += 1
            if pace:
                self.at(pace, self.distribute, model, s)
                return
        self.busy = False
        if self.model is not model:
            self.publish()

    # --- packets

    def on_interest(self, i):
        self.interests += 1
        name = i.name
        n = len(self.base)
        if name[0] == INSERT and name[1:] == self.base:
            self.put((DISTRIBUTE, *self.base))
        elif name[0] == DELETE and name[1:] == self.base:
            self.put(name)
        elif name[0] == DISTRIBUTE and name[1:n + 1] == self.base:
            self.on_segment(name)
        elif name == (*self.base, NEWEST) and i.prefix:
            v = self.published
            self.put((*name, v.version), v)
        elif name[:n] == self.base and len(name) == n + 1:
            self.put(name, (self.sync, self.gradient_size))

    def on_segment(self, name):
        if len(name) == len(self.base) + 3 and name[-2] in self.kept:
            self.put(name, self.kept[name[-2]])

    def on_data(self, d):
        guest = self.guests.get(d.name[0])
        n = len(self.base) + 1
        if not guest or d.name[1:n] != self.base:
            return
        if len(d.name) == n:
            self.answered(guest, d.content == "accept")
        elif len(d.name) == n + 2:
            self.on_gradient(guest, *d.name[n:], d.content)
