#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of workers whose XDP program sends for them; prints TAP.

    tests/sim/reflex/reflex.t                     as `make check` runs it
    tests/sim/reflex/reflex.t --seeds 5000        of each scenario
    tests/sim/reflex/reflex.t --only rule__cell   tests whose name starts so
    tests/sim/reflex/reflex.t --run torn 17 [--without copy_is_checked]

sound__SCENARIO passes if the rules hold in all seeds. rule__RULE passes if, without
that rule, some seed fails with a verdict of rules.py, or the runs cost more.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path[0] = os.path.join(sys.path[0], "..")

from harness import Suite
from reflex import model
from reflex.rules import COST_SEEDS, RULES

# Seeds per scenario, 20 unless named: half a minute in all.
SEEDS = {"storm": 40, "quiet": 30, "steps": 100, "torn": 150, "stolen": 80, "overlap": 60,
         "hostile": 30, "shrinks": 12, "pool_storm": 60, "lossy": 1, "worse": 1,
         "wired": 1, "exponents": 1, "bursts": 1, "hosts": 1, "uneven": 1}


if __name__ == "__main__":
    suite = Suite(model, RULES, model.SCENARIOS,
                  lambda name: SEEDS.get(name, 20), COST_SEEDS)
    sys.exit(suite.main(__doc__))
