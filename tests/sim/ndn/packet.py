# SPDX-License-Identifier: BSD-2-Clause
"""Interests and Data, names, and the links that carry them.

A name is a tuple of components; an int is a typed one (version or segment).
Packets are never changed once sent: a hop makes a new one.
"""

from net import Net

INSERT, DELETE, DISTRIBUTE = MARKERS = "insert", "delete", "distribute"
NEWEST = "newest"         # asks for the number of the newest version
HOPS = 12                 # HopLimit of our own Interests


class Interest:
    """trail: routers that it passed, and by: who sent it, for the verdicts
    only."""

    __slots__ = ("name", "nonce", "life", "prefix", "fresh", "hops", "trail",
                 "by")

    def __init__(self, name, nonce, life, prefix=False, fresh=False,
                 hops=HOPS, trail=(), by=None):
        self.name = name
        self.nonce = nonce
        self.life = life          # InterestLifetime
        self.prefix = prefix      # CanBePrefix
        self.fresh = fresh        # MustBeFresh
        self.hops = hops          # HopLimit; None: there is none
        self.trail = trail
        self.by = by

    def hop(self, router, hops):
        return Interest(self.name, self.nonce, self.life, self.prefix,
                        self.fresh, hops, self.trail + (router,), self.by)


class Data:
    """good stands for a valid signature."""

    __slots__ = ("name", "content", "good", "trail")

    def __init__(self, name, content=None, good=True, trail=()):
        self.name = name
        self.content = content
        self.good = good
        self.trail = trail

    def hop(self, router):
        return Data(self.name, self.content, self.good,
                    self.trail + (router,))


def unmarked(name):
    """The name without its marker, for routes and rights."""
    return name[1:] if name[0] in MARKERS else name


def job_of(name):
    """Split the name of a distribution: (entry, version, segment), or with None
    for what is not there."""
    n = len(name)
    if type(name[-1]) is int and type(name[-2]) is int:
        return name[1:n - 2], name[-2], name[-1]
    if type(name[-1]) is int:
        return name[1:n - 1], name[-1], None
    return name[1:], None, None


def allows(prefixes, name):
    """prefixes: None allows every name."""
    return prefixes is None or any(name[:len(p)] == p for p in prefixes)


class Face:
    """One end of a link, with the rights of its neighbour."""

    __slots__ = ("node", "peer", "cut", "subscribe", "write", "host",
                 "free")

    def __init__(self, node):
        self.node = node
        self.peer = None
        self.cut = False
        self.subscribe = None     # prefixes that the peer may subscribe to
        self.write = None         # prefixes of Data that it may send
        self.host = False         # it is not another router's
        self.free = 0             # when the last packet will have left

    @property
    def bare(self):
        """It has no right to any name."""
        return self.subscribe == () and self.write == ()


def connect(a, b):
    """A link: the face of a, the face of b."""
    x, y = Face(a), Face(b)
    x.peer, y.peer = y, x
    a.faces.append(x)
    b.faces.append(y)
    return x, y


class Wires(Net):
    """queue: packets that a link holds, one leaves each tick. None: any
    number leaves at once."""

    queue = None

    def send(self, face, packet):
        self.sent += 1
        random = self.rng.random
        if face.cut or random() < self.loss:
            return
        wait = 0
        if self.queue is not None:
            wait = max(0, face.free - self.now)
            if wait >= self.queue:
                return
            face.free = self.now + wait + 1
        peer = face.peer
        self.at(wait + self.delay(self.late), peer.node.receive, peer, packet)
        if random() < self.dup:
            self.at(wait + self.delay(self.late_copy), peer.node.receive,
                    peer, packet)
