# SPDX-License-Identifier: BSD-2-Clause
"""A packet of a job on shared pools: Msg with more fields."""

from dataclasses import dataclass

from net import Msg

PROBE = 64       # "are you there?": answered in place
PS_NUMBER = 0    # relay number of the PS in this model


@dataclass(slots=True)
class Packet(Msg):
    """workers is the bitmap: those that the value stands for. relay is the
    number of the relay that is to aggregate it; in a PROBE to the PS, of the
    one that its sender goes around. child is the rank whose packet this is,
    or whose packet made a relay send it."""

    job: int = 0
    tree: int = 0
    relay: int = PS_NUMBER
    workers: int = 0

    def row(self):
        return self.job, self.tree
