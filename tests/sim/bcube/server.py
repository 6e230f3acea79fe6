# SPDX-License-Identifier: BSD-2-Clause
"""A BCube server: probes its neighbours, reports dead ones, keeps routes."""

PROBE = 50      # ticks from probe to probe
PROBES = 10     # without an answer: dead
SIGNS = 20      # answered: alive again; each that is not counts against two
REPEAT = 10     # probes from news to news, if nothing changes


class Server:
    def __init__(self, world, no, number):
        self.world = world
        self.rules = world.rules
        self.no = no
        self.life = world.lives = world.lives + 1
        self.turns = 0
        cube = world.cube
        self.links = [(v, level) for level in range(cube.k) for v in cube.under(no, level)]
        # The newest probes; probes since the last answer; and how good it is.
        self.asked = {link: [] for link in self.links}
        self.silent = dict.fromkeys(self.links, 0)
        self.signs = dict.fromkeys(self.links, SIGNS)
        self.dead = set()
        # By server: the number of its report, and its dead links.
        self.known = {no: (number, frozenset())}
        self.told = None
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
            self.ask(link)
        self.turns += 1
        if self.told != self.known or (self.rules.news_is_repeated and
                                       self.turns % REPEAT == 0):
            self.tell()
        self.world.net.at(PROBE, self.turn)

    def ask(self, link):
        """A probe has a number that nobody can guess."""
        self.asked[link] = [self.world.rng.getrandbits(40), *self.asked[link][:PROBES - 1]]
        self.world.send(self, link, "on_probe", self.asked[link][0])

    def on_probe(self, link, nonce):
        self.world.send(self, link, "on_answer", nonce)

    def judge(self, link):
        self.silent[link] += 1
        if self.silent[link] > 1:
            self.signs[link] = max(self.signs[link] - 2, 0)
        if self.silent[link] > (PROBES if self.rules.several_probes else 1):
            self.set_dead(link, True)

    def on_answer(self, link, nonce):
        if self.rules.answers_are_fresh and nonce not in self.asked[link]:
            return
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

    def tell(self):
        """At most once a probe, so that news never floods."""
        self.told = dict(self.known)
        news = self.known if self.rules.news_is_passed_on else {self.no: self.known[self.no]}
        for link in self.links:
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

    def is_dead(self, a, b, level):
        """Does a say that its link to b is dead? Both ends miss the same answers."""
        return (b, level) in self.known.get(a, (0, ()))[1]

    def distances(self, to):
        cube = self.world.cube
        dist, edge = {to: 0}, [to]
        while edge:
            found = []
            for v in edge:
                for level in range(cube.k):
                    for u in cube.under(v, level):
                        if u not in dist and not self.is_dead(u, v, level):
                            dist[u] = dist[v] + 1
                            found.append(u)
            edge = found
        return dist

    def next_hop(self, to):
        """The neighbour on the shortest way, of equal ones the lowest number; or None."""
        dist = self.distances(to)
        ways = [link for link in self.links
                if self.no in dist and dist.get(link[0], len(dist)) < dist[self.no] and
                not self.is_dead(self.no, *link)]
        return min(ways, key=lambda w: (dist[w[0]], w), default=None)
