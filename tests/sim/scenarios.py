# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios of a tree. Each scenario shapes the run, scripts events, and
judges the end."""

from auth import COUNTED, Adversary
from net import JOIN, serial_diff

FOREVER = 1000000
SETTLED = 130  # all nodes know of an attempt to attach, or of its end


class Scenario:
    """All ranks attach, issue the stream and detach; no rank dies."""

    def __init__(self, world):
        self.world = world
        self.net = world.net
        self.rng = world.rng
        self.era = 0         # restarts of the whole cluster

    def shape(self):
        """Change the world's parameters before it is built."""

    def begins(self, _worker):
        """Return: when the worker attaches."""
        return self.rng.randint(0, 9)

    def script(self):
        """Schedule events."""

    def on_error(self, worker):
        why, rank = worker.error
        self.world.fail("false-alarm", f"{worker.rank}: {why} {rank}")

    def on_left(self, worker):
        pass

    def on_pause(self):
        pass

    def others(self, but):
        return [w for w in self.world.workers if w is not but]

    def finished(self):
        return all(w.state == "left" for w in self.world.workers)

    def judge(self):
        if not self.finished():
            late = [(w.rank, w.state, getattr(w, "done", -1))
                    for w in self.world.workers if w.state != "left"]
            self.world.fail("hang", f"{late} of {self.world.length}")

    def no_rank_is_given_up(self):
        """Switch off the detection of dead ranks."""
        self.world.timeout = FOREVER
        self.world.heartbeat = 1000

    def no_loss(self):
        net = self.net
        net.loss = net.dup = net.late = net.late_copy = 0
        self.world.resets = 0

    def message_end(self):
        """First chunk of a random message after the first message, or 0."""
        stream = self.world.stream
        firsts = [i + 1 for i, c in enumerate(stream[:-1]) if c.last]
        return self.rng.choice(firsts) if firsts else 0


class Storm(Scenario):
    """Loss, duplication, reordering; nodes lose their slots."""

    def shape(self):
        self.no_rank_is_given_up()


class Mapped(Storm):
    """Storm for workers on hosts with tribd; some read their cells late."""

    def shape(self):
        super().shape()
        self.world.mapped_share = 1

    def script(self):
        for w in self.world.workers:
            w.lazy = self.rng.choice((1, 200))


class Floats(Storm):
    """Storm for sums with bits that depend on the order of arrival. A sum that
    is made again differs, so no rank may hold the first one."""

    def shape(self):
        super().shape()
        self.world.floats = True
        self.world.resets = self.rng.randint(2, 20)
        self.net.dup = self.net.late_copy = 0.3


class Masks(Storm):
    """Storm with ranks that choose masks of their own, so that each answer to
    a contribution is longer than it; some masks arrive damaged."""

    def shape(self):
        super().shape()
        self.world.local = True
        self.world.floats = self.rng.random() < 0.3
        self.net.tear = 0.1


class Quiet(Scenario):
    """No loss, no slow rank. Workers sleep until their ring wakes them, and no
    time-out may be needed."""

    def shape(self):
        self.no_rank_is_given_up()
        self.no_loss()
        world = self.world
        world.no_timeout = True
        world.mapped_share = 1
        world.window = self.rng.choice((1, 2, 4, 8))
        world.rto = world.rto_max = 3000
        world.min_length = 60

    def script(self):
        for w in self.world.workers:
            w.lazy = w.slow = 1


class Copies(Scenario):
    """Packets are doubled, and one copy may be very late, but none is lost. No
    time-out may be needed."""

    def shape(self):
        self.no_rank_is_given_up()
        self.no_loss()
        self.net.dup = self.net.late_copy = 0.2
        self.world.no_timeout = True
        self.world.mapped_share = 0
        self.world.rto = self.world.rto_max = 20000


class Eager(Storm):
    """Only one worker has time-outs. It must get every RESULT to which all
    ranks have contributed."""

    def script(self):
        self.eager = self.rng.choice(self.world.workers)
        for w in self.others(self.eager):
            w.rto = FOREVER
        self.world.limit = 20000

    def judge(self):
        if self.eager.state != "running":
            return
        done = self.eager.done
        if (self.net.now - self.eager.progress_at > 8000 and
                all(w.state == "running" and w.sent > done
                    for w in self.world.workers)):
            self.world.fail("unfetched", f"{done} at {self.eager.rank}")


