# SPDX-License-Identifier: BSD-2-Clause
"""Runs tests: those of this machine side by side, those of the VM beside them
in one lane of their own, and a line of progress for each that has ended."""
import os
import subprocess
import sys
import threading
import time

from guests import preparation, run_guests
from tap import Result

OUT = "build/check"


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """Prints; keeps the results. Its lock is the runner's."""

    def __init__(self, total, durations):
        self.total, self.durations = total, durations
        self.results, self.begun = [], time.monotonic()
        self.lock = threading.Condition()
        self.rest = lambda: 0.0

    def done(self, test, result):
        """@result of @test is there."""
        with self.lock:
            self.results.append(result)
            if not result.failed:
                self.durations.note(test.name, result.seconds)
            word = "FAILED" if result.failed else "ok"
            print(f"[{len(self.results):3}/{self.total}] {word:6} "
                  f"{result.name}  {result.seconds:.1f} s   "
                  f"({clock(time.monotonic() - self.begun)} gone, about "
                  f"{clock(self.rest())} left)", flush=True)
            for line in result.failed:
                print("    not ok: " + line, flush=True)
            self.lock.notify_all()


def path_of(name):
    return os.path.join(OUT, name.replace("/", ":"))


def run_host(test, limit, children, budget):
    """Runs @test here while @budget lasts and keeps its output in build/check.
    It is in @children meanwhile."""
    begun, limit = time.monotonic(), budget.limit(limit * test.patience)
    with open(path_of(test.name) + ".tap", "wb") as out:
        p = subprocess.Popen(
            ["timeout", "-k", "20", str(limit), test.file, *test.args],
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            env={**os.environ, **test.env})
        children.add(p)
        rc = p.wait()
        children.discard(p)
    with open(path_of(test.name) + ".tap", encoding="utf-8",
              errors="replace") as out:
        text = out.read()
    why = f"no end after {limit} s" if rc in (124, 137) else ""
    result = Result(test.name, text, rc, time.monotonic() - begun, why)
    result.cut = bool(why) and budget.over()
    return result


class Runner:
    """jobs: CPUs to fill; the VM takes one of them. What does not fit into the
    budget is not run: left has these tests, each with a reason."""

    def __init__(self, tests, alone, jobs, limit, durations, budget):
        self.budget, self.left, self.of = budget, [], durations.of
        self.vm = [t for t in tests if t.kernel]
        host = [t for t in tests if not t.kernel]
        by_time = sorted(host, key=lambda t: self.of(t.name), reverse=True)
        # Tests that measure time come first, one by one: only the VM runs
        # beside them. The others fill all CPUs afterwards.
        self.waiting = ([t for t in by_time if t.is_alone(alone)]
                        + [t for t in by_time if not t.is_alone(alone)])
        self.alone, self.jobs, self.limit = alone, jobs, limit
        self.running, self.vm_lane = [], bool(self.vm)
        self.progress = Progress(len(tests), durations)
        self.progress.rest = self.rest
        self.lock = self.progress.lock
        self.stop, self.children = False, set()

    def rest(self):
        """Seconds until all have ended, if they take as long as expected."""
        def of(test):
            return self.of(test.name)

        vm = sum(of(t) for t in self.vm)
        tests = self.waiting + self.running
        alone = sum(of(t) for t in tests if t.is_alone(self.alone))
        others = sum(of(t) * t.load() for t in tests
                     if not t.is_alone(self.alone))
        return max(vm, alone + (others + max(vm - alone, 0)) / self.jobs,
                   max((of(t) for t in tests), default=0))

    def fits(self, test, seconds=0):
        """@test ends in time if it begins in @seconds; if not, left says so."""
        need = seconds + self.of(test.name)
        if self.budget.fits(need):
            return True
        self.left.append((test, self.budget.reason(need)))
        return False

    def ended(self, test, result):
        """@result of @test is there. One that was ended because time was over
        tells nothing, unless it hung."""
        if result.cut and result.seconds < 3 * self.of(test.name):
            self.left.append((test, f"ended after {result.seconds:.0f} s, "
                              "because no time was left"))
        else:
            self.progress.done(test, result)

    def next_test(self):
        """Takes the next test that may run now; None if it must wait."""
        while self.waiting and not self.fits(self.waiting[0]):
            self.waiting.pop(0)
        if not self.waiting:
            return None
        test = self.waiting[0]
        room = max(self.jobs - self.vm_lane, 1)
        if self.running and room < test.load() + sum(
                t.load() for t in self.running):
            return None
        if test.is_alone(self.alone) and self.running:
            return None
        if any(t.is_alone(self.alone) for t in self.running):
            return None
        self.running.append(self.waiting.pop(0))
        return test

    def worker(self):
        while True:
            with self.lock:
                test = self.next_test()
                while not test:
                    if self.stop or not self.waiting:
                        return
                    self.lock.wait()
                    test = self.next_test()
            try:
                result = run_host(test, self.limit, self.children,
                                  self.budget)
            except OSError as e:
                result = Result(test.name, "", 1, 0, str(e))
            with self.lock:
                self.running.remove(test)
            self.ended(test, result)

    def guests(self):
        """The VM's lane: the tests of one kernel after the other's."""
        def done(test, result, text, following):
            with open(path_of(test.name) + ".tap", "w",
                      encoding="utf-8") as out:
                out.write(text)
            with self.lock:
                self.vm.remove(test)
            self.ended(test, result)
            return not self.stop and (not following or self.budget.fits(
                self.of(following.name)))

        try:
            while self.vm and not self.stop:
                kernel = self.vm[0].kernel
                first = preparation(kernel, self.progress.durations)
                with self.lock:
                    self.vm = [t for t in self.vm if t.kernel != kernel
                               or self.fits(t, first)]
                tests = [t for t in self.vm if t.kernel == kernel]
                if tests:
                    run_guests(kernel, tests, self.limit, done, self.children,
                               self.budget)
        finally:
            with self.lock:
                self.vm_lane = False
                self.lock.notify_all()

    def run(self):
        """All of it; the results."""
        os.makedirs(OUT, exist_ok=True)
        threads = [threading.Thread(target=self.worker, daemon=True)
                   for _ in range(2 * self.jobs)]
        if self.vm:
            threads.append(threading.Thread(target=self.guests, daemon=True))
        for t in threads:
            t.start()
        try:
            for t in threads:
                while t.is_alive():
                    t.join(1)
        except KeyboardInterrupt:
            self.stop = True
            print("interrupted: ends the tests", file=sys.stderr)
            for p in list(self.children):
                p.terminate()
            for p in list(self.children):
                p.wait()
            raise
        return self.progress.results
