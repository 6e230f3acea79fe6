#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of shared pools with a PS; prints TAP.

    tests/sim/pool/pool.t                     as `make check` runs it
    tests/sim/pool/pool.t --seeds 5000        of each scenario
    tests/sim/pool/pool.t --only rule__ack    tests whose name starts so
    tests/sim/pool/pool.t --run storm 17 [--without ack_clears]

sound__SCENARIO passes if the protocol holds in all seeds. rule__RULE passes if
the protocol without that rule fails in some seed with a verdict of rules.py, or
costs more over all seeds.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path[0] = os.path.join(sys.path[0], "..")

from harness import Suite
from pool import world
from pool.hashing import BUCKETS, table
from pool.rules import COST_SEEDS, RULES
from pool.scenarios import SCENARIOS

# Seeds per scenario, 100 unless named.
SEEDS = {"storm": 500, "masks": 200, "amnesia": 200, "anew": 200, "dead": 150, "deaf": 100,
         "parting": 100, "busy": 50, "litter": 20, "wipes": 20, "ghosts": 30,
         "bypass": 50, "echoes": 30, "straggler": 20}


def place_moves_a_share():
    """A new slot takes buckets; no bucket moves between old slots."""
    for n in range(1, 64):
        moved = [(a, b) for a, b in zip(table(n), table(n + 1)) if a != b]
        if any(b != n for a, b in moved):
            return False, f"{n + 1} slots: a bucket moved between old ones"
        if len(moved) > 8 + 3 * BUCKETS // (2 * (n + 1)):
            return False, f"{n + 1} slots: {len(moved)} buckets moved"
    return True, f"up to 64 slots, {BUCKETS} buckets"


if __name__ == "__main__":
    suite = Suite(world, RULES, SCENARIOS,
                  lambda name: SEEDS.get(name, 100), COST_SEEDS)
    suite.extra.append(("place__moves_its_share_only", place_moves_a_share))
    sys.exit(suite.main(__doc__))
