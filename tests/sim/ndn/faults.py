# SPDX-License-Identifier: BSD-2-Clause
"""Failures, their times and durations. All are repaired some time after
the world's span."""


class Faults:
    def __init__(self, world):
        self.world = world
        self.net = world.net
        self.rng = world.rng

    @property
    def last(self):
        """Protect a worker from permanent death."""
        return self.world.gpus["g0"]

    def plan(self, kinds):
        """kinds: {name of a method: number of times}."""
        for kind, times in kinds.items():
            for _ in range(times):
                self.net.at(self.rng.randint(50, self.world.span),
                            getattr(self, kind))
        if kinds:
            self.net.at(self.world.span + 3000, self.heal)

    def heal(self):
        for link in self.world.links:
            for face in link:
                face.cut = False
        self.world.reconverge(200)

    # --- routers

    def wipe(self):
        """A router is down for a while and restarts without maps."""
        router = self.rng.choice(self.world.routers)
        router.wipe()
        router.down = True
        self.net.at(self.rng.randint(1, 200), self.wake, router)

    def wake(self, router):
        router.wipe()
        router.down = False

    def tribd(self):
        """The daemon restarts with pinned maps."""
        router = self.rng.choice(self.world.routers)
        router.swept = False
        self.net.at(self.rng.randint(100, 3000), setattr, router, "swept",
                    True)

    def misroute(self):
        """A router has a wrong route for a while."""
        router = self.rng.choice(self.world.routers)
        prefix = self.rng.choice(list(self.world.homes))
        router.fib[prefix] = self.rng.choice(router.faces)
        self.net.at(self.rng.randint(100, 1500), self.world.converge, router)

    def circle(self):
        """The routes of three routers to the PSs form a circle."""
        for router in self.world.routers[:3]:
            to = self.world.routers[(router.number + 1) % 3]
            for face in router.faces:
                if face.peer.node is to:
                    router.fib["ps",] = face
            self.net.at(self.rng.randint(50, 300), self.world.converge,
                        router)

    # --- links

    def cut(self):
        links = self.world.links
        if not links:
            return
        link = self.rng.choice(links)
        self.set_cut(link, True)
        self.net.at(self.rng.randint(100, 2000), self.set_cut, link, False)

    def set_cut(self, link, cut):
        for face in link:
            face.cut = cut
        self.world.reconverge(400)

    # --- processes

    def crash(self):
        gpu = self.rng.choice(list(self.world.gpus.values()))
        gpu.stop()
        if self.rng.random() < 0.6 or gpu is self.last:
            self.net.at(self.rng.randint(1, 2000), gpu.start)

    def jolt(self):
        gpu = self.rng.choice(list(self.world.gpus.values()))
        gpu.stop()
        self.net.at(self.rng.randint(1, 40), gpu.start)

    def die(self):
        alive = [g for g in self.world.gpus.values()
                 if g.up and g is not self.last]
        if alive:
            self.rng.choice(alive).stop()

    def restart(self):
        ps = self.rng.choice(self.world.servers)
        ps.stop()
        self.net.at(self.rng.randint(1, 1500), ps.start)

    def quit(self):
        """A worker leaves in good order and may come back."""
        self.leave(self.rng.choice(list(self.world.gpus.values())))

    def vanish(self):
        """A worker leaves in good order and dies before it is acknowledged."""
        gpu = self.rng.choice(list(self.world.gpus.values()))
        if gpu.up:
            gpu.leave()
            gpu.stop()
            self.net.at(self.rng.randint(50, 500), gpu.start)

    def leave(self, gpu):
        if gpu.up:
            self.world.quiet.add(gpu.name)
            gpu.leave()
            self.net.at(self.rng.randint(1, 2000), self.world.quiet.discard,
                        gpu.name)
