# SPDX-License-Identifier: BSD-2-Clause
"""A rank: libtrib between attach and detach.

The application attaches, issues the whole stream and detaches. After an error
it detaches, and attaches again if the scenario wants that.
"""

from auth import COUNTED, Windows, proof
from net import (ABORT, ALIVE, CHUNK_MASK, GRAD, JOIN, LEAVE, NEED, RESULT,
                 START, Msg, make_nonce, serial_diff)
from stream import DATA, DETACH, EXP, FLOAT, SHAPE, Chunk, mix

ALIVE_PACE = 50   # least time between two ALIVEs


class Worker:
    def __init__(self, world, rank, relay, leaf=None):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.rank = self.name = rank
        self.parent = None
        self.relay = relay
        self.child = -1
        self.leaf = leaf
        self.state = "new"
        self.attaches = 0
        self.instance = self.net.rng.getrandbits(30)  # of the process
        self.known_epoch = 0
        self.epoch = 0
        self.token = 0           # of the newest START
        self.count = 0           # of control packets
        self.windows = Windows(self.rules)
        self.error = None
        self.failed_at = None
        self.life = 0            # counts attachments; stale timers compare it
        self.deaf_until = -1
        # Traits of the scenario.
        self.slow = 1            # ticks from RESULT to the next send
        self.lazy = 1            # ticks from ring to reading the cells
        self.pause_at = -1       # chunk that is issued after a pause
        self.pause = 0           # ticks of that pause
        self.quit_at = -1        # chunk before which the rank detaches
        self.lie_at = -1         # chunk with a wrong scale
        self.rto = world.rto     # first time-out
        self.rto_max = world.rto_max

    # --- attach

    def attach(self):
        self.life += 1
        self.attaches += 1
        self.state = "joining"
        self.error = None
        self.epoch = 0
        self.nonce = make_nonce(self.instance, self.attaches)
        self.token = 0
        self.join(self.life)

    def join(self, life):
        if life != self.life or self.state != "joining":
            return
        self.send(JOIN, self.known_epoch, nonce=self.nonce, token=self.token)
        self.net.at(200, self.join, life)

    def on_start(self, m):
        if self.state != "joining":
            return
        if not m.run:
            if m.nonce == self.nonce and m.token != self.token:
                self.token = m.token
                self.send(JOIN, self.known_epoch, nonce=self.nonce,
                          token=self.token)
            return
        if m.nonce != self.nonce and self.rules.start_names_nonce:
            return
        if self.leaf and not self.leaf.start(m.epoch):
            return
        self.state = "running"
        self.epoch = self.known_epoch = m.epoch
        self.begun_at = self.net.now
        self.values = self.world.values(m.epoch)
        self.sent = 0        # next chunk to send
        self.done = 0        # all chunks before this one are consumed
        self.got = set()     # consumed chunks from done on
        self.scales = {}     # EXP chunk -> its RESULT
        self.retained = {}   # UDP: chunk % 2W -> (chunk, shape, value)
        self.frozen = {}
        self.total = self.quit_at if self.quit_at >= 0 else self.world.length
        self.detaching = False
        self.paused = False
        self.pause_over = False
        self.asked = -1      # newest chunk that NEED named
        self.alive_at = -ALIVE_PACE
        self.progress_at = self.heard_at = self.net.now
        self.heard = {}      # rank -> when it said ALIVE
        self.waits_for = {}  # rank -> the chunk it lacks, from its ALIVE
        self.missing = {}    # without stuck_worker_is_heard: named by NEED
        self.net.at(self.world.heartbeat, self.tick, self.life)
        self.pump()

    # --- sending

    def send(self, kind, epoch, chunk=0, **fields):
        m = Msg(kind, epoch, chunk, True, self.child, **fields)
        if kind in COUNTED:
            self.count += 1
            m.number = self.count
        m.auth = proof(self.rules, m, self.rank)
        self.net.send(self.relay, m)

    def wire(self, index):
        return self.world.base + index & CHUNK_MASK

    def index(self, chunk):
        return self.done + serial_diff(chunk, self.wire(self.done))

    def chunk(self, index):
        if index >= self.total:
            return Chunk(DETACH, -1, 0, 0, -1, True, False)
        return self.world.stream[index]

    def window_end(self):
        if not self.rules.send_waits_for_window:
            return self.done + 2 * self.world.window
        gate = self.done
        if self.leaf and not self.rules.send_waits_for_consumption:
            while self.held(gate):
                gate += 1
        return gate + self.world.window

    def pump(self, *_):
        if self.state != "running":
            return
        end = self.window_end()
        while self.sent < min(end, self.total):
            c = self.chunk(self.sent)
            if self.sent == self.pause_at and not self.pause_over:
                if self.done == self.sent:
                    self.hold()
                return
            if c.kind == DATA and c.exp not in self.scales:
                if self.rules.data_waits_for_exp:
                    return
            self.send_next()
        if self.sent == self.total and self.sent < end:
            self.detach()

    def hold(self):
        """The application computes; libtrib's thread goes on."""
        if self.paused:
            return
        self.paused = True
        self.world.scenario.on_pause()
        self.net.at(self.pause, self.resume, self.life)

    def resume(self, life):
        if life == self.life:
            self.pause_over = True
            self.paused = False
            self.pump()

    def send_next(self):
        if self.sent == self.done:
            self.progress_at = self.net.now
            self.heard.clear()
        index = self.sent
        self.sent += 1
        self.send_grad(index, False)
        self.net.at(self.rto, self.rto_due, self.life, index, self.rto)

    def send_grad(self, index, resend):
        if index not in self.frozen or not self.rules.grad_is_frozen:
            self.frozen[index] = self.contribution(index)
        shape, value, room = self.frozen[index]
        self.send(GRAD, self.epoch, self.wire(index), resend=resend,
                  push=self.push(index), shape=shape, value=value, room=room,
                  mask=self.mask_of(index))

    def contribution(self, index):
        c = self.chunk(index)
        if c.kind == DETACH:
            return SHAPE[DETACH] + (0,), None, False
        value = self.values.own(self.rank, index)
        scale = 0
        if c.kind == DATA:
            exps = self.scales.get(c.exp)
            if exps is None:  # guess: the own exponents
                exps = self.values.exponents(self.rank, c.exp)
            scale = exps[c.word]
        if index == self.lie_at:
            scale += 1
        if index in self.frozen and value is not None and c.kind != EXP:
            value += 1        # a new rounding
        room = value is not None or self.net.rng.random() < 0.3
        if self.mask_of(index):
            room = False      # a RESULT is dense
        return SHAPE[c.kind] + (scale,), value, room

    def mask_of(self, index):
        """The rank's own mask of a chunk, 0 if it sends all values."""
        if not self.world.local or self.chunk(index).kind not in (DATA, FLOAT):
            return 0
        return mix(self.values.key, self.rank, index, 11) % 4

    def push(self, index):
        """True if the chunk has PUSH; the same on all ranks."""
        c = self.chunk(index)
        every = 64
        if self.rules.push_fits_window:
            every = min(every, max(1, self.world.window // 2))
        return c.last or c.waited or (index + 1) % every == 0

    def rto_due(self, life, index, rto):
        if life != self.life or self.state != "running" or index < self.done:
            return
        if self.deaf_until > self.net.now:
            self.net.at(self.deaf_until - self.net.now, self.rto_due, life,
                        index, rto)
            return
        if self.leaf:
            self.wake()
        if index in self.got:
            return
        if self.world.no_timeout:
            self.world.fail("stall", f"{self.rank} waited for {index}")
        if not self.held(index) and self.rules.grad_is_resent:
            self.send_grad(index, True)
        self.net.at(rto, self.rto_due, life, index,
                    min(2 * rto, self.rto_max))

    # --- receiving

    def receive(self, m):
        if self.deaf_until > self.net.now:
            return
        if m.type == START:
            if self.windows.admit(m, self.rank, None):
                self.on_start(m)
            return
        if self.state != "running" or m.epoch != self.epoch:
            return
        # XDP has checked what comes by a ring.
        if not self.leaf and not self.admits(m):
            return
        if self.is_fetching(m):
            self.heard_at = self.net.now
        if m.type == RESULT:
            self.on_result(m)
        elif m.type == NEED:
            self.on_need(m)
        elif m.type == ALIVE:
            self.heard[m.rank] = self.net.now
            self.waits_for[m.rank] = self.index(m.chunk) if m.resend else -1
        elif m.type == ABORT and m.rank != self.rank:
            self.fail(m.why, m.rank)

    def admits(self, m):
        return self.windows.admit(m, self.relay.name, None)

    def is_fetching(self, m):
        """True if m shows that another rank lacks a RESULT of this one."""
        if m.type == NEED:
            other = not m.seen >> self.child & 1
        else:
            other = m.type == ALIVE and m.rank != self.rank
        return other and self.index(m.chunk) < self.done

    def on_result(self, m):
        index = self.index(m.chunk)
        if index < self.done or index >= self.sent or index in self.got:
            return
        self.retained[index % (2 * self.world.window)] = (index, m.shape,
                                                          m.value)
        self.consume(index, m.shape, m.value)
        self.net.at(self.slow, self.pump)

    def wake(self, *_):
        """The ring wakes the reader, which reads the cells later."""
        if self.deaf_until > self.net.now or self.state != "running":
            return
        self.net.at(1 + int(self.net.rng.random() * self.lazy),
                    self.read_cells, self.life)
        if not self.rules.send_waits_for_consumption:
            self.net.at(0, self.pump)

    def read_cells(self, life):
        if life != self.life or self.state != "running":
            return
        if self.deaf_until > self.net.now:
            return
        for index in range(self.done, self.sent):
            if index not in self.got:
                cell = self.leaf.read(self.epoch, self.wire(index))
                if cell:
                    self.consume(index, cell.shape, cell.value)
        self.pump()

    def has_not_consumed(self, cell):
        if self.state != "running" or cell.epoch != self.epoch:
            return False
        index = self.index(cell.chunk)
        return self.done <= index < self.sent and index not in self.got

    def lacks(self, index):
        return index >= self.done and index not in self.got

    def consume(self, index, shape, value):
        self.progress_at = self.net.now
        self.world.check(self, index, shape, value)
        self.got.add(index)
        if self.chunk(index).kind == EXP:
            self.scales[index] = value
        while self.done in self.got:
            self.got.remove(self.done)
            self.done += 1
        if self.detaching and (self.done > self.total):
            self.leave()

    def held(self, index):
        """(shape, value) of a kept RESULT, or None."""
        if self.leaf:
            cell = self.leaf.read(self.epoch, self.wire(index))
            kept = cell and (cell.shape, cell.value)
        else:
            kept = self.retained.get(index % (2 * self.world.window))
            kept = kept[1:] if kept and kept[0] == index else None
        if kept and not self.rules.result_is_retained:
            # The RESULT is dropped when its call returns.
            last = index
            while last < self.total and not self.chunk(last).last:
                last += 1
            if self.done > last:
                return None
        return kept

    def on_need(self, m):
        index = self.index(m.chunk)
        if not self.leaf_bit_is_clear(m, index):
            return
        in_call = self.sent > self.done or self.detaching
        if not in_call and not self.rules.need_answered_after_return:
            return
        kept = self.held(index)
        if kept:
            if self.rules.need_answered_with_result:
                self.send(RESULT, self.epoch, m.chunk, shape=kept[0],
                          value=kept[1], push=self.push(index))
        elif self.done <= index < self.sent:
            if m.truth >> self.child & 1:
                self.world.fail("noise", f"{index} was not needed")
            if self.rules.need_answered_with_grad:
                self.send_grad(index, False)
        elif index >= self.sent:
            self.asked = max(self.asked, index)
            if self.rules.late_worker_answers:
                self.say_alive()

    def leaf_bit_is_clear(self, m, index):
        """Whether we are asked; if not, note which ranks are."""
        for child, rank in enumerate(self.relay.ranks):
            if rank >= 0 and not m.seen >> child & 1 and index < self.sent:
                self.missing.setdefault(rank, self.net.now)
        return not m.seen >> self.child & 1

    # --- signs of life

    def say_alive(self):
        if self.net.now - self.alive_at >= ALIVE_PACE:
            self.alive_at = self.net.now
            self.send(ALIVE, self.epoch, self.wire(self.done), rank=self.rank,
                      resend=self.sent > self.done and not self.detaching)

    def tick(self, life):
        if life != self.life or self.state != "running":
            return
        self.net.at(self.world.heartbeat, self.tick, life)
        if self.deaf_until > self.net.now:
            return
        if self.asked >= self.sent and self.rules.late_worker_answers:
            self.say_alive()
        if self.sent == self.done:
            return
        if self.net.now - self.progress_at > 2 * self.world.heartbeat:
            if self.rules.stuck_worker_is_heard:
                self.say_alive()
        self.judge()

    def judge(self):
        """Decide whether the missing RESULT means that a rank is dead."""
        now, limit = self.net.now, self.world.timeout
        since = self.progress_at
        if now - since <= limit:
            return
        echo = now - max(self.heard.get(self.rank, since), since)
        if self.rules.echo_proves_the_tree and echo > limit // 4:
            if echo > limit:
                self.fail("relay", -1)
            return
        if self.rules.stuck_worker_is_heard:
            silent = [(self.heard.get(r, since), r)
                      for r in range(self.world.size) if r != self.rank]
        else:
            silent = [(max(self.heard.get(r, since), since), r)
                      for r in self.missing if r != self.rank]
        if not silent or not self.rules.dead_is_declared:
            return
        last, rank = min(silent)
        if now - last > limit:
            self.send(ABORT, self.epoch, rank=rank, why="dead")
            self.fail("dead", rank)
        elif self.all_wait_for(self.done) and self.rules.waiters_compare:
            self.fail("disagree", -1)

    def all_wait_for(self, index):
        recent = self.net.now - self.world.timeout // 2
        return all(self.waits_for.get(r) == index and self.heard[r] > recent
                   for r in range(self.world.size))

    # --- the end

    def detach(self):
        if self.detaching:
            return
        if self.done < self.total and self.rules.barrier_waits_for_results:
            return
        self.detaching = True
        if self.rules.detach_is_a_barrier or self.quit_at >= 0:
            self.send_next()
            self.net.at(self.world.detach_time, self.give_up, self.life)
        elif self.done >= self.total:
            self.leave()
        else:
            self.detaching = False

    def give_up(self, life):
        """Leave without the barrier's RESULT: the others have left."""
        if life != self.life or self.done < self.total:
            return
        quiet = self.net.now - self.heard_at
        if quiet < self.world.detach_time and self.rules.detach_listens:
            self.net.at(self.world.detach_time - quiet, self.give_up, life)
            return
        self.leave()

    def leave(self):
        """Leave: no rank needs this one any more."""
        self.life += 1
        self.send_leave()
        self.state = "left"
        self.world.left(self)

    def send_leave(self):
        self.send(LEAVE, self.epoch, nonce=self.nonce)

    def fail(self, why, rank):
        """Report an error, unless only the end of detach was missing."""
        if self.detaching and self.done >= self.total and self.quit_at < 0:
            self.leave()
            return
        self.life += 1
        self.state = "failed"
        self.error = (why, rank)
        self.failed_at = self.net.now
        self.world.failed(self)

    def die(self):
        """The process ends without LEAVE."""
        if self.leaf and self.state == "running":
            self.leaf.process_died(self)
        self.life += 1
        self.state = "dead"
        self.known_epoch = 0
        self.instance = self.net.rng.getrandbits(30)
