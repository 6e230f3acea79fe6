# SPDX-License-Identifier: BSD-2-Clause
"""All that failover.t runs."""

from failover.rules import Rules
from failover.scenarios import SCENARIOS
from failover.world import VERDICTS, World

__all__ = ["VERDICTS", "SCENARIOS", "measure", "run"]


def run(seed, scenario, without=None):
    """None, or a verdict and its text."""
    return World(seed, Rules(without), scenario).run()


def measure(seed, scenario, without=None):
    """The costs of a run, or None."""
    world = World(seed, Rules(without), scenario)
    return None if world.run() else world.cost
