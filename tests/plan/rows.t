#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Rows of hosts and descriptions of networks. Prints TAP."""

import itertools
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

from cases import (TRIB, addressed, builtin, job, main, path,  # noqa: E402
                   racks, test, trib)
from families import FAMILIES  # noqa: E402
from oracle import Net  # noqa: E402
from verify import check_rows, depth  # noqa: E402
from verify_shared import check_shared  # noqa: E402


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
def rows__of_a_star_match_the_commands():
    made = builtin("star:2", {"name": "train", "workers": "all", "id": 7,
                              "max_relays": 1, "key": "00112233445566778899aabbccdd5eed",
                              "window": 64, "owner": "alice"})
    relay, worker = made["hosts"][0], made["hosts"][1]
    assert relay == {
        "host": "r0",
        "faces": [{"name": "w0", "dev": "p0", "addr": "10.77.0.2"},
                  {"name": "w1", "dev": "p1", "addr": "10.77.1.2"}],
        "jobs": [{"name": "train", "id": 7, "world": 2, "key": "00112233445566778899aabbccdd5eed",
                  "window": 64, "owner": "alice", "rate": 10000000000}],
        "trees": [{"id": 1, "job": "train", "children": [
            {"face": "w0", "rank": 0}, {"face": "w1", "rank": 1}]}]}, relay
    assert worker["faces"] == [{"name": "r0", "dev": "eth0",
                                "addr": "10.77.0.1"}]
    assert worker["trees"] == [{"id": 1, "job": "train", "parent": "r0",
                                "index": 0,
                                "local": [{"rank": 0, "index": 0}]}]


@test
def rows__of_several_ranks_are_children_of_their_host():
    made = builtin("star:2", {"name": "train", "workers": "all",
                              "max_relays": 1, "ranks": 2})
    relay, worker = made["hosts"][0], made["hosts"][2]
    assert relay["trees"][0]["children"] == [{"face": "w0"}, {"face": "w1"}], relay
    assert worker["faces"][0] == {"name": "local", "dev": "trib0",
                                  "addr": "169.254.77.2"}, worker
    assert worker["trees"] == [{
        "id": 1, "job": "train", "parent": "r0", "index": 1,
        "children": [{"face": "local", "rank": 2}, {"face": "local", "rank": 3}],
        "local": [{"rank": 2, "index": 0}, {"rank": 3, "index": 1}]}], worker
    assert {j["world"] for h in made["hosts"] for j in h["jobs"]} == {4}
    assert made["jobs"][0]["workers"] == ["w0", "w0", "w1", "w1"]
    # The wire carries one packet a host.
    assert made["jobs"][0]["rate"] == 1e10, made["jobs"][0]["rate"]


@test
def rows__of_several_ranks_fit_the_trees():
    for family, n in itertools.product(FAMILIES, range(6)):
        topo, what = FAMILIES[family](n)
        addressed(topo)
        what.update(ranks=n % 4 + 2, algorithm="tree")
        done = trib("plan", path("topo", topo), path("jobs",
                                                     {"jobs": [what]}))
        assert not done.returncode, done.stderr
        made = json.loads(done.stdout)
        assert len(set(made["jobs"][0]["workers"])) * what["ranks"] == \
            len(made["jobs"][0]["workers"])
        bad = check_rows(topo, made)
        assert not bad, f"{family} {n}: {bad[:3]}"


def line(*jobs):
    """Rows of w0 - w1 - w2, where w1 and w2 can relay and w1 passes packets on."""
    topo = addressed({"hosts_forward": True,
                      "hosts": ["w0", {"name": "w1", "relay": True},
                                {"name": "w2", "relay": True}],
                      "links": [{"a": "w0", "b": "w1"}, {"a": "w1", "b": "w2"}]})
    done = trib("plan", path("topo", topo), path("jobs", {"jobs": [
        {"name": f"j{w[1]}", "workers": w, "max_relays": 1, "relays": [w[1]],
         "algorithm": "tree"} for w in jobs]}))
    assert not done.returncode, done.stderr
    return {h["host"]: {f["name"]: f.get("forward") for f in h["faces"]}
            for h in json.loads(done.stdout)["hosts"]}


@test
def rows__hosts_forward_for_the_faces_of_ways_through_them():
    near, far = ["w0", "w1"], ["w0", "w2"]
    assert line(near)["w1"]["w0"] is None, line(near)
    got = line(near, far)
    assert got["w1"]["w0"] == "yes", got
    assert not any(v for h in ("w0", "w2") for v in got[h].values()), got


@test
def rows__name_the_dtype_of_floats():
    for dtype, want in (("bf16", "bf16"), ("int", None)):
        made = builtin("star:2", {"name": "train", "workers": "all",
                                  "max_relays": 1, "dtype": dtype})
        assert all(j.get("dtype") == want for h in made["hosts"]
                   for j in h["jobs"]), made["hosts"]


def meetings(topology, **more):
    """Where the hosts of a job say that its ranks meet."""
    made = builtin(topology, {"name": "train", "workers": "all", **more})
    return {h["host"]: j.get("peers") for h in made["hosts"] for j in h["jobs"]}


@test
def rows__name_where_peers_meet():
    everywhere = dict.fromkeys(("r0", "w0", "w1"), "10.77.0.2:7416")
    assert meetings("star:2", max_relays=1, peers=True) == everywhere
    assert meetings("star:2", max_relays=1, peers="[fd00::0:1]:99") == \
        dict.fromkeys(everywhere, "[fd00::1]:99")
    for peers in (False, None):
        more = {} if peers is None else {"peers": peers}
        assert set(meetings("star:2", max_relays=1, **more).values()) == {None}
    # The first worker is rank 0.
    got = meetings("star:2", max_relays=1, peers=True, workers=["w1", "w0"])
    assert set(got.values()) == {"10.77.1.2:7416"}, got
    got = meetings("bcube:2,2", peers=True)
    assert len(got) == 4 and len(set(got.values())) == 1, got


@test
def rows__of_a_torus_are_jobs_whose_peers_meet():
    assert meetings("torus:2,3") == {}
    made = builtin("torus:2,3", {"name": "train", "workers": "all", "peers": "10.0.0.1:7416"})
    assert [h["jobs"][0]["peers"] for h in made["hosts"]] == ["10.0.0.1:7416"] * 6, made["hosts"]
    assert not any(h["trees"] or h["faces"] for h in made["hosts"])


@test
def rows__without_addresses_are_left_out_with_a_note():
    done = trib("plan", path("topo", racks(2, 2)),
                path("jobs", {"jobs": [job(1)]}))
    made = json.loads(done.stdout)
    assert made["hosts"] == []
    assert made["notes"][0] == ("no rows for hosts: links[0] (core to t0) "
                                "lacks a_dev or a_addr"), made["notes"]


def travel(nodes, owner, source, target):
    """Nodes on the path of a packet between two addresses, by the routes of
    `trib plan network`."""
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
def network__chooses_only_missing_devices_and_addresses():
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


def shared(topo, *jobs):
    """Plan jobs on shared pools and check their rows."""
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


if __name__ == "__main__":
    sys.exit(main())
