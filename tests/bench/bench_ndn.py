# SPDX-License-Identifier: BSD-2-Clause
"""tribd's NDN forwarder with real packets: the rate of one stream, and the gain of
multicast from a PS to eight workers."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time

NETNS = os.path.realpath(os.path.dirname(__file__) + "/../netns")
sys.path[:0] = [NETNS + "/lib", NETNS + "/ndn"]
# pylint: disable=wrong-import-position
from figures import Figures  # noqa: E402
from ndn_host import DATA, INTEREST, Host  # noqa: E402
from ndn_net import End, Net  # noqa: E402
from nets import PRIORITY, BenchError  # noqa: E402
from pairs import progress  # noqa: E402
from tribd import BUILD, wait_for  # noqa: E402

JOB = "/ps/job"
STREAM = BUILD + "/bench-stream"
BYTES = 384 << 20  # of packets in a run
ARGS = ("--ndn", "256", "--ndn-cache", "1024", "--slots", "64", "--trees",
        "8")
MODEL = 16 << 20
WIRE, PACED = 200, 192  # Mb/s
INTERVAL = 10  # ms, of the PS's counters
SENDER, RECEIVER = "0", "1"  # CPUs


def program(ns, cpu, *argv):
    return subprocess.Popen(ns.argv(*PRIORITY, "taskset", "-c", cpu, STREAM,
                                    *argv),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)


def expect(proc, what, seconds):
    """Its next line; BenchError if it is not that."""
    ready = select.select([proc.stdout], [], [], seconds)[0]
    line = proc.stdout.readline().strip() if ready else ""
    if what and line != what:
        raise BenchError(f"bench-stream says '{line}' for '{what}'")
    return line


class Forward:
    """ps - some routers - w0"""

    def __init__(self, routers, mtu):
        names = [f"r{i}" for i in range(routers)]
        links = {a: [b] for a, b in zip(names, names[1:] + ["w0"])}
        links[names[0]].insert(0, "ps")
        self.net = Net(links, lease=600, args=ARGS, mtu=mtu)
        self.net.route("/ps", *reversed(["ps"] + names))
        self.version = 0
        ps, w0 = (Host(self.net.ns[h], self.net.router_of(h)[0])
                  for h in ("ps", "w0"))
        w0.ask("/insert" + JOB)
        if not ps.want(INTEREST, "/insert" + JOB):
            raise BenchError("no subscription")
        ps.tell("/distribute" + JOB)
        if not w0.want(DATA, "/distribute" + JOB):
            raise BenchError("no acknowledgement")
        ps.s.close()
        w0.s.close()

    def stream(self, content):
        """Gb/s of content that arrive, and how much of it does."""
        self.version += 1
        packets = BYTES // content
        with tempfile.NamedTemporaryFile(prefix="trib-bench-") as taken:
            taken.write(bytes(8))
            taken.flush()
            take = program(self.net.ns["w0"], RECEIVER, "take", str(content),
                           "60", taken.name)
            expect(take, "ready", 10)
            send = program(self.net.ns["ps"], SENDER, "send",
                           self.net.router_of("ps")[0], JOB,
                           str(self.version), str(packets), str(content),
                           taken.name)
            expect(send, "ready", 60)
            send.stdin.write("go\n")
            send.stdin.close()
            got = json.loads(expect(take, None, 60))
            take.wait(timeout=10)
            send.wait(timeout=10)
        progress()
        if not got["ns"] or got["packets"] > packets:
            raise BenchError(f"{got} of {packets} packets")
        return (got["packets"] * content * 8 / got["ns"],
                got["packets"] / packets)

    def end(self):
        self.net.end()


class Servers(End):
    """trib-ps ndn on a wire of its own rate; looks when versions are made."""

    def __init__(self, net, folder, jobs):
        self.path, self.made = folder + "/stats", {}
        self.looked = time.monotonic()
        argv = []
        for name, workers in jobs.items():
            path = f"{folder}/{name}.json"
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"name": name, "prefix": "/ps/" + name,
                           "mode": "sync", "elements": MODEL // 4,
                           "versions": 1, "sgd": {"lr": 1.0}, "every": 10,
                           "model": {"seed": 1, "scale": 1.0},
                           "rate_mbps": PACED // len(jobs),
                           "workers": [{"name": w} for w in workers],
                           "min_workers": len(workers),
                           "state": f"{folder}/{name}"}, f)
            argv += ["--job", path]
        super().__init__(net.ns["ps"], *PRIORITY, BUILD + "/trib-ps", "ndn",
                         "--forwarder", net.router_of("ps")[0], *argv,
                         "--stats", self.path, "--interval", str(INTERVAL))

    def look(self):
        try:
            with open(self.path, encoding="utf-8") as f:
                jobs = json.load(f)["jobs"]
        except (OSError, ValueError):
            return
        for j in jobs:
            if j["model"]:
                # Not before this: the file was not older then than INTERVAL.
                self.made.setdefault(j["name"], self.looked - INTERVAL / 1000)
        self.looked = time.monotonic()


def bring(net, jobs):
    """Seconds from the completion of a version until its last worker has it; the
    longest of @jobs, {name: workers}."""
    with tempfile.TemporaryDirectory(prefix="trib-bench-") as folder:
        ends = {w: End(net.ns[w], *PRIORITY, sys.executable,
                       os.path.join(os.path.dirname(__file__),
                                    "ndn", "model.py"),
                       json.dumps({"name": "/" + w, "job": "/ps/" + name,
                                   "forwarder": net.router_of(w)[0]}))
                for name, workers in jobs.items() for w in workers}
        ps = Servers(net, folder, jobs)

        def all_have():
            ps.look()
            return all(e.said("done") for e in ends.values())

        have = wait_for(all_have, 120)
        said = {w: e.said("model") for w, e in ends.items()}
        sums = {d["crc"] for e in ends.values() for d in e.said("done")}
        log = ps.text()[-500:]
        for e in [*ends.values(), ps]:
            e.end()
    progress()
    if not have:
        raise BenchError(f"no model after 120 s: {said} {log}")
    if len(sums) != 1:
        raise BenchError(f"models differ: {sums}")
    return max(said[w][-1]["at"] - ps.made[name]
               for name, workers in jobs.items() for w in workers)


def multicast():
    """A network with a slow wire at the PS; (one job, a job for each)"""
    workers = [f"w{i}" for i in range(8)]
    net = Net({"r0": ["ps", *workers]}, lease=60, args=ARGS)
    net.route("/ps", "r0", "ps")
    for w in workers:
        net.route("/" + w, "r0", w)
    net.ns["ps"].run("tc", "qdisc", "add", "dev", "e0", "root", "tbf", "rate",
                     f"{WIRE}mbit", "burst", "128k", "latency", "50ms")
    one = {"job": workers}
    each = {f"job{i}": [w] for i, w in enumerate(workers)}
    return net, one, each


def measure(pairs, _transport):
    figures = Figures("ndn")
    runs = min(pairs, 5)
    for name, routers, content, mtu, bar in (
            ("gbps_forward", 1, 1024, 1500, 3.3),
            ("gbps_forward_3k", 1, 3072, 3500, None),
            ("gbps_forward_2_routers", 2, 1024, 1500, None)):
        bed = Forward(routers, mtu)
        got = [bed.stream(content) for _ in range(runs)]
        bed.end()
        lost = 100 * (1 - min(share for _, share in got))
        figures.add(name, [g for g, _ in got], bar=bar,
                    note=f"contents of {content} B; lost at most {lost:.1f}%")
    net, one, each = multicast()
    times = [(bring(net, one), bring(net, each)) for _ in range(min(pairs, 3))]
    net.end()
    progress(end=True)
    figures.add("ratio_multicast_8", [e / o for o, e in times], bar=6,
                note="16 MiB, PS wire 200 Mb/s: a job for each over one job")
    figures.add("s_multicast_8", [o for o, _ in times], at_most=True)
    return figures
