# SPDX-License-Identifier: BSD-2-Clause
"""An endpoint that subscribes and sends without rights, or lies."""

from ndn.endpoint import Endpoint
from ndn.packet import DELETE, DISTRIBUTE, INSERT, NEWEST
from ndn.server import Model


class Flooder(Endpoint):
    """Sends Interests as fast as it can, which nobody answers, or which others
    send, too."""

    name = "flooder"

    def __init__(self, world, rest):
        super().__init__(world)
        self.rest = rest          # ticks between bursts

    def start(self):
        super().start()
        self.act()

    def act(self):
        if self.net.now > self.world.span:
            return
        self.at(self.rest, self.act)
        for _ in range(3):
            self.express(self.choose(), 40 * self.world.lease,
                         self.rng.random() < 0.5, True)

    def choose(self):
        ps = self.world.servers[0]
        gpu = self.rng.choice(list(self.world.gpus))
        if self.rng.random() < 0.7:
            return *ps.base, "nothing", self.rng.getrandbits(40)
        return self.rng.choice((
            (*ps.base, NEWEST), (*ps.base, gpu), (gpu, *ps.base),
            (gpu, *ps.base, ps.published.version + self.rng.randrange(2))))

    def on_interest(self, i):
        pass

    def on_data(self, d):
        pass


class Squatter(Endpoint):
    """Subscribes to as many names as it can, all of which it has a right to."""

    name = "squatter"

    def start(self):
        super().start()
        self.act()

    def act(self):
        if self.net.now > self.world.span:
            return
        self.at(2, self.act)
        ps = self.world.servers[0]
        self.express((INSERT, ps.base[0], f"x{self.rng.getrandbits(40)}"), 60)

    def on_interest(self, i):
        pass

    def on_data(self, d):
        pass


class Intruder(Endpoint):
    def __init__(self, world):
        super().__init__(world)
        self.until = world.span
        self.asked = {}           # Interests are not signed: it gets answers

    def start(self):
        super().start()
        self.act()

    def act(self):
        """Send an insert, and forged Data of every kind of name."""
        if self.net.now > self.until:
            return
        self.at(self.rng.randint(3, 30), self.act)
        ps = self.rng.choice(self.world.servers)
        if self.rng.random() < 0.1:
            self.express((INSERT, *ps.base), 60)
        if self.rng.random() < 0.1:
            far = self.rng.choice((0, 1, 1 << 20))
            gpu = self.rng.choice(list(self.world.gpus))
            self.ask((gpu, *ps.base, ps.published.version + far), 60)
        version = ps.published.version
        version += self.rng.choice((0, 1, 5, 1 << 40))
        forged = self.forge(version)
        name = DISTRIBUTE, *ps.base
        segment = self.rng.randrange(ps.size)
        what = self.rng.choice((name, (*name, version, segment),
                                (*name, version, segment),
                                (*ps.base, NEWEST, version)))
        self.put(what, forged)

    def ask(self, name, life):
        self.asked[name] = self.net.now + life, True
        self.express(name, life, prefix=True)

    def forge(self, version):
        model = Model(version, None, (), 2, False)
        model.since = 0
        return model

    def put(self, name, content=None):
        super().put(name, content, False)

    def on_interest(self, i):
        """Answer Interests that routes lead here."""
        name = i.name
        if name[0] == INSERT:
            self.put((DISTRIBUTE, *name[1:]))
        elif name[0] == DISTRIBUTE and type(name[-1]) is int:
            self.put(name, self.forge(name[-2]))
        elif name[-1] == NEWEST:
            version = 9 << 40
            self.put((*name, version), self.forge(version))
        elif name[0] == DELETE:
            self.put(name)

    def on_data(self, d):
        pass
