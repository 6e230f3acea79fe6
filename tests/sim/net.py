# SPDX-License-Identifier: BSD-2-Clause
"""Time, packets, and links that lose, duplicate and reorder packets."""

import heapq
from dataclasses import dataclass, replace

CHUNK_MASK = (1 << 32) - 1
LIFE = 320   # limit of ticks that a packet travels
TORN = -1    # see Msg

GRAD, RESULT, NEED, ALIVE, ABORT, JOIN, START, LEAVE = range(8)
SESSION_TYPES = (JOIN, START, LEAVE)


def serial_diff(a, b):
    """Distance from chunk b to a, modulo 2^32; negative: a is before b."""
    d = (a - b) & CHUNK_MASK
    return d - (1 << 32) if d >> 31 else d


def make_nonce(instance, count):
    """Nonce of a process or tribd: its instance and its count of JOINs."""
    return instance << 32 | count


def nonce_is_older(a, b):
    """True if both are of one instance and a is older; b may be None."""
    return b is not None and a >> 32 == b >> 32 and a < b


@dataclass(slots=True)
class Msg:
    """A packet. Fields as in struct trib_hdr, plus some for the oracle.

    value is None if the packet is EMPTY. room: an answer fits in the payload.
    mask: of a masked contribution; TORN: with a wrong number of bits; 0: dense.
    cause is the number of the event that caused a NEED. truth is the real set
    of children seen, even if a missing rule changes the bitmap.
    """

    type: int
    epoch: int
    chunk: int = 0
    up: bool = False
    child: int = -1
    resend: bool = False
    push: bool = False
    shape: tuple = None
    value: object = None
    room: bool = True
    seen: int = 0
    truth: int = 0
    cause: int = 0
    rank: int = -1
    why: str = ""
    nonce: int = 0
    run: bool = False
    token: int = 0
    number: int = 0
    auth: tuple = None
    mask: int = 0


class Net:
    """Event queue and links. Delays are in ticks, about a millisecond."""

    def __init__(self, rng, loss, dup):
        self.rng = rng
        self.loss = loss
        self.dup = dup
        self.late = 0.02 if loss else 0  # share of packets with a long delay
        self.late_copy = self.late       # the same for second copies
        self.now = 0
        self.sent = 0
        self.tear = 0        # share of masks that arrive damaged, too
        self.tap = None      # called for each packet that is sent
        self._queue = []
        self._count = 0

    def at(self, delay, fn, *args):
        self._count += 1
        heapq.heappush(self._queue, (self.now + delay, self._count, fn, args))

    def delay(self, late):
        d = 1 + int(self.rng.random() * 12)
        if self.rng.random() < late:
            d += self.rng.randint(20, 300)
        assert d < LIFE
        return d

    def send(self, dst, msg):
        self.sent += 1
        if self.tap:
            self.tap(dst, msg)
        random = self.rng.random
        if msg.mask > 0 and self.tear and random() < self.tear:
            self.at(self.delay(self.late), dst.receive,
                    replace(msg, mask=TORN, value=msg.value + type(msg.value)(1)))
        if random() < self.loss:
            return
        self.at(self.delay(self.late), dst.receive, msg)
        if random() < self.dup:
            # The copy has a cause of its own.
            copy = replace(msg, cause=self.new_cause())
            self.at(self.delay(self.late_copy), dst.receive, copy)

    def new_cause(self):
        self._count += 1
        return self._count

    def run(self, until, finished):
        """Run until the time, the last event, or finished() is true."""
        n = 0
        while self._queue:
            self.now, _, fn, args = heapq.heappop(self._queue)
            if self.now > until:
                self.now = until
                return
            fn(*args)
            n += 1
            if not n & 7 and finished():
                return
