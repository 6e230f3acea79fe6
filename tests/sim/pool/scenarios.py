# SPDX-License-Identifier: BSD-2-Clause
"""Faults of jobs on shared pools. Each scenario shapes the run, schedules
events, and judges the outcome."""

from pool.auth import Adversary
from pool.worker import PoolWorker

FOREVER = 1000000


class Scenario:
    """All ranks issue the stream and detach; no rank dies."""

    def __init__(self, world):
        self.world = world
        self.net = world.net
        self.rng = world.rng

    def shape(self):
        """Change the world's parameters before it is built."""

    def shape_job(self, job):
        """Change a job's parameters before its stream is made."""

    def script(self):
        """Schedule events."""

    def on_slot(self, relay, row):
        """A chunk of row's job took a slot of relay."""

    def on_left(self, worker):
        pass

    def on_pause(self):
        pass

    def finished(self):
        return all(w.state == "left" for w in self.world.workers())

    def judge(self):
        if not self.finished():
            late = [(w.job.number, w.rank, w.state, getattr(w, "done", -1))
                    for w in self.world.workers() if w.state != "left"]
            self.world.fail("hang", f"{late}")

    def no_loss(self):
        net, world = self.net, self.world
        net.loss = net.dup = net.late = net.late_copy = 0
        world.resets = world.restarts = 0


class Storm(Scenario):
    """Loss, duplication, reordering; relays lose their slots, and the PS loses
    its state."""


class Quiet(Scenario):
    """No loss, no slow rank, but slots collide. No time-out may be needed."""

    def shape(self):
        self.no_loss()
        self.world.no_timeout = True
        self.world.rto = self.world.rto_max = 20000


class Copies(Quiet):
    """Quiet with second copies that may be very late."""

    def shape(self):
        super().shape()
        self.net.dup = self.net.late_copy = 0.2


class Masks(Storm):
    """Storm with ranks that choose masks of their own, so that sums are longer
    than what completes them; some masks arrive damaged."""

    def shape(self):
        super().shape()
        self.world.local = True
        self.net.tear = 0.1


class Amnesia(Scenario):
    """Many copies, many late, and relays lose their state often: the same
    values are summed several times in different groups."""

    def shape(self):
        self.net.loss = min(self.net.loss, 0.05)
        self.net.dup = 0.4
        self.net.late = self.net.late_copy = 0.3
        self.net.ancient = 0
        self.world.resets = 40
        self.world.racks = 2
        self.world.jobs_n = 1
        self.world.bare = 0
        self.world.slots = 8


class Busy(Scenario):
    """Many jobs share a pool on a good network; no state is lost. For costs."""

    def shape(self):
        world = self.world
        self.net.loss = 0.02
        self.net.dup = 0.02
        self.net.late = self.net.late_copy = 0.02
        self.net.ancient = 0
        world.resets = world.restarts = 0
        world.jobs_n = 3
        world.slots = 8
        world.least = 30
        world.bare = 0
        world.rto = 120

    def shape_job(self, job):
        job.cap = 0
        job.window = 4


class Litter(Busy):
    """Many packets are lost, also RESULTs on their way down, so that slots stay
    occupied."""

    def shape(self):
        super().shape()
        world = self.world
        self.net.loss = 0.08
        world.rto_max = 120
        world.slots = 12
        world.least = 40
        world.ranks = 8
        world.jobs_n = world.racks = 2


class Echoes(Busy):
    """No loss, many copies, half of them late."""

    def shape(self):
        super().shape()
        self.net.loss = self.net.late = 0
        self.net.dup = self.net.late_copy = 0.5
        self.world.racks = 2


class Wipes(Busy):
    """High loss, and relays lose their state all the time."""

    def shape(self):
        super().shape()
        self.net.loss = 0.1
        self.world.resets = 400
        self.world.span = 8000
        self.world.slots = 12
        self.world.racks = 2


class Straggler(Busy):
    """A rank of each job computes for a long time while the others wait."""

    def shape(self):
        super().shape()
        self.world.slots = 16

    def script(self):
        for job in self.world.jobs:
            w = self.rng.choice(job.workers)
            ends = [i + 1 for i, c in enumerate(job.stream[:-1]) if c.last]
            w.pause_at = self.rng.choice(ends)
            w.pause = 2000


class Anew(Scenario):
    """The workers start a new epoch while packets of the old one travel, are in
    slots, and at a PS that may have restarted."""

    def script(self):
        self.epochs = {}
        for job in self.world.jobs:
            self.epochs[job] = 1
            t = 70  # all ranks have started
            for epoch in range(2, 2 + self.rng.randint(1, 2)):
                t += self.rng.randint(30, 800)
                self.net.at(t, self.restart, job, epoch)

    def restart(self, job, epoch):
        self.epochs[job] = epoch
        for w in job.workers:
            self.net.at(self.rng.randint(0, 60), self.begin, w, epoch)

    def begin(self, worker, epoch):
        if epoch == self.epochs[worker.job]:
            worker.begin(epoch)

    def finished(self):
        return super().finished() and all(
            w.epoch == self.epochs[w.job] for w in self.world.workers())


class Ghosts(Anew):
    """A process of the old epoch goes on sending."""

    def shape(self):
        Busy.shape(self)
        self.world.rto_max = 120

    def script(self):
        super().script()
        for job in self.world.jobs:
            w = self.rng.choice(job.workers)
            ghost = PoolWorker(job, w.rank, w.path, w.label)
            self.net.at(5, ghost.begin, 1)


