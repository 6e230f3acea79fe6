# SPDX-License-Identifier: BSD-2-Clause
"""A rank: the stream of chunks of one tree, by its relay or by the ranks themselves.

A cell holds a rank's own value of a chunk until the result takes its place, and the result
until chunk + 2W is sent.
"""

TREE, FROZEN, RANKS = range(3)
AGAIN = 30      # ticks after which a chunk is sent to the relay again
LOOK = 30       # between two looks for silence
JOIN = 40       # between two tries to return


class Stream:
    """One tree of one rank."""

    def __init__(self, rank, tree):
        self.rank, self.tree = rank, tree
        self.world, self.rules, self.net = rank.world, rank.world.rules, rank.world.net
        self.way = TREE
        self.epoch = 1
        self.generation = 0
        self.own = []               # values, as the application issued them
        self.cell = {}
        self.sent, self.got = set(), set()
        self.una = self.high = 0
        self.moved_at = 0
        self.hold = None            # no chunk from there on is sent
        self.slots = {}             # of chunks that this rank owns
        self.leave_state()

    def leave_state(self):
        self.states, self.given = {}, set()
        self.joined, self.nexts = {}, {}
        self.mine, self.hold, self.held_at = None, None, 0

    # --- chunks

    def issue(self, values):
        if self.una == len(self.own):
            self.moved_at = self.net.now
        self.own += values

    def may_send(self, c):
        w = self.world.window
        if self.hold is not None and c >= self.hold:
            return False
        return c < self.una + 2 * w and (c - w < self.una or c - w in self.got)

    def pump(self):
        if self.way == FROZEN:
            return
        for c in range(self.una, len(self.own)):
            if c in self.sent or not self.may_send(c):
                continue
            self.sent.add(c)
            self.high = max(self.high, c + 1)
            if c not in self.cell:
                self.cell[c] = self.own[c]
                self.cell.pop(c - 2 * self.world.window, None)
            self.send(c)

    def send(self, c):
        if self.way == TREE:
            self.to_relay(c, self.epoch)
        else:
            self.world.mesh.tell(self.rank.no, self.world.owner(c), "on_grad", self.tree, c,
                                 self.cell[c])

    def to_relay(self, c, epoch):
        if self.way != TREE or epoch != self.epoch or c in self.got or c < self.una:
            return
        self.world.lossy(self.world.relays[self.tree].receive, self.rank.no, epoch, c,
                         self.cell[c])
        self.net.at(AGAIN, self.to_relay, c, epoch)

    def on_result(self, epoch, c, total):
        if epoch != self.epoch:
            return
        if self.way != TREE and self.rules.state_is_final:
            return
        self.take(c, total)

    def take(self, c, total):
        if c not in self.sent or c in self.got or c < self.una:
            return
        self.moved_at = self.net.now
        self.got.add(c)
        self.cell[c] = total
        if not self.rules.results_are_kept:
            del self.cell[c]
        self.rank.store(self.tree, c, total)
        while self.una in self.got:
            self.got.remove(self.una)
            self.una += 1
        self.go_back()

    # --- from the relay to the ranks

    def on_alive(self, epoch):
        if epoch == self.epoch:
            self.moved_at = self.net.now

    def watch(self):
        if self.way != TREE or self.una == self.high:
            return
        self.world.lossy(self.world.relays[self.tree].receive, self.rank.no, self.epoch, None, 0)
        silent = self.net.now - self.moved_at > self.world.patience
        if silent and self.rules.silence_is_judged:
            self.leave(self.generation + 1)

    def leave(self, generation):
        self.way = FROZEN
        self.world.cost["changes"] += generation - self.generation
        self.generation = generation
        self.leave_state()
        self.world.mesh.tell_all(self.rank.no, "on_state", self.tree, generation, self.una,
                                 frozenset(self.got))

    def on_state(self, src, generation, una, got):
        if generation > self.generation and self.rules.one_leaves_all_leave:
            self.leave(generation)
        if generation != self.generation:
            return
        self.states[src] = una, got
        need = self.world.n if self.rules.all_states_are_known else 1
        if self.way == FROZEN and len(self.states) >= need:
            self.plan()

    def has(self, src, c):
        una, got = self.states[src]
        return c < una or c in got

    def plan(self):
        """Give what others lack; owners sum what no rank has."""
        self.way = RANKS
        base = min(una for una, _ in self.states.values())
        for c in range(base, base + 2 * self.world.window):
            holders = sorted(r for r in self.states if self.has(r, c))
            if not holders or not self.rules.held_is_given:
                continue
            self.given.add(c)
            if holders[0] == self.rank.no and c in self.cell:
                for r in set(self.states) - set(holders):
                    self.world.mesh.tell(self.rank.no, r, "on_gift", self.tree, c, self.cell[c])
        for c in range(self.una, self.high):
            if c in self.sent and c not in self.got and c not in self.given:
                self.send(c)
        self.try_join(self.generation)

    def on_gift(self, _src, c, total):
        self.take(c, total)

    # --- sums by owners

    def on_grad(self, src, c, value):
        key = c % (2 * self.world.window)
        at, seen, total = self.slots.get(key, (-1, frozenset(), 0))
        if c < at:
            return
        if c > at:
            seen, total = frozenset(), 0
        seen, total = seen | {src}, total + value
        self.slots[key] = c, seen, total
        if len(seen) == self.world.n:
            self.world.mesh.tell_all(self.rank.no, "on_sum", self.tree, c, total)

    def on_sum(self, _src, c, total):
        self.take(c, total)

    # --- and back

    def try_join(self, generation):
        """JOIN in the background: is the relay there, in an epoch that is not ours?"""
        if self.way != RANKS or generation != self.generation or self.world.over:
            return
        epoch = self.world.relays[self.tree].join(self.rank.no)
        if epoch and epoch != self.mine:
            self.mine = epoch
            self.world.mesh.tell_all(self.rank.no, "on_joined", self.tree, generation, epoch)
        self.net.at(JOIN + self.world.rng.randint(0, JOIN), self.try_join, generation)

    def on_joined(self, src, generation, epoch):
        if generation == self.generation:
            self.joined[src] = epoch
            self.say_next()

    def say_next(self):
        same = [r for r, e in self.joined.items() if e == self.mine]
        need = self.world.n if self.rules.return_is_joined_by_all else 1
        if self.way != RANKS or self.mine is None or len(same) < need:
            return
        told = self.hold is not None
        if not told and self.rules.return_holds_chunks:
            self.hold = self.high
            self.held_at = self.net.now
        if self.nexts.get(self.rank.no, (None, 0))[0] == self.mine:
            return
        at = self.hold if self.hold is not None else self.high
        self.nexts[self.rank.no] = self.mine, at
        self.world.mesh.tell_all(self.rank.no, "on_next", self.tree, self.generation, self.mine,
                                 at)

    def on_next(self, src, generation, epoch, at):
        if generation == self.generation:
            self.nexts[src] = epoch, at
            self.go_back()

    def go_back(self):
        """All have said where they are: the chunks before the largest stay with the ranks."""
        agree = [at for epoch, at in self.nexts.values() if epoch == self.mine]
        if self.way != RANKS or len(agree) < self.world.n:
            return
        at = max(agree) if self.rules.return_is_agreed else self.nexts[self.rank.no][1]
        if self.rules.return_holds_chunks:
            self.hold = at
        if self.una < at and self.rules.return_waits_for_results:
            return
        self.world.cost["held"] += self.net.now - self.held_at
        self.way = TREE
        self.epoch = self.mine
        self.moved_at = self.net.now
        self.leave_state()


