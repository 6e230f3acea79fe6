# SPDX-License-Identifier: BSD-2-Clause
"""One run: routers, PSs and workers, and the verdicts."""

import random
from collections import deque

from ndn.gpu import Gpu, Stock
from ndn.intruder import Flooder, Squatter
from ndn.packet import DISTRIBUTE, Wires, connect
from ndn.router import Router
from ndn.rules import Rules
from ndn.server import Server

# How a run can fail.
VERDICTS = {
    "hang": "training does not end",
    "back": "a worker takes a version that is not newer than what it had",
    "twice": "a gradient is counted twice",
    "missing": "a synchronous version lacks the gradient of a living worker",
    "orphan": "a gradient of a model that this one does not descend from",
    "mixed": "segments of two contents are put together",
    "reissued": "a version is issued again, with other bytes",
    "forged": "somebody believed what nobody of the job had signed",
    "injected": "Data of a face that may not send it comes to a worker",
    "circles": "a packet comes to a router again and is passed on",
    "endless": "an Interest wanders without end",
    "echo": "a packet goes back to where it came from",
    "bound": "a router makes two packets out of one",
    "hole": "a subscriber with an acknowledgement is not served, though "
            "nothing is lost",
    "unfounded": "an insert is acknowledged, and no way leads from the PS",
    "leak": "Data goes to somebody who has neither asked nor subscribed",
    "litter": "an entry outlives its leases",
    "mute": "a living member answers no collect Interest, though nothing is "
            "lost",
    "unused": "a worker that could take part was never asked",
    "excluded": "a living worker is taken for dead",
    "crowded": "an Interest finds no room, or makes room for others before it "
               "can be answered",
}


class Failed(Exception):
    def __init__(self, verdict, text):
        super().__init__(text)
        self.verdict = verdict


