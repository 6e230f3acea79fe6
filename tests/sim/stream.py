# SPDX-License-Identifier: BSD-2-Clause
"""The chunk stream of one (job, tree), and the values of each rank.

A stream is a list of Chunk, the same on all ranks: f32 sums or, in a job of
floats, FLOAT chunks; i32 sums, broadcasts and barriers. In an f32 sum, the EXP
chunk of each group decides the scales of the group's data chunks and travels
ahead of the data of the previous group, or of more groups. Values are small integers made from
(seed, epoch, rank, chunk), so the oracle knows the sums. Values of floats also
remember the order of additions.
"""

from collections import namedtuple

# exp: index of the EXP chunk that scales this one; word: index in its value.
Chunk = namedtuple("Chunk", "kind exp word root message last waited")

EXP, DATA, INT, BCAST, BARRIER, DETACH, FLOAT = range(7)

# (op, format) on the wire. The detach barrier has its own.
SHAPE = {EXP: ("max", "w64"), DATA: ("add", "q32"), INT: ("add", "i32"),
         BCAST: ("add", "i32"), BARRIER: ("add", "i32"),
         DETACH: ("add", "none"), FLOAT: ("add", "f32")}
GROUP = 3  # limit of data chunks of one EXP chunk


def mix(*numbers):
    """A hash that is the same in every process."""
    h = 0x9E3779B97F4A7C15
    for n in numbers:
        h = (h ^ n) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        h ^= h >> 29
    return h


class Float(int):
    """A sum with bits that depend on the order of additions."""

    def __new__(cls, number, bits=None):
        self = super().__new__(cls, number)
        self.bits = number if bits is None else bits
        return self

    def __add__(self, other):
        return Float(int(self) + int(other), mix(self.bits, other.bits))


def bits_of(value):
    """Key by which two results compare equal."""
    return value, getattr(value, "bits", 0)


def make_stream(rng, length, world, floats=False, ahead=1):
    """A stream of whole messages with at least `length` chunks."""
    chunks = []
    message = 0
    while len(chunks) < length:
        kind = rng.choice((DATA, DATA, INT, BCAST, BARRIER))
        if kind == DATA and not floats:
            add_f32_sum(rng, chunks, message, ahead)
        else:
            kind = FLOAT if kind == DATA else kind
            n = 1 if kind == BARRIER else rng.randint(1, 8)
            root = rng.randrange(world)
            for i in range(n):
                chunks.append(Chunk(kind, -1, 0, root, message, i == n - 1,
                                    False))
        message += 1
    return chunks


def add_f32_sum(rng, chunks, message, ahead):
    """Append an f32 sum."""
    groups = [rng.randint(1, GROUP) for _ in range(rng.randint(1, 3))]
    add_groups(chunks, message, groups, ahead)


def add_groups(chunks, message, groups, ahead):
    """Append groups of data; EXP k+ahead precedes the data of EXP k."""
    exps = []

    def add_exp():
        if len(exps) < len(groups):
            exps.append(len(chunks))
            chunks.append(Chunk(EXP, -1, 0, 0, message, False, True))

    for _ in range(ahead):
        add_exp()
    for g, n in enumerate(groups):
        add_exp()
        for word in range(n):
            last = g + 1 == len(groups) and word + 1 == n
            chunks.append(Chunk(DATA, exps[g], word, 0, message, last, False))


class Values:
    """Contributions of the ranks in one epoch, and the exact sums."""

    def __init__(self, seed, stream, world, epoch):
        self.key = mix(seed, epoch)
        self.stream = stream
        self.world = world
        self._sums = {}

    def exponents(self, rank, index):
        h = mix(self.key, rank, index)
        return tuple((h >> 8 * i & 0xFF) % 10 for i in range(GROUP))

    def number(self, rank, index):
        return mix(self.key, rank, index, 7) % 1000 + 1

    def own(self, rank, index):
        """The rank's contribution; None is EMPTY."""
        c = self.stream[index]
        if c.kind == EXP:
            return self.exponents(rank, index)
        if c.kind in (BARRIER, DETACH) or c.kind == BCAST and c.root != rank:
            return None
        number = self.number(rank, index)
        return Float(number) if c.kind == FLOAT else number

    def sum(self, index):
        """The right RESULT."""
        if index not in self._sums:
            c = self.stream[index]
            all_own = [v for v in (self.own(r, index)
                                   for r in range(self.world)) if v is not None]
            if not all_own:
                s = None
            elif c.kind == EXP:
                s = tuple(map(max, zip(*all_own)))
            else:
                s = sum(map(int, all_own))
            self._sums[index] = s
        return self._sums[index]

    def scale(self, index):
        """The scale that the EXP chunk of a data chunk must have."""
        c = self.stream[index]
        return self.sum(c.exp)[c.word] if c.kind == DATA else 0


def combine(shape, a, b):
    """Merge two payloads as a relay does."""
    if shape[0] == "max":
        return tuple(map(max, zip(a, b)))
    return a + b
