# SPDX-License-Identifier: BSD-2-Clause
"""A rank: calls, chunks of trees, and the change to peers and back.

A call is a list of chunks for each tree. Its values lie in a buffer; a result takes the
place of the rank's own value (in place), and the buffer is the application's again when
the call returns.
"""


class Call:
    """chunk[t]: for each tree the numbers of its chunks, from first[t] on; None: by peers."""

    def __init__(self, no, cells):
        self.no = no
        self.cells = cells          # [tree][i]: own value, then the sum
        self.done = [[False] * len(c) for c in cells]
        self.first = None
        self.rest = None            # (tree, i) that peers sum
        self.generation = 0         # in which that became known

    def is_done(self):
        return all(all(d) for d in self.done)


class Rank:
    def __init__(self, world, no):
        self.world = world
        self.rules = world.rules
        self.net = world.net
        self.no = no
        self.calls = []             # all that were issued
        self.returned = 0           # calls before this one have returned
        self.generation = 0         # changes to peers
        self.by_trees = True
        self.held_back = False
        self.back_at = None         # call that goes by trees again
        self.returning = 0          # generation whose return is under way
        self.planned = False
        self.until = []             # (call, generation): calls before it are of that one
        self.summed = {}            # peers: (generation, call) that are under way
        self.new_epoch(1)

    def new_epoch(self, epoch):
        trees = self.world.trees
        self.epoch = epoch
        self.next = [0] * trees     # chunk that the next call begins with
        self.una = [0] * trees
        self.where = [{} for _ in range(trees)]   # chunk -> (call, i)
        self.got = [set() for _ in range(trees)]
        self.kept = [{} for _ in range(trees)]
        self.sent = [set() for _ in range(trees)]
        self.moved_at = [self.net.now] * trees

    # --- the application

    def step(self):
        if self.world.over:
            return
        while self.returned < len(self.calls) and self.calls[self.returned].is_done():
            self.world.check(self, self.calls[self.returned])
            self.returned += 1
        room = len(self.calls) - self.returned < self.world.depth
        if room and len(self.calls) < self.world.length and not self.held_back:
            self.issue()
        self.pump()
        slow = self.world.sloth if self.no == self.world.n - 1 else 0
        self.net.at(1 + self.world.rng.randint(0, self.world.think) + slow, self.step)

    def issue(self):
        c = Call(len(self.calls), self.world.values(self.no, len(self.calls)))
        self.calls.append(c)
        if self.back_at is not None and c.no >= self.back_at:
            self.go_back()
        if self.by_trees:
            self.give_to_trees(c)
        else:
            if self.planned or self.generation_of(c) < self.generation:
                self.give_to_peers(c)
            # Else the plan does.

    def generation_of(self, c):
        """A late rank may issue calls of before the return when others have left again."""
        if self.rules.return_bounds_calls:
            for end, generation in self.until:
                if c.no < end:
                    return generation
        return self.generation

    def give_to_peers(self, c):
        c.generation = self.generation_of(c)
        c.rest = [(t, i) for t, own in enumerate(c.cells) for i in range(len(own))]
        self.sum_rest()

    # --- trees

    def give_to_trees(self, c):
        c.first = list(self.next)
        for t, own in enumerate(c.cells):
            if self.una[t] == self.next[t]:
                self.moved_at[t] = self.net.now
            for i in range(len(own)):
                self.where[t][self.next[t] + i] = (c, i)
            self.next[t] += len(own)

    def pump(self):
        if not self.by_trees:
            return
        for t in range(self.world.trees):
            for chunk in range(self.una[t], min(self.next[t], self.una[t] + self.world.window)):
                if chunk not in self.got[t] and chunk not in self.sent[t]:
                    self.send(t, chunk, self.epoch)

    def send(self, t, chunk, epoch):
        if not self.by_trees or epoch != self.epoch or chunk in self.got[t] or \
           chunk < self.una[t] or self.world.over:
            return
        self.sent[t].add(chunk)
        c, i = self.where[t][chunk]
        self.world.lossy(self.world.relays[t].receive, self.no, epoch, chunk, c.cells[t][i])
        self.net.at(30, self.send, t, chunk, epoch)

    def on_result(self, t, epoch, chunk, total):
        if epoch != self.epoch and self.rules.return_has_a_new_epoch:
            return
        if not self.by_trees and self.rules.state_is_final:
            return
        if chunk not in self.sent[t] or chunk in self.got[t] or chunk < self.una[t]:
            return
        self.moved_at[t] = self.net.now
        self.take(t, chunk, total)

    def take(self, t, chunk, total):
        self.got[t].add(chunk)
        self.kept[t][chunk] = total
        limit = self.world.window if self.rules.results_are_kept else 0
        c, i = self.where[t][chunk]
        self.store(c, t, i, total)
        while self.una[t] in self.got[t]:
            self.got[t].remove(self.una[t])
            self.una[t] += 1
        for old in [k for k in self.kept[t] if k < self.una[t] - limit]:
            del self.kept[t][old]

    def store(self, c, t, i, total):
        if c.done[t][i]:
            return
        c.cells[t][i] = total
        c.done[t][i] = True

    def watch(self):
        """Judge silence: chunks of a tree are under way, and none has come for the time-out."""
        if self.world.over:
            return
        silent = any(self.una[t] < self.next[t] and
                     self.net.now - self.moved_at[t] > self.world.patience
                     for t in range(self.world.trees))
        if self.by_trees and silent and self.rules.silence_is_judged:
            self.leave_trees()
        self.net.at(10, self.watch)

    # --- from trees to peers

    def leave_trees(self):
        self.by_trees = False
        self.generation += 1
        self.returning = 0
        self.back_at = None
        self.states = {}
        self.planned = False
        self.gifts = []
        state = [(self.una[t], frozenset(self.got[t])) for t in range(self.world.trees)]
        self.world.mesh.tell_all(self.no, "on_state", self.generation, state)
        # States and gifts that came before this rank left.
        for args in self.world.early.pop((self.no, self.generation), []):
            args[0](*args[1:])

    def on_state(self, src, generation, state):
        # Connections keep their order, so none is of an earlier change.
        if generation > self.generation:
            if self.rules.one_leaves_all_leave:
                self.keep_early(generation, self.on_state, src, generation, state)
                self.follow()
            return
        self.states[src] = state
        n = self.world.n if self.rules.all_states_are_known else min(2, self.world.n)
        if len(self.states) >= n and not self.planned and self.no in self.states:
            self.plan()

    def follow(self):
        """Another rank has left the trees: so does this one, though it may not be back yet."""
        if not self.by_trees:
            if self.back_at is None and self.rules.return_is_known_to_leave:
                return              # until the commit says at which call
            self.go_back()
        self.leave_trees()

    def keep_early(self, generation, *args):
        self.world.early.setdefault((self.no, generation), []).append(args)

    def has(self, state, t, chunk):
        una, got = state[t]
        return chunk < una or chunk in got

    def plan(self):
        """Give what others lack; the chunks that no rank has are the rest of their calls."""
        self.planned = True
        w = self.world
        for c in self.calls:
            if not c.is_done() and c.rest is None:
                c.rest, c.generation = [], self.generation
                if c.first is None:
                    c.rest = [(t, i) for t, own in enumerate(c.cells) for i in range(len(own))]
        for t in range(w.trees):
            base = min(s[t][0] for s in self.states.values())
            for chunk in range(base, base + w.window):
                holders = sorted(r for r, s in self.states.items() if self.has(s, t, chunk))
                lack = [r for r in self.states if r not in holders]
                if not self.rules.held_is_given:
                    holders = []
                if holders and holders[0] == self.no and chunk in self.kept[t]:
                    for r in lack:
                        w.mesh.tell(self.no, r, "on_gift", self.generation, t, chunk,
                                    self.kept[t][chunk])
            for chunk in range(self.una[t], self.next[t]):
                mine = chunk in self.got[t]
                states = self.states.values() if self.rules.rest_is_common else \
                    [self.states[self.no]]
                known = any(self.has(s, t, chunk) for s in states)
                if not self.rules.held_is_given:
                    known = mine
                c, i = self.where[t][chunk]
                if not known and c.generation == self.generation:
                    c.rest.append((t, i))
        for args in self.gifts:
            self.on_gift(*args)
        self.sum_rest()

    def on_gift(self, src, generation, t, chunk, total):
        if generation > self.generation:
            return self.keep_early(generation, self.on_gift, src, generation, t, chunk, total)
        if not self.planned:
            return self.gifts.append((src, generation, t, chunk, total))
        c, i = self.where[t].get(chunk, (None, 0))
        if c:
            self.store(c, t, i, total)
        return None

    # --- peers

    def sum_rest(self):
        """Take part in the sums of all calls whose rests are known."""
        calls = [c for c in self.calls if c.rest is not None]
        if not self.rules.calls_keep_their_order:
            self.world.rng.shuffle(calls)
        for c in calls:
            key = c.generation, c.no
            if key in self.summed or not c.rest:
                continue
            self.summed[key] = c
            self.world.peers.contribute(self, key, c)

    def on_sums(self, key, sums):
        c = self.summed[key]
        for (t, i), total in zip(c.rest, sums):
            self.store(c, t, i, total)

    # --- and back

    def prepare(self, _src, generation):
        """Rank 0 has heard of the relay: which call would this rank issue next?"""
        if generation != self.generation or self.by_trees:
            return
        self.returning = generation
        if self.rules.return_holds_calls:
            self.held_back = True
        self.world.mesh.tell(self.no, 0, "on_next", generation, len(self.calls))

    def on_next(self, src, generation, no):
        w = self.world
        if generation != self.generation:
            return
        w.nexts.setdefault(generation, {})[src] = no
        if len(w.nexts[generation]) == w.n:
            at = max(w.nexts[generation].values())
            w.mesh.tell_all(self.no, "commit", generation, at)

    def commit(self, _src, generation, at):
        if generation != self.generation or generation != self.returning:
            return
        self.back_at = at if self.rules.return_is_agreed else len(self.calls)
        self.held_back = False
        if (self.no, generation + 1) in self.world.early:
            self.follow()

    def go_back(self):
        self.until.append((self.back_at or 0, self.generation))
        self.by_trees = True
        self.back_at = None
        self.returning = 0
        self.new_epoch(self.generation + 1)
