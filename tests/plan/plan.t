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
from oracle import Net  # noqa: E402
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
    free = plan(TRIB, racks(3, 4), job(3, ps_tor_relay=True))["jobs"][0]
    made = plan(TRIB, racks(3, 4), job(3))["jobs"][0]
    assert free["tree_lp"] >= made["tree_lp"] - 1e-6


@test
def results__count_on_the_way_down():
    """A chain of racks would carry all at the full rate, were there no results:
    they cross the links between racks where partial sums come the other way."""
    made = plan(TRIB, racks(2, 4), job(2))["jobs"][0]
    equal(made["tree_lp"], 0.75)
    made = plan(TRIB, racks(2, 4), job(3))["jobs"][0]
    equal(made["tree_lp"], 1)


@test
def depth3__trees_beat_the_seed_lp():
    """A worker, a relay, another one that is not the PS's: the seed LP has no
    such way. README says why there is no more to be had than 5/8."""
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
    """Where the LP uses hundreds of trees and the table has sixteen."""
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
    """The PS of a shared pool takes as many as come, but its link does not:
    three relays suffice for 160 workers, and more than 64 go to none."""
    hosts = [f"w{i}" for i in range(160)]
    links = [{"a": "s", "b": r, "capacity": 1000} for r in ("r0", "r1", "r2")]
    links += [{"a": "s", "b": h} for h in hosts + ["ps"]]
    topo = {"capacity": 1, "hosts": hosts + ["ps"], "links": links,
            "switches": [{"name": "s", "relay": False}, "r0", "r1", "r2"]}
    made = plan(TRIB, topo, job(3, mode="shared"))["jobs"][0]
    equal(made["tree_lp"], 1 / 3)
    equal(made["rate"], 1 / 3)


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
def rows__name_the_dtype_of_floats():
    for dtype, want in (("bf16", "bf16"), ("int", None)):
        made = builtin("star:2", {"name": "train", "workers": "all",
                                  "max_relays": 1, "dtype": dtype})
        assert all(j.get("dtype") == want for h in made["hosts"]
                   for j in h["jobs"]), made["hosts"]


@test
def rows__without_addresses_are_left_out_and_said_so():
    done = trib("plan", path("topo", racks(2, 2)),
                path("jobs", {"jobs": [job(1)]}))
    made = json.loads(done.stdout)
    assert made["hosts"] == []
    assert made["notes"][0] == ("no rows for hosts: links[0] (core to t0) "
                                "lacks a_dev or a_addr"), made["notes"]


def travel(nodes, owner, source, target):
    """Nodes that a packet between two addresses comes through, as the routes
    of `trib plan network` have it."""
    at, seen = owner[source], []
    while at != owner[target]:
        node, way = nodes[at], None
        seen.append(at)
        assert len(seen) <= len(nodes), f"{source} to {target} circulates"
        tables = [r["routes"] for r in node["rules"] if source in r["from"]]
        for table in tables + [node["routes"]]:
            way = way or next((r["via"] for r in table
                               if r["to"] in (target, "default")), None)
        if target in {p["peer"] for p in node["ports"]}:
            way = target
        assert way, f"{at}: no route to {target}"
        at = owner[way]
    return seen + [at]


@test
def network__routes_are_the_planner_s_paths():
    topos = [FAMILIES[f](n)[0] for f in FAMILIES for n in range(4)]
    topos += [{"builtin": "two-tier:3,2,1"}, {"builtin": "fat-tree:4"}]
    for topo in topos:
        done = trib("plan", "network", path("topo", topo))
        assert not done.returncode, done.stderr
        made = json.loads(done.stdout)
        nodes = {n["node"]: n for n in made["nodes"]}
        owner = {p["addr"]: n for n in nodes for p in nodes[n]["ports"]}
        port = {(n, owner[p["peer"]]): p for n in nodes
                for p in nodes[n]["ports"]}
        net = Net(made["topology"])
        for a, b in itertools.permutations(range(len(net.names)), 2):
            arcs = [[net.names[n] for n in arc] for arc in net.path(a, b)]
            if arcs:
                way = travel(nodes, owner, port[arcs[0][0], arcs[0][1]]["addr"],
                             port[arcs[-1][1], arcs[-1][0]]["addr"])
                assert way == [arc[0] for arc in arcs] + [arcs[-1][1]], way


