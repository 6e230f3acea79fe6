# SPDX-License-Identifier: BSD-2-Clause
"""A router: its XDP and clsact programs, and the sweep of its tribd.

One packet in is one packet out at most, or one copied to several faces. There
is no timer in XDP: a lease or a lifetime is compared when somebody looks.
"""

from ndn.packet import (DELETE, DISTRIBUTE, INSERT, Data, allows, job_of,
                          unmarked)
from ndn.room import has_room
from ndn.seats import Seats
from ndn.tables import NEVER, Entry, Lru


class Router:
    def __init__(self, world, number):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.number = number
        self.faces = []
        self.fib = {}             # prefix: face
        self.down = False
        self.swept = True         # tribd is there
        self.outs = 0             # of the packet at hand
        self.came = None          # the face that it came in by
        self.wipe()

    def wipe(self):
        """Lose the maps. Routes and faces return from the state file."""
        self.entries = {}
        self.pending = {}
        self.seats = Seats(self)
        self.cache = Lru(self.world.cache_size)
        self.nonces = Lru(self.world.nonces_size)

    def receive(self, face, packet):
        if self.down:
            return
        self.outs = 0
        self.came = face
        if isinstance(packet, Data):
            self.on_data(face, packet)
        else:
            self.on_interest(face, packet)
        if self.outs > 1:
            self.world.fail("bound", "a packet made two")

    # --- ways out

    def forward(self, face, interest, hops):
        self.outs += 1
        if face is self.came:
            self.world.fail("echo", f"{interest.name} goes back")
        if len(interest.trail) > 40:
            self.world.fail("endless", f"{interest.name} wanders for ever")
        if self.number in interest.trail and self.world.loops_end:
            self.world.fail("circles", f"{interest.name} came by again")
        self.net.send(face, interest.hop(self.number, hops))

    def answer(self, face, data):
        self.outs += 1
        self.net.send(face, Data(data.name, data.content, data.good,
                                 (self.number,)))

    def multicast(self, faces, data):
        self.outs += 1
        # Stray Interests may repeat it a few times only.
        if data.trail.count(self.number) > (3 if self.world.loops_end else 12):
            self.world.fail("circles", f"{data.name} goes around")
        copy = data.hop(self.number)
        for face in faces:
            self.net.send(face, copy)

    def route(self, name):
        """Longest-prefix match of the name without its marker."""
        name = unmarked(name)
        for n in (2, 1) if self.rules.longest_prefix_wins else (1, 2):
            if name[:n] in self.fib:
                return self.fib[name[:n]]
        return None

    # --- Interests

    def on_interest(self, face, i):
        hops = i.hops
        if hops is not None and self.rules.hop_limit_counts:
            if not hops:
                return
            hops -= 1
        key = i.name, i.nonce
        if key in self.nonces and self.rules.nonce_is_remembered:
            return
        self.nonces.put(key, face)
        marker = i.name[0]
        if marker == INSERT:
            self.on_insert(face, i, hops)
        elif marker == DELETE:
            self.on_delete(face, i, hops)
        elif (marker == DISTRIBUTE and i.prefix and
              self.rules.waiting_interest_stays):
            return
        else:
            self.on_ordinary(face, i, hops)

    def on_insert(self, face, i, hops):
        rules, now = self.rules, self.net.now
        name = i.name[1:]
        up = self.route(name)
        if rules.subscription_is_permitted and not allows(face.subscribe,
                                                          name):
            return
        if up is None or up is face and rules.insert_from_below:
            return
        e = self.entries.get(name)
        isnew = e is None
        if isnew:
            if not has_room(self, face):
                self.world.refused(i.by)
                return
            e = self.entries[name] = Entry(up, face)
        elif e.up is not up and rules.new_route_is_asked:
            e.turn(up)
        e.faces[face] = now + self.world.lease
        if e.due.deletes:
            forgotten = now >= e.due.until and rules.delete_is_forgotten
            if rules.insert_waits_for_delete and not forgotten:
                return
            e.due.deletes = 0
        mine = face.host or not rules.routers_are_passed
        if mine and self.answers_itself(e, isnew):
            self.answer(face, e.ack or Data((DISTRIBUTE, *name)))
        elif isnew or rules.pending_passes_repeats or e.acked != NEVER:
            e.sent = now
            e.waiting[face] = True
            if e.asked is None:
                e.asked = now
            e.due.insert(now, self.world.lease // 4)
            self.forward(e.up, i, hops)

    def answers_itself(self, e, isnew):
        """CONFIRMED: acknowledged within a third of the lease."""
        rules = self.rules
        third = self.net.now - self.world.lease / 3
        if not rules.only_confirmed_answers:
            return not isnew and e.sent > third
        if e.acked == NEVER:
            return False
        if not rules.renewal_goes_up:
            return True
        return (e.acked if rules.only_acks_confirm else e.sent) > third

    def on_delete(self, face, i, hops):
        now = self.net.now
        name = i.name[1:]
        e = self.entries.get(name)
        if e is None:
            self.answer(face, Data(i.name))
            return
        if self.rules.delete_removes_face:
            e.faces.pop(face, None)
        if not e.due.deletes and e.living(now, self.rules):
            self.answer(face, Data(i.name))
        elif e.up is face or not self.rules.empty_entry_is_deleted:
            self.entries.pop(name)
            self.answer(face, Data(i.name))
        else:
            e.due.delete(now, now + self.world.leave_time)
            e.leavers[face] = now + i.life
            e.acked, e.asked, e.waiting = NEVER, None, {}
            self.forward(e.up, i, hops)

    def on_ordinary(self, face, i, hops):
        rules, now = self.rules, self.net.now
        kept = self.cache.get(i.name)
        if kept and rules.cache_answers and not (
                i.fresh and rules.fresh_passes_cache):
            self.answer(face, kept)
            return
        up = self.route(i.name)
        if up is None or up is face:
            return
        p = self.pending.get(i.name)
        living = p.living(now, rules) if p else ()
        if not living:
            self.pending.pop(i.name, None)
            p = self.seats.make(i.name, face)
            if p is None:
                self.world.refused(i.by)
                return
        life = min(i.life, self.world.bare_life if face.bare
                   else self.world.lease)
        p.faces[face] = now + life
        p.until = max(p.until, now + life)
        p.by[face] = i.by, now
        p.prefix |= i.prefix
        if living and p.out is up:
            if rules.interests_are_aggregated and face not in living:
                return
            if not rules.repeat_is_forwarded:
                return
        p.out = up
        self.forward(up, i, hops)

    # --- Data

    def on_data(self, face, d):
        rules = self.rules
        if rules.data_is_permitted and not allows(face.write,
                                                  unmarked(d.name)):
            return
        if d.name[0] == DELETE:
            self.on_deleted(face, d)
            return
        to = self.satisfied(face, d)
        if d.name[0] == DISTRIBUTE:
            asked = bool(to)
            accepted = self.on_distribution(face, d, to) or asked
            if job_of(d.name)[2] is not None:
                if accepted or not rules.cache_takes_accepted:
                    self.cache.put(d.name, d)
        if rules.never_back and face in to:
            to.remove(face)
        if to:
            if face in to:
                self.world.fail("echo", f"{d.name} went back")
            self.multicast(to, d)

    def satisfied(self, face, d):
        """Faces whose Interests this Data answers: by its whole name, or by
        all but the last component."""
        to = []
        for name in (d.name, d.name[:-1]):
            p = self.pending.get(name)
            if not p or name is not d.name and not p.prefix:
                continue
            if p.out is not face and self.rules.answer_from_upstream:
                continue
            del self.pending[name]
            to += [f for f in p.living(self.net.now, self.rules)
                   if f not in to]
        return to

    def on_distribution(self, face, d, to):
        """Add the subscribers to the receivers."""
        rules, now = self.rules, self.net.now
        name, version, segment = job_of(d.name)
        e = self.entries.get(name)
        if not to and not (e and e.living(now, rules)):
            self.world.stray += 1
        if not e or e.up is not face and rules.data_from_upstream:
            return False
        if version is None:
            to += self.acknowledged(e, d)
            return False
        if rules.window_is_kept and not e.window.takes(
                version, segment, now, self.world.lease // 3
                if rules.window_ages else 1 << 40):
            return False
        to += [f for f in e.living(now, rules) if f not in to]
        return True

    def acknowledged(self, e, d):
        """Upstream acknowledges the insert that we sent, not that of
        another branch; and only for whom it was sent."""
        now = self.net.now
        if not self.rules.ack_is_for_asker:
            e.acked, e.ack = now, d
            return e.living(now, self.rules)
        if e.due.is_old(now) and self.rules.old_acks_do_not_count:
            return ()
        if e.asked is None:
            return ()
        e.acked, e.asked, e.ack = e.asked, None, d
        to, e.waiting = e.waiting, {}
        return [f for f in e.living(now, self.rules) if f in to]

    def on_deleted(self, face, d):
        """The acknowledgement of a delete."""
        name = d.name[1:]
        e = self.entries.get(name)
        now = self.net.now
        if not e or e.up is not face or not e.due.deletes:
            return
        e.due.deleted(now + self.world.leave_time // 4)
        if not self.rules.insert_waits_for_repeats:
            e.due.deletes = 0
        to = [f for f, end in e.leavers.items() if end > now]
        e.leavers = {}
        if not e.living(now, self.rules) and not e.due.may_come(now):
            del self.entries[name]
        if to:
            self.multicast(to, d)

    # --- tribd

    def sweep(self):
        """Free expired entries and Interests."""
        self.net.at(self.world.lease // 2, self.sweep)
        if not self.swept or not self.rules.sweep_frees:
            return
        now = self.net.now
        for name, e in list(self.entries.items()):
            if not e.due.may_come(now) and not e.living(now, self.rules):
                del self.entries[name]
        for name, p in list(self.pending.items()):
            if not p.living(now, self.rules):
                del self.pending[name]
