#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plans: known values, and promises that every plan keeps. Prints TAP."""

import itertools
import json
import os
import subprocess
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

from cases import (FOLDER, TRIB, builtin, equal, job, main,  # noqa: E402
                   path, racks, test, trib)
from compare import plan  # noqa: E402
from families import FAMILIES  # noqa: E402
from verify import check_loads, check_trees, depth  # noqa: E402


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
    free = plan(TRIB, racks(3, 4), job(3, ps_tor_relay=True))["jobs"][0]
    made = plan(TRIB, racks(3, 4), job(3))["jobs"][0]
    assert free["tree_lp"] >= made["tree_lp"] - 1e-6


@test
def results__count_on_the_way_down():
    """Without results, a chain of racks would reach the full rate. Results cross
    the same links as the partial sums, in the other direction."""
    made = plan(TRIB, racks(2, 4), job(2))["jobs"][0]
    equal(made["tree_lp"], 0.75)
    made = plan(TRIB, racks(2, 4), job(3))["jobs"][0]
    equal(made["tree_lp"], 1)


@test
def depth3__trees_beat_the_seed_lp():
    """The seed LP has no path over two relays unless the second is the PS's. The
    planner's README explains the limit of 5/8."""
    made = plan(TRIB, racks(4, 4), job(4))["jobs"][0]
    equal(made["tree_lp"], 0.625)
    equal(made["seed_lp"], 0.4375)
    equal(made["rate"], 0.625)
    assert "tp" not in {r["node"] for r in made["relays"]}
    assert max(depth(t) for t in made["trees"]) >= 2


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
    assert made["jobs"][0]["rate"] > 4.6e9


@test
def promises__schedules_come_near_the_tree_lp():
    """The LP uses hundreds of trees here, the table sixteen."""
    for mode in "dedicated", "shared":
        made = builtin("fat-tree:8", {"name": "j", "workers": "all",
                                      "ps": "h127", "max_relays": 8,
                                      "mode": mode})["jobs"][0]
        assert len(made["trees"]) <= 16
        share = made["rate"] / made["tree_lp"]
        assert 0.94 <= share <= 1, f"{mode}: {share}"


@test
def promises__several_jobs_fit_beside_each_other():
    for family, n in itertools.product(FAMILIES, range(5)):
        topo, what = FAMILIES[family](n)
        jobs = [dict(what, name=k, trees=t)
                for k, t in (("a", 5), ("b", 3), ("c", 2))]
        done = trib("plan", path("topo", topo), path("jobs", {"jobs": jobs}))
        made = json.loads(done.stdout)
        bad = check_loads(topo, made) + check_trees(made)
        assert not bad, f"{family} {n}: {bad}"


@test
def children__who_do_not_fit_go_to_another_relay_first():
    """The PS of a shared pool has no limit of children, but its link has one:
    three relays serve 160 workers, at most 64 each."""
    hosts = [f"w{i}" for i in range(160)]
    links = [{"a": "s", "b": r, "capacity": 1000} for r in ("r0", "r1", "r2")]
    links += [{"a": "s", "b": h} for h in hosts + ["ps"]]
    topo = {"capacity": 1, "hosts": hosts + ["ps"], "links": links,
            "switches": [{"name": "s", "relay": False}, "r0", "r1", "r2"]}
    made = plan(TRIB, topo, job(3, mode="shared"))["jobs"][0]
    equal(made["tree_lp"], 1 / 3)
    equal(made["rate"], 1 / 3)


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
        # Start of the owner's range, in parts of the message.
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


if __name__ == "__main__":
    sys.exit(main())
