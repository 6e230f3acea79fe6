#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""trib plan from outside: values that are known, promises that are kept, rows
that fit, and what it says about bad input. Prints TAP."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

from compare import plan  # noqa: E402
from families import FAMILIES  # noqa: E402
from verify import (check_loads, check_rows, check_trees,  # noqa: E402
                    depth)

TRIB = os.path.join(os.environ.get("TRIB_BUILD", "build"), "trib")
FOLDER = tempfile.TemporaryDirectory(prefix="trib-plan-")
TESTS = []


def test(fn):
    TESTS.append(fn)
    return fn


def equal(a, b, tolerance=1e-6):
    assert abs(a - b) <= tolerance * max(1, abs(b)), f"{a}, not {b}"


def path(name, text):
    where = os.path.join(FOLDER.name, name)
    with open(where, "w", encoding="utf-8") as f:
        f.write(text if isinstance(text, str) else json.dumps(text))
    return where


def trib(*args):
    return subprocess.run([TRIB, *args], capture_output=True, text=True,
                          check=False)


def builtin(spec, *jobs, options=()):
    done = trib("plan", "--builtin", spec, path("jobs", {"jobs": jobs}),
                *options)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def racks(count, each):
    """ToRs below one core, all links 1; the PS on a ToR of its own."""
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
    """With a device and an address at each end."""
    ports = {}
    for i, link in enumerate(topo["links"]):
        for k, end in enumerate("ab"):
            n = ports[link[end]] = ports.get(link[end], -1) + 1
            link[f"{end}_dev"] = f"eth{n}"
            link[f"{end}_addr"] = f"10.1.{i}.{k + 1}"
    return topo


@test
def trap__second_start_finds_the_seed_optimum():
    made = plan(TRIB, racks(4, 4), job(4), "--objective", "seed")["jobs"][0]
    equal(made["seed_lp"], 0.4375)
    assert {r["node"] for r in made["relays"]} == {"t0", "t1", "t2", "t3"}


@test
def trap__greedy_alone_stays_in_it():
    made = plan(TRIB, racks(4, 4), job(4), "--objective", "seed", "--search",
                "greedy")["jobs"][0]
    equal(made["seed_lp"], 0.25)


@test
def trap__relay_of_the_ps_may_be_free():
    made = plan(TRIB, racks(4, 4), job(4, ps_tor_relay=True), "--objective",
                "seed")["jobs"][0]
    equal(made["seed_lp"], 0.4375)
    made = plan(TRIB, racks(3, 4), job(3, ps_tor_relay=True))["jobs"][0]
    assert "tp" in {r["node"] for r in made["relays"]} or \
        made["tree_lp"] > 0.99


@test
def depth3__trees_beat_the_seed_lp():
    made = plan(TRIB, racks(4, 4), job(4))["jobs"][0]
    equal(made["tree_lp"], 1)
    equal(made["seed_lp"], 0.4375)
    equal(made["rate"], 1)
    assert max(depth(t) for t in made["trees"]) >= 3


@test
def m0__means_no_relay_at_all():
    made = plan(TRIB, racks(4, 4), job(0))["jobs"][0]
    equal(made["rate"], 1 / 16)
    equal(made["tree_lp"], 1 / 16)
    assert made["relays"] == []
    assert [n["node"] for n in made["trees"][0]["nodes"]] == ["ps"]


@test
def figures__headers_and_direct_and_one_more():
    made = plan(TRIB, racks(4, 4), job(3))["jobs"][0]
    share = 1408 / (1408 + 68 + 38) * 176 / 177
    equal(made["predicted"], made["rate"] * share)
    equal(made["without_relays"], 1 / 16)
    more = made["one_more"]
    again = plan(TRIB, racks(4, 4), job(4))["jobs"][0]
    assert made["tree_lp"] <= more["tree_lp"] <= again["tree_lp"] + 1e-6


@test
def bottlenecks__duals_explain_the_whole_rate():
    for n in range(12):
        topo, what = FAMILIES["random"](n)
        made = plan(TRIB, topo, what)["jobs"][0]
        if len(made["bottlenecks"]) < 16:
            equal(sum(b["share"] for b in made["bottlenecks"]), 1, 1e-3)


@test
def promises__loads_and_limits_hold():
    for family, n in itertools.product(FAMILIES, range(15)):
        topo, what = FAMILIES[family](n)
        made = plan(TRIB, topo, what)
        bad = check_loads(topo, made, what.get("relay_capacity")) + \
            check_trees(made)
        assert not bad, f"{family} {n}: {bad}"
        assert len(made["jobs"][0]["relays"]) <= what["max_relays"]
        assert made["jobs"][0]["rate"] >= 0.9 * made["jobs"][0]["tree_lp"]


