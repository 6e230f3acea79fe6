# SPDX-License-Identifier: BSD-2-Clause
"""CPU time of a PS's host for the values of eight workers without other relays: by
sockets alone, and with tribd on that host summing before the PS."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

NETNS = os.path.realpath(os.path.dirname(__file__) + "/../netns")
sys.path.insert(0, NETNS + "/lib")
# pylint: disable=wrong-import-position
import keys  # noqa: E402
from figures import Figures  # noqa: E402
from nets import BenchError  # noqa: E402
from tribd import (BUILD, Cli, Netns, Tribd, run, use_instance,  # noqa: E402
                   veth, wait_for)

WORKERS = 8
NVAL = 352
PORT, PS_PORT = 7600, 7500
GROUP = "239.9.0.1"
KEY = "11223344556677881122334455667788"
OTHERS, OURS = "0", "1"  # CPUs: the PS's host has one for itself
PERF = ("-w", "2", "-b", "1m", "-e", "1m", "-n", "30")


def napi_threads(dev):
    """Threads of devices with that name, which must be unique."""
    pids = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                if f.read().startswith(f"napi/{dev}-"):
                    pids.append(int(pid))
        except OSError:
            pass
    return pids


def thread_napi(ns, dev, cpu):
    """Receiving becomes a thread's work: its time can be told from others'."""
    ns.run("ethtool", "-K", dev, "gro", "on")
    run("ip", "netns", "exec", ns.name, "sh", "-c",
        f"echo 1 >/sys/class/net/{dev}/threaded")
    for pid in napi_threads(dev):
        run("taskset", "-p", "-c", cpu, str(pid))


def cpu_ns(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


class Bed:
    """A PS's host and workers around a switch."""

    def __init__(self, local, trains):
        self.local = local
        self.dir = tempfile.TemporaryDirectory()
        self.tag = f"b{os.getpid() % 100000}"
        self.p, self.switch = Netns("p"), Netns("s")
        self.workers = [Netns(f"w{i}") for i in range(WORKERS)]
        use_instance(f"net-{self.p.inode()}")
        self.switch.ip("link", "add", "bridge", "type", "bridge",
                       "mcast_snooping", "0")
        self.switch.ip("link", "set", "bridge", "up")
        self.port = self.plug(self.p, "p", 1, OURS)
        for i, ns in enumerate(self.workers):
            self.plug(ns, f"w{i}", 10 + i, OTHERS)
        if not trains:
            # A NIC hands packets over one by one.
            self.switch.run("ethtool", "-K", f"{self.tag}sp", "tso", "off",
                            "gso", "off", "tx-udp-segmentation", "off")
        self.tribd = self.relay() if local else None
        self.ps = self.start_ps()

    def plug(self, ns, name, host, cpu):
        far, near = f"{self.tag}s{name}", f"{self.tag}{name}"
        veth(self.switch, far, [], ns, near, f"10.9.0.{host}/24")
        self.switch.ip("link", "set", far, "master", "bridge")
        thread_napi(self.switch, far, OTHERS)
        thread_napi(ns, near, cpu)
        return near

    def relay(self):
        tribd, cli = Tribd(self.p), Cli(self.p)
        for i in range(WORKERS):
            cli(f"face add w{i} dev {self.port} addr 10.9.0.{10 + i} "
                f"port {PORT}")
        cli(f"face add all dev {self.port} addr {GROUP} port {PORT}")
        cli(f"face add ps dev trib0 addr 169.254.77.2 port {PS_PORT}")
        wait_for(lambda: all("mac" in f for f in cli.json("face show")))
        cli(f"job add bench id 1 world {WORKERS} window 256 key {KEY}")
        cli("tree add bench id 1 child " +
            " ".join(f"w{i}:{i}" for i in range(WORKERS)) +
            " down all parent ps relay 1 next 65535")
        for dev in ("trib0", "trib1"):
            thread_napi(self.p, dev, OURS)
        return tribd

    def start_ps(self):
        job = f"{self.dir.name}/job"
        tree = {"tree": 1}
        if self.local:
            tree["group"] = ["local"]
        with open(job, "w", encoding="ascii") as f:
            json.dump({"job": 1, "key": KEY, "window": 256, "nval": NVAL,
                       "timeout_ms": 5000, "trees": [tree],
                       "workers": [f"10.9.0.{10 + i}:{PORT}"
                                   for i in range(WORKERS)]}, f)
        ps = subprocess.Popen(self.p.argv(
            "taskset", "-c", OURS, BUILD + "/trib-ps", "--listen",
            f"0.0.0.0:{PS_PORT}", "--job", job, "--state",
            f"{self.dir.name}/state", "--stats", f"{self.dir.name}/stats",
            "--interval", "86400000"), stderr=subprocess.DEVNULL)
        # The first ones say that it takes signals.
        wait_for(lambda: os.path.exists(f"{self.dir.name}/stats"))
        return ps

    def done(self):
        """Chunks; asked for, because writing them often costs time, too."""
        path = f"{self.dir.name}/stats"
        if os.path.exists(path):
            os.unlink(path)
        self.ps.send_signal(signal.SIGUSR1)
        if not wait_for(lambda: os.path.exists(path)):
            raise BenchError("trib-ps writes no counters")
        with open(path, encoding="ascii") as f:
            return json.load(f)["trees"][0]["done"]

    def spent(self):
        """[by trib-ps, by its host's receiving]"""
        threads = []
        for dev in [self.port] + ["trib0", "trib1"] * self.local:
            threads += napi_threads(dev)
        return [cpu_ns(self.ps.pid), sum(map(cpu_ns, threads))]

    def run(self):
        """Gb/s of workers' values for a core: of trib-ps, and of its host."""
        chunks, spent = self.done(), self.spent()
        procs = []
        for i, ns in enumerate(self.workers):
            recv = f"{PORT}@{GROUP}" if self.local else str(PORT)
            ticket = (f"trib://10.9.0.1:7417/bench?job=1&{keys.of_ticket(KEY, i)}"
                      f"&rank={i}&world={WORKERS}&shared=1:{int(self.local)}:"
                      f"10.9.0.1:{PS_PORT},{recv}")
            procs.append(subprocess.Popen(
                ns.argv("taskset", "-c", OTHERS, BUILD + "/trib-perf", *PERF),
                env=dict(os.environ, TRIB_JOB=ticket, RANK=str(i),
                         TRIB_TRANSPORT="udp"),
                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        out = [q.communicate()[0] for q in procs]
        if any(q.returncode for q in procs):
            raise BenchError("trib-perf: " + "\n".join(out)[-500:])
        bits = (self.done() - chunks) * WORKERS * NVAL * 32
        ps, host = (b - a for a, b in zip(spent, self.spent()))
        return bits / ps, bits / (ps + host)

    def end(self):
        self.ps.kill()
        self.ps.wait()
        if self.tribd:
            self.tribd.end()
        for ns in [self.p, self.switch, *self.workers]:
            ns.delete()


def measure(pairs, _transport):
    figures, samples = Figures("ps"), {}
    for local, trains in ((True, False), (False, False), (False, True)):
        bed = Bed(local, trains)
        try:
            samples[local, trains] = [bed.run() for _ in range(pairs)]
        finally:
            bed.end()
    for key, name, note in (
            ((True, False), "local", "tribd's XDP adds up before trib-ps"),
            ((False, False), "sockets", "packets come one by one"),
            ((False, True), "trains", "they come in trains, as on veths")):
        ps, host = zip(*samples[key])
        figures.add(f"gbps_ps_{name}", ps, note=f"trib-ps; {note}")
        # Whole trains are received in the sender's time.
        if name != "trains":
            figures.add(f"gbps_host_{name}", host,
                        note="with its host's receiving")
    return figures
