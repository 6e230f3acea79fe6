# SPDX-License-Identifier: BSD-2-Clause
"""One run: servers, links that lose and die, an adversary; checks routes and beliefs."""

import random

from ways.server import Server
from net import Net

CALM = 4000         # all faults have ended
SETTLED = 9000
REACHES_ALL = 3000  # until news has reached all, although much is lost

VERDICTS = {
    "lost": "a server is not reached, although there is a way",
    "stale": "a server does not know the newest report of one that it reaches",
    "lie": "a server believes a report that was not made, or again one of an earlier life",
    "flap": "a link is reported dead that works",
}


class Failure(Exception):
    pass


class Cube:
    """BCube(n, k), as in DESIGN: servers with k digits to the base n."""

    def __init__(self, n, k):
        self.n, self.k, self.servers = n, k, n ** k

    def under(self, server, level):
        low = self.n ** level
        digit = server // low % self.n
        return [server + (d - digit) * low for d in range(self.n) if d != digit]


class World:
    def __init__(self, seed, rules, scenario):
        self.rng = random.Random(seed)
        self.rules = rules
        self.net = Net(self.rng, 0, 0)
        self.cube = Cube(*self.rng.choice(((2, 2), (3, 2), (2, 3))))
        self.loss = self.rng.choice((0, 0.02, 0.1))
        self.late = self.rng.choice((0, 0, 400))
        self.cut = set()            # (from, to, level)
        self.lossy = {}             # more loss of a link
        self.heard = []             # news that the adversary recorded
        self.probes = {}            # by link: probes, likewise
        self.made = {}              # by server and life: its reports
        self.cost = {"reports": 0}
        self.bad = None
        self.over = False
        self.lives = 0
        self.scenario = scenario(self)
        self.scenario.shape()
        self.servers = [None] * self.cube.servers
        for v in range(self.cube.servers):
            self.start(v, self.clock(v))

    # --- servers

    def clock(self, server):
        """Each has one of its own, which goes on while it is off."""
        if not self.rules.numbers_begin_high:
            return 0
        return self.scenario.clock(server)

    def stop(self, v):
        self.servers[v] = None

    def start(self, v, number):
        self.servers[v] = s = Server(self, v, number)
        self.net.at(self.rng.randint(0, 99), s.turn)

    # --- links

    def send(self, server, link, what, *args):
        v, level = link
        if self.over or self.servers[server.no] is not server:
            return
        if what == "on_news":
            self.heard.append(args)
        if what == "on_probe" and (server.no, v, level) not in self.cut:
            self.probes[server.no, v, level] = args
        for _ in range(2 if self.rng.random() < self.loss else 1):
            if self.rng.random() < max(self.loss, self.lossy.get((server.no, v, level), 0)):
                continue
            if (server.no, v, level) in self.cut:
                continue
            late = self.rng.randint(0, self.late) if what == "on_news" else 0
            self.net.at(1 + self.rng.randint(0, 8) + late, self.arrive, server.no, link, what,
                        *args)

    def arrive(self, sender, link, what, *args):
        v, level = link
        if self.servers[v]:
            getattr(self.servers[v], what)((sender, level), *args)

    # --- checks

    def note_change(self, server, link, dead):
        self.cost["reports"] += 1
        v, level = link
        works = not {(server.no, v, level), (v, server.no, level)} & self.cut
        if dead and works and self.scenario.calm and self.servers[v]:
            self.fail("flap", f"server {server.no}: {link}")

    def note_made(self, server, number, dead):
        """A report of a server's present life."""
        self.made.setdefault((server.no, server.life), set()).add((number, dead))

    def note_belief(self, server, of, number, dead):
        """A server takes a report of another one for true."""
        report = number, dead
        other = self.servers[of]
        if other and report in self.made[of, other.life]:
            server.met.add((of, other.life))
            return
        ever = any(report in made for (no, _), made in self.made.items() if no == of)
        known = other and of not in self.scenario.back and (of, other.life) in server.met
        if not ever or known:
            self.fail("lie", f"server {server.no} believes report {number} of {of}: "
                      f"{sorted(dead)}")

    def works(self, a, b, level):
        return (self.servers[a] and self.servers[b] and
                not {(a, b, level), (b, a, level)} & self.cut)

    def reachable(self, start):
        seen, edge = {start}, [start]
        while edge:
            a = edge.pop()
            for level in range(self.cube.k):
                for b in self.cube.under(a, level):
                    if b not in seen and self.works(a, b, level):
                        seen.add(b)
                        edge.append(b)
        return seen

    def check_end(self):
        for a in filter(None, self.servers):
            for b in self.reachable(a.no) - {a.no}:
                self.follow(a.no, b)
                # A half-dead link may change its mind at any time.
                settled = self.net.now - self.servers[b].since > REACHES_ALL
                if settled and a.known.get(b) != self.servers[b].known[b]:
                    self.fail("stale", f"server {a.no} has not heard of {b}: {a.known.get(b)}")

    def follow(self, a, b):
        at, hops = a, 0
        while at != b and hops <= self.cube.servers:
            way = self.servers[at].next_hop(b)
            if not way or not self.works(at, *way):
                break
            at, hops = way[0], hops + 1
        if at != b:
            self.fail("lost", f"from {a} to {b}: stuck at {at}")

    def fail(self, verdict, text):
        if not self.bad:
            self.bad = verdict, text
        self.over = True
        raise Failure

    def run(self):
        self.scenario.script()
        try:
            self.net.run(SETTLED, lambda: False)
            self.check_end()
        except Failure:
            pass
        return self.bad
