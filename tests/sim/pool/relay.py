# SPDX-License-Identifier: BSD-2-Clause
"""A relay with a pool that jobs share: its XDP and clsact programs.

Each received packet causes at most one sent packet (or one to a group). There
are no timers: a slot's age counts when another chunk meets the slot.
"""

from dataclasses import replace

from net import GRAD, RESULT, TORN, serial_diff
from pool.auth import ALL, DATA, RELAYS, proves_up, secret, signed
from pool.hashing import place
from pool.packet import PROBE
from stream import combine

COLLECT, SENT = "collect", "sent"


class Slot:
    """struct trib_pslot: the sum of some workers' values of one chunk."""

    __slots__ = ("id", "who", "state", "workers", "shape", "value", "push",
                 "time")

    def __init__(self, ident, who, now):
        self.id = ident      # the part of the identity that rules compare
        self.who = who       # (job, tree, epoch, chunk), for the oracle
        self.state = COLLECT
        self.workers = 0
        self.shape = None
        self.value = None
        self.push = False
        self.time = now      # of the last contribution


class Mark:
    """State of a chunk with or without a slot: one word a chunk."""

    __slots__ = ("epoch", "chunk", "met", "acked")

    def __init__(self, m):
        self.epoch = m.epoch
        self.chunk = m.chunk
        self.met = False     # a contribution arrived; later ones follow it
        self.acked = False   # RESULT was sent down


class Row:
    """The plan's entry for one (job, tree) at one relay."""

    def __init__(self, job, mask, parent, number):
        self.job = job
        self.mask = mask       # workers whose values are added here
        self.parent = parent   # next hop
        self.number = number   # relay number of the next hop
        self.group = []        # children, by membership
        self.cap = job.cap
        self.window = job.window
        self.marks = {}


def merge(z, m):
    """Add the values of m to slot or PS chunk z."""
    z.shape = m.shape
    z.push |= m.push
    if m.value is not None:
        z.value = (m.value if z.value is None
                   else combine(z.shape, z.value, m.value))
    z.workers |= m.workers


def id_of(rules, m):
    """Identity of a chunk, without the parts of missing rules."""
    return (m.job if rules.identity_has_job else 0,
            m.tree if rules.identity_has_tree else 0,
            m.epoch if rules.identity_has_epoch else 0,
            m.chunk if rules.identity_has_chunk else 0)