@test
def network__makes_up_what_is_missing_and_no_more():
    topo = {"switches": ["s", {"name": "t", "relay": False}], "hosts": ["a"],
            "links": [{"a": "a", "b": "s", "a_dev": "eth1",
                       "b_addr": "10.77.1.1", "capacity": "3M"},
                      {"a": "s", "b": "t", "a_dev": "p0"}]}
    done = trib("plan", "network", path("topo", topo))
    links = json.loads(done.stdout)["topology"]["links"]
    assert links[0] == {"a": "a", "b": "s", "capacity": 3e6, "a_dev": "eth1",
                        "a_addr": "10.77.0.1", "b_dev": "p1",
                        "b_addr": "10.77.1.1"}, links
    assert links[1]["a_addr"] == "10.77.2.1", links
    again = trib("plan", "network", path("again", json.loads(done.stdout)
                                         ["topology"]))
    assert again.stdout == done.stdout
    topo["links"][1]["b_addr"] = "10.77.1.1"
    done = trib("plan", "network", path("topo", topo))
    assert "links[1]: address 10.77.1.1 of t belongs to another port" in \
        done.stderr, done.stderr


def ranks_of(text):
    """Of "0-3,7"."""
    out = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


def check_shared(topo, made):
    """Rows of shared pools against the trees of all jobs."""
    owner = {l[f"{e}_addr"]: l[e] for l in topo["links"] for e in "ab"}
    rows = {h["host"]: h for h in made["hosts"]}

    def leads(host, face):
        f, = [f for f in rows[host]["faces"] if f["name"] == face]
        return owner[f["addr"]], f.get("port", 7417)

    def row_of(host, role, **want):
        it, = [r for r in rows[host].get("shared", []) if r["role"] == role
               and all(r[k] == v for k, v in want.items())]
        return it

    for job in made["jobs"]:
        number = {r["node"]: r["relay"] for r in job["relays"]}
        number[job["ps"]] = job.get("ps_relay")
        at_ps = row_of(job["ps"], "ps", job=job["name"])
        workers = [w.rsplit(":", 1) for w in at_ps["workers"]]
        assert [owner[w[0]] for w in workers] == job["workers"]
        any_local = False
        for tree, group in zip(job["trees"], at_ps["trees"], strict=True):
            assert tree["id"] == group["id"]
            nodes = tree["nodes"]
            local = group["group"] == ["local"]
            any_local |= local
            ways = []
            for rank, at in enumerate(tree["workers"]):
                way = []
                while at:
                    way.append(at)
                    at = nodes[at]["up"]
                ways.append(way)
                host = job["workers"][rank]
                row = row_of(host, "worker", id=tree["id"])
                assert row.get("weight") == weight_of(job, tree)
                assert row["local"] == [{"rank": rank,
                                         "port": int(workers[rank][1])}]
                assert owner[row["ps"]] == job["ps"] and row["ps_port"] == 7415
                assert [(h["relay"], *leads(host, h["face"]))
                        for h in row["hops"]] == \
                    [(number[nodes[k]["node"]], nodes[k]["node"], 7417)
                     for k in way + [0] * local]
            top = [(nodes[w[-1]]["node"], 7417, None) if w else
                   (job["workers"][r], int(workers[r][1]), r)
                   for r, w in enumerate(ways)]
            if local:
                row = row_of(job["ps"], "relay", id=tree["id"])
                face, = [f for f in rows[job["ps"]]["faces"]
                         if f["name"] == row["parent"]]
                assert (face["dev"], face["port"]) == ("trib0", 7415)
                assert face["addr"] == "169.254.77.2"
                assert row["relay"] == number[job["ps"]]
                assert row["next"] == 65535
                assert ranks_of(row["workers"]) == list(range(len(ways)))
                have = [(*leads(job["ps"], c["face"]), c.get("rank"))
                        for c in row["children"]]
                assert sorted(have, key=str) == sorted(set(top), key=str)
                assert len(have) <= 64
            assert local == (job.get("ps_relay") is not None and
                             len(set(top)) <= 64)
            below = {owner.get(g.split(":")[0]) for g in group["group"]}
            assert local or below == {t[0] for t in top}
            for k in {k for w in ways for k in w}:
                name = nodes[k]["node"]
                row = row_of(name, "relay", id=tree["id"])
                up = nodes[k]["up"]
                assert row["relay"] == number[name]
                assert row["next"] == (number[nodes[up]["node"]]
                                       if up or local else 65535)
                assert leads(name, row["parent"]) == (
                    nodes[up]["node"], 7417 if up or local else 7415)
                assert row.get("weight") == weight_of(job, tree)
                assert ranks_of(row["workers"]) == \
                    [r for r, w in enumerate(ways) if k in w]
                have = [(*leads(name, c["face"]), c.get("rank"))
                        for c in row["children"]]
                assert len(have) <= 64
                assert sorted(have, key=str) == sorted(
                    [(job["workers"][r], int(workers[r][1]), r)
                     for r, w in enumerate(ways) if w and w[0] == k] +
                    [(nodes[c]["node"], 7417, None)
                     for c in range(1, len(nodes)) if nodes[c]["up"] == k
                     and any(c in w for w in ways)], key=str)


        assert at_ps["listen"].split(":") == \
            ["0.0.0.0" if any_local else at_ps_addr(topo, job["ps"]), "7415"]
        assert bool(rows[job["ps"]]["jobs"]) == any_local


