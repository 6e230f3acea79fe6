# SPDX-License-Identifier: BSD-2-Clause
"""A node of the tree: the XDP and clsact programs."""

from dataclasses import replace

from auth import COUNTED, Windows, proof
from net import (ABORT, ALIVE, GRAD, LIFE, NEED, RESULT, SESSION_TYPES, START,
                 TORN, Msg, serial_diff)
from session import Session
from stream import FLOAT, SHAPE, combine

COLLECT, SENT, DONE = "collect", "sent", "result"


class Slot:
    """struct trib_slot."""

    __slots__ = ("epoch", "chunk", "state", "seen", "shape", "value", "push",
                 "mask", "passed")

    def __init__(self, epoch, chunk):
        self.epoch = epoch
        self.chunk = chunk
        self.state = COLLECT
        self.seen = 0
        self.shape = None
        self.value = None
        self.push = False
        self.mask = None     # of the first contribution
        self.passed = False  # RESULT was sent down; for the echo check


class Relay:
    def __init__(self, world, parent=None, up_child=-1):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.parent = parent
        self.up_child = up_child
        self.children = []   # port of child i for data
        self.joiners = []    # port of child i for START
        self.ranks = []      # rank of child i, -1 for a relay
        self.down = []       # group: each port once
        self.slots = {}
        self.epoch = 0       # of the row in `trees`
        self.dead = False
        self.name = ("relay", len(world.relays))
        # Its control packets so far: those of former epochs count.
        self.count = world.rng.randrange(2000)
        self.windows = Windows(self.rules)
        self.wiped_until = 0
        self.asked = set()   # (cause, port) of sent NEEDs; for the echo check
        self.session = Session(self)
        windows = 2 if self.rules.pool_is_two_windows else 1
        self.mask = windows * world.window - 1

    @property
    def full(self):
        return (1 << len(self.children)) - 1

    def add_child(self, port, joiner, rank):
        self.children.append(port)
        self.joiners.append(joiner)
        self.ranks.append(rank)
        if port not in self.down:
            self.down.append(port)
        return len(self.children) - 1

    def wipe(self):
        self.slots.clear()
        self.asked.clear()
        self.wiped_until = self.net.now + 2 * LIFE

    # --- secrets

    def emit(self, dst, m):
        """Number and sign a packet, and send it."""
        m = replace(m)
        if m.type in COUNTED:
            self.count += 1
            m.number = self.count
        m.auth = proof(self.rules, m,
                       dst.name if m.type == START else self.name)
        self.net.send(dst, m)

    def admits(self, m):
        if m.type == START:
            return self.windows.admit(m, self.name, "parent")
        if not m.up:
            return self.parent and self.windows.admit(m, self.parent.name,
                                                      "parent")
        rank = self.ranks[m.child]
        who = self.children[m.child].name if rank < 0 else rank
        return self.windows.admit(m, who, m.child)

    # --- admission

    def receive(self, m):
        if self.dead:
            return
        if m.type in SESSION_TYPES:
            if self.admits(m):
                self.session.receive(m)
            return
        if not self.epoch:
            return
        if self.rules.epoch_is_compared and m.epoch != self.epoch:
            return
        if not self.admits(m):
            return
        handler = self.HANDLERS[m.type]
        handler(self, m)

    # --- slots

    def find(self, chunk):
        """The slot (None: free), and the distance of chunk to the slot's."""
        z = self.slots.get(chunk & self.mask)
        if z and z.epoch != self.epoch and self.rules.slot_is_free_in_new_epoch:
            z = None
        if not z:
            return None, 1
        if self.rules.chunks_compare_serially:
            return z, serial_diff(chunk, z.chunk)
        return z, chunk - z.chunk

    def take(self, chunk):
        z = self.slots[chunk & self.mask] = Slot(self.epoch, chunk)
        return z

    def merge(self, z, m):
        """Add a contribution; False if its shape differs from the slot's."""
        rules = self.rules
        empty = m.value is None
        if not empty and z.mask is None:
            z.mask = m.mask
        if not empty and z.mask != m.mask and not rules.masks_may_differ:
            return False
        if z.seen and (rules.empty_is_compared or not empty):
            compared = rules.shape_is_compared
            # The first contribution sets the shape, also if it is EMPTY.
            if compared and z.shape is not None and z.shape != m.shape:
                return False
        if not empty or rules.empty_is_compared:
            z.shape = m.shape
        if empty:
            if not rules.empty_only_marks:
                z.value = None
        elif z.value is None:
            z.value = m.value
        else:
            z.value = combine(z.shape, z.value, m.value)
        z.push |= m.push
        z.seen |= 1 << m.child
        return True

    # --- up: from a child

    def on_grad(self, m):
        rules = self.rules
        if m.mask == TORN and rules.mask_is_checked:
            return
        if (m.shape and m.shape[:2] == SHAPE[FLOAT] and
                rules.wiped_node_waits and self.net.now < self.wiped_until):
            return
        z, age = self.find(m.chunk)
        if age < 0 and rules.old_chunk_is_dropped:
            return
        if age:
            z = self.take(m.chunk)
        if z.state == DONE:
            self.answer(z, m)
        elif z.state == COLLECT and (not z.seen >> m.child & 1 or
                                     not rules.duplicate_is_ignored):
            if self.merge(z, m) and z.seen == self.full:
                self.complete(z, m)
        elif not m.resend:
            return
        elif z.state == SENT:
            if rules.resend_goes_up_when_sent:
                self.send_partial(z, True)
        elif rules.resend_asks_when_collecting:
            self.send_need(m.chunk, z.seen, self.net.new_cause(), True)

    def complete(self, z, m):
        if self.parent:
            z.state = SENT
            self.with_room(z, m, self.send_partial)
        else:
            z.state = DONE
            self.with_room(z, m, self.send_result_down)

    def answer(self, z, m):
        """RESULT to the one child that sent m."""
        if not self.rules.result_is_kept:
            return
        port = self.children[m.child]
        self.with_room(z, m, lambda s: self.emit(port, self.result(s)))

    def on_ask(self, m):
        rules = self.rules
        z, age = self.find(m.chunk)
        if age < 0:
            return
        if not age and z.state == DONE:
            if rules.ask_is_answered:
                self.answer(z, m)
            return
        if not age and z.state == SENT:
            self.send_up(NEED, m.chunk, cause=m.cause)
            return
        seen = 0 if age else z.seen
        if rules.ask_names_asker:
            seen |= 1 << m.child
        self.send_need(m.chunk, seen, m.cause, True)

    # --- down: from the parent

    def on_need(self, m):
        rules = self.rules
        if m.seen >> self.up_child & 1:
            return
        z, age = self.find(m.chunk)
        if age < 0:
            return
        if not age and z.state == DONE:
            if rules.result_goes_up:
                self.with_room(z, m, self.send_result_up)
        elif not age and z.state == SENT:
            if m.truth >> self.up_child & 1:
                self.world.fail("noise", f"{m.chunk} was not needed")
            if rules.need_answered_when_sent:
                self.with_room(z, m, self.send_partial)
        elif rules.need_is_passed_down:
            self.send_need(m.chunk, 0 if age else z.seen, m.cause, False)

    # --- both directions

    def on_any_need(self, m):
        (self.on_ask if m.up else self.on_need)(m)

    def on_result(self, m):
        rules = self.rules
        z, age = self.find(m.chunk)
        if age < 0 and rules.old_chunk_is_dropped:
            return
        if not age and z.state == DONE and rules.result_is_passed_once:
            return
        passed = not age and z.passed
        z = self.take(m.chunk)
        z.state, z.shape, z.value, z.push = DONE, m.shape, m.value, m.push
        z.passed = passed
        if m.up and self.parent and rules.result_goes_up:
            self.send_result_up(z)
        self.send_result_down(z)

    def on_notice(self, m):
        """ALIVE, ABORT."""
        rules = self.rules
        if m.up and self.parent:
            self.send_up(m.type, m.chunk, rank=m.rank, why=m.why,
                         resend=m.resend)
            return
        turned = (rules.alive_is_broadcast if m.type == ALIVE
                  else rules.abort_is_broadcast)
        if m.up and not turned:
            return
        for port in self.down:
            self.emit(port, Msg(m.type, self.epoch, m.chunk, rank=m.rank,
                                    why=m.why, resend=m.resend))

    HANDLERS = {GRAD: on_grad, RESULT: on_result, NEED: on_any_need,
                ALIVE: on_notice, ABORT: on_notice}

    # --- sending

    def with_room(self, z, m, send):
        """Answer in place, or let the clsact program grow the packet."""
        if m.room or z.value is None:
            send(z)
            return
        rng = self.net.rng
        delay = 0 if rng.random() < 0.7 else rng.randint(1, 200)
        key = (z.chunk & self.mask, z.epoch, z.chunk, z.state)
        self.net.at(delay, self.grow, key, send)

    def grow(self, key, send):
        """The clsact program: it runs later, so it checks the slot again."""
        index, epoch, chunk, state = key
        z = self.slots.get(index)
        if z and (z.epoch, z.chunk, z.state) == (epoch, chunk, state):
            z.passed = False  # a wiped slot may be filled a second time
            send(z)
        elif z and not self.rules.grow_rechecks_slot:
            moved = Slot(epoch, chunk)
            moved.state, moved.shape, moved.value = state, z.shape, z.value
            send(moved)

    def send_up(self, kind, chunk, **fields):
        self.emit(self.parent, Msg(kind, self.epoch, chunk, True,
                                       self.up_child, **fields))

    def send_partial(self, z, resend=False):
        value = z.value
        if value is None and not self.rules.empty_partial_is_empty:
            value = 0
        self.send_up(GRAD, z.chunk, resend=resend, push=z.push, shape=z.shape,
                     value=value, room=value is not None)
        if not self.rules.partial_is_kept:
            self.slots.pop(z.chunk & self.mask, None)

    def result(self, z):
        return Msg(RESULT, z.epoch, z.chunk, push=z.push, shape=z.shape,
                   value=z.value)

    def send_result_up(self, z):
        self.send_up(RESULT, z.chunk, push=z.push, shape=z.shape,
                     value=z.value)

    def send_result_down(self, z):
        if z.passed:
            self.world.fail("echo", f"RESULT {z.chunk} went down twice")
        z.passed = True
        if not self.parent:
            self.world.made.add(z.chunk)
        for port in self.down:
            self.emit(port, self.result(z))
        if not self.rules.result_is_kept:
            self.slots.pop(z.chunk & self.mask, None)

    def send_need(self, chunk, seen, cause, to_all):
        """Multicast NEED(seen) to the children; to_all: ASK the parent too."""
        named = seen if self.rules.need_names_seen else 0
        for port in self.down:
            if (cause, port) in self.asked:
                self.world.fail("echo", f"NEED {chunk} came back")
            self.asked.add((cause, port))
            self.emit(port, Msg(NEED, self.epoch, chunk, seen=named,
                                    truth=seen, cause=cause, room=False))
        if to_all and self.parent and self.rules.ask_reaches_parent:
            self.send_up(NEED, chunk, cause=cause, room=False)
