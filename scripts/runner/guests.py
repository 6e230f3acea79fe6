# SPDX-License-Identifier: BSD-2-Clause
"""Runs tests in the VM: boots once, runs one after the other. If the kernel
complains, dies or hangs, the test that ran then has failed, and the VM is
booted again for the rest.

tests/vm/guest runs inside, and prints these lines between what tests print:

    @@ begin NAME
    @@ splat TEXT       a line of the kernel's log that must not be there
    @@ end NAME RC
"""
import os
import signal
import subprocess
import threading
import time

from tap import Result

BOOT = 120   # seconds until the first line, on a fast kernel
HOURS = 36000
GRACE = 90   # after a test's limit, before the VM counts as hung

# The kernels that are made first: by which program, and the file that it makes.
MADE = {"kasan": ("scripts/mkkasan", "build/kasan/identity"),
        "6.12": ("scripts/mkkdir", "build/kdir-6.12/bzImage")}


def preparation(name, durations, ready=()):
    """Seconds until the VM of the kernel called @name runs tests, if those of
    @ready have been run."""
    series = name.split("-")[0]
    program, file = MADE.get(series, (None, "/"))
    if os.path.exists(file) or any(k.split("-")[0] == series for k in ready):
        return durations.of("scripts/vm")
    return durations.of("scripts/vm") + durations.of(program)


class Kernel:
    """Builds for a kernel, and its options to boot."""

    def __init__(self, name):
        self.env, self.options, self.slow = dict(os.environ), [], 1
        self.build = [["scripts/mkynl"]]
        module = ["make", "-s", "module"]
        if name == "6.1":
            self.ko = "build/module/trib.ko"
        elif name.startswith("kasan"):
            self.ko = "build/module-kasan/trib.ko"
            self.slow = 3
            self.build.insert(0, ["scripts/mkkasan", "build/kasan"])
            # UBSan checks only what asks for it.
            self.env["UBSAN_SANITIZE"] = "y"
            module += ["KDIR=build/kasan", "MODULE_DIR=build/module-kasan"]
            leaks = "off" if name == "kasan-noleak" else "on"
            # Under load RCU callbacks wait for minutes there, and with them who
            # closes a socket.
            self.options = ["-k", "build/kasan/bzImage", "-a",
                            f"kmemleak={leaks} "
                            "sysctl.kernel.hung_task_timeout_secs=480"]
        else:
            self.ko = f"build/module-{name}/trib.ko"
            self.env["TRIB_KERNEL"] = name
        self.build.append(module)

    def prepare(self, budget, children):
        """Builds; the text of what failed, or None."""
        for argv in self.build:
            p = subprocess.Popen(
                ["timeout", "-k", "20", str(budget.limit(HOURS)), *argv],
                env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace")
            children.add(p)
            text = p.communicate()[0]
            children.discard(p)
            if p.returncode and not budget.over():
                return f"{' '.join(argv)}: {text[-2000:]}"
        return None


class Guest:
    """One VM, from its start to its end. done(test, result, text, next) is
    called for each test that has run; the VM ends early if it says False, and
    when @budget is over."""

    def __init__(self, kernel, tests, limit, done, budget):
        self.tests, self.done, self.begun = list(tests), done, False
        self.budget = budget
        self.limit, self.boot = limit * kernel.slow, BOOT * kernel.slow
        self.now, self.text, self.since = None, [], time.monotonic()
        self.splats, self.hung, self.stopped = [], False, False
        # A guest's clock may be several times too fast: watch() decides.
        specs = [" ".join([t.name, str(10 * self.limit * t.patience),
                           *(f"{k}={v}" for k, v in t.env.items()), t.file,
                           *t.args]) for t in tests]
        # The tests beside it measure time, so they go first.
        self.p = subprocess.Popen(
            ["nice", "-n", "5", "scripts/vm", "-s", "-m", "2048", "-t",
             str(HOURS), *kernel.options, "--", "env", f"TRIB_KO={kernel.ko}",
             "tests/vm/guest", *specs],
            env=kernel.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")

    def watch(self):
        """Ends a VM that says nothing for longer than its test may take."""
        while self.p.poll() is None:
            time.sleep(1)
            test = self.now
            allowed = (self.limit * test.patience + GRACE if test
                       else self.boot)
            self.hung = time.monotonic() - self.since > allowed
            if self.hung or self.budget.over():
                self.p.send_signal(signal.SIGTERM)
                return

    def line(self, line):
        word = line.split(" ", 2) if line.startswith("@@ ") else [""]
        if word[1:2] == ["begin"]:
            self.now = next(t for t in self.tests if t.name == word[2])
            self.text, self.splats = [], []
            self.since, self.begun = time.monotonic(), True
        elif word[1:2] == ["splat"]:
            self.splats.append(word[2])
        elif word[1:2] == ["end"] and self.now:
            self.finish(int(word[2].rsplit(" ", 1)[1]))
        else:
            self.text.append(line)

    def finish(self, rc, why="", cut=False):
        text = "\n".join(self.text) + "\n"
        seconds = time.monotonic() - self.since
        if self.splats and not why:
            why = "the kernel complained: " + self.splats[0]
        elif rc in (124, 137) and not why:
            why = f"no end after {self.limit * self.now.patience} s"
        result = Result(self.now.name, text, rc, seconds, why)
        if why:
            result.notes[result.failed[-1]] += [
                f"# {x}" for x in (self.splats or self.text[-40:])]
        result.cut = cut
        self.tests.remove(self.now)
        test, self.now = self.now, None
        self.since = time.monotonic()
        if not self.done(test, result, text, next(iter(self.tests), None)):
            self.stopped = True
            self.p.send_signal(signal.SIGTERM)

    def run(self):
        """Until the VM has ended; the tests that have not run, and a reason
        if it did not even begin."""
        threading.Thread(target=self.watch, daemon=True).start()
        for line in self.p.stdout:
            self.line(line.rstrip("\r\n"))
        self.p.wait()
        if self.now and not self.stopped:
            cut = self.budget.over() and not self.hung
            self.finish(1, "the VM hung" if self.hung else "ended, unfinished"
                        if cut else "the VM died while it ran", cut)
        return self.tests, None if self.begun else "\n".join(self.text[-60:])


def run_guests(name, tests, limit, done, children, budget):
    """Runs @tests on the kernel called @name while @budget lasts. Programs that
    run are in @children."""
    kernel = Kernel(name)
    why = kernel.prepare(budget, children)
    while tests and not why and not budget.over():
        guest = Guest(kernel, tests, limit, done, budget)
        children.add(guest.p)
        tests, why = guest.run()
        children.discard(guest.p)
        if guest.stopped or budget.over():
            return
    for test in list(tests if why else ()):
        text = "".join(f"# {x}\n" for x in (why or "").splitlines())
        done(test, Result(test.name, text, 1, 0, "the VM does not start"), text,
             None)
