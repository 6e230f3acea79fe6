# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios. Each one sets the parameters of a run, scripts its events, and
checks the end."""

from ndn.faults import Faults
from ndn.intruder import Flooder, Intruder, Squatter
from ndn.packet import connect


class Scenario:
    """Base: everybody trains to the end."""

    may_come = False     # Data that nobody of the job has signed

    def __init__(self, world):
        self.world = world
        self.net = world.net
        self.rng = world.rng
        self.faults = Faults(world)

    def shape(self):
        """Change the world's parameters before it is built."""

    def script(self):
        self.faults.plan(self.world.faults)

    def place(self, endpoint):
        """The router of an endpoint."""
        return self.rng.choice(self.world.routers)

    def begin(self, gpu):
        """Time at which it starts."""
        late = self.rng.random() < self.world.late
        return self.rng.randint(500, 2500) if late else 0

    def candidates(self, job):
        """The workers of a job."""
        return [f"g{i}" for i in range(self.world.gpus_n)]

    def on_excluded(self, gpu):
        pass

    def on_left(self, gpu):
        pass

    def on_insert(self, gpu):
        pass

    def done(self):
        world = self.world
        return (self.net.now > world.span and
                all(p.up and p.done for p in world.servers) and
                all(g.base is None for g in world.gpus.values() if g.up))

    def no_loss(self):
        net = self.net
        net.loss = net.dup = net.late = net.late_copy = 0


class Storm(Scenario):
    """Loss, duplication, reordering; routers lose their maps, links go down,
    routes are wrong, workers and PSs die and come back."""

    def shape(self):
        rng = self.rng
        self.world.jobs_n = rng.choice((1, 1, 2))
        self.world.faults = {
            "wipe": rng.randint(0, 3), "cut": rng.randint(0, 3),
            "misroute": rng.randint(0, 2), "tribd": rng.randint(0, 2),
            "crash": rng.randint(0, 2), "restart": rng.choice((0, 0, 1, 2)),
            "quit": rng.choice((0, 0, 1))}


class Quiet(Scenario):
    """No loss, delay or duplicates; rounds take longer than a lease. Every
    acknowledged subscriber must get every version."""

    def shape(self):
        world = self.world
        self.no_loss()
        world.no_hole = True
        world.rto = 200

    def script(self):
        for gpu in self.world.gpus.values():
            gpu.speed = self.rng.randint(300, 900)


class Turn(Scenario):
    """Workers come and go; nothing is lost, but packets overtake each other,
    inserts and deletes among them."""

    def shape(self):
        world = self.world
        self.no_loss()
        self.net.late = 0.3
        world.no_hole = world.acks_hold = True
        world.patience = 1400
        world.rto = 1500
        world.leave_time = 2000
        world.lease = 6000
        world.limit = 200000
        world.row = True
        world.routers_n = self.rng.randint(2, 4)
        world.gpus_n = 4
        world.sync = True
        world.stock = 0
        world.versions = 20
        world.size = 1
        world.faults = {"quit": 10}

    def script(self):
        super().script()
        self.world.gpus["g0"].speed = 500

    def place(self, endpoint):
        """All but one worker far from the PS."""
        far = getattr(endpoint, "number", 0) > 0
        return self.world.routers[-1 if far else 0]

    def on_insert(self, gpu):
        """Workers behind the same router leave at that moment."""
        if gpu.acked is not None or self.rng.random() < 0.1:
            return
        node = gpu.faces[0].peer.node
        for other in self.world.gpus.values():
            if (other is not gpu and other.acked is not None and
                    other.faces[0].peer.node is node):
                self.faults.leave(other)


class Late(Turn):
    """The same with repeats, which packets overtake, too."""

    def shape(self):
        super().shape()
        self.restless = 40000
        self.world.routers_n = self.rng.choice((2, 2, 2, 3, 4))
        self.world.rto = self.rng.choice((100, 200, 400))
        self.world.versions = 10
        self.world.limit = 400000

    def on_insert(self, gpu):
        """It leaves soon, perhaps before the insert is answered, and others
        come."""
        super().on_insert(gpu)
        if self.net.now < self.restless and self.rng.random() < 0.3:
            self.net.at(self.rng.randint(1, 200), self.relieve, gpu)

    def relieve(self, gpu):
        self.faults.leave(gpu)
        for other in self.world.gpus.values():
            if other.up and other.base is None:
                other.join(self.world.servers[0].base)


class Wiped(Quiet):
    """Routers lose their maps. A lease later everything is restored."""

    def shape(self):
        super().shape()
        world = self.world
        world.versions = 14
        world.faults = {"wipe": 6}
        world.hole_from = world.span + 200 + world.lease

    def script(self):
        super().script()
        self.faults.plan(self.world.faults)


