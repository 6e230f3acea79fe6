# SPDX-License-Identifier: BSD-2-Clause
"""A packet of a job on shared pools: Msg with more fields."""

from dataclasses import dataclass

from net import Msg

PROBE = 64       # liveness probe, answered in place
PS_NUMBER = 0    # relay number of the PS in this model


@dataclass(slots=True)
class Packet(Msg):
    """workers: bitmap of the workers in the value. relay: number of the relay
    that aggregates the packet; in a PROBE to the PS, of the relay that the
    sender bypasses. child: rank of the sender, or of the sender whose packet
    made a relay send this one."""

    job: int = 0
    tree: int = 0
    relay: int = PS_NUMBER
    workers: int = 0

    def row(self):
        return self.job, self.tree