class Relay:
    def __init__(self, world, number, slots):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.number = number
        self.size = slots
        self.slots = {}
        self.passed = {}   # slot -> identity of the last passed chunk
        self.rows = {}
        self.dead = False
        self.age = 2 * world.rto

    def wipe(self, slots=True, marks=True):
        if slots:
            self.slots.clear()
        if marks:
            for row in self.rows.values():
                row.marks.clear()

    def resize(self, slots):
        self.size = slots
        for i in [i for i in self.slots if i >= slots]:
            del self.slots[i]

    # --- admission

    def receive(self, m):
        row = self.rows.get(m.row())
        if self.dead or row is None:
            return
        if m.up and not proves_up(self.rules, m):
            return
        if not m.up and m.auth != secret(self.rules, m, ALL):
            return
        if m.type == PROBE:
            answer = replace(m, up=False, relay=self.number)
            answer.auth = signed(answer, m.child)
            self.net.send(row.job.workers[m.child], answer)
        elif m.type == GRAD and self.is_mine(row, m):
            self.on_grad(row, m)
        elif m.up:
            self.send_up(row, m)
        else:
            self.on_down(row, m)

    def is_mine(self, row, m):
        return (m.relay == self.number or
                not self.rules.other_number_is_forwarded)

    def place(self, row, m):
        cap = row.cap if self.rules.cap_bounds_keys else 0
        return place(self.size, m.job, m.tree, m.chunk, cap)

    # --- marks

    def mark(self, row, m):
        """The mark of m's chunk; None: a newer chunk has its place."""
        windows = 2 if self.rules.marks_span_two_windows else 1
        i = m.chunk & windows * row.window - 1
        k = row.marks.get(i)
        if k:
            age = (serial_diff(m.epoch, k.epoch) or
                   serial_diff(m.chunk, k.chunk))
            if age < 0 and self.rules.stale_grad_is_dropped:
                return None
            if not age:
                return k
        k = row.marks[i] = Mark(m)
        return k

    # --- up

    def on_grad(self, row, m):
        rules = self.rules
        if m.mask == TORN and rules.mask_is_checked:
            return
        k = self.mark(row, m)
        if k is None:
            return
        if k.acked and not m.resend and rules.acked_chunk_stays_closed:
            return
        if m.workers & ~row.mask and rules.other_number_is_forwarded:
            self.pass_up(row, m)
            return
        index = self.place(row, m)
        z = self.slots.get(index)
        if z and z.id == id_of(rules, m):
            self.meet(row, index, z, m)
            return
        if (self.passed_before(index, k, m) or
                m.resend and rules.resend_never_allocates):
            self.leave_out(row, index, k, m)
        elif z is None or self.is_aged(z):
            z = Slot(id_of(rules, m), (m.job, m.tree, m.epoch, m.chunk),
                     self.net.now)
            self.slots[index] = z
            k.met = True
            self.world.took_slot(self, row)
            self.add(row, index, z, m)
        else:
            self.leave_out(row, index, k, m)

    def passed_before(self, index, k, m):
        if not self.rules.rest_follows_what_passed:
            return False
        if self.rules.every_chunk_has_a_mark:
            return k.met
        return self.passed.get(index) == id_of(self.rules, m)

    def leave_out(self, row, index, k, m):
        """Pass m up; the rest of its chunk will follow."""
        k.met = True
        self.passed[index] = id_of(self.rules, m)
        self.pass_up(row, m)

    def is_aged(self, z):
        return (self.net.now - z.time > self.age and
                self.rules.old_slot_is_taken_over)

    def meet(self, row, index, z, m):
        """Handle m if its chunk has a slot."""
        rules = self.rules
        common = z.workers & m.workers
        if z.shape != m.shape and rules.shape_is_compared:
            self.pass_up(row, m)
        elif not common:
            self.add(row, index, z, m)
        elif common != m.workers:
            if rules.overlap_is_not_merged:
                self.pass_up(row, m)
            else:
                self.add(row, index, z, m)
        elif not rules.subset_is_dropped:
            self.add(row, index, z, m)
        elif m.resend:
            if z.state == SENT and rules.resend_goes_up_when_sent:
                self.emit(index, z, m)
            elif not rules.known_resend_is_absorbed:
                self.pass_up(row, m)

    def add(self, row, index, z, m):
        merge(z, m)
        z.time = self.net.now
        if z.workers == row.mask:
            z.state = SENT
            # The sum is new to the parent even if a resend completed it.
            self.emit(index, z, replace(m, resend=False))

    def pass_up(self, row, m):
        number = (row.number if self.rules.passing_renumbers or
                  m.relay != self.number else m.relay)
        self.send_up(row, replace(m, relay=number))

    def send_up(self, row, m):
        """Data get the secret of relays; a rank signed the rest for the PS."""
        if m.type in DATA:
            m = replace(m, auth=secret(self.rules, m, RELAYS))
        self.net.send(row.parent, m)

    # --- a slot's values leave in the packet, or clsact grows the packet

    def emit(self, index, z, m):
        if m.room or z.value is None:
            self.emit_now(index, z, m)
            return
        rng = self.net.rng
        delay = 0 if rng.random() < 0.7 else rng.randint(1, 200)
        self.net.at(delay, self.grow, index, z.id, z.workers, m)

    def grow(self, index, ident, workers, m):
        """The clsact program: it runs later, so it checks the slot again."""
        z = self.slots.get(index)
        if not z:
            return
        if z.id == ident:
            self.emit_now(index, z, m)
        elif not self.rules.grow_rechecks_slot:
            z.workers = workers
            self.emit_now(index, z, m)

    def emit_now(self, index, z, m):
        row = self.rows[m.row()]
        self.send_up(row, replace(
            m, relay=row.number, workers=z.workers, shape=z.shape,
            value=z.value, push=z.push, room=z.value is not None, mask=0))

    # --- down

    def on_down(self, row, m):
        rules = self.rules
        index = None
        if m.type == RESULT:
            k = self.mark(row, m)
            if k:
                k.acked = k.met = True
            index = self.place(row, m)
            z = self.slots.get(index)
            held = z and z.id == id_of(rules, m)
            if held and rules.ack_clears:
                del self.slots[index]
            elif z and not rules.ack_clears_by_identity:
                self.slots.pop(index)
            if not held and not rules.ack_goes_by_membership:
                return
        for port in row.group:
            self.net.send(port, m)
