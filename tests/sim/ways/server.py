# SPDX-License-Identifier: BSD-2-Clause
"""A BCube server: probes its neighbours, reports dead ones, keeps routes."""

PROBE = 50      # ticks from probe to probe
PROBES = 10     # without an echo: dead
SIGNS = 20      # echoes: alive again; each turn without one counts against two


class Server:
    def __init__(self, world, no, number):
        self.world = world
        self.rules = world.rules
        self.no = no
        self.life = world.lives = world.lives + 1
        self.last = number << 8     # of its probes
        cube = world.cube
        self.links = [(v, level) for level in range(cube.k) for v in cube.under(no, level)]
        # Probes without an echo, newest first; the neighbour's newest; what it knows; turns
        # since the last echo; and how good the link is.
        self.asked = {link: [] for link in self.links}
        self.heard = dict.fromkeys(self.links, 0)
        self.theirs = dict.fromkeys(self.links)
        self.silent = dict.fromkeys(self.links, 0)
        self.signs = dict.fromkeys(self.links, SIGNS)
        self.partners = set()       # neighbours that have echoed: they may lose trust
        self.dead = set()
        # By server: the number of its report, and its dead links.
        self.known = {no: (number, frozenset())}
        self.since = world.net.now  # of its own newest report
        self.met = set()            # for the oracle: lives of which it believed a report
        world.note_made(self, number, frozenset())

    # --- links

    def turn(self):
        """Once a probe."""
        if self.world.servers[self.no] is not self:
            return
        for link in self.links:
            self.judge(link)
        for link in self.links:
            if self.rules.differences_are_told and self.theirs[link] not in (None, self.digest()):
                self.tell(link)
            self.probe(link)
        self.world.net.at(PROBE, self.turn)

    def digest(self):
        return frozenset(self.known.items())

    def probe(self, link):
        """Its number is larger than all before, and nobody can guess it."""
        self.last += 256 - self.last % 256 + self.world.rng.getrandbits(8)
        self.asked[link] = [self.last, *self.asked[link][:PROBES - 1]]
        self.world.send(self, link, "on_probe", self.last, self.heard[link], self.digest())

    def judge(self, link):
        self.silent[link] += 1
        if link in self.partners and self.silent[link] > 2:
            self.signs[link] = max(self.signs[link] - 2, 0)
        if self.silent[link] > (PROBES if self.rules.several_probes else 1):
            self.set_dead(link, True)

    def is_fresh(self, link, echo):
        """Each number counts once, and no older one after it."""
        asked = self.asked[link]
        if echo not in asked:
            return echo and not self.rules.echoes_are_fresh
        del asked[asked.index(echo):]
        return True

    def on_probe(self, link, number, echo, digest):
        fresh = self.is_fresh(link, echo)
        if not fresh and number <= self.heard[link]:
            return
        self.heard[link], self.theirs[link] = number, digest
        if not fresh:
            return
        self.partners.add(link)
        if self.silent[link]:
            self.signs[link] = min(self.signs[link] + 1, SIGNS)
        self.silent[link] = 0
        if self.signs[link] >= (SIGNS if self.rules.return_is_proved else 1):
            self.set_dead(link, False)

    def set_dead(self, link, dead):
        if (link in self.dead) == dead:
            return
        self.dead ^= {link}
        self.world.note_change(self, link, dead)
        number, _ = self.known[self.no]
        self.learn(self.no, number + 1, frozenset(self.dead))

    # --- news

    def learn(self, server, number, dead):
        if server == self.no:
            self.since = self.world.net.now
            self.world.note_made(self, number, dead)
        else:
            self.world.note_belief(self, server, number, dead)
        self.known[server] = (number, dead)

    def tell(self, link):
        news = self.known if self.rules.news_is_passed_on else {self.no: self.known[self.no]}
        self.world.send(self, link, "on_news", True, dict(news))

    def on_news(self, _link, sealed, news):
        if self.rules.news_is_sealed and not sealed:
            return
        for server, (number, dead) in news.items():
            mine = self.known.get(server)
            if mine == (number, dead):
                continue
            if server == self.no:
                self.hear_of_myself(number)
            elif not mine or number > mine[0] or not self.rules.newest_number:
                self.learn(server, number, dead)

    def hear_of_myself(self, number):
        own, mine = self.known[self.no]
        if self.rules.own_news_is_outbid and number >= own:
            self.learn(self.no, number + 1, mine)

    # --- routes

    def works(self, a, b, level):
        """Both ends have reported, and neither says that the link is dead."""
        return all(v in self.known and (u, level) not in self.known[v][1]
                   for v, u in ((a, b), (b, a)))

    def distances(self, to):
        cube = self.world.cube
        dist, edge = {to: 0}, [to]
        while edge:
            found = []
            for v in edge:
                for level in range(cube.k):
                    for u in cube.under(v, level):
                        if u not in dist and self.works(u, v, level):
                            dist[u] = dist[v] + 1
                            found.append(u)
            edge = found
        return dist

    def next_hop(self, to):
        """The neighbour on the shortest way, of equal ones the lowest number; or None."""
        dist = self.distances(to)
        ways = [link for link in self.links
                if self.no in dist and dist.get(link[0], len(dist)) < dist[self.no] and
                self.works(self.no, *link)]
        return min(ways, key=lambda w: (dist[w[0]], w), default=None)
