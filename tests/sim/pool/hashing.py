# SPDX-License-Identifier: BSD-2-Clause
"""Which slot of a pool a chunk goes to.

A table of buckets says which slot each one belongs to: the slot with the
largest weight there. A slot that is added takes its share of the buckets from
all others, and moves nothing else. A capped job hashes chunk modulo its cap:
it has no more than that many keys, so it cannot hold more slots, and nobody
need count them.
"""

from functools import lru_cache

from stream import mix

BUCKETS = 256


@lru_cache(maxsize=None)
def table(slots):
    return tuple(max(range(slots), key=lambda s: mix(b, s, 0, 0))
                 for b in range(BUCKETS))


def place(slots, job, tree, chunk, cap=0):
    key = chunk % cap if cap else chunk
    return table(slots)[mix(job, tree, key) % BUCKETS]
