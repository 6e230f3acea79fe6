# SPDX-License-Identifier: BSD-2-Clause
"""What went upstream and was not answered, as routers and workers count it.

Acknowledgements of one job are all alike, and so are answers to its deletes.
Only their number shows that an older one may still come.
"""

NEVER = -1 << 40


class Unanswered:
    __slots__ = ("inserts", "sent", "old", "deletes", "until")

    def __init__(self):
        self.inserts = 0          # since the last delete
        self.sent = NEVER         # when the last of them left
        self.old = 0              # inserts from before the last delete
        self.deletes = 0
        self.until = NEVER        # answers to the last two come no later

    def insert(self, now, age):
        """An insert leaves. Earlier ones that are older than age are lost."""
        if now - self.sent >= age:
            self.inserts = 0
        self.inserts += 1
        self.sent = now

    def delete(self, now, until):
        """A delete leaves."""
        if now >= self.until:
            self.old = self.deletes = 0
        self.old += self.inserts
        self.inserts = 0
        self.deletes += 1
        self.until = until

    def is_old(self, now):
        """An acknowledgement comes. Is it for an insert before the delete?"""
        if self.old and now < self.until:
            self.old -= 1
            return True
        self.inserts -= self.inserts > 0
        return False

    def deleted(self, until):
        """A delete is answered: others are late until then at most."""
        self.deletes -= 1
        self.until = min(self.until, until)

    def may_come(self, now):
        """May an answer from before the last delete's come?"""
        return now < self.until and (self.old or self.deletes)
