# SPDX-License-Identifier: BSD-2-Clause
"""The tests, their durations, and the parts of check-all."""
import json
import os
import re
import time

DURATIONS = "tests/durations"
LAST_DURATIONS = "build/check-durations.json"
ALONE = "tests/alone"
GUESS = 10.0  # seconds of a test that nobody has measured


class Test:
    """One program. file: its path; kernel: that of the VM which runs it, None
    for this machine; args and env: more for it."""

    def __init__(self, file, kernel=None, args=(), env=None, tag=""):
        self.file, self.kernel = file, kernel
        self.args, self.env = list(args), env or {}
        self.name = file + (f"@{tag}" if tag else "")
        # Tests with a tag are those of check-all: long, or on slow kernels.
        self.patience = 3 if tag else 1

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
    """Seconds by name: those of the last run here, else the committed ones."""

    def __init__(self):
        self.seconds = {}
        for line in lines_of(DURATIONS):
            seconds, name = line.split()
            self.seconds[name] = float(seconds)
        self.measured = {}
        if os.path.exists(LAST_DURATIONS):
            with open(LAST_DURATIONS, encoding="utf-8") as f:
                self.measured = json.load(f)

    def of(self, test):
        return self.measured.get(test.name,
                                 self.seconds.get(test.name, GUESS))

    def note(self, name, seconds):
        self.measured[name] = round(seconds, 1)

    def save(self):
        with open(LAST_DURATIONS + ".tmp", "w", encoding="utf-8") as f:
            json.dump(self.measured, f, indent=0, sort_keys=True)
        os.replace(LAST_DURATIONS + ".tmp", LAST_DURATIONS)


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
    """The tests that words name: a test, with or without build/, or a folder.
    LookupError names the word that fits none."""
    chosen = []
    for word in words:
        word = word.rstrip("/")
        hits = [t for t in tests
                if any(n == word or n.startswith(word + "/")
                       for n in (t.file, re.sub("^build/", "", t.file)))]
        if not hits:
            raise LookupError(word)
        chosen += [t for t in hits if t not in chosen]
    return chosen


# --- what only `make check-all` runs

ALL = {"bpf_module": ("all",)}
LONG = {"TRIB_TEST_SCALE": "5"}
LONGEST = {"TRIB_TEST_SCALE": "100"}
VM = ("bpf", "bpf_module", "config", "deliver", "floats", "kfunc", "libtrib", "module",
      "sock", "stress", "vlan")


def vm_test(name, kernel, env=None, args=(), tag=None):
    return Test(f"tests/vm/{name}.t", kernel, args, env, tag or kernel)


def parts():
    """name: tests. Each part runs by itself, those of a kernel in one VM."""
    found = {}
    for name in ("stress", "module", "bpf", "bpf_module", "config", "floats"):
        found[f"long/{name}"] = [vm_test(name, "6.1", LONG, ALL.get(name, ()),
                                         "long")]
    for name in ("tests/fuzz/xdp.t", "tests/fuzz/forwarder.t",
                 "tests/fuzz/parsers.t"):
        found[f"long/{os.path.basename(name)[:-2]}"] = [
            Test(name, env=LONG, tag="long")]
    for name in ("sim", "pool/pool", "ndn/ndn"):
        found[f"long/sim-{name.split('/')[0]}"] = [
            Test(f"tests/sim/{name}.t", args=("--only", "sound__", "--seeds",
                                              "1000"), tag="long")]
    for name in VM:
        found[f"6.12/{name}"] = [vm_test(name, "6.12", LONG,
                                         ALL.get(name, ()))]
    for name in ("module", "stress", "sock"):
        found[f"kasan/{name}"] = [vm_test(name, "kasan")]
    # With kmemleak, loading a program takes three times as long.
    for name in ("kfunc", "bpf_module", "vlan"):
        found[f"kasan/{name}"] = [vm_test(name, "kasan-noleak", None,
                                          ALL.get(name, ()), "kasan")]
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
