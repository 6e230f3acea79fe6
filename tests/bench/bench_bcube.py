# SPDX-License-Identifier: BSD-2-Clause
"""BCubes of 100 Mb/s ports: 16 MiB of floats, against Gloo's ring over one such
port for each server, and against the formula: each port carries 2 (W - 1) / (W k)
of a message in either direction, W = n^k."""

from figures import Figures
from nets import BCube, Switch
from pairs import gbps, in_turns, ratios

RATE = 0.1  # Gb/s
SIZE = ("-b", "16M", "-e", "16M", "-w", "1", "-n", "3")


def one(figures, n, k, bar, share_bar, pairs):
    wire = ("--rate", f"{RATE * 1000:.0f}m")
    servers = n ** k
    with BCube(n, k, "--window", "64", *wire) as cube, \
         Switch(servers, *wire) as switch:
        ours, ring = in_turns(
            pairs,
            lambda: gbps(cube.perf("-A", "bcube", *SIZE)),
            lambda: gbps(switch.gloo("ring", *SIZE)))
    allowed = servers * k * RATE / (2 * (servers - 1))
    figures.add(f"ratio_vs_gloo_{n}_{k}", ratios(ours, ring), bar=bar,
                note=f"BCube({n},{k}), 100 Mb/s ports, Gloo's ring over one")
    figures.add(f"share_of_formula_{n}_{k}", [v / allowed for v in ours],
                bar=share_bar, note="algbw over W k B / (2 (W - 1))")
    figures.add(f"algbw_{n}_{k}", ours, note="Gb/s")
    figures.add(f"gloo_algbw_{n}_{k}", ring, note="Gb/s, ring")


def measure(pairs, _transport):
    figures = Figures("bcube")
    pairs = min(pairs, 3)  # a wire of fixed rate varies little
    one(figures, 2, 2, 1.8, 0.85, pairs)
    one(figures, 2, 3, 2.5, None, pairs)
    return figures
