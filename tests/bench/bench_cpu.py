# SPDX-License-Identifier: BSD-2-Clause
"""Links faster than the CPU: 16 MiB of floats over bare veths. Compares the work per
byte, ours and Gloo's."""

from figures import Figures
from nets import Star, Switch
from pairs import best, gbps, in_turns, ratios

OPTIONS = ("-b", "16M", "-e", "16M", "-w", "3", "-n", "15")
ALGORITHMS = ("bcube", "ring_chunked", "halving_doubling")


def at_mtu(figures, mtu, bar, pairs, transport):
    wire = ("--mtu", str(mtu))
    with Star(4, "--transport", transport, *wire) as star, \
         Switch(4, *wire) as switch:
        rival = best(switch, ALGORITHMS, OPTIONS, gbps)
        ours, ring, other = in_turns(
            pairs,
            lambda: gbps(star.perf(*OPTIONS)),
            lambda: gbps(switch.gloo("ring", *OPTIONS)),
            lambda: gbps(switch.gloo(rival, *OPTIONS)))
    figures.add(f"ratio_vs_gloo_mtu{mtu}", ratios(ours, ring), bar=bar,
                note="Gloo's ring")
    figures.add(f"ratio_vs_best_mtu{mtu}", ratios(ours, other),
                note=f"Gloo's {rival}")
    figures.add(f"algbw_mtu{mtu}", ours, note="Gb/s")
    figures.add(f"gloo_algbw_mtu{mtu}", ring, note="Gb/s, ring")


def measure(pairs, transport):
    figures = Figures("cpu")
    at_mtu(figures, 1500, 1.0, pairs, transport)
    at_mtu(figures, 3400, 1.6, pairs, transport)
    return figures