class Idle(Storm):
    """An attached rank computes for a long time between two calls. Meanwhile,
    all chunks to which it contributed must reach all ranks."""

    def shape(self):
        super().shape()
        self.net.loss = 0.2
        self.world.limit = 40000
        self.world.reset_span = 20000

    def script(self):
        self.sleeper = w = self.rng.choice(self.world.workers)
        w.pause_at = self.message_end()
        w.pause = FOREVER

    def on_pause(self):
        """Wipe all relays now: this rank has all RESULTs, others lack some."""
        for relay in self.world.relays:
            relay.wipe()

    def finished(self):
        return all(getattr(w, "done", 0) >= self.sleeper.pause_at
                   for w in self.world.workers)

    def judge(self):
        if not self.finished():
            done = [getattr(w, "done", -1) for w in self.world.workers]
            self.world.fail("unfetched", f"{self.sleeper.pause_at}: {done}")


class Deaf(Storm):
    """A process stops and does not answer. Every RESULT of the root must reach
    all other ranks, even if inner nodes lose their slots."""

    def shape(self):
        super().shape()
        self.net.loss = 0.2
        self.world.depth = self.rng.randint(2, 3)
        self.world.limit = 9000
        self.world.resets = 0

    def script(self):
        world = self.world
        self.sleeper = self.rng.choice(world.workers)
        self.net.at(self.rng.randint(20, 1000), self.stop)
        for relay in world.relays[1:]:
            for _ in range(3):
                self.net.at(self.rng.randint(50, 3000), relay.wipe)

    def stop(self):
        self.sleeper.deaf_until = FOREVER

    def judge(self):
        for w in self.others(self.sleeper):
            for chunk in self.world.made:
                if w.state == "running" and w.lacks(w.index(chunk)):
                    self.world.fail("unfetched", f"{chunk} at {w.rank}")


class Parting(Storm):
    """The end of a job on a bad network: ranks that are done must stay until
    all are done."""

    def shape(self):
        super().shape()
        self.net.loss = 0.3
        self.world.min_length = 4
        self.world.detach_time = 4000
        self.world.reset_span = 3000


class Liar(Scenario):
    """A rank names a wrong scale. The run must end with an error, without a
    wrong sum and without a hang."""

    def shape(self):
        self.net.loss = min(self.net.loss, 0.05)

    def script(self):
        self.world.limit = 10 * self.world.timeout
        if len(self.world.workers) > 1:
            w = self.rng.choice(self.world.workers)
            w.lie_at = self.rng.randrange(self.world.length)

    def on_error(self, worker):
        """All notice; a rank that hears the others end reports them."""

    def finished(self):
        return all(w.state in ("left", "failed") for w in self.world.workers)


class Death(Scenario):
    """A rank is lost; the others must end and name it."""

    def lose(self, worker):
        self.lost = worker
        self.lost_at = self.net.now

    def lost_one_is_named(self, worker, reasons):
        why, rank = worker.error
        if rank != self.lost.rank or why not in reasons:
            self.world.fail("unnamed", f"{worker.rank}: {why} {rank}, not "
                                       f"{self.lost.rank}")

    def on_error(self, worker):
        if not self.lost:
            super().on_error(worker)
        if worker is not self.lost:
            self.lost_one_is_named(worker, ("dead", "gone"))
            # The application ends too.
            self.net.at(self.rng.randint(0, 2000), self.go, worker)

    def go(self, worker):
        if worker.state == "failed":
            worker.leave()

    def script(self):
        self.lost = None
        victim = self.rng.choice(self.world.workers)
        self.world.limit = 10 * self.world.timeout
        self.net.at(self.rng.randint(1, 1500), self.kill, victim)

    def kill(self, worker):
        if worker.state == "running":
            worker.die()
            self.lose(worker)

    def finished(self):
        return all(w.state in ("left", "failed", "dead")
                   for w in self.world.workers)


class Die(Death):
    """A process dies on a host without tribd."""

    def shape(self):
        self.world.mapped_share = 0
        self.net.loss = min(self.net.loss, 0.05)


