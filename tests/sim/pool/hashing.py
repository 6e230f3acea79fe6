# SPDX-License-Identifier: BSD-2-Clause
"""The slot of a chunk in a pool.

A table assigns each bucket to the slot with the largest weight there. A new
slot takes its share of the buckets from all others and moves nothing else. A
capped job hashes chunk modulo its cap, so it has only that many keys and cannot
hold more slots; no counter is needed.
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
