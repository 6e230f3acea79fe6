# SPDX-License-Identifier: BSD-2-Clause
"""State of a router: the BPF maps."""

from collections import OrderedDict

from ndn.unanswered import NEVER, Unanswered


class Window:
    """The (version, segment) pairs forwarded by an entry: the newest, and
    one bit for each of those just before it. What is older counts as seen,
    until nothing was new for so long that the window must be wrong."""

    __slots__ = ("version", "segment", "bits", "time")
    width = 64

    def __init__(self):
        self.version = self.segment = -1
        self.bits = 0
        self.time = 0             # when it last took something

    def takes(self, version, segment, now, age):
        """Test and set: is it new?"""
        if now - self.time > age:
            self.version = -1
        if not self.isnew(version, segment):
            return False
        self.time = now
        return True

    def isnew(self, version, segment):
        if version < self.version:
            return False
        if version > self.version:
            self.version, self.segment, self.bits = version, segment, 1
            return True
        ahead = segment - self.segment
        if ahead > 0:
            self.bits = (self.bits << ahead | 1) & (1 << self.width) - 1
            self.segment = segment
            return True
        if -ahead >= self.width or self.bits >> -ahead & 1:
            return False
        self.bits |= 1 << -ahead
        return True


class Entry:
    """Entry of the persistent PIT. PENDING and CONFIRMED are one time: when the
    insert that upstream acknowledged last had left. It is LEAVING while deletes
    are unanswered."""

    __slots__ = ("up", "faces", "acked", "asked", "sent", "ack", "waiting",
                 "due", "leavers", "window", "owner")

    def __init__(self, up, owner):
        self.owner = owner        # face that it counts for
        self.faces = {}           # face: end of its lease
        self.window = Window()
        self.turn(up)

    def turn(self, up):
        """Change the upstream face: PENDING again."""
        self.up = up
        self.acked = NEVER
        self.asked = None         # when the first unanswered insert left
        self.sent = NEVER         # when the last insert left
        self.waiting = {}         # faces whose inserts went up, unanswered
        self.ack = None           # the acknowledgement, as it came
        self.due = Unanswered()
        self.leavers = {}         # faces that wait for a delete to be answered

    def living(self, now, rules):
        if not rules.leases_end:
            return list(self.faces)
        return [f for f, end in self.faces.items() if end > now]


class Pending:
    """Entry of the ordinary PIT, in a seat of its owner or a shared one."""

    __slots__ = ("out", "faces", "prefix", "owner", "shared", "since",
                 "until", "by")

    def __init__(self):
        self.out = None
        self.faces = {}           # face: end of its Interest's lifetime
        self.prefix = False
        self.owner = None         # face that it counts for
        self.shared = False
        self.since = self.until = 0
        self.by = {}              # face: (who asked, when), for the verdicts

    def living(self, now, rules):
        if not rules.lifetime_ends:
            return list(self.faces)
        return [f for f, end in self.faces.items() if end > now]


class Lru(OrderedDict):
    """The newest `size` items."""

    def __init__(self, size):
        super().__init__()
        self.size = size

    def put(self, key, value):
        self[key] = value
        self.move_to_end(key)
        if len(self) > self.size:
            self.popitem(last=False)
