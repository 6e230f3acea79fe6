#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of jobs that change from trees to peers and back; prints TAP.

    tests/sim/failover/failover.t                as `make check` runs it
    tests/sim/failover/failover.t --seeds 5000   of each scenario
    tests/sim/failover/failover.t --run dies 17 [--without held_is_given]
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path[0] = os.path.join(sys.path[0], "..")

from failover.rules import RULES, Rules
from failover.scenarios import SCENARIOS
from failover.world import VERDICTS, World
from harness import Suite, Worlds

if __name__ == "__main__":
    sys.exit(Suite(Worlds(World, Rules, VERDICTS), RULES, SCENARIOS, lambda name: 100,
                   30).main(__doc__))
