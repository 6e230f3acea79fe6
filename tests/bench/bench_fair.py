# SPDX-License-Identifier: BSD-2-Clause
"""TCP beside a job: one wire carries the contributions of a worker and some flows, another
one the results and the same flows. Each should get its share."""

import json
import os
import subprocess

from figures import Figures
from nets import FABRIC, BenchError, Star
from pairs import progress

RATE = 100e6
# A frame of 1500 bytes on the wire is 1538, and carries 1448 of TCP, or 1408 of sums.
TCP_SHARE = 1448 / 1538
FLOWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "flows.py")
WARM, SECONDS = 4, 8


class Shared(Star):
    """A star whose first worker sends TCP to the second."""

    def start(self, where, *argv):
        name = self.argv[2]
        return subprocess.Popen(
            [FABRIC, "-n", name, "exec", where, "--", *argv],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def flows(self, count, control):
        """Bytes a second of each flow while the job runs, and the job's."""
        job = subprocess.Popen(
            [*self.argv, "run", "--fail-fast", "--", "trib-perf", "-b", "1M", "-e", "1M", "-c", "0",
             "-w", "0", "-n", "100000"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        ear = self.start("w1", FLOWS, "listen", str(count), str(WARM), str(SECONDS))
        mouth = self.start("w0", FLOWS, "send", str(count), control, "10.77.1.2")
        try:
            before = self.done()
            text, _ = ear.communicate(timeout=120)
            sums = self.done() - before
            if job.poll() is not None:
                raise BenchError(f"the job ended: {job.stdout.read()}")
            progress()
            return json.loads(text), sums
        finally:
            for p in job, ear, mouth:
                if p.poll() is None:
                    os.killpg(p.pid, 15) if p is job else p.kill()
                p.wait()

    def done(self):
        """Chunks that the relay has completed."""
        out = subprocess.run([*self.argv, "exec", "r0", "--", "trib", "-j", "stats"],
                             capture_output=True, text=True, check=True).stdout
        return next(s["value"] for s in json.loads(out) if s["name"] == "done")


def measure(pairs, transport):
    figures = Figures("fair")
    least = {}
    wires = ("--transport", transport, "--rate", f"{RATE / 1e6:g}m")
    for control in "cubic", "bbr":
        for count in 1, 2, 4, 8:
            with Shared(4, *wires) as net:
                got = [net.flows(count, control) for _ in range(min(pairs, 3))]
            fair = RATE / 8 * TCP_SHARE / (count + 1)
            least[control, count] = [min(flows) / fair for flows, _ in got]
            job = [sums * 1408 / (WARM + SECONDS) / (RATE / 8 * 1408 / 1538 / (count + 1))
                   for _, sums in got]
            figures.add(f"tcp_share_{control}_{count}", least[control, count],
                        note=f"slowest of {count} over its part of {count + 1}")
            figures.add(f"job_share_{control}_{count}", job, note="the job's over its part")
    progress(end=True)
    worst = min(least, key=lambda k: sorted(least[k])[len(least[k]) // 2])
    figures.add("tcp_share", least[worst], bar=0.7,
                note=f"the least of these: {worst[1]} {worst[0]} flows, {RATE / 1e6:g} Mb/s wires")
    return figures