class Eager(Scenario):
    """Only one worker has time-outs. It must get every RESULT to which all
    ranks have contributed."""

    def script(self):
        workers = self.world.workers()
        self.eager = self.rng.choice(workers)
        for w in workers:
            if w is not self.eager:
                w.rto = FOREVER
        self.world.limit = 20000

    def judge(self):
        w = self.eager
        if (w.state == "running" and self.net.now - w.progress_at > 8000 and
                all(x.state == "running" and x.sent > w.done
                    for x in w.job.workers)):
            self.world.fail("unfetched", f"{w.done} at {w.rank}")


class Deaf(Scenario):
    """A process stops and does not answer. Every RESULT that another rank has
    must reach all others, even if relays and PS lose their state."""

    def shape(self):
        self.world.limit = 15000
        self.world.restarts = 3

    def script(self):
        self.sleeper = self.rng.choice(self.world.workers())
        self.net.at(self.rng.randint(20, 1000), self.stop)

    def stop(self):
        self.sleeper.deaf_until = FOREVER

    def judge(self):
        others = [w for w in self.sleeper.job.workers
                  if w is not self.sleeper and w.state == "running"]
        if others:
            first = min(w.done for w in others)
            if any(not w.lacks(first) for w in others):
                self.world.fail("unfetched", f"{first}")


class Idle(Scenario):
    """An attached rank computes for a long time between two calls. Meanwhile
    its RESULTs must reach ranks that lack them."""

    def shape(self):
        self.net.loss = 0.2
        self.world.limit = 30000

    def script(self):
        job = self.rng.choice(self.world.jobs)
        self.sleeper = w = self.rng.choice(job.workers)
        ends = [i + 1 for i, c in enumerate(job.stream[:-1]) if c.last]
        w.pause_at = self.rng.choice(ends) if ends else 0
        w.pause = FOREVER

    def on_pause(self):
        """Lose all state now: this rank has all RESULTs, others lack some."""
        self.world.server.restart()
        for relay in self.world.relays:
            relay.wipe()

    def finished(self):
        w = self.sleeper
        return all(getattr(x, "done", 0) >= w.pause_at
                   for x in w.job.workers)

    def judge(self):
        if not self.finished():
            self.world.fail("unfetched", f"{self.sleeper.pause_at}")


class Liar(Scenario):
    """A rank names a wrong scale. No sum may be wrong."""

    def shape(self):
        self.world.limit = 4000

    def script(self):
        for job in self.world.jobs:
            w = self.rng.choice(job.workers)
            w.lie_at = self.rng.randrange(job.length)

    def judge(self):
        pass


class Quitter(Scenario):
    """A rank detaches while the others go on. Its absence must not count as
    zeros."""

    def shape(self):
        self.world.limit = 6000

    def script(self):
        job = self.rng.choice(self.world.jobs)
        w = self.rng.choice(job.workers)
        w.quit_at = self.rng.randrange(job.length)

    def judge(self):
        pass


class Parting(Scenario):
    """The end of a job on a bad network: ranks that are done must stay until
    all are done."""

    def shape(self):
        self.net.loss = 0.25
        self.world.least = 4
        self.world.restarts = 4
        self.world.span = 3000


class Dead(Scenario):
    """Relays die, forever or for a long time. No rank restarts."""

    def shape(self):
        self.world.racks = self.rng.randint(2, 3)

    def script(self):
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            relay = self.rng.choice(self.world.relays)
            at = self.rng.randint(1, 600)
            self.net.at(at, self.set_dead, relay, True)
            if self.rng.random() < 0.3:
                self.net.at(at + self.rng.randint(100, 3000), self.set_dead,
                            relay, False)

    def set_dead(self, relay, dead):
        relay.dead = dead
        relay.wipe()


class Bypass(Dead):
    """Dead on a good network, from early on. For costs."""

    def shape(self):
        Busy.shape(self)
        self.world.racks = 2
        self.world.jobs_n = 2

    def shape_job(self, job):
        Busy.shape_job(self, job)

    def script(self):
        self.net.at(300, self.set_dead, self.world.relays[0], True)


class Resize(Scenario):
    """Pools grow and shrink during the run, not all at the same time."""

    def script(self):
        for _ in range(6):
            self.net.at(self.rng.randint(10, 2000), self.resize)

    def resize(self):
        relay = self.rng.choice(self.world.relays)
        relay.resize(self.rng.choice((1, 2, 3, 5, 8, 13)))


class Capped(Scenario):
    """A capped job never holds more slots of a relay than its cap."""

    def shape(self):
        self.world.slots = 16

    def shape_job(self, job):
        job.cap = self.rng.choice((0, 1, 2, 3))
        job.window = 8

    def on_slot(self, relay, row):
        mine = row.job.number, row.job.tree
        held = sum(z.who[:2] == mine for z in relay.slots.values())
        if row.cap and held > row.cap:
            self.world.fail("overdrawn", f"{held} of {row.cap} slots")


class Forged(Storm):
    """Somebody hears RESULTs, and sends GRADs with their secret."""

    def script(self):
        Adversary(self.world, Adversary.forge, 10)


class Traitor(Storm):
    """A rank of the job sends GRADs in the name of another."""

    def script(self):
        Adversary(self.world, Adversary.betray, 10)


class Revived(Dead):
    """Dead, while somebody repeats answers to PROBEs that the relay gave."""

    def script(self):
        super().script()
        Adversary(self.world, Adversary.revive, 4)


class Pretended(Dead):
    """Dead, while somebody answers PROBEs without the key."""

    def script(self):
        super().script()
        Adversary(self.world, Adversary.pretend, 4)


SCENARIOS = {cls.__name__.lower(): cls for cls in (
    Storm, Masks, Amnesia, Quiet, Copies, Anew, Eager, Deaf, Idle, Liar, Quitter,
    Parting, Dead, Resize, Capped, Busy, Litter, Echoes, Wipes,
    Straggler, Ghosts, Bypass, Forged, Traitor, Revived, Pretended)}