class Chain(Scenario):
    """Routers in a row. Workers start one after the other, ever farther away,
    and the nearer ones die."""

    def shape(self):
        world = self.world
        self.no_loss()
        world.no_hole = world.acks_hold = True
        world.row = True
        world.patience = 120
        self.step = int(world.lease * self.rng.uniform(0.22, 0.3))
        world.routers_n = 6
        world.gpus_n = 5
        world.stock = 0
        world.sync = False
        world.versions = 3
        world.late = 0
        world.size = 2

    def place(self, endpoint):
        number = getattr(endpoint, "number", -1)
        return self.world.routers[number + 1]

    def begin(self, gpu):
        """Almost a third of a lease apart; each dies soon after the next."""
        start = 100 + gpu.number * self.step
        self.net.at(start + 1, self.join, gpu)
        if gpu.number < self.world.gpus_n - 1:
            self.net.at(start + self.step + 100, gpu.stop)
        return start

    def join(self, gpu):
        if gpu.base is None:
            gpu.join(self.world.servers[0].base)

    def script(self):
        for gpu in self.world.gpus.values():
            gpu.speed = self.rng.randint(60, 150)


class Ebb(Scenario):
    """Few workers behind many routers; some leave. Costs are compared."""

    def shape(self):
        world = self.world
        self.no_loss()
        world.lease = 6000
        world.routers_n = 6
        world.gpus_n = 3
        world.late = 0
        world.stock = 0
        world.size = 12
        world.sync = True
        world.versions = 20
        world.faults = {"quit": 4}


class Moved(Quiet):
    """Links go for good, one after the other, while there is another way."""

    def shape(self):
        super().shape()
        world = self.world
        world.routers_n = 4
        world.versions = 14
        world.late = 0
        world.hole_from = 1500 + 400 + world.lease

    def script(self):
        super().script()
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
            self.world.link(a, b)
        for router in self.world.routers:
            self.world.converge(router)
        for link in self.world.links[:3]:     # the tree; a ring is left
            self.net.at(self.rng.randint(100, 1500), self.faults.set_cut,
                        link, True)


class Unheard(Scenario):
    """Workers send one delete and die; its acknowledgement may be lost."""

    def shape(self):
        world = self.world
        self.net.loss = 0.1
        world.routers_n = 3
        world.gpus_n = 3
        world.faults = {"vanish": 12}


class Drizzle(Scenario):
    """Heavy loss and nothing else. Costs are compared."""

    def shape(self):
        world = self.world
        self.net.loss = 0.08
        self.net.dup = 0.02
        world.routers_n = 4
        world.gpus_n = 5
        world.stock = 0
        world.versions = 12
        world.size = 5
        world.all_join = world.acks_hold = True

    def script(self):
        for gpu in self.world.gpus.values():
            gpu.speed = self.rng.randint(300, 600)


class Crowd(Drizzle):
    """The same with many workers behind few routers."""

    def shape(self):
        super().shape()
        self.world.gpus_n = 8
        self.world.routers_n = 2
        self.world.sync = True
        self.world.cache_size = 64


class Ring(Scenario):
    """Routes of three routers make a circle, again and again."""

    def shape(self):
        world = self.world
        self.net.loss = 0.01
        world.routers_n = self.rng.randint(3, 5)
        world.lease = 600
        world.faults = {"circle": 12, "quit": 2}

    def script(self):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            self.world.link(a, b)
        super().script()


class Forgetful(Ring):
    """The same, with routers that soon forget nonces."""

    def shape(self):
        super().shape()
        self.world.nonces_size = 1
        self.world.stock = 0
        self.world.loops_end = False


class Slow(Scenario):
    """A worker computes for leases. It must not be excluded."""

    def shape(self):
        world = self.world
        self.net.loss = 0.03
        world.sync = True
        world.versions = 4
        world.size = 1
        world.gpus_n = 4
        world.late = 0
        world.routers_n = 3

    def script(self):
        self.world.gpus["g0"].speed = 5000

    def on_excluded(self, gpu):
        self.world.fail("excluded", gpu.name)


class Dead(Scenario):
    """Workers die for good, and others start only then."""

    def shape(self):
        self.world.gpus_n = 4
        self.world.late = 0.5
        self.world.faults = {"die": 2}


class Revive(Scenario):
    """The PS restarts again and again from its checkpoint."""

    def shape(self):
        self.world.faults = {"restart": 6}
        self.world.versions = 9


class Shaken(Scenario):
    """Workers restart at once and compute other gradients on the same version."""

    def shape(self):
        self.world.faults = {"jolt": 25}
        self.world.gradient_size = 3
        self.world.late = 0


class Pair(Scenario):
    """Two PSs with jobs of the same name, workers that both want, and routes
    of which one is a prefix of the other."""

    def shape(self):
        self.world.jobs_n = 2
        self.world.versions = 4
        self.world.routers_n = self.rng.randint(2, 4)

    def candidates(self, job):
        return [f"g{i}" for i in range(self.world.gpus_n)
                if i != job]