class Gone(Death):
    """A process dies; its tribd sends ABORT."""

    def shape(self):
        self.world.mapped_share = 1
        self.no_loss()

    def judge(self):
        super().judge()
        for w in self.world.workers:
            if w.error and w.failed_at - self.lost_at > 1000:
                self.world.fail("slow", f"{w.rank} at {w.failed_at}")


class Quitter(Death):
    """A rank detaches while the others go on. Its absence must not count as
    zeros."""

    def shape(self):
        self.net.loss = min(self.net.loss, 0.05)

    def script(self):
        w = self.rng.choice(self.world.workers)
        w.quit_at = self.message_end()
        self.world.limit = 10 * self.world.timeout
        self.lose(w)

    def lost_one_is_named(self, worker, reasons):
        """The relay is named if all three copies of ABORT are lost."""
        if worker.error[0] != "relay":
            super().lost_one_is_named(worker, reasons)


class Late(Scenario):
    """A rank computes for three time-outs. It must not be declared dead."""

    def shape(self):
        self.net.loss = min(self.net.loss, 0.05)

    def script(self):
        w = self.rng.choice(self.world.workers)
        w.pause_at = self.message_end()
        w.pause = 3 * self.world.timeout


class Dark(Scenario):
    """The root relay dies."""

    def shape(self):
        self.net.loss = min(self.net.loss, 0.05)

    def script(self):
        self.net.at(self.rng.randint(1, 500), self.kill)

    def kill(self):
        """Once all run: a joining rank has a time-out of its own."""
        if all(w.state == "running" for w in self.world.workers):
            self.world.relays[0].dead = True
        elif not self.finished():
            self.net.at(5, self.kill)

    def on_error(self, worker):
        if worker.error[0] != "relay":
            self.world.fail("unnamed", f"{worker.rank}: {worker.error}")

    def finished(self):
        return all(w.state in ("left", "failed") for w in self.world.workers)

    def judge(self):
        if not self.finished():
            self.world.fail("hang", f"{[w.state for w in self.world.workers]}")


