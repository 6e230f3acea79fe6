#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of the dedicated-pool protocol; prints TAP.

    tests/sim/sim.t                     as `make check` runs it
    tests/sim/sim.t --seeds 5000        of each scenario
    tests/sim/sim.t --only rule__grad   tests whose name starts so
    tests/sim/sim.t --run storm 17 [--without grad_is_frozen]

sound__SCENARIO passes if the protocol holds in all seeds. rule__RULE passes if
the protocol without that rule fails in some seed with a verdict of rules.py.
"""

import sys

sys.dont_write_bytecode = True

import protocol
import world
from harness import Suite
from rules import RULES
from scenarios import SCENARIOS

# Seeds per scenario; the whole run takes about a minute.
SEEDS = {"storm": 700, "mapped": 150, "floats": 300, "masks": 300, "quiet": 80, "copies": 100,
         "eager": 150, "idle": 150, "deaf": 150, "parting": 200, "liar": 100,
         "die": 150, "gone": 80, "quitter": 100, "late": 50, "dark": 80,
         "rejoin": 250, "restless": 200, "overtaken": 100, "again": 80,
         "full": 80, "stale": 80, "forged": 100, "haunted": 100, "misled": 100,
         "recorded": 100}


if __name__ == "__main__":
    suite = Suite(world, RULES, SCENARIOS, SEEDS.get)
    suite.extra.append(("protocol__page_has_these_rules", protocol.check))
    sys.exit(suite.main(__doc__))
