# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios: when relays die and come back."""


class Scenario:
    def __init__(self, world):
        self.world = world
        self.rng = world.rng

    def shape(self):
        """Change the world's parameters before it is built."""

    def script(self):
        """Schedule events."""

    def kill(self, trees):
        for t in trees:
            self.world.relays[t].dead = True

    def back(self):
        for relay in self.world.relays:
            if relay.dead:
                relay.start()


class Dies(Scenario):
    """All relays of the job die once."""

    def script(self):
        self.world.net.at(self.rng.randint(1, 900), self.kill, range(self.world.trees))


class Half(Scenario):
    """One rank gets nothing more from one relay; the others do."""

    def shape(self):
        self.world.trees = self.rng.randint(2, 3)

    def script(self):
        self.world.net.at(self.rng.randint(1, 600), self.deafen)

    def deafen(self):
        relay = self.rng.choice(self.world.relays)
        relay.deaf = self.rng.randrange(self.world.n)


class Pauses(Scenario):
    """A relay is late by more than the time-out, and sums what it gets then."""

    def script(self):
        w = self.world
        for relay in w.relays:
            self.pause(relay, self.rng.randint(1, 900), self.rng.randint(140, 260))

    def pause(self, relay, at, ticks):
        take = relay.receive

        def late(*args):
            now = self.world.net.now
            self.world.net.at(at + ticks - now if at <= now < at + ticks else 0, take, *args)

        relay.receive = late


class Returns(Dies):
    """The relays come back while chunks go by the ranks."""

    def shape(self):
        self.world.length = 60

    def script(self):
        super().script()
        self.world.net.at(1000 + self.rng.randint(1, 900), self.back)


class Again(Returns):
    """They die again, and again: before, while or after all have gone back."""

    def shape(self):
        self.world.length = 40
        self.world.trees = 1
        self.world.sloth = self.rng.choice((0, 100))
        self.world.slow_mesh = self.rng.choice((1, 60, 600))

    def script(self):
        super().script()
        when = 1000
        for _ in range(4):
            when += self.rng.randint(1, 1500)
            self.world.net.at(when, self.kill, range(self.world.trees))
            when += self.rng.randint(1, 900)
            self.world.net.at(when, self.back)


SCENARIOS = {cls.__name__.lower(): cls for cls in (Dies, Half, Pauses, Returns, Again)}
