# SPDX-License-Identifier: BSD-2-Clause
"""The body of scripts/check: builds, chooses tests, runs them, adds up."""
import os
import platform
import shutil
import subprocess
import sys
import time

from catalogue import (ALONE, Budget, Durations, Record, default_tests,
                       lines_of, parts, quick_tests, select)
from guests import preparation
from lanes import OUT, Runner
from tap import allowed_skips, is_allowed


def say(text):
    print("check: " + text, flush=True)


def die(text, code=2):
    print("check: " + text, file=sys.stderr)
    sys.exit(code)


def number(name, default):
    text = os.environ.get(name, str(default))
    if not text.isdigit() or not int(text):
        die(f"{name}: '{text}' is not a number")
    return int(text)


def options(argv):
    """mode ('', quick or all), minutes, words"""
    mode, minutes, words = "", None, []
    argv = list(argv)
    while argv:
        word = argv.pop(0)
        if word in ("--quick", "--all", "--list"):
            mode = word[2:]
        elif word == "--minutes":
            text = argv.pop(0) if argv else ""
            if not text.isdigit() or not int(text):
                die(f"--minutes: '{text}' is not a number of minutes")
            minutes = int(text)
        elif word.startswith("-"):
            die(f"'{word}' is not an option; see --help")
        else:
            words.append(word)
    return mode, minutes, words


def build(san):
    make = ["make", "-s", f"-j{os.cpu_count()}"]
    begun = time.monotonic()
    subprocess.run(make + ["check-build"], check=True)
    if san:
        subprocess.run(make + ["SAN=1", "check-san"], check=True)
    say(f"built in {time.monotonic() - begun:.0f} s")


def run(tests, durations, budget):
    if any(t.kernel for t in tests) and not shutil.which("qemu-system-x86_64"):
        die("no qemu-system-x86_64; run: sudo scripts/setup", 1)
    runner = Runner(tests, lines_of(ALONE),
                    number("TRIB_CHECK_JOBS", os.cpu_count()),
                    number("TRIB_TEST_TIMEOUT", 600), durations, budget)
    results = runner.run()
    durations.save()
    return results, runner


def choose_parts(found, words):
    """The parts that words name."""
    for word in words:
        if not any(n == word or n.startswith(word + "/") for n in found):
            die(f"no part of check-all is called '{word}', only: "
                + " ".join(found))
    return {n: t for n, t in found.items() if not words or any(
        n == w or n.startswith(w + "/") for w in words)}


def fitting(found, record, budget, durations):
    """The parts of @found that fit into @budget one after the other, the oldest
    first; and a line about each that is left out."""
    commit = subprocess.run(["git", "-c", "safe.directory=*", "rev-parse",
                             "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    chosen, left = [], []
    kernels, taken = set(), 0
    for name in record.order(found, commit):
        need = sum(durations.of(t.name) for t in found[name])
        kernel = found[name][0].kernel
        if kernel and kernel not in kernels:
            need += preparation(kernel, durations, kernels)
        if not budget.fits(taken + need):
            left.append(f"left out: {name}: " + budget.reason(need, taken))
            continue
        taken += need
        kernels |= {kernel} - {None}
        chosen.append(name)
    return chosen, left


def run_parts(found, durations, budget):
    """Results of those that fit, and a line about each other."""
    record = Record()
    names, left = fitting(found, record, budget, durations)
    if not names:
        return [], left
    say(f"parts of check-all that run now: {' '.join(names)}")
    results, runner = run([t for n in names for t in found[n]], durations,
                          budget)
    done = {r.name for r in results}
    for name in names:
        if all(t.name in done for t in found[name]):
            record.ran(name)
        left += [f"left out: {name}: {why}" for t, why in runner.left
                 if t in found[name]]
    return results, left


def summary(results, begun):
    patterns = allowed_skips("tests/allowed-skips")
    failed = sum(len(r.failed) for r in results)
    skips = [s for r in results for s in r.skipped]
    bad = [s for s in skips if not is_allowed(s, patterns)]
    print()
    for skip in skips:
        print(("SKIPPED, not allowed: " if skip in bad else "skipped: ") + skip)
    for result in results:
        for line in result.failed:
            print("FAILED: " + line)
            for note in result.notes[line]:
                print("\t\t" + note)
    print(f"time: {time.monotonic() - begun:.0f} s on {os.cpu_count()} CPUs, "
          f"Linux {platform.release()}")
    print(f"{sum(r.passed for r in results)} passed, {failed} failed, "
          f"{len(skips)} skipped", flush=True)
    return 1 if failed or bad else 0


def main():
    begun = time.monotonic() - int(os.environ.get("CHECK_SETUP_SECONDS", 0))
    # Make's flags are not for the makes that run here; its variables are in
    # the environment, too.
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "SAN"):
        os.environ.pop(name, None)
    mode, minutes, words = options(sys.argv[1:])
    # No part of check-all has sanitizers.
    san = (os.environ.get("TRIB_CHECK_SAN", "1") != "0" and mode != "quick"
           and not (mode == "all" and words))
    if mode == "list":
        subprocess.run(["make", "-s", "check-list"], check=True)
        print("\n".join(lines_of("build/check-list")))
        return 0
    try:
        build(san)
    except subprocess.CalledProcessError:
        die("the build failed", 1)
    shutil.rmtree(OUT, ignore_errors=True)
    durations, results, left = Durations(), [], []
    if mode != "all" or not words:
        tests = quick_tests() if mode == "quick" else default_tests(san)
        kernel = os.environ.get("TRIB_KERNEL")
        for test in tests:
            test.kernel = test.kernel and (kernel or test.kernel)
        try:
            tests = select(tests, words) if words else tests
        except LookupError as e:
            die(f"no test is called '{e.args[0]}'; see --list")
        results, _ = run(tests, durations, Budget())
    if mode == "all":
        more, left = run_parts(choose_parts(parts(), words), durations,
                               Budget(minutes and minutes * 60, begun))
        results += more
    for line in left:
        print(line)
    return summary(results, begun)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