def at_ps_addr(topo, ps):
    return next(l[f"{e}_addr"] for l in topo["links"] for e in "ab"
                if l[e] == ps)


def weight_of(job, tree):
    """As hosts are told it: not at all where all trees have the same."""
    all_ = {t["weight"] for t in job["trees"]}
    return tree["weight"] if len(all_) > 1 else None


def shared(topo, *jobs):
    done = trib("plan", path("topo", topo),
                path("jobs", {"jobs": [dict(j, mode="shared") for j in jobs]}))
    made = json.loads(done.stdout)
    check_shared(topo, made)
    return made


@test
def shared__rows_fit_the_trees():
    made = shared(addressed(racks(3, 3)), job(4))
    assert max(depth(t) for t in made["jobs"][0]["trees"]) <= 2
    numbers = sorted([made["jobs"][0]["ps_relay"]] +
                     [r["relay"] for r in made["jobs"][0]["relays"]])
    assert numbers == list(range(1, len(numbers) + 1))
    made = shared(addressed(racks(3, 3)), dict(job(4), ps_relay=False))
    assert "ps_relay" not in made["jobs"][0]


@test
def shared__rows_without_relays():
    made = shared(addressed(racks(2, 2)), job(0))
    assert made["jobs"][0]["ps_relay"] == 1
    made = shared(addressed(racks(2, 2)), dict(job(0), ps_relay=False))
    ps, = [r for h in made["hosts"] for r in h.get("shared", [])
           if r["role"] == "ps"]
    assert ps["trees"][0]["group"] == ps["workers"]


@test
def shared__rows_where_workers_are_not_below_their_relay():
    shared(addressed(racks(3, 2)), dict(job(1), relays=["t0"]))
    shared(addressed(racks(3, 2)), dict(job(2), relays=["t0", "tp"]))


@test
def shared__ports_of_several_jobs_differ():
    made = shared(addressed(racks(2, 2)), job(2), job(2, name="k"))
    for host in made["hosts"]:
        ports = [r["local"][0]["port"] for r in host.get("shared", [])
                 if r["role"] == "worker"]
        assert len(set(ports)) in (0, 2), ports


@test
def shared__a_relay_has_at_most_64_children():
    shared(addressed(racks(1, 100)), dict(job(2), relays=["t0", "tp"]))


@test
def shared__trees_have_weights():
    made = shared(addressed(racks(2, 4)), job(2))
    assert len({t["weight"] for t in made["jobs"][0]["trees"]}) > 1


@test
def shared__a_ps_with_more_than_64_children_does_not_relay():
    made = shared(addressed(racks(1, 65)), job(0))
    assert made["jobs"][0]["trees"][0]["workers"] == [0] * 65


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
    (TOPO, JOBS.replace("1}", '1, "ps_relay": true}'),
     "jobs:1:72: jobs[0].ps_relay: goes with shared pools only"),
    ('{"builtin": "star:70"}', JOBS,
     "jobs:1:57: jobs[0].max_relays: 70 workers do not fit: with 1 relays and "
     "64 children each there is room for 64"),
    (TOPO, JOBS.replace("1}", '1, "dtype": "f64"}'),
     'jobs:1:69: jobs[0].dtype: "f64" is not int, f32, f16 or bf16'),
    (TOPO, JOBS.replace("1}", '1, "ps": "b", "mode": "shared", '
                        '"dtype": "f32"}').replace('"all"', '["a"]'),
     'jobs:1:98: jobs[0].dtype: "f32": shared pools add up integers only'),
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
