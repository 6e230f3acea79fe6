# SPDX-License-Identifier: BSD-2-Clause
"""Finds chunks whose GRAD or RESULT was lost, and sends the GRAD again.

Two clocks. The XDP program counts the RESULTs that it delivers: a chunk that is still
missing after more of them than usually come in a round trip is lost. If only few come,
time tells; if none comes, a time-out probes.
"""

from reflex.memory import SENT

ROUNDS = 1.5      # rounds of D RESULTs in which a chunk's own one comes
ROUND_TRIPS = 2   # the same in time, if at least MOVED others came
MOVED = 4
TURN = 0.25       # rounds between the ranks that resend one chunk
TIME_OUT = 3      # round trips without any RESULT
PROBES = 4        # oldest chunks that a time-out resends
QUIET_LOOKS = 8   # looks without a loss until the rank sleeps long again
BATCH = 64        # RESULTs between two looks, if nothing is lost


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
        self.rtt = None      # a typical round trip, in ticks
        self.waits = {}      # chunk -> Wait
        self.count = 0       # RESULTs, at the last look
        self.changed = self.net.now
        self.quiet = QUIET_LOOKS

    # --- measuring

    def sample(self, index, cell):
        """A RESULT is read. Resent chunks count, too: if all were left out because they
        were resent too early, the rank would never learn that. So no sample may
        change much."""
        wait = self.waits.pop(index, None)
        if cell.took is None or (wait and wait.tries and
                                 not self.rules.resent_chunks_count):
            return
        if self.rtt is None:
            self.rtt = cell.took
        change = min(max(cell.took - self.rtt, -self.rtt / 2), self.rtt)
        self.rtt += change / 4

    def round_trip(self):
        """None: not known yet."""
        return self.rtt if self.rules.time_out_is_measured else None

    def time_out(self, tries):
        rank, rtt = self.rank, self.round_trip()
        first = rank.rto
        if rtt is not None and self.world.rto_least:
            first = max(rtt * TIME_OUT, self.world.rto_least)
        return min(first * (1 << min(tries, 5)), rank.rto_max)

    def turn(self, index):
        """Rounds that this rank waits longer than the first one."""
        if not self.rules.ranks_take_turns:
            return 0
        return (index + self.rank.rank) % self.world.size * TURN

    def is_old(self, index, wait):
        """Others came, and this one did not."""
        if not self.rules.age_shows_loss:
            return False
        age, turn = self.count - wait.count, self.turn(index)
        dist = self.rank.array.dist
        if age > max(ROUNDS * dist, MOVED) + turn * dist:
            return True
        return age >= MOVED and self.net.now >= self.hole_at(index, wait)

    def hole_at(self, index, wait):
        rtt = self.round_trip()
        if rtt is None or not self.world.rto_least:
            return float("inf")
        trips = ROUND_TRIPS + self.turn(index)
        return wait.since + max(trips * rtt, self.world.rto_least)

    # --- looking

    def look(self, t):
        """Resend what counts as lost. Returns when to look again."""
        rank, now = self.rank, self.net.now
        if rank.deaf_until > now:
            return rank.deaf_until
        count = sum(rank.array.count)
        if count != self.count:
            self.count, self.changed = count, now
        due, found, probes, waiting = [], 0, 0, 0
        for index in range(rank.done, rank.published):
            if rank.state_of(index, t) != SENT:
                continue
            wait = self.waits.get(index)
            if not wait:
                wait = self.waits[index] = Wait()
                self.begin_again(wait)
            if self.is_old(index, wait):
                found += 1
                yield from self.resend(index, wait, False)
            elif self.silent_until(wait) <= now and probes < PROBES:
                probes += 1
                yield from self.resend(index, wait, True)
            due.append(self.look_again_at(index, wait))
            waiting += 1
            if waiting > 2 * rank.window:
                break
        self.quiet = 0 if found else self.quiet + 1
        if not due and rank.published > rank.done:
            due.append(now + self.time_out(0))
        return min(due, default=None)

    def silent_until(self, wait):
        return max(wait.since, self.changed) + self.time_out(wait.tries)

    def look_again_at(self, index, wait):
        at = self.silent_until(wait)
        if at <= self.net.now:
            at = self.net.now + self.time_out(wait.tries)
        hole = self.hole_at(index, wait)
        if self.is_lossy() and hole > self.net.now:
            at = min(at, hole)
        return at

    def resend(self, index, wait, timed_out):
        rank = self.rank
        if timed_out and self.world.no_timeout:
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

    def is_lossy(self):
        return self.quiet < QUIET_LOOKS and self.rules.lossy_rank_looks_often

    def batch(self):
        """RESULTs until the next look."""
        if self.is_lossy():
            return max(1, self.rank.array.dist // 2)
        return BATCH
