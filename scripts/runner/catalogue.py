# SPDX-License-Identifier: BSD-2-Clause
"""The tests, their durations, and the parts of check-all."""
import json
import math
import os
import re
import time

DURATIONS = "tests/durations"
LAST_DURATIONS = "build/check-durations.json"
ALONE = "tests/alone"
VM_TESTS = "tests/vm/"
GUESS = 10.0  # seconds of a test that nobody has measured


class Test:
    """One program. file: its path; kernel: that of the VM which runs it, None
    for this machine; args and env: more for it."""

    def __init__(self, file, kernel=None, args=(), env=None, tag=""):
        self.file, self.kernel = file, kernel
        self.args, self.env = list(args), env or {}
        self.name = file + (f"@{tag}" if tag else "")
        # Tests with a tag are those of check-all: long, or on slow kernels. An
        # emulated machine shares the CPUs with the tests beside it.
        self.patience = 3 if tag else 2 if kernel or file.startswith(VM_TESTS) else 1

    def load(self):
        """CPUs that it keeps busy: tests of networks mostly wait."""
        return 0.5 if self.file.startswith("tests/netns/") else 1

    def is_alone(self, patterns):
        return any(self.file.startswith(p) for p in patterns)


def lines_of(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [x for x in f.read().splitlines() if x and x[0] != "#"]
    except FileNotFoundError:
        return []


class Durations:
    """Seconds by name: those of the last run here, else the committed ones,
    scaled to this machine's speed."""

    def __init__(self, table=DURATIONS, last=LAST_DURATIONS):
        self.seconds, self.measured, self.last = {}, {}, last
        for line in lines_of(table):
            seconds, name = line.split()
            self.seconds[name] = float(seconds)
        if os.path.exists(last):
            with open(last, encoding="utf-8") as f:
                self.measured = json.load(f)

    def scale(self, name):
        """How many times longer than committed this machine takes. With KVM,
        only the VM is faster: its tests are compared with each other."""
        both = [n for n in list(self.measured) if n in self.seconds]
        alike = [n for n in both
                 if n.startswith(VM_TESTS) == name.startswith(VM_TESTS)]
        # Ten seconds more on both sides: short tests alone say little.
        took = 10 + sum(self.measured[n] for n in alike or both)
        expected = 10 + sum(self.seconds[n] for n in alike or both)
        return min(max(took / expected, 0.1), 10)

    def of(self, name):
        """The estimate for @name: a test's, or a program's that prepares."""
        if name in self.measured:
            return self.measured[name]
        return self.seconds.get(name, GUESS) * self.scale(name)

    def note(self, name, seconds):
        self.measured[name] = round(seconds, 1)

    def save(self):
        with open(self.last + ".tmp", "w", encoding="utf-8") as f:
            json.dump(self.measured, f, indent=0, sort_keys=True)
        os.replace(self.last + ".tmp", self.last)


class Budget:
    """When a run must end. Nothing begins that would end after @seconds. What
    takes longer than expected is ended after 1.15 times as many since
    @begun."""

    def __init__(self, seconds=None, begun=0.0):
        self.end = begun + seconds if seconds else math.inf
        self.cut = begun + 1.15 * seconds if seconds else math.inf

    def left(self):
        return self.end - time.monotonic()

    def fits(self, seconds):
        return seconds <= self.left()

    def reason(self, seconds, taken=0):
        """Says that what takes @seconds does not fit, as others have taken so
        many."""
        return (f"takes {seconds / 60:.0f} min, "
                f"{max(self.left() - taken, 0) / 60:.0f} are left")

    def limit(self, seconds):
        """@seconds, or as many as are left until everything is ended."""
        return max(1, math.ceil(min(seconds, self.cut - time.monotonic())))

    def over(self):
        return time.monotonic() > self.cut


def kernel_of(file):
    return "6.1" if re.match(r"tests/vm/[^/]*\.t$", file) else None


def default_tests(san):
    """The tests of `make check`, from the lists that build() has written."""
    names = lines_of("build/check-list")
    if san:
        names += lines_of("build/san/check-list")
    return [Test(n, kernel_of(n)) for n in names]


def quick_tests():
    """The tests of `make test`: no sanitizers, no VM, one network, few seeds."""
    tests = [Test(n) for n in lines_of("build/check-list")
             if re.match(r"(build/)?tests/(unit|bpf)/", n)
             and n != "tests/unit/kmod/build.t"]
    tests += [Test(f"tests/sim/{n}.t", args=("--only", "sound__", "--seeds", "8"),
                   tag="quick") for n in ("sim", "pool/pool", "ndn/ndn")]
    return tests + [Test("tests/netns/tree/smoke.t")]


def select(tests, words):
    """The tests that words name: a test, with or without build/ and .t, or a folder.
    LookupError names the word that fits none."""
    chosen = []
    for word in words:
        word = word.rstrip("/").removesuffix(".t")
        hits = [t for t in tests
                if any(n == word or n.startswith(word + "/")
                       for n in (t.file.removesuffix(".t"),
                                re.sub(r"^build/|\.t$", "", t.file)))]
        if not hits:
            raise LookupError(word)
        chosen += [t for t in hits if t not in chosen]
    return chosen


# --- what only `make check-all` runs

ALL = {"bpf_module": ("all",)}
LONG = {"TRIB_TEST_SCALE": "5"}
LONGEST = {"TRIB_TEST_SCALE": "100"}
VM = ("bpf", "bpf_module", "cells", "config", "deliver", "floats", "kfunc", "libtrib", "module",
      "sock", "stress", "virtio", "vlan")


def vm_test(name, kernel, env=None, args=(), tag=None):
    return Test(f"tests/vm/{name}.t", kernel, args, env, tag or kernel)


def parts():
    """name: tests. Each part runs by itself, those of a kernel in one VM."""
    found = {}
    for name in ("stress", "module", "bpf", "bpf_module", "config", "floats", "verbs"):
        found[f"long/{name}"] = [vm_test(name, "6.1", LONG, ALL.get(name, ()),
                                         "long")]
    for name in ("tests/fuzz/xdp/xdp.t", "tests/fuzz/forwarder.t",
                 "tests/fuzz/parsers.t"):
        found[f"long/{os.path.basename(name)[:-2]}"] = [
            Test(name, env=LONG, tag="long")]
    found["long/verbs-pair"] = [Test("tests/vm/pair/pair.t", tag="long")]
    for name in ("select", "lanes", "expand"):
        found[f"long/nm-{name}"] = [
            Test(f"build/tests/unit/kernels/nm/nm_{name}", env=LONGEST,
                 tag="long")]
    for name in ("sim", "pool/pool", "ndn/ndn"):
        found[f"long/sim-{name.split('/')[0]}"] = [
            Test(f"tests/sim/{name}.t", args=("--only", "sound__", "--seeds",
                                              "1000"), tag="long")]
    for name in VM:
        found[f"6.12/{name}"] = [vm_test(name, "6.12", LONG,
                                         ALL.get(name, ()))]
    for name in ("module", "stress", "sock"):
        found[f"kasan/{name}"] = [vm_test(name, "kasan")]
    # Loading a program takes minutes there, with kmemleak three times as long: of
    # the BPF tests only those that call the module.
    for name in ("kfunc", "bpf_module", "vlan"):
        found[f"kasan/{name}"] = [vm_test(name, "kasan-noleak", None, (), "kasan")]
    for name in ("nlfuzz", "sockfuzz", "sockcycles"):
        found[f"kasan/long-{name}"] = [
            vm_test("stress", "kasan", LONGEST, (name,), f"kasan-{name}")]
    found["kasan/long-cycles"] = [
        vm_test("module", "kasan", {"TRIB_TEST_SCALE": "25"}, ("cycles",),
                "kasan-cycles")]
    return found


class Record:
    """When each part last ran. In a cache folder that outlives the clone, if
    there is one, else in build/."""

    def __init__(self):
        folders = (os.environ.get("TRIB_CACHE"),
                   os.path.expanduser("~/.cache/tributary"), "build")
        folder = next(f for f in folders if f and os.path.isdir(f))
        self.path = os.path.join(folder, "check-parts.json")
        self.when = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                self.when = json.load(f)

    def ran(self, name):
        self.when[name] = time.time()
        with open(self.path + ".tmp", "w", encoding="utf-8") as f:
            json.dump(self.when, f, indent=0, sort_keys=True)
        os.replace(self.path + ".tmp", self.path)

    def order(self, names, commit):
        """The oldest first. Those that never ran begin at a place that the
        commit's hash chooses, so that over many commits each gets its turn."""
        names = list(names)
        start = int(commit[:8], 16) % len(names) if names and commit else 0
        turned = names[start:] + names[:start]
        return sorted(turned, key=lambda n: self.when.get(n, 0))
