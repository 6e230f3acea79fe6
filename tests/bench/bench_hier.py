# SPDX-License-Identifier: BSD-2-Clause
"""Machines of several ranks: the sum of a machine leaves it once, by its leader."""

from figures import Figures
from nets import Switch
from pairs import gbps, in_turns, ratios

SIZE = ("-b", "64M", "-e", "64M", "-w", "1", "-n", "1")


def measure(pairs, _transport):
    figures = Figures("hier")
    with Switch(2, "--ranks", "4", "--rate", "500m") as net:
        ours, flat = in_turns(min(pairs, 3), lambda: gbps(net.perf("-A", "auto", *SIZE)),
                              lambda: gbps(net.gloo("ring", *SIZE)))
    figures.add("ratio_hier_vs_flat", ratios(ours, flat), bar=1.6,
                note="2 hosts of 4 ranks, 500 Mb/s wires, 64 MiB, Gloo's ring of 8")
    figures.add("algbw_hier", ours, note="Gb/s")
    figures.add("gloo_algbw_flat", flat, note="Gb/s")
    return figures
