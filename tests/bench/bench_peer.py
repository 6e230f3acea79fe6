# SPDX-License-Identifier: BSD-2-Clause
"""Ranks that exchange without relays, by libfabric over TCP: BCube, torus and ring,
against Gloo on the same wires and against each other."""

import json
import math
import os
import sys

from figures import Figures
from nets import PRIORITY, TOP, BCube, BenchError, Switch, call
from pairs import gbps, in_turns, p95, progress, ratios
from rivals import mpi
from rivals.pypi import MPI

sys.path.insert(0, os.path.join(TOP, "tests", "netns", "lib"))
import bypass  # noqa: E402 # pylint: disable=wrong-import-position
import racks  # noqa: E402 # pylint: disable=wrong-import-position
import ranks  # noqa: E402 # pylint: disable=wrong-import-position

LARGE = ("-b", "16M", "-e", "16M", "-w", "1", "-n", "3")
SMALL = ("-b", "64K", "-e", "64K", "-w", "3", "-n", "20")
WIRE = ("--rate", "100m")
KILLS = 50
# Two wires on each way: one millisecond from rank to rank.
SLOW = ("--delay", "500")


def p50(row):
    return row["p50_us"]


def shaped(net, shape, *options):
    """A run of a torus with that shape."""
    os.environ["TRIB_PEER_SHAPE"] = shape
    try:
        return net.perf("-A", "torus", *options)
    finally:
        del os.environ["TRIB_PEER_SHAPE"]


def bcube(figures, n, k, bar, pairs):
    servers = n ** k
    with BCube(n, k, "--plain", *WIRE) as cube, Switch(servers, *WIRE) as switch:
        ours, ring = in_turns(pairs, lambda: gbps(cube.perf("-A", "peer-bcube", *LARGE)),
                              lambda: gbps(switch.gloo("ring", *LARGE)))
    figures.add(f"ratio_bcube{n}{k}_vs_gloo", ratios(ours, ring), bar=bar,
                note=f"BCube({n},{k}) of 100 Mb/s NICs, 16 MiB, Gloo's ring over one")
    figures.add(f"algbw_bcube{n}{k}", ours, note="Gb/s")


def bcube_small(figures, pairs):
    with BCube(2, 2, "--plain", *SLOW) as cube:
        ours, ring = in_turns(pairs, lambda: p50(cube.perf("-A", "peer-bcube", *SMALL)),
                              lambda: p50(cube.perf("-A", "ring", *SMALL)))
    figures.add("ratio_bcube22_vs_ring2_64k", ratios(ring, ours), bar=1.3,
                note="64 KiB, 1 ms, our ring over both NICs")
    figures.add("p50_bcube22_64k", ours, note="us")


def ring(figures, pairs):
    with Switch(4) as net:
        ours, theirs = in_turns(pairs, lambda: gbps(net.perf("-A", "ring", *LARGE)),
                                lambda: gbps(net.gloo("ring", *LARGE)))
    figures.add("ratio_ring_vs_gloo", ratios(ours, theirs), bar=1.2,
                note="bare veths, 16 MiB, n=4")
    figures.add("algbw_ring", ours, note="Gb/s")
    figures.add("gloo_algbw_ring", theirs, note="Gb/s")


def against_mpi(figures, pairs):
    """The lesser of the ratios at both sizes."""
    why = MPI.install()
    if why:
        print(f"  ratio_vs_mpi: no MPI: {why}", file=sys.stderr)
        return
    found = {}
    many = ("-b", "64K", "-e", "64K", "-w", "10", "-n", "100")
    for log2, options, count in ((16, many, 100), (24, LARGE, 5)):
        with Switch(4) as net:
            way = mpi.best_way(net, 4, log2, count)
            ours, theirs = in_turns(
                pairs, lambda o=options: net.perf("-A", "auto", *o)["time_us"],
                lambda: mpi.allreduce_us(net, 4, log2, count, way))
        found[log2] = ratios(theirs, ours)
        figures.add(f"ratio_vs_mpi_{'64k' if log2 == 16 else '16m'}", found[log2],
                    note=" ".join(f"{k}={v}" for k, v in way.items()) or "MPI's own choice")
    figures.add("ratio_vs_mpi", [min(p) for p in zip(*found.values())], bar=1.1,
                note="bare veths, n=4, time of Intel MPI's best allreduce over ours, auto")


