# SPDX-License-Identifier: BSD-2-Clause
"""Tests of trib plan from outside: running it, making its input, TAP."""

import json
import os
import subprocess
import sys
import tempfile

TRIB = os.path.abspath(os.path.join(os.environ.get("TRIB_BUILD", "build"),
                                    "trib"))
FOLDER = tempfile.TemporaryDirectory(prefix="trib-plan-")
TESTS = []


def test(fn):
    TESTS.append(fn)
    return fn


def equal(a, b, tolerance=1e-6):
    assert abs(a - b) <= tolerance * max(1, abs(b)), f"{a}, not {b}"


def path(name, text):
    """Write a file of the test; its path."""
    where = os.path.join(FOLDER.name, name)
    with open(where, "w", encoding="utf-8") as f:
        f.write(text if isinstance(text, str) else json.dumps(text))
    return where


def trib(*args, **options):
    return subprocess.run([TRIB, *args], capture_output=True, text=True,
                          check=False, **options)


def builtin(spec, *jobs, options=()):
    done = trib("plan", "--builtin", spec, path("jobs", {"jobs": jobs}),
                *options)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def racks(count, each):
    """Racks below one core; all links 1; the PS has its own ToR."""
    switches = ["core"] + [f"t{i}" for i in range(count)] + ["tp"]
    links = [{"a": "core", "b": s} for s in switches[1:]]
    hosts = [f"w{i}" for i in range(count * each)]
    links += [{"a": f"t{i // each}", "b": h} for i, h in enumerate(hosts)]
    links.append({"a": "tp", "b": "ps"})
    return {"capacity": 1, "switches": switches, "hosts": hosts + ["ps"],
            "links": links}


def job(relays, **more):
    return {"name": "j", "workers": "all", "ps": "ps", "max_relays": relays,
            **more}


def addressed(topo):
    """Give each link end a device and an address."""
    ports = {}
    for i, link in enumerate(topo["links"]):
        for k, end in enumerate("ab"):
            n = ports[link[end]] = ports.get(link[end], -1) + 1
            link[f"{end}_dev"] = f"eth{n}"
            link[f"{end}_addr"] = f"10.1.{i}.{k + 1}"
    return topo


def main():
    """Run all tests, print TAP; the exit status."""
    failed = 0
    for i, fn in enumerate(TESTS, 1):
        try:
            fn()
            print(f"ok {i} - {fn.__name__}", flush=True)
        except Exception as e:  # pylint: disable=broad-except
            failed = 1
            print(f"# {type(e).__name__}: {str(e)[:2000]}")
            print(f"not ok {i} - {fn.__name__}", flush=True)
    print(f"1..{len(TESTS)}")
    return failed
