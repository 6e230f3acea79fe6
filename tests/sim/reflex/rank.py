# SPDX-License-Identifier: BSD-2-Clause
"""A rank whose XDP program sends for it: the engine, where it differs from
../worker.py. One thread drains results, fills cells, and sends by socket what its
XDP program does not.
"""

from auth import proof
from leaf import Leaf
from net import GRAD, RESULT as RESULT_TYPE, Msg
from reflex.memory import (READY, RESULT, SENT, SLEEP, WRITING, Array, Thread,
                           is_stamped, torn)
from reflex.recovery import Recovery
from reflex.xdp import Program
from stream import DATA
from worker import Worker


class Reflex:
    """Mixed into a worker class."""

    def equip(self, window):
        world = self.world
        self.window = window
        self.array = Array(world.cells, world.cpus, world.dist)
        self.program = Program(self, self.array)
        self.reader = self.thread()
        self.truth = Thread(world.rng, 0)   # for the oracle
        self.task = None
        self.carried = self.by_socket = self.wakes = 0
        self.resends = self.false_resends = 0
        self.tribd = Leaf(world, self.relay) if self.relay else None
        self.timer = None

    def thread(self):
        return Thread(self.world.rng, self.world.slow_stores)

    # --- the epoch

    @property
    def sent(self):
        """The first chunk that has not gone, near enough."""
        if self.state != "running" or not self.ready:
            return 0
        index, end = self.done, min(self.published, self.done + self.window)
        while index < end and self.state_of(index) in (SENT, WRITING, RESULT):
            index += 1
        return index

    @sent.setter
    def sent(self, _):
        """Worker's count is that of the cells here."""

    def on_start(self, m):
        if self.state != "joining":
            return
        self.ready = False
        super().on_start(m)
        if self.state != "running":
            return
        self.published = 0
        self.late = []           # that only the socket can send
        self.unsent = set()      # of these, until they are gone
        self.recovery = Recovery(self)
        life, world = self.life, self.world
        self.task = world.task(self.main(),
                         lambda: life == self.life and
                         self.state == "running", world.rank_pace)
        if self.tribd:
            self.tribd.start(self.epoch)
        self.net.at(0, self.task.run)

    def set_distance(self, dist):
        """The window of congestion changes: more lanes, or fewer."""
        self.array.dist = dist
        if self.task:
            self.task.ring(0)

    def main(self):
        t = self.reader
        yield from self.reset(t)
        self.program.begin(self.epoch, self.wire(0))
        self.ready = True
        while True:
            self.choose_way()
            news = yield from self.drain(t)
            news |= yield from self.publish(t)
            if news and self.rules.late_sends_last:
                continue
            if self.rules.fill_then_look:
                t.flush()
            yield from self.sweep(t)
            yield from self.flush(t)
            due = yield from self.recovery.look(t)
            yield from self.rest(t, due)

    def choose_way(self):
        """By XDP program, unless a subclass knows better."""

    def reset(self, t):
        """Take the cells from the epoch before. XDP may still write into some."""
        self.array.dist = self.world.dist_of(self)
        for cell in self.array.cells:
            while self.rules.cells_are_reset:
                st = t.load(cell, "st")
                if st[2] != WRITING and t.swap(cell, "st", st,
                                               (self.epoch, 0, "free")):
                    break
                yield

    # --- results

    def at(self, index):
        return self.array.at(self.wire(index))

    def word(self, index, state):
        return self.epoch, self.wire(index), state

    def state_of(self, index, t=None):
        """State of the chunk's cell, None if the cell has another one."""
        t = t or self.reader
        st = t.load(self.at(index), "st")
        return st[2] if st[:2] == (self.epoch, self.wire(index)) else None

    def drain(self, t):
        news = False
        while self.state_of(self.done, t) == RESULT:
            yield self.world.cost_read
            cell = self.at(self.done)
            lo, hi = t.load(cell, "lo"), t.load(cell, "hi")
            self.recovery.sample(self.done, cell)
            self.consume(self.done, t.load(cell, "shape"), torn(lo, hi))
            news = True
        return news

    def held(self, index):
        if index < 0 or self.state_of(index) != RESULT:
            return None
        cell = self.at(index)
        return cell.shape, torn(cell.lo, cell.hi)

    # --- filling cells

    def room(self):
        """The first chunk whose cell is not free."""
        n = self.array.mask + 1
        return self.done + n - (self.window if self.rules.cell_keeps_result
                                else 0)

    def blocked(self, index):
        """The next chunk cannot be filled yet."""
        c = self.chunk(index)
        if index == self.pause_at and not self.pause_over:
            if self.done == index:
                self.hold()
            return True
        if (c.kind == DATA and c.exp not in self.scales and
                self.rules.data_waits_for_exp):
            return True
        if index == self.total:
            if not self.detaching:
                self.detach()
            return not self.detaching
        return index > self.total

    def publish(self, t):
        news = False
        while self.published < self.room():
            index = self.published
            if self.blocked(index):
                break
            yield self.world.cost_fill
            if index == self.done:
                self.progress_at = self.net.now
                self.heard.clear()
            yield from self.fill(t, index)
            self.published += 1
            if self.may_go(t, index) and self.win(t, index):
                self.keep(index)
                if not self.rules.late_sends_last:
                    yield from self.flush(t)
            news = True
        return news

    def fill(self, t, index):
        shape, value, room = self.contribution(index)
        cell = self.at(index)
        yield
        t.store(cell, "lo", value)
        yield
        t.store(cell, "hi", value)
        t.store(cell, "shape", shape)
        t.store(cell, "push", self.push(index))
        t.store(cell, "mask", self.mask_of(index))
        t.store(cell, "size", self.world.size_of(self.chunk(index), index)
                if room else 0)
        t.store(cell, "st", self.word(index, READY))

    # --- what the rank sends itself

    def holds(self, t, index):
        return index < 0 or self.state_of(index, t) == RESULT

    def may_go(self, t, index):
        """The RESULTs that let a chunk go have come."""
        if not self.rules.late_is_taken:
            return index < self.array.dist
        dist = self.array.dist or self.window
        return (self.holds(t, index - dist) and
                (self.holds(t, index - self.window) or
                 not self.rules.window_is_checked))

    def win(self, t, index):
        """True if the GRAD is ours to send, not the XDP program's."""
        cell, old = self.at(index), self.word(index, READY)
        if is_stamped(self.wire(index)):
            t.store(cell, "when", self.net.now)
        if self.rules.cell_is_won:
            return t.swap(cell, "st", old, self.word(index, SENT))
        if t.load(cell, "st") != old:
            return False
        t.store(cell, "st", self.word(index, SENT))
        return True

    def sweep(self, t):
        """Take what no RESULT will let go any more."""
        if not self.rules.orphans_are_swept:
            return
        for index in range(self.done, min(self.published,
                                          self.done + self.array.mask)):
            state = self.state_of(index, t)
            if state == READY and self.may_go(t, index):
                yield
                if self.win(t, index):
                    self.keep(index)

    def keep(self, index):
        self.late.append(index)
        self.unsent.add(index)

    def flush(self, t):
        if self.late:
            yield self.world.cost_call
        late, self.late = self.late, []
        for index in late:
            yield self.world.cost_send
            cell = self.at(index)
            lo = t.load(cell, "lo")
            yield
            value = torn(lo, t.load(cell, "hi"))
            self.by_socket += 1
            self.world.on_first(self, self.epoch, self.wire(index))
            self.send_values(index, cell, value, False)
            self.unsent.discard(index)

    def send_values(self, index, cell, value, resend):
        self.transmit(self.wire(index), resend, cell.push, cell.shape,
                      value, cell.size > 0, cell.mask)

    def transmit(self, chunk, resend, push, shape, value, room, mask):
        self.send_message(self.grad(self.epoch, chunk, resend, push, shape,
                                    value, room, mask))

    def grad(self, epoch, chunk, resend, push, shape, value, room, mask):
        """A GRAD as tribd's row and the cell make it."""
        return Msg(GRAD, epoch, chunk, True, self.child, resend=resend,
                   push=push, shape=shape, value=value, room=room,
                   mask=mask if value is not None else 0)

    def send_grad(self, index, resend):
        """Send a copy. XDP may write the RESULT meanwhile: then it is void."""
        self.world.task(self.copy(index, resend), lambda: True,
                        self.world.rank_pace).run()

    def copy(self, index, resend):
        t = self.thread()
        cell, st = self.at(index), self.word(index, SENT)
        if t.load(cell, "st") != st:
            return
        lo = t.load(cell, "lo")
        yield
        yield
        value = torn(lo, t.load(cell, "hi"))
        shape, push, room, mask = cell.shape, cell.push, cell.size, cell.mask
        yield
        if t.load(cell, "st") != st and self.rules.copy_is_checked:
            return
        if self.state == "running" and self.epoch == st[0]:
            self.transmit(st[1], resend, push, shape, value, room > 0, mask)

    def send_message(self, m):
        m.auth = proof(self.rules, m, self.rank)
        self.net.send(self.relay, m)

    # --- sleeping

    def rest(self, t, due):
        """Sleep until enough RESULTs, the wanted one, or the time-out."""
        a = self.array
        counts = list(a.count)   # before it sees what has come
        yield
        n = self.recovery.batch()
        if self.rules.batch_can_come:
            n = min(n, self.published - self.done - self.ahead())
        n = max(1, n)
        each = -(-n // len(counts))
        if not self.rules.arm_then_look and self.has_news(t):
            return
        yield
        for cpu, count in enumerate(counts):
            a.wake_at[cpu] = count + each
        t.exchange(a, "armed", [True] * len(counts))
        yield
        if self.rules.arm_then_look and self.has_news(t):
            return
        self.sleep_until(due)
        yield SLEEP
        self.wakes += 1

    def has_news(self, t):
        return self.state_of(self.done, t) == RESULT

    def ahead(self):
        """RESULTs behind a hole."""
        return sum(self.state_of(i) == RESULT
                   for i in range(self.done, self.published))

    def sleep_until(self, due):
        if due is None:
            return
        task = self.task
        self.timer = mark = object()
        self.net.at(max(0, due - self.net.now), self.time_out, task, mark)

    def time_out(self, task, mark):
        if self.timer is mark and task is self.task and task.asleep:
            self.judge_sleep()
            task.ring(0)

    def judge_sleep(self):
        """The rank sleeps: nothing is left that only it can send."""
        for index in range(self.done, self.published):
            if (self.world.no_timeout and
                    self.state_of(index, self.truth) == READY and
                    self.may_go(self.truth, index)):
                self.world.fail("stall", f"{self.rank} slept beside {index}")

    def ring(self):
        """The XDP program rings."""
        if self.task and self.deaf_until <= self.net.now:
            self.task.ring(self.world.cost_wake +
                           int(self.net.rng.random() * self.lazy))

    def pump(self, *_):
        if self.task:
            self.task.ring(0)

    # --- packets that XDP passes on

    def receive(self, m):
        if m.type == RESULT_TYPE and not m.up:
            self.program.receive(m)
        else:
            super().receive(m)

    def on_need(self, m):
        index = self.index(m.chunk)
        if not self.ready:
            return
        if not self.leaf_bit_is_clear(m, index):
            self.recovery.known(index)
            return
        if (not self.rules.need_answered_after_return and
                self.published == self.done and not self.detaching):
            return
        state = self.state_of(index)
        kept = self.held(index)
        if kept:
            if self.rules.need_answered_with_result:
                self.send(RESULT_TYPE, self.epoch, m.chunk, shape=kept[0],
                          value=kept[1], push=self.push(index))
        elif index in self.unsent and self.rules.first_copy_is_first:
            return
        elif state == SENT:
            if m.truth >> self.child & 1:
                self.world.fail("noise", f"{index} was not needed")
            if self.rules.need_answered_with_grad:
                self.send_grad(index, False)
        elif state == READY or index >= self.published:
            self.asked = max(self.asked, index)
            if self.rules.late_worker_answers:
                self.say_alive()

    def lacks(self, index):
        return index >= self.done and self.state_of(index) != RESULT

    # --- the end

    def send_next(self):
        """detach() issues the barrier: publish() fills it."""

    def die(self):
        if self.state == "running" and self.tribd:
            self.tribd.process_died(self)
        self.program.end()
        super().die()

    def leave(self):
        super().leave()
        self.program.end()

    def fail(self, why, rank):
        super().fail(why, rank)
        if self.state == "failed":
            self.program.end()


class Rank(Reflex, Worker):
    """A rank of a dedicated tree."""

    def __init__(self, world, rank, relay):
        self.ready = False
        super().__init__(world, rank, relay)
        self.equip(world.window)
