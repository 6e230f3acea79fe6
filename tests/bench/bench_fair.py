# SPDX-License-Identifier: BSD-2-Clause
"""TCP beside a job: one wire carries the contributions of a worker and some flows, another
one the results and the same flows. Each should get its share."""

import json
import os
import signal
import statistics
import subprocess
import time

from figures import Figures
from nets import FABRIC, BenchError, Star
from pairs import in_turns, progress

RATE = 100e6
# A frame of 1500 bytes on the wire is 1538, and carries 1448 of TCP, or 1408 of sums.
VALUES = 1408
TCP, SUMS = 1448 / 1538, VALUES / 1538
FLOWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rivals", "flows.py")
WARM, SECONDS = 4, 12


class Shared(Star):
    """A star whose first worker sends TCP to the second."""

    def start(self, where, *argv):
        name = self.argv[2]
        return subprocess.Popen(
            [FABRIC, "-n", name, "exec", where, "--", *argv],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def job(self):
        """Sums without end."""
        return subprocess.Popen(
            [*self.argv, "run", "--fail-fast", "--", "trib-perf", "-b", "1M", "-e", "1M", "-c", "0",
             "-w", "0", "-n", "100000"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def flows(self, count, control, beside):
        """Bytes a second of each flow; and chunks a second of a job `beside` them."""
        job = self.job() if beside else None
        ear = self.start("w1", FLOWS, "listen", str(count), str(WARM), str(SECONDS))
        mouth = self.start("w0", FLOWS, "send", str(count), control, "10.77.1.2")
        try:
            before, begun = self.done(), time.monotonic()
            text, _ = ear.communicate(timeout=120)
            rate = (self.done() - before) / (time.monotonic() - begun)
            if job and job.poll() is not None:
                raise BenchError(f"the job ended: {job.stdout.read()}")
            progress()
            return json.loads(text), rate
        finally:
            if job:
                os.killpg(job.pid, signal.SIGTERM)
                job.wait()
            for p in ear, mouth:
                p.kill()
                p.wait()

    def done(self):
        """Chunks that the relay has completed."""
        return next(s["value"] for s in json.loads(self.trib("r0", "-j", "stats")) if s["name"] == "done")


def beside(figures, net, control, count, times):
    """The slowest flow's share beside the job; that of flows alone tells what TCP does itself."""
    alone, both = in_turns(times, lambda: net.flows(count, control, False),
                           lambda: net.flows(count, control, True))
    wire = RATE / 8
    share = [min(flows) / (wire * TCP / (count + 1)) for flows, _ in both]
    name = f"{control}_{count}"
    figures.add(f"tcp_share_{name}", share,
                note=f"slowest of {count} flows over a part of {count + 1}")
    figures.add(f"tcp_alone_{name}", [min(flows) / (wire * TCP / count) for flows, _ in alone],
                note="slowest of them without the job over its part")
    figures.add(f"job_share_{name}", [rate * VALUES / (wire * SUMS / (count + 1))
                                      for _, rate in both], note="the job's over its part")
    return share


def measure(pairs, transport):
    figures = Figures("fair")
    wires = ("--transport", transport, "--rate", f"{RATE / 1e6:g}m")
    least = {}
    for control in "cubic", "bbr":
        for count in 1, 2, 4, 8:
            with Shared(4, *wires) as net:
                least[control, count] = beside(figures, net, control, count, min(pairs, 3))
    worst = min(least, key=lambda k: statistics.median(least[k]))
    figures.add("tcp_share", least[worst], bar=0.7,
                note=f"the least of these: {worst[1]} {worst[0]}, {RATE / 1e6:g} Mb/s wires")
    return figures
