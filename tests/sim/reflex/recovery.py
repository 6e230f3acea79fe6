# SPDX-License-Identifier: BSD-2-Clause
"""Finds chunks whose GRAD or RESULT was lost, and sends the GRAD again.

Two clocks. Each CPU counts the RESULTs that it delivers: a chunk's age is the number
since it was sent. If others keep coming, a chunk much older than usual is lost. If
none comes, only time tells.
"""

from reflex.memory import RESULT, SENT


class Recovery:
    def __init__(self, rank):
        self.rank = rank
        self.world = rank.world
        self.rules = rank.rules
        self.net = rank.net
        self.mean = self.dev = None   # ages, in RESULTs
        self.srtt = self.var = None   # round trips, in ticks
        self.seen = {}      # chunk -> (tries, time, stamp, cpu) since when it waits
        self.urgent = set()

    # --- measuring

    def sample(self, index, cell):
        """A RESULT is read; a resent chunk tells nothing."""
        if self.seen.pop(index, (0,))[0]:
            return
        if cell.age is not None:
            if self.mean is None:
                self.mean, self.dev = cell.age, cell.age / 2
            diff = abs(cell.age - self.mean)
            self.dev += (diff - self.dev) / 8
            self.mean += (cell.age - self.mean) / 8

    def rto(self, tries):
        rank = self.rank
        return min(rank.rto << tries, rank.rto_max)

    def limit(self, tries):
        """Age at which a chunk counts as lost; None: unknown yet."""
        if self.mean is None or not self.rules.age_shows_loss:
            return None
        return self.mean + max(4 * self.dev, self.world.slack) * (1 << tries)

    # --- looking

    def look(self, t):
        """Resend what counts as lost. Returns when to look again."""
        rank = self.rank
        due = None
        if rank.deaf_until > self.net.now:
            return rank.deaf_until
        waiting = 0
        for index in range(rank.done, rank.published):
            if rank.state_of(index, t) != SENT:
                continue
            waiting += 1
            cell = rank.at(index)
            tries, when, stamp, cpu = self.seen.setdefault(
                index, (0, self.net.now, cell.stamp, cell.cpu))
            age = rank.array.count[cpu] - stamp
            limit = self.limit(tries)
            late = self.net.now >= when + self.rto(tries)
            if late or (limit is not None and age > limit):
                yield from self.resend(index, cell, tries, late)
                tries, when, stamp, cpu = self.seen[index]
            when += self.rto(tries)
            due = when if due is None else min(due, when)
            if waiting > 2 * rank.window:
                break
        if due is None and rank.published > rank.done:
            due = self.net.now + self.rto(0)
        return due

    def resend(self, index, cell, tries, late):
        rank = self.rank
        if late and self.world.no_timeout:
            self.world.fail("stall", f"{rank.rank} waited for {index}")
        yield self.world.cost_call + self.world.cost_send
        cpu = cell.cpu
        self.seen[index] = (min(tries + 1, 8), self.net.now,
                            rank.array.count[cpu], cpu)
        if self.rules.grad_is_resent:
            rank.resends += 1
            rank.send_grad(index, True)

    def known(self, index):
        """NEED names us as seen: our GRAD is there, others are missing."""
        if index in self.seen:
            tries, _, _, cpu = self.seen[index]
            self.seen[index] = (tries, self.net.now,
                                self.rank.array.count[cpu], cpu)

    def must_exist(self, index):
        """Somebody has sent what only a holder of this RESULT sends."""

    def batch(self, most):
        """RESULTs until the next look: fewer while something is missing."""
        return most
