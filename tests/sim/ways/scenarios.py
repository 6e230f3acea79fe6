# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: links that die in one or both directions, servers that start anew, an adversary."""

from ways.world import CALM


class Scenario:
    calm = False                # no link is ever dead
    back = frozenset()          # servers whose clocks go back: they may be lied about for a while

    def __init__(self, world):
        self.world = world
        self.rng = world.rng

    def shape(self):
        """Change the world's parameters before it is built."""

    def script(self):
        """Schedule events."""

    def clock(self, _server):
        return 1000 * (1 + self.world.net.now)

    def when(self):
        return self.rng.randint(1, CALM)

    def link(self):
        cube = self.world.cube
        a, level = self.rng.randrange(cube.servers), self.rng.randrange(cube.k)
        return a, self.rng.choice(cube.under(a, level)), level

    def cut(self, a, b, level):
        self.world.cut |= {(a, b, level), (b, a, level)}

    def mend(self, a, b, level):
        self.world.cut -= {(a, b, level), (b, a, level)}

    def cut_some(self):
        for _ in range(self.rng.randint(1, 5)):
            link = self.link()
            self.world.net.at(self.when(), self.cut, *link)
            if self.rng.random() < 0.5:
                self.world.net.at(self.when(), self.mend, *link)

    def restart(self, server):
        self.world.stop(server)
        self.world.net.at(self.rng.randint(1, 900), self.begin, server)

    def begin(self, server):
        if not self.world.servers[server]:
            self.world.start(server, self.world.clock(server))


class Calm(Scenario):
    """Nothing happens, but packets are lost."""

    calm = True

    def shape(self):
        self.world.loss = 0.1


class Links(Scenario):
    """Links die and some come back; servers start anew."""

    def script(self):
        self.cut_some()
        for _ in range(self.rng.randint(0, 3)):
            self.world.net.at(self.when(), self.restart,
                              self.rng.randrange(self.world.cube.servers))


class Oneway(Scenario):
    """A link loses everything in one direction."""

    def script(self):
        self.world.net.at(self.when(), self.world.cut.add, self.link())


class Flapping(Scenario):
    """A link loses most of what it carries."""

    def script(self):
        a, b, level = self.link()
        for way in (a, b, level), (b, a, level):
            self.world.lossy[way] = 0.7
        self.world.net.at(CALM, self.world.lossy.clear)


class Clock(Links):
    """The clocks of some servers go back while they are off."""

    def shape(self):
        self.back = {v for v in range(self.world.cube.servers) if self.rng.random() < 0.5}

    def clock(self, server):
        if self.world.net.now and server in self.back:
            return self.rng.choice((0, 500, 1000))
        return super().clock(server)


class Adversary(Links):
    """Somebody repeats news that was sent, and forges some; all servers start anew once."""

    def script(self):
        super().script()
        self.world.net.at(CALM // 2, self.all_restart)
        for _ in range(60):
            self.world.net.at(self.rng.randint(1, 2 * CALM), self.repeat)
            self.world.net.at(self.rng.randint(1, 2 * CALM), self.forge)
        self.world.net.at(0, self.answer)

    def all_restart(self):
        for v in range(self.world.cube.servers):
            self.world.stop(v)
            self.world.net.at(self.rng.randint(1, 99), self.begin, v)

    def deliver(self, sealed, news):
        a, b, level = self.link()
        self.world.arrive(a, (b, level), "on_news", sealed, news)

    def repeat(self):
        if self.world.heard:
            self.deliver(*self.rng.choice(self.world.heard))

    def answer(self):
        """All that is dead answers by a probe of before."""
        for a, b, level in self.world.cut & set(self.world.probes):
            self.world.arrive(a, (b, level), "on_probe", *self.world.probes[a, b, level])
        self.world.net.at(30, self.answer)

    def forge(self):
        a, b, level = self.link()
        number = 1000 * self.rng.randint(1, 3 * CALM)
        self.deliver(False, {a: (number, frozenset({(b, level)}))})


SCENARIOS = {cls.__name__.lower(): cls
             for cls in (Calm, Links, Oneway, Flapping, Clock, Adversary)}