@test
def promises__no_node_has_more_children_than_a_tree_row():
    made = builtin("fat-tree:8", {"name": "j", "workers": "all", "ps": "h127",
                                  "max_relays": 8})
    assert not check_trees(made), check_trees(made)
    assert made["jobs"][0]["rate"] > 4e9


@test
def rows__fit_the_trees():
    for family, n in itertools.product(FAMILIES, range(10)):
        topo, what = FAMILIES[family](n)
        addressed(topo)
        done = trib("plan", path("topo", topo), path("jobs",
                                                     {"jobs": [what]}))
        assert not done.returncode, done.stderr
        bad = check_rows(topo, json.loads(done.stdout))
        assert not bad, f"{family} {n}: {bad[:3]}"


@test
def rows__of_a_star_are_what_one_would_type():
    made = builtin("star:2", {"name": "train", "workers": "all", "id": 7,
                              "max_relays": 1, "cookie": "5eed",
                              "window": 64, "owner": "alice"})
    relay, worker = made["hosts"][0], made["hosts"][1]
    assert relay == {
        "host": "r0",
        "faces": [{"name": "w0", "dev": "p0", "addr": "10.77.0.2"},
                  {"name": "w1", "dev": "p1", "addr": "10.77.1.2"}],
        "jobs": [{"name": "train", "id": 7, "world": 2, "cookie": "5eed",
                  "window": 64, "owner": "alice", "rate": 10000000000}],
        "trees": [{"id": 1, "job": "train", "children": [
            {"face": "w0", "rank": 0}, {"face": "w1", "rank": 1}]}]}, relay
    assert worker["faces"] == [{"name": "r0", "dev": "eth0",
                                "addr": "10.77.0.1"}]
    assert worker["trees"] == [{"id": 1, "job": "train", "parent": "r0",
                                "index": 0,
                                "local": [{"rank": 0, "index": 0}]}]


@test
def rows__without_addresses_are_left_out_and_said_so():
    done = trib("plan", path("topo", racks(2, 2)),
                path("jobs", {"jobs": [job(1)]}))
    made = json.loads(done.stdout)
    assert made["hosts"] == []
    assert made["notes"][0] == ("no rows for hosts: links[0] (core to t0) "
                                "lacks a_dev or a_addr"), made["notes"]


@test
def shared__relays_know_numbers_and_hops():
    topo = addressed(racks(3, 3))
    done = trib("plan", path("topo", topo),
                path("jobs", {"jobs": [job(4, mode="shared")]}))
    made = json.loads(done.stdout)
    rows = {h["host"]: h.get("shared", []) for h in made["hosts"]}
    number = {r["node"]: r["relay"] for r in made["jobs"][0]["relays"]}
    assert sorted(number.values()) == list(range(1, len(number) + 1))
    for name, n in number.items():
        row, = rows[name]
        assert row["role"] == "relay" and row["relay"] == n
        assert row["next"] == (number["tp"] if "tp" in number and name != "tp"
                               else 0)
        assert {h["relay"] for h in row["next_hops"]} == \
            {0, *number.values()} - {n}
        assert sorted(r for m in row["members"] for r in m["ranks"]) == \
            list(range(9))
    ps, = rows["ps"]
    assert ps["ps_tor_relay"] == number.get("tp", 0)
    for rank in range(9):
        row, = rows[f"w{rank}"]
        assert len(row["tree_relays"]) == len(made["jobs"][0]["trees"])
        assert set(row["tree_relays"]) <= {0, *number.values()}
    assert max(depth(t) for t in made["jobs"][0]["trees"]) <= 2


@test
def several_jobs__share_by_weight():
    made = builtin("star:6",
                   {"name": "a", "workers": ["w1", "w2"], "ps": "w0",
                    "max_relays": 1, "weight": 1},
                   {"name": "b", "workers": ["w3", "w4"], "ps": "w0",
                    "max_relays": 1, "weight": 3})
    equal(made["jobs"][0]["tree_lp"], 2.5e9)
    equal(made["jobs"][1]["tree_lp"], 7.5e9)
    equal(made["jobs"][0]["seed_lp"], 2.5e9)


@test
def several_jobs__what_one_cannot_use_the_other_gets():
    topo = {"switches": ["s"], "hosts": ["p", "a", "b", "c", "d"],
            "links": [{"a": "s", "b": "p", "capacity": 10}] +
                     [{"a": "s", "b": h, "capacity": 2 if h == "a" else 10}
                      for h in "abcd"]}
    done = trib("plan", path("topo", topo), path("jobs", {"jobs": [
        {"name": n, "workers": list(n), "ps": "p", "max_relays": 1}
        for n in ("ab", "cd")]}))
    made = json.loads(done.stdout)
    assert not check_loads(topo, made), check_loads(topo, made)
    equal(made["jobs"][0]["tree_lp"], 2)
    equal(made["jobs"][1]["tree_lp"], 8, 1e-4)


