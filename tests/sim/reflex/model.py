# SPDX-License-Identifier: BSD-2-Clause
"""All that reflex.t runs: trees, jobs on shared pools, and benches."""

from pool import scenarios as pool
from reflex import bench
from reflex.rules import Rules
from reflex.scenarios import SCENARIOS as TREES
from reflex.shared import PoolWorld
from reflex.world import VERDICTS, World

POOLS = {f"pool_{cls.__name__.lower()}": cls for cls in (
    pool.Storm, pool.Quiet, pool.Masks, pool.Anew, pool.Dead, pool.Bypass,
    pool.Forged)}
SCENARIOS = TREES | POOLS | bench.BENCHES

__all__ = ["VERDICTS", "SCENARIOS", "run", "measure"]


def run(seed, scenario, without=None):
    """None, or a verdict and its text."""
    if issubclass(scenario, bench.Bench):
        return bench.run(seed, scenario, without)
    kind = PoolWorld if issubclass(scenario, pool.Scenario) else World
    return kind(seed, Rules(without), scenario).run()


def measure(seed, scenario, without=None):
    """The costs, or None if the run fails."""
    if issubclass(scenario, bench.Bench):
        return bench.measure(seed, scenario, without)
    world = PoolWorld(seed, Rules(without), scenario)
    return None if world.run() else world.costs()
