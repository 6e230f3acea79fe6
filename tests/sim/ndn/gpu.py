# SPDX-License-Identifier: BSD-2-Clause
"""A worker: libtrib's part of the protocol, and the same for a client that
knows nothing but NDN."""

from ndn.endpoint import Endpoint, Estimate
from ndn.packet import DELETE, DISTRIBUTE, INSERT, NEWEST
from ndn.server import Gradient
from ndn.unanswered import Unanswered

BATCH = 8        # segments asked for at a time


class Gpu(Endpoint):
    def __init__(self, world, name):
        super().__init__(world)
        self.name = name
        self.speed = world.rng.randint(20, 200)    # of a round, in ticks
        self.gradient_size = 1
        self.joins = 0
        self.inserted = None      # when it last sent an insert
        self.asked = {}           # what it asked for, and until when
        self.idle()

    def idle(self):
        """Without a job."""
        self.base = None
        self.leaving = False
        self.version = 0
        self.held_models = 0
        self.coming = None        # version of which segments are missing
        self.coming_size = None
        self.parts = {}
        self.training = None      # version
        self.gradient = None      # ready, and not asked for yet
        self.bound = None         # (version asked for, gradient)
        self.waiting = {}         # collect Interests: (v, s) until when
        self.acked = None         # since when the subscription stands
        self.probes = 0           # since something was answered
        self.fetched = False      # since the last answer to a collect
        self.fruitless = 0        # answers that there is nothing newer
        self.probe_estimate = Estimate(100)
        self.answered = None
        self.timers = {}

    def start(self):
        super().start()
        self.idle()
        self.last = None          # job whose answers may be late
        self.due = Unanswered()

    def interest(self, name, life=None, prefix=False, fresh=False):
        life = life or 4 * self.world.rto
        self.asked[name] = self.net.now + life, prefix
        self.express(name, life, prefix, fresh)

    # --- joining and leaving

    def on_task(self, name):
        base = name[1:]
        fresh = self.base is None and not self.world.refuses(self)
        if fresh:
            self.join(base)
        accept = self.base == base and not self.leaving and (
            fresh or self.rules.accept_is_repeated)
        self.put(name, "accept" if accept else "busy")

    def join(self, base):
        if base != self.last:
            self.due = Unanswered()
        self.base = self.last = base
        self.joins += 1
        self.repeat("start", self.ask_start)

    def ask_start(self):
        self.interest((*self.base, self.name), fresh=True)

    def subscribe(self):
        """Also as a renewal. Deletes of the last task may be late."""
        if self.due.deletes and self.rules.insert_waits_for_repeats:
            wait = self.due.until - self.net.now
            if wait > 0:
                self.set("subscribe", wait, self.subscribe)
                return
            self.due.deletes = 0
        self.repeat("insert", self.insert)

    def insert(self):
        self.inserted = self.net.now
        self.due.insert(self.net.now, self.world.lease // 8)
        self.world.inserting(self)
        self.express((INSERT, *self.base), self.world.rto)

    def on_ack(self):
        if (self.due.is_old(self.net.now) and
                self.rules.old_acks_do_not_count):
            return
        if self.leaving or "insert" not in self.timers:
            return
        self.cancel("insert")
        self.world.acknowledged(self)
        if self.acked is None:
            self.acked = self.net.now
            if self.rules.joiner_fetches:
                self.repeat("newest", self.ask_newest)
            self.arm()
        if self.rules.lease_is_renewed:
            lease = self.world.lease
            self.set("renew", self.rng.randint(lease // 5, lease // 4),
                     self.subscribe)

    def leave(self):
        """Repeat deletes until acknowledged, or the lease ends."""
        if self.leaving or self.base is None:
            return
        base = self.base
        self.idle()
        self.base = base
        self.leaving = True
        self.tries = 0
        self.repeat("delete", self.delete)

    def delete(self):
        self.tries += 1
        if self.tries > 6:
            self.gone()
        else:
            now, lease = self.net.now, self.world.lease
            self.due.delete(now, now + lease // 2)
            self.interest((DELETE, *self.base))

    def gone(self):
        self.idle()
        self.world.left(self)

    # --- versions

    def on_segment(self, v, s, model):
        if self.leaving or v <= self.version and self.rules.only_newer:
            return
        if self.coming is None or v > self.coming:
            self.await_version(v, model.size)
        elif v < self.coming:
            return
        self.parts[s] = model
        if len(self.parts) == self.coming_size:
            self.take(v, model)
        else:
            self.probes = 0
            self.arm(self.world.rto)

    def await_version(self, v, size):
        if self.answered is not None and not (
                self.fetched and self.rules.fetched_is_no_sample):
            self.probe_estimate.take(self.net.now - self.answered)
        self.answered = None
        self.coming = v
        self.coming_size = size
        self.parts = {}
        if self.gradient:
            self.answer_waiting()

    def take(self, v, model):
        self.world.took(self, v, self.parts.values())
        self.coming = None
        self.parts = {}
        self.cancel("newest")
        self.version = v
        self.probes = self.fruitless = 0
        if model.final:
            self.leave()
        elif self.sync or self.stale(v):
            self.train()
        elif self.training is None and self.gradient is None:
            self.train()
        else:
            self.arm()

    def stale(self, v):
        """The gradient in work belongs to an earlier incarnation."""
        base = self.training or (self.gradient and self.gradient.base)
        return (base and base >> 32 < v >> 32 and
                self.rules.incarnations_are_apart)

    def train(self):
        self.gradient = None
        self.training = self.version
        self.cancel("probe")
        self.set("train", int(self.speed * self.rng.uniform(0.8, 1.2)),
                 self.trained)

    def trained(self):
        self.gradient = Gradient(self.name, self.training,
                                 self.gradient_size)
        self.training = None
        self.answer_waiting()
        self.arm()
        if self.training is None and any(v > self.version for v, _ in
                                         self.waiting) and \
                self.rules.collect_makes_fetch:
            self.fetch()

    def answer_waiting(self):
        now = self.net.now
        for (v, s), end in sorted(self.waiting.items()):
            if end <= now or self.try_answer(v, s):
                del self.waiting[v, s]

    # --- collect

    def try_answer(self, v, s):
        """Answer if possible. Return: False: hold the Interest."""
        if self.bound and v < self.bound[0]:
            return True
        if self.bound and v == self.bound[0]:
            self.answer(v, s)
            return True
        g = self.gradient
        if not g or not self.fits(g, v):
            return False
        self.bound = v, g
        self.gradient = None
        self.answered = self.net.now
        self.fetched = False
        self.answer(v, s)
        if self.version > g.base:
            self.train()
        else:
            self.arm()
        return True

    def on_collect(self, v, s, life):
        if self.try_answer(v, s):
            return
        if self.rules.answer_is_held:
            self.waiting[v, s] = self.net.now + life
        if (self.training is None and v > self.version and
                self.rules.collect_makes_fetch):
            self.fetch()

    def fits(self, g, v):
        if self.sync:
            return g.base == v
        if self.rules.bound_to_known and v > max(self.version,
                                                 self.coming or 0):
            return False
        return (g.base >> 32 == v >> 32 or
                not self.rules.incarnations_are_apart)

    def answer(self, v, s):
        g = self.bound[1]
        if s < g.size:
            self.put((self.name, *self.base, v, s), g)
            if not self.rules.answer_is_kept:
                self.bound = v, Gradient(self.name, g.base, 0)

    # --- probes and fetching

    def arm(self, delay=None):
        """Set the probe timer while there is nothing to train on."""
        if self.training is not None or self.leaving or \
                not self.rules.silence_is_probed:
            return
        times = self.probes
        if delay is None:
            times = self.fruitless
            delay = 2 * self.world.rto
            if self.rules.probe_learns:
                delay = max(delay, self.probe_estimate.late())
            if self.answered is None:
                delay = max(delay, self.world.lease // 2)
        if self.rules.probe_backs_off:
            delay = min(delay << min(times, 6),
                        max(delay, self.world.lease))
        self.set("probe", delay, self.probe)

    def probe(self):
        self.probes += 1
        self.fetch()
        self.arm(self.world.rto)

    def fetch(self):
        """Ask for missing segments, or for the newest version."""
        self.world.fetching(self)
        self.fetched = True
        if self.coming is None or (
                self.probes % 4 == 3 and self.rules.newest_is_asked_again):
            self.ask_newest()
        else:
            self.ask_missing()

    def ask_newest(self):
        self.interest((*self.base, NEWEST), prefix=True, fresh=True)

    def ask_missing(self):
        missing = [s for s in range(self.coming_size) if s not in self.parts]
        for s in missing[:BATCH]:
            self.world.fetches += 1
            self.interest((DISTRIBUTE, *self.base, self.coming, s),
                          fresh=self.probes % 2 == 1 and
                          self.rules.doubt_passes_cache)

    def on_newest(self, v, model):
        self.cancel("newest")
        if v > self.version and (self.coming is None or v > self.coming):
            self.await_version(v, model.size)
            self.probes = self.fruitless = 0
            self.ask_missing()
            self.arm(self.world.rto)
        elif self.coming is None and self.training is None:
            self.probes = 0
            self.fruitless += 1
            self.arm()

    # --- packets

    def on_interest(self, i):
        name = i.name
        if name[0] != self.name:
            return
        n = 4
        if len(name) == n:
            self.on_task(name)
        elif name[1:n] == self.base and not self.leaving:
            tail = name[n:]
            self.on_collect(tail[0], tail[1] if tail[1:] else 0, i.life)

    def on_data(self, d):
        name, base = d.name, self.base
        if base is None:
            return
        if name == (DISTRIBUTE, *base):
            self.on_ack()
        elif name[:-2] == (DISTRIBUTE, *base):
            if self.acked is not None or self.timers.get("insert"):
                self.on_segment(name[-2], name[-1], d.content)
        elif name == (DELETE, *base) and self.leaving:
            self.due.deleted(self.net.now + self.world.lease // 8)
            self.cancel("delete")
            self.gone()
        elif name == (*base, self.name) and self.timers.get("start"):
            self.cancel("start")
            self.sync, self.gradient_size = d.content
            self.subscribe()
        elif name[:-1] == (*base, NEWEST) and not self.leaving and \
                self.acked is not None:
            self.on_newest(name[-1], d.content)


class Stock(Gpu):
    """A client of an NDN library that has never heard of us: it writes no
    HopLimit, and sees only Data that it has an Interest for."""

    def __init__(self, world, name):
        super().__init__(world, name)
        self.hops = False
        self.open = {}            # Interests without an answer

    def interest(self, name, life=None, prefix=False, fresh=False):
        super().interest(name, life, prefix, fresh)
        self.open[name] = self.asked[name]

    def insert(self):
        if self.rules.stock_client_waits:
            self.stay()
        super().insert()

    def stay(self):
        """The Interest that distributions answer at this client."""
        if self.base:
            self.interest((DISTRIBUTE, *self.base), 40 * self.world.lease,
                          prefix=True)

    def on_data(self, d):
        for name in (d.name, d.name[:-1], d.name[:-2]):
            end, prefix = self.open.get(name, (0, False))
            if end > self.net.now and (prefix or name == d.name):
                del self.open[name]
                if name == (DISTRIBUTE, *(self.base or ())):
                    self.at(self.rng.randint(0, 2), self.stay)
                super().on_data(d)
                return