class Rank:
    """A rank: its calls, each a number of chunks in every tree."""

    def __init__(self, world, no):
        self.world = world
        self.no = no
        self.left = []              # of each call, chunks without result
        self.of = [[] for _ in range(world.trees)]   # call and index of each chunk
        self.sums = [[] for _ in range(world.trees)]
        self.returned = 0
        self.stream = [Stream(self, t) for t in range(world.trees)]

    def step(self):
        if self.world.over:
            return
        while self.returned < len(self.left) and not self.left[self.returned]:
            self.returned += 1
        if len(self.left) - self.returned < self.world.depth and \
           len(self.left) < self.world.length:
            self.issue()
        for s in self.stream:
            s.pump()
        slow = self.world.sloth if self.no == self.world.n - 1 else 0
        self.world.net.at(1 + self.world.rng.randint(0, self.world.think) + slow, self.step)

    def issue(self):
        no = len(self.left)
        values = self.world.values(self.no, no)
        self.left.append(sum(len(v) for v in values))
        for t, own in enumerate(values):
            self.of[t] += [(no, i) for i in range(len(own))]
            self.stream[t].issue(own)

    def store(self, t, c, total):
        call, i = self.of[t][c]
        self.left[call] -= 1
        self.world.check(self.no, call, t, i, total)

    def watch(self):
        if self.world.over:
            return
        for s in self.stream:
            s.watch()
        self.world.net.at(LOOK, self.watch)

    def hear(self, src, what, tree, *args):
        """A thread of its own answers the other ranks, whatever the application does."""
        getattr(self.stream[tree], what)(src, *args)
        self.stream[tree].pump()
