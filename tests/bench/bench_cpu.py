# SPDX-License-Identifier: BSD-2-Clause
"""Links faster than the CPU: 16 MiB of floats over bare veths. Compares the work per
byte, ours and Gloo's, at its fastest."""

import os

from figures import Figures
from nets import BenchError, Star, Switch, measured
from pairs import best, gbps, in_turns, ratios

OPTIONS = ("-b", "16M", "-e", "16M", "-w", "3", "-n", "15")
ALGORITHMS = ("bcube", "ring_chunked", "halving_doubling")
MIB = 16
# Each device has a queue for each CPU, as NICs have.
QUEUES = ("--queues", str(os.cpu_count()))
TRIES = 4


def cpu_per_mib(row):
    """CPU time of the whole machine, in us per MiB reduced."""
    return row["cpu_us"] / MIB


def column(rows, value):
    return [value(row) for row in rows]


def at_mtu(figures, mtu, bar, pairs, transport):
    """Ratios to Gloo; our reports and its rows, of its fastest algorithm."""
    wire = ("--mtu", str(mtu), *QUEUES)
    with Star(4, "--transport", transport, *wire) as star, \
         Switch(4, *wire) as switch:
        rival = best(switch, ALGORITHMS, OPTIONS, gbps)
        reports, rings, others = in_turns(
            pairs,
            lambda: star.perf_report(*OPTIONS),
            lambda: switch.gloo("ring", *OPTIONS),
            lambda: switch.gloo(rival, *OPTIONS))
    rows = [report["results"][0] for report in reports]
    fastest = [max(gbps(a), gbps(b)) for a, b in zip(rings, others)]
    ours, ring = column(rows, gbps), column(rings, gbps)
    figures.add(f"ratio_vs_gloo_mtu{mtu}", ratios(ours, ring), note="Gloo's ring")
    figures.add(f"ratio_vs_best_mtu{mtu}", ratios(ours, fastest), bar=bar,
                note=f"Gloo's ring or {rival}, whichever was faster")
    figures.add(f"algbw_mtu{mtu}", ours, note="Gb/s")
    figures.add(f"gloo_algbw_mtu{mtu}", ring, note="Gb/s, ring")
    return reports, [a if gbps(a) > gbps(b) else b for a, b in zip(rings, others)]


def work(figures, reports, theirs):
    """How GRADs left, and what a MiB costs."""
    shares = [report["counters"]["carried"] / report["counters"]["chunks"]
              for report in reports]
    figures.add("skbless_share", shares, bar=0.95,
                note="GRADs that left as XDP frames, of all, at MTU 1500")
    ours = column([report["results"][0] for report in reports], cpu_per_mib)
    theirs = column(theirs, cpu_per_mib)
    figures.add("cpu_us_per_mib", ratios(ours, theirs), bar=0.5, at_most=True,
                note="CPU time of the machine, over that of Gloo's fastest")
    figures.add("cpu_us_per_mib_ours", ours, note="us")


def datapath(figures, pairs):
    """XDP alone, with cells that are always ready. A lost packet ends a run."""
    samples = []
    with Star(4, "--dtype", "int", *QUEUES) as star:
        for _ in range(TRIES * pairs):
            try:
                samples.append(measured(star.run, "bench-datapath")["gbps"])
            except BenchError:
                continue
            if len(samples) == pairs:
                break
    if not samples:
        raise BenchError(f"bench-datapath lost packets in {TRIES * pairs} runs")
    figures.add("gbps_datapath_mtu1500", samples, bar=10, note="cells always ready")


def loss_share(figures, pairs):
    # The same wires: these cost CPU time, too.
    with Star(4, "--loss", "0.0001", *QUEUES) as clean, \
         Star(4, "--loss", "1", *QUEUES) as lossy:
        none, some = in_turns(pairs, lambda: gbps(clean.perf(*OPTIONS)),
                              lambda: gbps(lossy.perf(*OPTIONS)))
    figures.add("loss1_share_cpu", ratios(some, none), bar=0.5,
                note="algbw at 1% loss over none")


def measure(pairs, transport):
    figures = Figures("cpu")
    reports, theirs = at_mtu(figures, 1500, 1.6, pairs, transport)
    if transport == "xdp":
        work(figures, reports, theirs)
        datapath(figures, pairs)
        loss_share(figures, pairs)
    at_mtu(figures, 3400, 2.3, pairs, transport)
    return figures
