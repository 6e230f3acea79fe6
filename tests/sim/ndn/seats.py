# SPDX-License-Identifier: BSD-2-Clause
"""Seats in a router's table of pending Interests: each face has some to itself,
faces with a right share others."""

from ndn.tables import Pending


class Seats:
    def __init__(self, router):
        self.router = router
        self.world = router.world
        self.rules = router.rules
        self.own = []             # names in the seats of the face at hand
        self.shared = []          # names in shared seats, oldest first
        self.holds = {}           # face: how many of these

    def look(self, face):
        """Who holds what? Interests that are over have left."""
        now, pending = self.router.net.now, self.router.pending
        if self.rules.lifetime_ends:
            for name in [n for n, p in pending.items() if p.until <= now]:
                del pending[name]
        self.own = [n for n, p in pending.items()
                    if not p.shared and p.owner is face]
        self.shared = [n for n, p in pending.items() if p.shared]
        self.holds = {}
        for name in self.shared:
            owner = pending[name].owner
            self.holds[owner] = self.holds.get(owner, 0) + 1

    def free(self, face):
        """A Pending for the face in a free seat, or None."""
        world = self.world
        p = Pending()
        p.owner, p.since = face, self.router.net.now
        if len(self.router.pending) < world.own_seats:
            return p
        self.look(face)
        if not self.rules.seats_are_own:
            every = world.own_seats * len(self.router.faces)
            return p if len(self.router.pending) < \
                every + world.shared_seats else None
        if len(self.own) < world.own_seats:
            return p
        p.shared = True
        if face.bare or self.has_its_part(face) or \
                len(self.shared) >= world.shared_seats:
            return None
        return p

    def has_its_part(self, face):
        """Does a host hold all shared seats that it may?"""
        return face.host and self.rules.hosts_hold_a_part and \
            self.holds.get(face, 0) >= self.world.shared_seats // 4

    def make(self, name, face):
        """A new Interest for the name; None: there is no seat."""
        p = self.free(face)
        if p is None and self.gives_way(face):
            p = self.free(face)
        if p:
            self.router.pending[name] = p
        return p

    def gives_way(self, face):
        """Let an older Interest end for one of this face."""
        if not self.rules.seats_are_own:
            return False
        for name in self.candidates(face):
            owner = self.router.pending[name].owner
            due = self.is_due(name) if owner is face else \
                self.has_more(owner, face)
            if due and self.end(name, owner is face):
                return True
        return False

    def has_more(self, owner, face):
        """Must a holder of shared seats give one to the face?"""
        return self.rules.most_gives_way and not face.bare and \
            not self.has_its_part(face) and \
            self.holds[owner] > self.holds.get(face, 0) + 1

    def candidates(self, face):
        """Names that may give way: in shared seats, then in its own."""
        oldest = min(self.own,
                     key=lambda n: self.router.pending[n].since)
        return [oldest] if face.bare else self.shared + [oldest]

    def is_due(self, name):
        """May another Interest of its owner take the seat?"""
        p = self.router.pending[name]
        if not self.rules.own_oldest_gives_way:
            return False
        if not p.owner.host or not self.rules.hosts_are_slowed:
            return True
        return self.router.net.now - p.since >= self.world.replace_time

    def end(self, name, willing):
        """The owner gives up an Interest, which goes on for one that joined: in
        another seat, or in this one if it must have that anyway. Without such
        a face it ends, but not for a newer one of its owner. Returns whether
        the seat is free."""
        p = self.router.pending[name]
        now, owner = self.router.net.now, p.owner
        others = [f for f in p.living(now, self.rules) if f is not owner]
        if not self.rules.joined_goes_on:
            others = ()
        for face in others:
            seat = self.free(face)
            if seat:
                self.passes(p, face, seat.shared)
                return True
        for face in others:
            if p.shared and self.has_more(owner, face):
                self.passes(p, face, True)
                return False
        if others and willing:
            p.since = now
            return False
        del self.router.pending[name]
        for who in p.by.values():
            self.world.displaced(*who)
        return True

    def passes(self, p, face, shared):
        """Another face that asked becomes the owner."""
        self.world.displaced(*p.by.pop(p.owner))
        del p.faces[p.owner]
        p.owner, p.shared, p.since = face, shared, self.router.net.now
