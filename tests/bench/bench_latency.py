# SPDX-License-Identifier: BSD-2-Clause
"""Small messages: the median time of a 4 KiB allreduce, ours over Gloo's."""

from figures import Figures
from nets import Star, Switch
from pairs import best, in_turns, ratios

OPTIONS = ("-b", "4K", "-e", "4K", "-w", "50")
OURS = (*OPTIONS, "-n", "2000")
THEIRS = (*OPTIONS, "-n", "300")  # they take milliseconds
ALGORITHMS = ("bcube", "ring_chunked", "ring_chunked_sync", "halving_doubling",
              "halving_doubling_sync")


def p50(row):
    return row["p50_us"]


def measure(pairs, transport):
    figures = Figures("latency")
    with Star(4, "--transport", transport) as star, Switch(4) as switch:
        rival = best(switch, ALGORITHMS, THEIRS, p50, at_most=True)
        ours, ring, other = in_turns(
            pairs,
            lambda: p50(star.perf(*OURS)),
            lambda: p50(switch.gloo("ring", *THEIRS)),
            lambda: p50(switch.gloo(rival, *THEIRS)))
    figures.add("ratio_4k", ratios(ours, ring), bar=0.08, at_most=True,
                note="Gloo's ring, gloo::allreduce's default")
    fastest = [min(pair) for pair in zip(ring, other)]
    figures.add("ratio_4k_vs_best", ratios(ours, fastest), bar=0.5, at_most=True,
                note=f"Gloo's ring or {rival}, whichever was faster")
    figures.add("p50_4k", ours, note="us")
    figures.add("gloo_p50_4k", ring, note="us, ring")
    figures.add("gloo_best_p50_4k", other, note=f"us, {rival}")
    return figures