def torus(figures, rows, cols, bar, pairs):
    with Switch(rows * cols, *SLOW) as net:
        ours, flat = in_turns(pairs,
                              lambda: p50(shaped(net, f"{rows}x{cols}", *SMALL)),
                              lambda: p50(net.perf("-A", "ring", *SMALL)))
    figures.add(f"ratio_torus{rows}{cols}_vs_ring_64k", ratios(flat, ours), bar=bar,
                note="64 KiB, 1 ms")
    figures.add(f"p50_torus{rows}{cols}_64k", ours, note="us")


def step(net, size):
    """A sixth of the time that a ring of four needs for @size bytes, in seconds."""
    return min(p50(net.perf("-A", "ring", "-b", size, "-e", size, "-w", "3", "-n", "20"))
               for _ in range(3)) / 6e6


def rates(us):
    """What a message costs on wires of that delay, as options of bench-peer-scale.

    In each step of a ring of four, all four ranks send and receive a message. Without delay
    the CPUs do nothing else, and with it only the delay is added."""
    cpus = os.cpu_count()
    with Switch(4) as net:
        work = step(net, "16") * cpus / 8
    with Switch(4, "--delay", str(us // 2)) as net:
        few, many = step(net, "16"), step(net, "64K")
    return ("--work", work, "--cpus", cpus, "--overhead", 0,
            "--alpha", max(few - 8 * work / cpus, 0),
            "--beta", max(many - few, 0) / (65536 / 4))


def predicted(world, options):
    """Microseconds of a sum of 64 KiB, by algorithm."""
    out = call(os.path.join(TOP, "build", "bench-peer-scale"), "--ranks", str(world),
               *map(str, options))
    # The squarest torus comes behind the fastest.
    return {p["algorithm"]: p["seconds"] * 1e6 for p in json.loads(out)["points"]
            if p["ranks"] == world}


def model(figures, world, us):
    """How far the curve of bench-peer-scale is from what ranks measure."""
    side = math.isqrt(world)
    want = predicted(world, rates(us))
    with Switch(world, "--delay", str(us // 2)) as net:
        got = {"ring": p50(net.perf("-A", "ring", *SMALL)),
               "halving": p50(net.perf("-A", "halving", *SMALL)),
               "torus": p50(shaped(net, f"{side}x{side}", *SMALL))}
    off = {a: abs(want[a] / got[a] - 1) for a in got}
    figures.add(f"model_error_{world}", list(off.values()), bar=0.1, at_most=True, value=max,
                note=f"64 KiB, {us / 1000:g} ms: " +
                ", ".join(f"{a} {want[a] / 1000:.1f} ms, measured {got[a] / 1000:.1f}"
                          for a in got))


def one_kill(net, pulse):
    """How long the slowest rank was without a sum, in ms."""
    gap = bypass.one_death(net, pulse, net.cut, net.mend)
    progress()
    if gap is None:
        raise BenchError("the job ended, or did not go back to its relay")
    return 1000 * gap


def deaths(net):
    """Gaps of KILLS deaths of the relay of @net, in ms."""
    bypass.Job.wrap = PRIORITY
    try:
        pulse = racks.Pulse(bypass.Job(net), "-g", "10")
        ranks.moving(net.f, net.relay)
        took = [one_kill(net, pulse) for _ in range(KILLS)]
        progress(end=True)
        good, text = pulse.end()
    finally:
        net.down()
    if not good:
        raise BenchError(f"sums were wrong: {text}")
    return took


def failover(figures, transport):
    """A dedicated tree loses its relay, and its ranks sum among themselves; so does a BCube."""
    took = deaths(bypass.Net("bench-failover", "star", "--transport", transport))
    figures.add("failover_ms", took, bar=200, at_most=True, value=p95,
                note=f"p95 of {KILLS}: a tree's relay cut off, to the next sum on the slowest "
                f"of 3 ranks, {transport}")
    figures.add("failover_ms_median", took)
    figures.add("failover_bcube_ms", deaths(bypass.Net("bench-failover", "bcube")), bar=200,
                at_most=True, value=p95,
                note=f"p95 of {KILLS}: a server of BCube(2,2) cut off, its rank has another way")


def measure(pairs, transport):
    figures = Figures("peer")
    few = min(pairs, 3)  # wires of fixed rate or delay vary little
    bcube(figures, 2, 2, 1.8, few)
    bcube(figures, 2, 3, 2.6, few)
    bcube_small(figures, few)
    ring(figures, pairs)
    against_mpi(figures, pairs)
    torus(figures, 2, 4, 1.3, few)
    torus(figures, 8, 8, 3, few)
    failover(figures, transport)
    model(figures, 16, 1000)
    # 64 ranks on few CPUs: the delay must be long beside their work.
    model(figures, 64, 10000)
    return figures
