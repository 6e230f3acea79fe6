#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of the NDN protocol; prints TAP.

    tests/sim/ndn/ndn.t                     what `make check` runs
    tests/sim/ndn/ndn.t --seeds 5000        of each scenario and rule
    tests/sim/ndn/ndn.t --only rule__window tests whose name starts so
    tests/sim/ndn/ndn.t --run storm 17 [--without window_is_kept]

sound__SCENARIO passes if the protocol holds in all seeds. rule__RULE passes if
the protocol without that rule fails, as rules.py foresees, in one of them, or
costs more over all of them.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path[0] = os.path.join(sys.path[0], "..")

from harness import Suite
from ndn import world
from ndn.rules import RULES
from ndn.scenarios import SCENARIOS

# Seeds per scenario, 7 unless named.
SEEDS = {"storm": 20, "turn": 30, "late": 50, "intrusion": 50}
COST_SEEDS = 8


if __name__ == "__main__":
    suite = Suite(world, RULES, SCENARIOS,
                  lambda name: SEEDS.get(name, 7), COST_SEEDS)
    sys.exit(suite.main(__doc__))