class World:
    def __init__(self, seed, rules, scenario):
        self.rules = rules
        self.rng = rng = random.Random(seed * 1000003 + 71)
        self.net = Wires(rng, rng.choice((0.01, 0.05, 0.1)),
                         rng.choice((0, 0.05, 0.2)))
        self.rto = 60
        self.lease = 1500
        self.leave_time = 750     # a delete is not under way for longer
        self.pace = 4             # ticks from segment to segment
        self.span = 4000          # of time in which faults begin
        self.limit = 60000
        self.cache_size = rng.choice((2, 16, 64))
        self.nonces_size = 4096
        self.own_seats = 32       # of each face, for pending Interests
        self.shared_seats = 4096  # of all faces with a right
        self.own_entries = 32     # of each face, in the persistent PIT
        self.shared_entries = 4096  # of all faces
        self.replace_time = 50    # a host keeps an unanswered Interest for this
        self.bare_life = 200      # ticks that one without rights lasts
        self.answer_time = 30     # Interests that are older may give way
        self.loops_end = True     # nonces suffice to end them
        self.no_hole = False      # every version must come by subscription
        self.patience = 300       # ... by so many ticks
        self.hole_from = 0        # ... that is issued after this
        self.size = None          # segments of a model
        self.gradient_size = None
        self.intruder = None
        self.row = False          # routers in a row
        self.routers_n = rng.randint(1, 5)
        self.gpus_n = rng.randint(2, 5)
        self.jobs_n = 1
        self.versions = rng.randint(5, 9)
        self.sync = rng.random() < 0.5
        self.stock = 0.2          # share of workers that are stock clients
        self.late = 0.2           # share of workers that start late
        self.faults = {}          # kind: how often
        self.fetches = self.collects = self.probes = 0
        self.unwanted = self.stray = self.idle = 0
        self.acks_hold = False    # an acknowledgement is never wrong
        self.all_join = False     # every worker must have taken part
        self.quiet = set()        # workers that take no job now
        self.issued = {}
        self.newest = {}          # of each worker since it joined: its version
        self.over = None          # when the last one was done
        self.scenario = scenario(self)
        self.scenario.shape()
        self.build()
        self.scenario.script()

    # --- the network

    def build(self):
        rng = self.rng
        self.routers = [Router(self, i) for i in range(self.routers_n)]
        self.links = []           # between routers
        for i in range(1, self.routers_n):
            self.link(i, i - 1 if self.row else rng.randrange(i))
        for _ in range(0 if self.row else rng.randint(0, self.routers_n)):
            a, b = rng.randrange(self.routers_n), rng.randrange(self.routers_n)
            if a != b:
                self.link(a, b)
        self.homes = {}           # prefix: the face that serves it
        self.gpus = {}
        for i in range(self.gpus_n):
            kind = Stock if rng.random() < self.stock else Gpu
            name = f"g{i}"
            self.gpus[name] = gpu = kind(self, name)
            gpu.number = i
            self.attach(gpu, (name,), None)
        self.servers = []
        for i in range(self.jobs_n):
            self.serve(("ps", "ab"[i]))
        for router in self.routers:
            self.converge(router)
            self.net.at(rng.randrange(self.lease), router.sweep)
        for gpu in self.gpus.values():
            self.net.at(self.scenario.begin(gpu), gpu.start)

    def link(self, a, b):
        self.links.append(connect(self.routers[a], self.routers[b]))

    def attach(self, endpoint, prefix, subscribe):
        face, _ = connect(self.scenario.place(endpoint), endpoint)
        face.host = True
        face.write = (prefix,)
        face.subscribe = subscribe
        self.homes[prefix] = face

    def serve(self, prefix):
        last = self.versions * (1 if self.sync else self.gpus_n)
        ps = Server(self, prefix, self.sync, last)
        ps.candidates = self.scenario.candidates(len(self.servers))
        self.attach(ps, prefix, ())
        if len(self.servers) == 0:        # the way to all but the others
            self.homes[prefix[:1]] = self.homes.pop(prefix)
        self.servers.append(ps)
        self.net.at(self.rng.randint(0, 50), ps.start)

    def converge(self, router):
        """Set routes to the shortest paths over existing links."""
        via = {router: None}
        queue = deque([router])
        while queue:
            at = queue.popleft()
            for face in at.faces:
                to = face.peer.node
                if isinstance(to, Router) and not face.cut and to not in via:
                    via[to] = via[at] or face
                    queue.append(to)
        router.fib = {}
        for prefix, face in self.homes.items():
            if face.node is router:
                router.fib[prefix] = face
            elif face.node in via:
                router.fib[prefix] = via[face.node]

    def reconverge(self, within):
        """Change the routers one after the other."""
        for router in self.routers:
            self.net.at(self.rng.randint(1, within), self.converge, router)

    # --- what is seen

    def fail(self, verdict, text):
        raise Failed(verdict, f"{text} (tick {self.net.now})")

    def delivered(self, endpoint, d):
        """To an endpoint: had it asked?"""
        if not d.good and not self.scenario.may_come and \
                endpoint is not self.intruder:
            self.fail("injected", f"{d.name}")
        if isinstance(endpoint, (Server, Flooder, Squatter)):
            return
        now = self.net.now
        asked = getattr(endpoint, "asked", {})
        if any(asked.get(d.name[:n], (0,))[0] + 700 > now
               for n in range(len(d.name) - 2, len(d.name) + 1)):
            return
        if d.name[0] != DISTRIBUTE:
            self.fail("leak", f"{d.name} comes unasked for")
        inserted = getattr(endpoint, "inserted", None)
        if inserted is None or inserted + self.lease + 1000 < now:
            self.fail("leak", f"{d.name} comes unasked for")
        if not endpoint.up or not endpoint.base or endpoint.leaving:
            self.unwanted += 1

    def took(self, gpu, v, parts):
        for model in parts:
            if self.issued.get((gpu.base, v)) is not model:
                known = model in self.issued.values()
                self.fail("mixed" if known else "forged",
                          f"{gpu.name} takes a wrong version {v:x}")
        if v <= self.newest.get((gpu, gpu.joins), 0):
            self.fail("back", f"{gpu.name} takes version {v:x} again")
        if (gpu, gpu.joins) not in self.newest and gpu.acked is not None:
            self.idle += self.net.now - gpu.acked
        self.newest[gpu, gpu.joins] = v

    def acknowledged(self, gpu):
        """The way from gpu to the PS: does each router serve the one before?"""
        if not self.acks_hold or gpu.leaving:
            return
        face = gpu.faces[0].peer
        while isinstance(face.node, Router):
            e = face.node.entries.get(gpu.base)
            if not e or face not in e.living(self.net.now, self.rules):
                self.fail("unfounded", f"{gpu.name}'s subscription lacks "
                          f"router {face.node.number}")
            face = e.up.peer

    def inserting(self, gpu):
        self.scenario.on_insert(gpu)

    def fetching(self, gpu):
        self.probes += 1
        if gpu.acked is not None and self.no_hole:
            self.acknowledged(gpu)
        if not self.no_hole or gpu.acked is None or isinstance(gpu, Stock):
            return
        for (base, v), model in self.issued.items():
            if (base == gpu.base and v > gpu.version and
                    model.since > max(gpu.acked, self.hole_from) and
                    self.net.now - model.since > self.patience):
                self.fail("hole", f"{gpu.name} must fetch version {v:x}")

    def published(self, ps, model):
        model.since = self.net.now
        if self.issued.setdefault((ps.base, model.version),
                                  model) is not model:
            self.fail("reissued", f"version {model.version:x}")

    def assembled(self, ps, parts, gradient):
        if any(p is not gradient for p in parts.values()):
            self.fail("mixed", f"a gradient of {gradient.gpu}")

    def built(self, ps, old, got, members):
        for g in got:
            if g in old.applied or got.count(g) > 1:
                self.fail("twice", f"{g.gpu}'s of version {g.base:x}")
            if g.base not in ((old.version,) if ps.sync else old.line):
                self.fail("orphan", f"{g.gpu}'s of version {g.base:x}")
        by = [g.gpu for g in got]
        if ps.sync and len(set(by)) < len(by):
            self.fail("twice", f"two of a worker: {by}")
        if ps.sync and not members <= set(by):
            self.fail("missing", f"only {by} of {sorted(members)}")

    def collecting(self, ps, guest):
        """The PS asks a member again."""
        gpu = self.gpus[guest.gpu]
        if (self.no_hole and gpu.up and gpu.base == ps.base and
                gpu.acked is not None and self.net.now -
                max(guest.owing, gpu.acked) > 4 * self.lease):
            self.fail("mute", f"{gpu.name} has no gradient for version "
                      f"{guest.asked:x}")

    def excluded(self, ps, name):
        self.scenario.on_excluded(self.gpus[name])

    def refused(self, by):
        """An Interest finds no seat, or an insert no entry."""
        if not isinstance(by, (Flooder, Squatter)):
            self.fail("crowded", f"no room for an Interest of {by.name}")

    def displaced(self, by, came):
        """An Interest ends for a newer one."""
        age = self.net.now - came
        if not isinstance(by, Flooder) and age < self.answer_time:
            self.fail("crowded", f"an Interest of {by.name} ends")

    def refuses(self, gpu):
        return gpu.name in self.quiet

    def left(self, gpu):
        self.scenario.on_left(gpu)

    # --- the run

    def finished(self):
        """Done, and the leases over."""
        if self.over is None:
            if self.scenario.done():
                self.over = self.net.now
            return False
        return self.net.now > self.over + 3 * self.lease

    def run(self):
        """Returns None, or the verdict and its text."""
        try:
            self.net.run(self.limit, self.finished)
            self.judge()
        except Failed as e:
            return e.verdict, str(e)
        return None

    def judge(self):
        if not self.finished():
            self.fail("hang", " ".join(
                [f"{p.base[1]}:{p.model.version:x}" for p in self.servers] +
                [f"{g.name}:{g.version:x}" for g in self.gpus.values()
                 if g.base]))
        for gpu in self.gpus.values():
            if self.all_join and gpu.up and not gpu.joins:
                self.fail("unused", gpu.name)
        for router in self.routers:
            if router.entries:
                self.fail("litter", f"router {router.number}: "
                          f"{list(router.entries)}")

    def costs(self):
        """Costs of a run that ended well."""
        return {"time": self.over, "fetches": self.fetches,
                "collects": self.collects, "probes": self.probes,
                "ps": sum(p.interests for p in self.servers),
                "unwanted": self.unwanted, "stray": self.stray,
                "idle": self.idle}


def run(seed, scenario, without=None):
    return World(seed, Rules(without), scenario).run()


def measure(seed, scenario, without=None):
    """The costs, or None if the run failed."""
    world = World(seed, Rules(without), scenario)
    return None if world.run() else world.costs()
