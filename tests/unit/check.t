#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""scripts/check keeps to its budget of minutes: estimates, tests that are left
out, tests that are ended. The tests that run here only sleep; the VM is a shell."""
import importlib.util
import os
import re
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../scripts/runner")
sys.path.insert(0, RUNNER)

import lanes  # noqa: E402
from catalogue import Budget, Durations, Test, parts  # noqa: E402

spec = importlib.util.spec_from_file_location("check",
                                              RUNNER + "/__main__.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)
TOP = os.path.abspath(RUNNER + "/../..")
COMMITTED = TOP + "/tests/durations"

# A VM that runs tests/vm/guest's tests here.
VM = r"""#!/bin/bash
for last; do :; done
while [[ $1 != tests/vm/guest ]]; do shift; done
trap 'kill $!; exit 1' TERM
for spec in "${@:2}"; do
	read -r name limit program seconds <<<"$spec"
	echo "@@ begin $name"
	$program $seconds &
	wait $!
	echo "@@ end $name $?"
done
"""
SLEEPS = '#!/bin/sh\necho ok 1 - sleeps; echo 1..1; exec sleep "$1"\n'


def write(path, text):
    os.makedirs(os.path.dirname("./" + path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o755)


def estimates(**seconds):
    """Durations, the tests' own."""
    table = "".join(f"{s} tests/{n}.t\n" for n, s in seconds.items())
    write("tests/durations", table + "0 scripts/vm\n")
    return Durations("tests/durations", "build/last")


def sleeper(name, seconds, kernel=None):
    write(f"tests/{name}.t", SLEEPS)
    return Test(f"tests/{name}.t", kernel, [str(seconds)])


def run(tests, durations, seconds):
    """The names of tests that passed, that failed, and why others did not run."""
    begun = time.monotonic()
    runner = lanes.Runner(tests, [], 2, 100, durations,
                          Budget(seconds, begun))
    results = runner.run()
    assert time.monotonic() - begun < 1.15 * seconds + 10
    return ([r.name for r in results if not r.failed],
            [r.name for r in results if r.failed],
            {t.name: why for t, why in runner.left})


def estimate__follows_the_speed_of_the_machine():
    durations = estimates(a=100, b=300)
    assert durations.of("tests/b.t") == 300
    durations.note("tests/a.t", 210)
    assert durations.of("tests/a.t") == 210
    assert durations.of("tests/b.t") == 600
    durations.save()
    assert estimates(a=100, b=300).of("tests/b.t") == 600
    os.remove("build/last")


def estimate__of_the_vm_is_by_itself():
    write("tests/durations", "90 tests/a.t\n90 tests/vm/a.t\n90 tests/vm/b.t\n")
    durations = Durations("tests/durations", "build/last")
    durations.note("tests/a.t", 190)
    assert durations.of("tests/vm/b.t") == 180
    durations.note("tests/vm/a.t", 40)
    assert durations.of("tests/vm/b.t") == 45


def budget__leaves_out_what_would_not_end():
    for kernel in None, "6.1":
        tests = [sleeper("short", 0.1, kernel), sleeper("long", 0.1, kernel)]
        passed, failed, left = run(tests, estimates(short=0.1, long=60), 5)
        assert passed == ["tests/short.t"] and not failed, (passed, failed)
        assert left == {"tests/long.t": "takes 1 min, 0 are left"}, left


def budget__is_looked_at_before_each_test():
    for kernel in None, "6.1":
        tests = [sleeper("a", 3, kernel), sleeper("b", 0.1, kernel),
                 sleeper("c", 0.1, kernel)]
        tests[0].load = tests[1].load = tests[2].load = lambda: 2
        passed, failed, left = run(tests, estimates(a=2.5, b=2.2, c=0.1), 5)
        assert passed == ["tests/a.t", "tests/c.t"], (kernel, passed, failed)
        assert list(left) == ["tests/b.t"], left


def budget__ends_slow_tests_without_blame():
    passed, failed, left = run(
        [sleeper("slow", 50), sleeper("slow_vm", 50, "6.1")],
        estimates(slow=2, slow_vm=2), 3)
    assert not passed + failed, (passed, failed)
    assert len(left) == 2 and all(re.match(r"ended after \d+ s", why)
                                  for why in left.values()), left


def budget__ends_hung_tests_as_failed():
    passed, failed, left = run(
        [sleeper("hung", 50), sleeper("hung_vm", 50, "6.1")],
        estimates(hung=0.5, hung_vm=0.5), 3)
    assert len(failed) == 2 and not passed and not left, (failed, left)


def budget__ends_what_prepares_a_kernel():
    write("scripts/mkynl", "#!/bin/sh\nsleep 50\n")
    passed, failed, left = run([sleeper("test", 0, "6.1")],
                               estimates(test=1), 2)
    assert list(left) == ["tests/test.t"] and not passed + failed, failed
    write("scripts/mkynl", "#!/bin/sh\n")


def parts__chosen_fit_one_after_the_other():
    """The committed estimates on machines of several speeds."""
    for slower in 1, 2, 4:
        durations = Durations(COMMITTED, "build/last")
        durations.measured = {n: slower * s for n, s in durations.seconds.items()
                              if n.startswith("tests/") and "@" not in n}
        found = parts()
        record = lambda: None  # noqa: E731
        record.order = lambda names, commit: list(names)
        budget = Budget(2000, time.monotonic())
        names, left = check.fitting(found, record, budget, durations)
        need = sum(durations.of(t.name) for n in names for t in found[n])
        if any(n.startswith("kasan/") for n in names):
            need += durations.of("scripts/mkkasan")
        assert 1000 < need < 2000, (slower, need, names)
        assert len(names) + len(left) == len(found)
        assert all(re.match(r"left out: \S+: takes \d+ min, \d+ are left$", x)
                   for x in left), left


def parts__each_has_an_estimate():
    with open(COMMITTED, encoding="utf-8") as f:
        known = {line.split()[1] for line in f if line[0] != "#"}
    lacking = [t.name for tests in parts().values() for t in tests
               if t.name not in known]
    assert not lacking, lacking


def parts__each_is_there():
    with open(COMMITTED, encoding="utf-8") as f:
        names = [line.split()[1].split("@")[0] for line in f if line[0] != "#"]
    names = {n for n in names if not n.startswith("build/")}
    names |= {t.file for tests in parts().values() for t in tests}
    lacking = [n for n in names if not os.path.exists(f"{TOP}/{n}")]
    assert not lacking, lacking


def minutes__must_be_a_number():
    assert check.options(["--all", "--minutes", "50"]) == ("all", 50, [])
    for bad in (["--minutes"], ["--minutes", "0"], ["--minutes", "x"]):
        try:
            check.options(bad)
        except SystemExit as e:
            assert e.code == 2
        else:
            assert False, bad


def main():
    tests = [f for n, f in globals().items()
             if re.match("(estimate|budget|parts|minutes)__", n)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("build")
        lanes.OUT = "build/check"
        write("scripts/vm", VM)
        write("scripts/mkynl", "#!/bin/sh\n")
        write("Makefile", "module:\n")
        for number, test in enumerate(tests, 1):
            out, err = sys.stdout, sys.stderr
            sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")
            try:
                test()
                word = "ok"
            except Exception:  # pylint: disable=broad-except
                failed, word = 1, "not ok"
                text = traceback.format_exc()
            sys.stdout, sys.stderr = out, err
            if word != "ok":
                print("# " + text.strip().replace("\n", "\n# "))
            print(f"{word} {number} - {test.__name__}", flush=True)
        os.chdir("/")
    print(f"1..{len(tests)}")
    return failed


sys.exit(main())
