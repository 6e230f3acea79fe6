# SPDX-License-Identifier: BSD-2-Clause
"""Shared pools with a PS, in two racks of two workers (tests/netns/lib/racks.py):
their cost against dedicated slots, on the same wires in the same run, and the gap
in sums when a relay dies."""

import json
import os
import sys
import tempfile

from figures import Figures
from nets import PRIORITY, TOP, BenchError
from pairs import gbps, in_turns, p95, progress, ratios

sys.path.insert(0, os.path.join(TOP, "tests", "netns", "lib"))
import racks  # noqa: E402 # pylint: disable=wrong-import-position

RATE = 100_000_000  # bits a second
WINDOW = 256  # chunks
POOL = 4096  # slots: hardly a chunk meets another
KILLS = 20


def algbw(job):
    """Gb/s of one run of 16 MiB."""
    with tempfile.TemporaryDirectory(prefix="trib-bench-") as folder:
        path = os.path.join(folder, "out.json")
        job.perf("-b", "16M", "-e", "16M", "-w", "1", "-n", "2", "-J", path)
        good, text = job.wait(120)
        if not good:
            raise BenchError(f"trib-perf: {text}")
        with open(path, encoding="utf-8") as f:
            return gbps(json.load(f)["results"][0])


def share(figures, net, job, pairs):
    own = racks.Job(net, 2, [0, 1, 2, 3], window=WINDOW)
    own.rows()
    shared, dedicated = in_turns(pairs, lambda: algbw(job), lambda: algbw(own))
    figures.add("share_of_dedicated", ratios(shared, dedicated), bar=0.85,
                note="algbw in a shared pool over that with own slots, "
                f"{RATE // 1000000} Mb/s")
    figures.add("algbw_shared", shared, note="Gb/s")
    figures.add("algbw_dedicated", dedicated, note="Gb/s")


def adds_up(relay):
    """Waits until it does."""
    before = relay.stat("pool-merged")
    if not racks.wait_for(lambda: relay.stat("pool-merged") > before + 2000):
        raise BenchError("the relay adds nothing up")


def one_kill(relay, pulse, server):
    """How long the slowest rank was without a sum, in ms."""
    adds_up(relay)
    begun = relay.kill()
    if not server.goes_on():
        raise BenchError("no sums come without the relay")
    took = [pulse.resumed(r, begun) for r in range(4)]
    if not pulse.alive() or None in took:
        raise BenchError(f"a dead relay was not noticed: {took}")
    relay.revive()
    progress()
    return 1000 * max(took)


def failover(figures, net, job, server):
    pulse = racks.Pulse(job)
    took = [one_kill(net.relays["a"], pulse, server) for _ in range(KILLS)]
    progress(end=True)
    good, text = pulse.end()
    if not good:
        raise BenchError(f"sums were wrong: {text}")
    figures.add("failover_ms", took, bar=200, at_most=True, value=p95,
                note=f"p95 of {KILLS}: XDP of a rack's relay detached, to the "
                "next sum on the slowest rank")
    figures.add("failover_ms_median", took)


def measure(pairs, _transport):
    figures = Figures("shared")
    racks.Job.wrap = PRIORITY
    try:
        net = racks.Racks(rate=RATE)
        net.start("--pool", str(POOL))
        job = racks.SharedJob(net, 1, [0, 1, 2, 3], window=WINDOW)
        job.rows()
        server = racks.Server(net, job, wrap=PRIORITY)
        share(figures, net, job, pairs)
        failover(figures, net, job, server)
    except RuntimeError as e:
        raise BenchError(str(e)) from e
    finally:
        racks.cleanup()
    return figures
