# SPDX-License-Identifier: BSD-2-Clause
"""Links slower than the CPU: 16 MiB of floats, against Gloo on the same wires, and
with loss against without."""

from figures import Figures
from nets import Star, Switch
from pairs import best, gbps, in_turns, ratios

SIZE = ("-b", "16M", "-e", "16M", "-w", "1")
ALGORITHMS = ("bcube", "ring_chunked", "halving_doubling")


def against_gloo(figures, workers, rate_mbit, iters, bar, pairs, transport):
    """ratio_vs_gloo_nN and, if another algorithm beats the ring, its own."""
    rate = ("--rate", f"{rate_mbit}m")
    options = (*SIZE, "-n", str(iters))
    with Star(workers, "--transport", transport, *rate) as star, \
         Switch(workers, *rate) as switch:
        rival = best(switch, ALGORITHMS, options, gbps)
        ours, ring, other = in_turns(
            pairs,
            lambda: gbps(star.perf(*options)),
            lambda: gbps(switch.gloo("ring", *options)),
            lambda: gbps(switch.gloo(rival, *options)))
    figures.add(f"ratio_vs_gloo_n{workers}", ratios(ours, ring), bar=bar,
                note=f"{rate_mbit} Mb/s wires, Gloo's ring")
    figures.add(f"ratio_vs_best_n{workers}", ratios(ours, other),
                note=f"Gloo's {rival}")
    figures.add(f"algbw_n{workers}", ours, note="Gb/s")
    figures.add(f"gloo_algbw_n{workers}", ring, note="Gb/s, ring")
    return ours


def loss_share(figures, pairs, transport):
    options = (*SIZE, "-n", "3")
    wire = ("--transport", transport, "--rate", "500m")
    with Star(4, *wire) as clean, Star(4, *wire, "--loss", "1") as lossy:
        none, some = in_turns(pairs, lambda: gbps(clean.perf(*options)),
                              lambda: gbps(lossy.perf(*options)))
    figures.add("loss1_share", ratios(some, none), bar=0.90,
                note="algbw at 1% loss over none, 500 Mb/s, n=4")


def measure(pairs, transport):
    figures = Figures("link")
    pairs = min(pairs, 3)  # a wire of fixed rate varies little
    ours = against_gloo(figures, 4, 500, 4, 1.40, pairs, transport)
    figures.add("line_share_n4", [v / 0.5 for v in ours], bar=0.90,
                note="algbw over the wire's rate")
    against_gloo(figures, 8, 200, 2, 1.60, pairs, transport)
    loss_share(figures, pairs, transport)
    return figures
