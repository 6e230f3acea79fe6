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

    def back(self, tries=20):
        """The relays are there again, in a new epoch, and rank 0 hears of it."""
        w = self.world
        first = w.ranks[0]
        if w.over or tries == 0:
            return
        if first.by_trees or not first.planned or first.returning:
            # It has not missed them yet.
            w.net.at(100, self.back, tries - 1)
            return
        for relay in w.relays:
            relay.start(first.generation + 1)
        first.returning = first.generation
        w.mesh.tell_all(0, "prepare", first.generation)


class Dies(Scenario):
    """All relays of the job die once."""

    def script(self):
        self.world.net.at(self.rng.randint(1, 900), self.kill, range(self.world.trees))


class Half(Scenario):
    """One of several trees loses its relay; the job leaves all of them."""

    def shape(self):
        self.world.trees = self.rng.randint(2, 3)

    def script(self):
        self.world.net.at(self.rng.randint(1, 600), self.kill, [self.rng.randrange(self.world.trees)])


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


class Deep(Dies):
    """Several calls are under way."""

    def shape(self):
        self.world.depth = 4
        self.world.window = self.rng.choice((1, 2))


class Returns(Dies):
    """The relays come back while calls go by peers."""

    def shape(self):
        self.world.length = 60

    def script(self):
        super().script()
        self.world.net.at(1000 + self.rng.randint(1, 900), self.back)


class Again(Returns):
    """They die again: before, while or after all have gone back."""

    def shape(self):
        super().shape()
        self.world.sloth = self.rng.choice((0, 300))
        self.world.slow_mesh = self.rng.choice((1, 60, 600))

    def script(self):
        super().script()
        when = 1000 + self.rng.randint(1, 1500)
        self.world.net.at(when, self.kill, range(self.world.trees))
        self.world.net.at(when + self.rng.randint(300, 900), self.back)


SCENARIOS = {cls.__name__.lower(): cls for cls in (Dies, Half, Pauses, Deep, Returns, Again)}