@test
def no_ps__sums_end_at_relays():
    made = builtin("two-tier:4,4", {"name": "j", "workers": "all",
                                    "max_relays": 5})
    equal(made["jobs"][0]["rate"], 1e10)
    assert "ps" not in made["jobs"][0]
    assert not check_trees(made)


@test
def bcube__families_rotate_and_every_hop_is_one_link():
    n, k = 3, 2
    made = builtin(f"bcube:{n},{k}", {"name": "j", "workers": "all"})
    it, w = made["jobs"][0], n ** k
    assert it["algorithm"] == "bcube" and it["schedule"] == {"kind": "ranges"}
    assert len(it["trees"]) == k * w
    digits = [[v // n ** i % n for i in range(k)] for v in range(w)]
    for i, tree in enumerate(it["trees"]):
        family, owner = i // w, int(tree["owner"][1:])
        # Where the owner's range begins, in parts of the message.
        start = family * w + sum(
            digits[owner][(family + t) % k] * n ** (k - 1 - t)
            for t in range(k))
        assert tree["family"] == family and start == i
        assert depth(tree) == k - 1 and tree["nodes"][0]["node"] == \
            tree["owner"]
        names = [int(x["node"][1:]) for x in tree["nodes"]]
        hops = [(v, names[up], family) for v, up in enumerate(tree["workers"])
                if v != names[up]]
        hops += [(names[j], names[x["up"]], None)
                 for j, x in enumerate(tree["nodes"]) if "up" in x]
        for a, b, level in hops:
            other = [i for i in range(k) if digits[a][i] != digits[b][i]]
            assert len(other) == 1 and level in (None, other[0])
    equal(it["rate"], 1e10 * w * k / (2 * (w - 1)))


@test
def torus__rows_and_columns():
    made = builtin("torus:2,3", {"name": "j", "workers": "all"})["jobs"][0]
    assert made["schedule"]["rows"] == [["w0.0", "w0.1", "w0.2"],
                                        ["w1.0", "w1.1", "w1.2"]]
    assert made["schedule"]["columns"][2] == ["w0.2", "w1.2"]


@test
def output__is_the_same_every_time():
    args = ("plan", "--builtin", "fat-tree:4",
            path("jobs", {"jobs": [{"name": "j", "workers": "all",
                                    "max_relays": 4}]}))
    assert len({trib(*args).stdout for _ in range(3)}) == 1


@test
def output__file_report_and_drawing():
    out = os.path.join(FOLDER.name, "plan")
    done = trib("plan", "--builtin", "two-tier:2,2", path("jobs", {"jobs": [
        {"name": "j", "workers": "all", "max_relays": 3}]}), "-o", out)
    assert not done.returncode, done.stderr
    assert "job j: 4 workers" in done.stdout
    assert trib("plan", "explain", out).stdout == done.stdout
    svg = trib("plan", "draw", out).stdout
    root = xml.etree.ElementTree.fromstring(svg)
    titles = [e.text for e in root.iter() if e.tag.endswith("title")]
    assert len(titles) == 7 + 6, titles
    assert any(t.startswith("r0 to r1: ") for t in titles)


@test
def progress__is_shown_after_a_second():
    args = path("jobs", {"jobs": [{"name": "j", "workers": "all",
                                   "ps": "h1023", "max_relays": 16}]})
    with subprocess.Popen([TRIB, "plan", "--builtin", "fat-tree:16", args],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as p:
        line = p.stderr.readline()
        p.kill()
    assert line.startswith("trib: placing relays, "), line


TOPO = '{"switches": ["s"],\n "hosts": ["a", "b"],\n "links": [' \
       '{"a": "s", "b": "a"},\n  {"a": "s", "b": "b"}]}'
JOBS = '{"jobs": [{"name": "j", "workers": "all", "max_relays": 1}]}'
ONE = '{"jobs": [{"name": "j", "workers": %s, "max_relays": 1}]}'

# Topology, jobs, and the error; the files are called topo and jobs.
ERRORS = [
    ('{"hosts": [', JOBS, "topo:1:11: not JSON"),
    ('{}', JOBS, "topo:1:1: links is missing"),
    ('{"links": []}', JOBS, "topo:1:1: there are no hosts"),
    (TOPO.replace('"b"],', '"a"],'), JOBS,
     'topo:2:17: hosts[1]: "a" is there already'),
    (TOPO.replace('"b": "b"', '"b": "x"'), JOBS,
     'topo:4:19: links[1].b: no host or switch "x"'),
    (TOPO.replace('"b": "b"', '"b": "b", "capacity": 0'), JOBS,
     "topo:4:36: links[1].capacity: 0: must be above 0"),
    (TOPO.replace('"b": "b"', '"b": "b", "capacity": "9 G"'), JOBS,
     'topo:4:36: links[1].capacity: "9 G" is not a number like "10G"'),
    (TOPO.replace('"b": "b"', '"b": "b", "speed": 1'), JOBS,
     "topo:4:33: links[1].speed: is not known here"),
    (TOPO.replace(',\n  {"a": "s", "b": "b"}', ''), JOBS,
     "job j: no path from worker b to relay s: the topology is not connected"),
    ('{"builtin": "star:1000000"}', JOBS,
     'topo:1:13: builtin: topology "star:1000000": 1000001 nodes: at most '
     '16384'),
    ('{"builtin": "fat-tree:7"}', JOBS,
     'topo:1:13: builtin: topology "fat-tree:7": 7 is not even'),
    ('{"builtin": "ring:7"}', JOBS,
     'topo:1:13: builtin: no topology "ring:7": star, two-tier, fat-tree, '
     'bcube or torus'),
    (TOPO, ONE % '[]', "jobs:1:36: jobs[0].workers: there are no workers"),
    (TOPO, ONE % '["a", "a"]',
     'jobs:1:42: jobs[0].workers[1]: "a" is there already'),
    (TOPO, ONE % '["s"]', 'jobs:1:37: jobs[0].workers[0]: "s" is a switch'),
    (TOPO, ONE % '["x"]',
     'jobs:1:37: jobs[0].workers[0]: no host or switch "x"'),
    (TOPO, '{"jobs": []}', "jobs:1:10: jobs: there are no jobs"),
    (TOPO, JOBS.replace("1}", "0}"),
     "jobs:1:57: jobs[0].max_relays: 0, and there is no ps: nobody would sum"),
    (TOPO, JOBS.replace("1}", "99}"),
     "jobs:1:57: jobs[0].max_relays: 99 is not within 0 to 64"),
    (TOPO, JOBS.replace("1}", '1, "mode": "shared"}'),
     "jobs:1:68: jobs[0].mode: shared pools need a ps"),
    ('{"builtin": "star:70"}', JOBS,
     "jobs:1:57: jobs[0].max_relays: 70 workers do not fit: with 1 relays and "
     "64 children each there is room for 64"),
    ('{"bcube": {"ports": 2, "hosts": [{"name": "a", "nics": '
     '[{"dev": "e", "addr": "10.0.0.1"}]}]}}', JOBS,
     "topo:1:33: bcube.hosts: 1 hosts: with 1 NICs each and 2 ports a switch a "
     "BCube has 2"),
]


@test
def errors__name_line_field_and_value():
    for topo, jobs, want in ERRORS:
        path("topo", topo)
        path("jobs", jobs)
        done = subprocess.run([os.path.abspath(TRIB), "plan", "topo", "jobs"],
                              cwd=FOLDER.name, capture_output=True, text=True,
                              check=False)
        got = done.stderr.strip()
        assert done.returncode == 1 and got.startswith(f"trib: {want}"), \
            f"{got!r}, not {want!r}"


@test
def errors__million_hosts_declared_are_refused_at_once():
    many = json.dumps({"hosts": [f"h{i}" for i in range(1000000)],
                       "links": []})
    path("topo", many)
    path("jobs", JOBS)
    done = subprocess.run([os.path.abspath(TRIB), "plan", "topo", "jobs"],
                          cwd=FOLDER.name, capture_output=True, text=True,
                          check=False, timeout=20)
    assert done.stderr.strip() == ("trib: topo:1:11: hosts: has 1000000 "
                                   "entries: at most 16384"), done.stderr


@test
def errors__one_worker_is_no_error():
    made = json.loads(trib("plan", path("topo", TOPO),
                           path("jobs", ONE % '["a"]')).stdout)
    equal(made["jobs"][0]["rate"], 1e10)


@test
def errors__bad_plans_are_refused():
    for text, want in (("[]", "1:1: is not an object"),
                       ('{"tributary": "map"}',
                        '1:15: tributary: "map" is not a plan'),
                       ('{"tributary": "plan", "version": 2}',
                        "1:34: version: 2 is not within 1 to 1")):
        name = path("p", text)
        got = trib("plan", "explain", name).stderr.strip()
        assert got == f"trib: {name}:{want}", got


def main():
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


if __name__ == "__main__":
    sys.exit(main())
