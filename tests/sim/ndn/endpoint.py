# SPDX-License-Identifier: BSD-2-Clause
"""Shared by PS and workers: a process with one face, its timers, and
an estimate of how long something takes."""

from ndn.packet import Data, Interest


class Estimate:
    """Mean and deviation of a duration, as in TCP."""

    def __init__(self, first):
        self.mean = first
        self.dev = first / 2
        self.known = False

    def take(self, sample):
        if not self.known:
            self.known = True
            self.mean, self.dev = sample, sample / 2
            return
        error = sample - self.mean
        self.mean += error / 8
        self.dev += (abs(error) - self.dev) / 4

    def early(self):
        return max(0, int(self.mean - 2 * self.dev))

    def late(self):
        return int(self.mean + 4 * self.dev) + 1


class Endpoint:
    def __init__(self, world):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.rng = world.rng
        self.faces = []
        self.up = False           # the process lives
        self.life = 0             # how many processes there have been
        self.timers = {}
        self.hops = True          # it writes HopLimit

    def start(self):
        self.life += 1
        self.up = True
        self.timers = {}

    def stop(self):
        self.up = False
        self.timers = {}

    # --- time; a timer dies with its process

    def at(self, delay, fn, *args):
        self.net.at(delay, self._if_alive, self.life, fn, args)

    def _if_alive(self, life, fn, args):
        if self.up and life == self.life:
            fn(*args)

    def set(self, key, delay, fn, *args):
        """Set the timer of this name."""
        token = self.timers[key] = object()
        self.at(delay, self._if_set, key, token, fn, args)

    def _if_set(self, key, token, fn, args):
        if self.timers.get(key) is token:
            del self.timers[key]
            fn(*args)

    def cancel(self, key):
        self.timers.pop(key, None)

    def repeat(self, key, fn, wait=0):
        """Call fn now and repeat with back-off until cancelled."""
        wait = min(max(2 * wait, self.world.rto), self.world.lease // 4)
        self.set(key, wait, self.repeat, key, fn, wait)
        fn()

    # --- packets

    def express(self, name, life, prefix=False, fresh=False):
        hops = {} if self.hops else {"hops": None}
        self.net.send(self.faces[0], Interest(
            name, self.rng.getrandbits(32), life, prefix, fresh, by=self,
            **hops))

    def put(self, name, content=None, good=True):
        self.net.send(self.faces[0], Data(name, content, good))

    def receive(self, face, packet):
        if isinstance(packet, Data):
            self.world.delivered(self, packet)
            if self.up and (packet.good or not
                            self.rules.signature_is_checked):
                self.on_data(packet)
        elif self.up:
            self.on_interest(packet)
