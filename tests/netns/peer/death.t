#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A rank of a job of peers is killed at a random moment: all others return an error
that names it, within two seconds, and the next job works.

    tests/netns/peer/death.t [TIMES [SEED]]
"""
import random
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from ranks import Ranks  # noqa: E402
from worker import *  # noqa: E402,F403

TIMES = int(sys.argv[1]) if len(sys.argv) > 1 else 12
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
WORLD = 4
ALGORITHMS = ('ring', 'halving', 'direct', 'torus', 'auto')

tap = Tap()
rng = random.Random(SEED)


def perf(f, algorithm, rounds):
    return Ranks(f, ['w%d' % i for i in range(WORLD)], size='256k', rounds=rounds,
                 dtype='float', TRIB_TRANSPORT='peer', TRIB_PEER_ALGORITHM=algorithm)


def one(f, algorithm):
    """Return what was wrong, or nothing."""
    victim = rng.randrange(WORLD)
    ranks = perf(f, algorithm, 100000)
    time.sleep(rng.uniform(0.3, 1.5))
    if not ranks.running():
        ranks.wait(5)
        return 'a rank ended before: %s' % ranks
    ranks.p['w%d' % victim].kill()
    killed = time.monotonic()
    others = [h for h in ranks.p if h != 'w%d' % victim]
    ended = until(10, lambda: all(ranks.p[h].poll() is not None for h in others))
    took = time.monotonic() - killed
    ranks.wait(5)
    if not ended or took > 2:
        return 'the others took %.1f s: %s' % (took, ranks)
    for h in others:
        if 'rank %d' % victim not in ranks.out[h].split('# Out of')[0][-400:]:
            return '%s does not name rank %d: %s' % (h, victim, ranks.out[h])
    return None


def main():
    f = Fabric('death', 'star', '--plain', '--one-nic', '--workers', str(WORLD))
    wrong = []
    try:
        for i in range(TIMES):
            why = one(f, ALGORITHMS[i % len(ALGORITHMS)])
            if why:
                wrong.append('%s: %s' % (ALGORITHMS[i % len(ALGORITHMS)], why))
        tap.test('death__the_others_name_the_dead_rank_in_two_seconds', not wrong,
                 '\n'.join(wrong))
        again = perf(f, 'auto', 20)
        tap.test('death__the_next_job_works', again.wait(30), again)
    finally:
        f.down()
    return tap.done()


sys.exit(main())
