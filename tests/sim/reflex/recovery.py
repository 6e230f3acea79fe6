# SPDX-License-Identifier: BSD-2-Clause
"""Finds chunks whose GRAD or RESULT was lost, and sends the GRAD again.

Two clocks. The XDP program counts the RESULTs that it delivers: a chunk that is still
missing after more of them than usually come in its round trip is lost. When none
comes, only time tells.
"""

from reflex.memory import RESULT, SENT

PROBES = 4        # oldest chunks that a time-out resends
QUIET_LOOKS = 8   # looks without a loss until the rank sleeps long again


class Wait:
    """A chunk that was sent and has no RESULT yet, since the rank saw that."""

    __slots__ = ("tries", "since", "count")

    def __init__(self):
        self.tries = 0


class Recovery:
    def __init__(self, rank):
        self.rank = rank
        self.world = rank.world
        self.rules = rank.rules
        self.net = rank.net
        self.rtt = None     # a typical round trip, in ticks
        self.waits = {}     # chunk -> Wait
        self.count = 0      # at the last look
        self.changed = self.net.now
        self.quiet = QUIET_LOOKS
        self.exists = set() # chunks of which somebody has the RESULT

    # --- measuring

    def sample(self, index, cell):
        """A RESULT is read; a resent chunk tells nothing."""
        self.exists.discard(index)
        wait = self.waits.pop(index, None)
        if wait and wait.tries or cell.took is None:
            return
        if self.rtt is None:
            self.rtt = cell.took
        change = cell.took - self.rtt
        self.rtt += min(max(change, -self.rtt / 2), self.rtt) / 4

    def rto(self, tries):
        rank = self.rank
        first = rank.rto
        if self.rtt is not None and self.world.rto_is_measured:
            first = max(self.rtt * self.world.rto_rtt, self.world.rto_least)
        return min(first * (1 << min(tries, self.world.rto_doublings)), rank.rto_max)

    def limit(self, wait, index):
        """RESULTs after which a chunk counts as lost."""
        w = self.world
        return max(w.age_laps * self.rank.array.dist, w.slack) + self.turn(index) * w.stagger * self.rank.array.dist

    def turn(self, index):
        return (index + self.rank.rank) % self.world.size

    # --- looking

    def look(self, t):
        """Resend what counts as lost. Returns when to look again."""
        rank = self.rank
        w = self.world
        due = None
        if rank.deaf_until > self.net.now:
            return rank.deaf_until
        count = sum(rank.array.count)
        if count != self.count:
            self.count, self.changed = count, self.net.now
        waiting = probes = found = 0
        for index in range(rank.done, rank.published):
            if rank.state_of(index, t) != SENT:
                continue
            waiting += 1
            wait = self.waits.get(index)
            if not wait:
                wait = self.waits[index] = Wait()
                self.begin_again(wait)
            age = count - wait.count
            old = age > self.limit(wait, index) and self.rules.age_shows_loss
            hole = None
            if w.hole_rtt and self.rtt is not None:
                hole = wait.since + max(self.rtt * (w.hole_rtt + self.turn(index) * w.stagger), w.hole_least)
                old |= age >= w.hole_moved and self.net.now >= hole
            begin = max(wait.since, self.changed)
            late = self.net.now >= begin + self.rto(wait.tries)
            if late and not old:
                probes += 1
                if probes > PROBES:
                    late = False
            if index in self.exists:
                self.exists.remove(index)
                old = True
            if late or old:
                found += old
                yield from self.resend(index, wait, late and not old)
                begin = self.net.now
            begin += self.rto(wait.tries)
            if hole and self.quiet < QUIET_LOOKS and hole > self.net.now:
                begin = min(begin, hole)
            due = begin if due is None else min(due, begin)
            if waiting > 2 * rank.window:
                break
        self.quiet = 0 if found else self.quiet + 1
        if due is None and rank.published > rank.done:
            due = self.net.now + self.rto(0)
        return due

    def resend(self, index, wait, late):
        rank = self.rank
        if late and self.world.no_timeout:
            self.world.fail("stall", f"{rank.rank} waited for {index}")
        wait.tries = min(wait.tries + 1, 8)
        yield self.world.cost_call + self.world.cost_send
        self.begin_again(wait)
        if self.rules.grad_is_resent:
            rank.resends += 1
            self.world.on_resend(rank, index)
            rank.send_grad(index, True)

    def begin_again(self, wait):
        wait.since = self.net.now
        wait.count = sum(self.rank.array.count)

    def known(self, index):
        """NEED names us as seen: our GRAD is there, others are missing."""
        if index in self.waits and self.rules.known_waits:
            self.begin_again(self.waits[index])

    def must_exist(self, index):
        """Somebody has sent what only a holder of this RESULT sends."""
        if self.rules.need_proves_result and self.rank.state_of(index) == SENT:
            self.exists.add(index)
            self.rank.task.ring(self.world.cost_wake)

    def batch(self, most):
        """RESULTs until the next look: fewer while something is missing."""
        if self.quiet < QUIET_LOOKS:
            return min(most, self.world.batch_lossy)
        return min(most, self.world.batch)