class Rejoin(Scenario):
    """A process restarts while the others sum. All ranks get an error, attach
    again, and get exact sums in the new epoch."""

    def shape(self):
        world = self.world
        world.limit = 120000
        world.min_length = 30
        if self.rng.random() < 0.5:
            self.no_loss()

    def script(self):
        self.lost = None
        self.pace = self.rng.choice((30, 400))
        victim = self.rng.choice(self.world.workers)
        self.net.at(self.rng.randint(1, 1500), self.restart, victim)

    def restart(self, worker):
        """Restart, unless the end is near: then others may have left."""
        last = self.world.length - 2 * self.world.window
        if worker.state != "running" or worker.sent > last:
            return
        worker.die()
        self.lost = worker
        # Late copies of old packets must arrive before the new process.
        self.lost_at = self.net.now + 320
        self.net.at(320, worker.attach)

    def on_error(self, worker):
        if not self.lost:
            super().on_error(worker)
        if worker.attaches > 12:
            self.world.fail("thrash", f"{worker.rank}")
        if (not self.net.loss and worker.attaches == 1 and
                self.net.now - self.lost_at > self.world.timeout // 2):
            self.world.fail("slow", f"{worker.rank}")
        worker.send_leave()
        self.net.at(self.rng.randint(20, self.pace), worker.attach)


class Restless(Rejoin):
    """A process attaches, gives up and attaches again while late copies of its
    old JOINs still arrive. They must have no effect. Often another rank begins
    so late that the old JOINs have the token of the time."""

    def shape(self):
        self.no_loss()
        self.net.dup = self.net.late_copy = 0.3

    def begins(self, worker):
        return (super().begins(worker) if worker.rank else
                self.rng.choice((0, self.rng.randint(50, 500))))

    def script(self):
        self.lost = self.world.workers[-1]
        self.lost_at = FOREVER
        self.pace = 400
        self.gave_up_at = 0
        self.same_process = self.rng.random() < 0.5
        t = 5
        for _ in range(self.rng.randint(1, 8)):
            t += self.rng.randint(26, 60)
            self.net.at(t, self.again)

    def again(self):
        worker = self.lost
        if worker.state != "joining":
            return
        self.gave_up_at = self.net.now
        instance = worker.instance
        worker.die()
        if self.same_process:
            worker.instance = instance
        self.net.at(13, worker.attach)  # behind all that is no late copy

    def on_error(self, worker):
        settled = worker.begun_at - self.gave_up_at > SETTLED
        if worker.error[0] != "rejoin" or settled:
            self.world.fail("false-alarm", f"{worker.rank}: {worker.error}")
        super().on_error(worker)


class Overtaken(Restless):
    """Restless with JOINs that overtake each other. A relay cannot tell the
    living one, so it may choose the wrong one, but the end must be right."""

    def shape(self):
        self.world.limit = 120000
        self.no_loss()
        self.net.dup = 0.3
        self.net.late = self.net.late_copy = 0.2

    def again(self):
        if self.lost.state == "joining":
            self.lost.die()
            self.lost.attach()

    def on_error(self, worker):
        Rejoin.on_error(self, worker)


class Again(Scenario):
    """All leave; tribd restarts on every node; new processes attach. Some
    nodes lost their slots, too."""

    def shape(self):
        self.no_rank_is_given_up()
        self.world.limit = 120000
        self.world.resets = 0

    def on_left(self, worker):
        if self.era == 0 and super().finished():
            self.era = 1
            self.net.at(400, self.start_anew)

    def start_anew(self):
        self.world.forget_values()
        for relay in self.world.relays:
            self.lose(relay)
            relay.session.restart()
        for w in self.world.workers:
            w.known_epoch = 0
            self.net.at(self.rng.randint(0, 50), w.attach)

    def lose(self, relay):
        if self.rng.random() < 0.5:
            relay.wipe()

    def finished(self):
        return self.era == 1 and super().finished()


class Full(Again):
    """Again; at first, the disk of every node refuses the state file, and then
    has room. In the end, only the cells of hosts know of the former job."""

    def shape(self):
        super().shape()
        self.world.mapped_share = 1

    def script(self):
        until = self.rng.randint(50, 2000)
        for relay in self.world.relays:
            relay.session.full_until = until

    def lose(self, relay):
        relay.wipe()


class Stale(Again):
    """Again; the state files are those of before the first job."""

    def lose(self, relay):
        relay.session.file_epoch = 0


class Forged(Storm):
    """Somebody hears all that comes down, and sends packets of every type with what
    it heard. It must not count."""

    def script(self):
        Adversary(self.world, False, Adversary.forge, 20)


class Haunted(Die):
    """Die, while somebody repeats control packets that it heard, up and down. The
    lost rank must not seem to live."""

    def script(self):
        super().script()
        Adversary(self.world, True, lambda a: a.repeat(COUNTED, 20), 8)


class Misled(Storm):
    """Somebody sends control packets of one node to the children of others. They
    must not count, nor shut out those of their own node."""

    def shape(self):
        super().shape()
        self.world.depth = self.rng.randint(2, 3)
        self.world.mapped_share = 0
        self.net.loss = 0.2

    def script(self):
        Adversary(self.world, True, Adversary.mislead, 4)


class Recorded(Scenario):
    """A process restarts before all are there. Later, somebody repeats the JOINs of
    its first life."""

    def shape(self):
        self.no_loss()
        self.no_rank_is_given_up()
        self.world.min_length = 60

    def script(self):
        lost = self.rng.choice(self.world.workers)
        for w in self.world.workers:
            w.slow = 200
        self.net.at(self.rng.randint(5, 20), self.again, lost)
        Adversary(self.world, True, lambda a: a.repeat((JOIN,), 1200), 100)

    def again(self, worker):
        if worker.state == "joining":
            worker.die()
            # Its JOINs must arrive before those of its second life.
            self.net.at(320, worker.attach)

    def on_error(self, worker):
        """If the first life was taken, the others end before anything is repeated."""
        if self.net.now > 1190 or worker.error[0] != "rejoin":
            super().on_error(worker)
        worker.send_leave()
        self.net.at(self.rng.randint(5, 30), worker.attach)


SCENARIOS = {cls.__name__.lower(): cls for cls in (
    Storm, Mapped, Floats, Masks, Quiet, Copies, Eager, Idle, Deaf, Parting, Liar, Die,
    Gone, Quitter, Late, Dark, Rejoin, Restless, Overtaken, Again,
    Full, Stale, Forged, Haunted, Misled, Recorded)}
