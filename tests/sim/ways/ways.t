#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Randomised simulation of BCube servers that find ways round dead links; prints TAP.

    tests/sim/ways/ways.t                as `make check` runs it
    tests/sim/ways/ways.t --seeds 5000   of each scenario
    tests/sim/ways/ways.t --run links 17 [--without differences_are_told]
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path[0] = os.path.join(sys.path[0], "..")

from ways.rules import RULES, Rules
from ways.scenarios import SCENARIOS
from ways.world import VERDICTS, World
from harness import Suite, Worlds

if __name__ == "__main__":
    sys.exit(Suite(Worlds(World, Rules, VERDICTS), RULES, SCENARIOS, lambda name: 60,
                   20).main(__doc__))