class Stranded(Scenario):
    """A worker's link is down until the others are done, and caches soon lose
    the version that it began to receive."""

    def shape(self):
        world = self.world
        self.net.loss = 0.01
        world.gpus_n = 3
        world.size = 12
        world.cache_size = 2
        world.late = 0
        world.stock = 0

    def script(self):
        face = self.world.gpus["g0"].faces[0]
        self.net.at(self.rng.randint(100, 400), self.cut, face, True)
        self.net.at(8000, self.cut, face, False)

    def cut(self, face, cut):
        face.cut = face.peer.cut = cut


class Narrow(Scenario):
    """Links queue fewer packets than a model has."""

    def shape(self):
        world = self.world
        self.net.loss = 0.01
        self.net.dup = 0
        self.net.queue = 10
        world.size = 40
        world.cache_size = 100
        world.routers_n = 3


class Intrusion(Scenario):
    """An intruder subscribes and sends without rights, or with rights and
    forged content; routes may lead to it for a while."""

    def shape(self):
        world = self.world
        self.no_loss()
        kind = self.rng.randrange(3)
        self.permitted = kind != 0
        self.misroutes = 0 if kind == 1 else 4
        self.may_come = kind == 2
        world.late = 0.5
        world.versions = 20
        world.no_hole = True
        world.stock = 0
        world.hole_from = world.span + 2 * world.lease + 1500
        world.cache_size = 64

    def script(self):
        world = self.world
        world.intruder = Intruder(world)
        router = self.rng.choice(world.routers)
        face, _ = connect(router, world.intruder)
        face.write = None if self.permitted else (("x",),)
        face.subscribe = ()
        self.net.at(100, world.intruder.start)
        for gpu in world.gpus.values():
            gpu.speed = self.rng.randint(300, 500)
        for _ in range(self.misroutes):
            self.net.at(self.rng.randint(100, world.span), self.mislead,
                        router, face)

    def mislead(self, router, face):
        router.fib["ps",] = face
        self.net.at(self.rng.randint(300, 1500), self.world.converge, router)


class Flood(Scenario):
    """Hosts without rights, or with a right that they abuse, send Interests that
    nobody answers as fast as they can. Nobody else may notice."""

    def shape(self):
        world = self.world
        self.no_loss()
        self.bare = self.rng.random() < 0.4
        self.many = not self.bare and self.rng.random() < 0.5
        world.routers_n = 1 if self.many else self.rng.randint(1, 3)
        world.row = True
        world.span = 2500
        world.gpus_n = self.rng.randint(2, 4)
        world.size = 5 if self.many else self.rng.choice((1, 2))
        world.gradient_size = 1
        world.sync = True         # others bind a gradient to what is asked for
        world.stock = 0
        world.late = 0.5
        world.own_seats = 4
        world.shared_seats = 24

    def place(self, endpoint):
        """The PS at the first router, the flooders at the last."""
        routers = self.world.routers
        if isinstance(endpoint, Flooder):
            return routers[-1]
        number = getattr(endpoint, "number", None)
        return routers[0 if number is None else
                       self.rng.choice((0, -1, -1))]

    def script(self):
        world = self.world
        for _ in range(5 if self.many else 1):
            flooder = Flooder(world, 6 if self.many else 1)
            face, _ = connect(self.place(flooder), flooder)
            face.host = True
            face.write = ()
            face.subscribe = () if self.bare else (("ps",),)
            self.net.at(100, flooder.start)


class Squat(Scenario):
    """A host subscribes to names without end. Nobody else may notice, behind the
    same router or not."""

    def shape(self):
        world = self.world
        self.no_loss()
        world.routers_n = self.rng.randint(1, 3)
        world.row = True
        world.span = 2500
        world.gpus_n = self.rng.randint(3, 5)
        world.jobs_n = 2
        world.late = 0.7
        world.own_entries = 1
        world.shared_entries = 12

    def place(self, endpoint):
        """The PS at the first router, the squatter at the last."""
        routers = self.world.routers
        if isinstance(endpoint, Squatter):
            return routers[-1]
        return routers[0 if getattr(endpoint, "number", None) is None else
                       self.rng.choice((0, -1, -1))]

    def script(self):
        squatter = Squatter(self.world)
        face, _ = connect(self.place(squatter), squatter)
        face.host = True
        face.write = ()
        face.subscribe = (("ps",),)
        self.net.at(self.rng.randint(1, 100), squatter.start)


SCENARIOS = {s.__name__.lower(): s for s in (
    Storm, Quiet, Wiped, Chain, Ebb, Moved, Turn, Late, Unheard, Drizzle, Crowd, Ring,
    Forgetful, Slow, Dead, Revive, Shaken, Pair, Stranded, Narrow,
    Intrusion, Flood, Squat)}
