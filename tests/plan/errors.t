#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Errors of the planner: they name file, line, field and value. Prints TAP."""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

from cases import FOLDER, equal, main, path, test, trib  # noqa: E402


TOPO = '{"switches": ["s"],\n "hosts": ["a", "b"],\n "links": [' \
       '{"a": "s", "b": "a"},\n  {"a": "s", "b": "b"}]}'
JOBS = '{"jobs": [{"name": "j", "workers": "all", "max_relays": 1}]}'
ONE = '{"jobs": [{"name": "j", "workers": %s, "max_relays": 1}]}'

# Texts of the files "topo" and "jobs", and the error that they cause.
ERRORS = [
    ('{"hosts": [', JOBS, "topo:1:11: not JSON"),
    ('{}', JOBS, "topo:1:1: links is missing"),
    ('{"links": []}', JOBS, "topo:1:1: there are no hosts"),
    (TOPO.replace('"b"],', '"a"],'), JOBS,
     'topo:2:17: hosts[1]: "a" occurs twice'),
    (TOPO.replace('"b": "b"', '"b": "x"'), JOBS,
     'topo:4:19: links[1].b: no host or switch "x"'),
    (TOPO.replace('"b": "b"', '"b": "b", "capacity": 0'), JOBS,
     "topo:4:36: links[1].capacity: 0: must be above 0"),
    (TOPO.replace('"b": "b"', '"b": "b", "capacity": "9 G"'), JOBS,
     'topo:4:36: links[1].capacity: "9 G" is not a number like "10G"'),
    (TOPO.replace('"b": "b"', '"b": "b", "speed": 1'), JOBS,
     "topo:4:33: links[1].speed: is not known here"),
    (TOPO.replace(',\n  {"a": "s", "b": "b"}', ''), JOBS,
     "job j: no path from worker b to relay s: check the links between them"),
    ('{"builtin": "star:1000000"}', JOBS,
     'topo:1:13: builtin: topology "star:1000000": 1000001 nodes: at most '
     '16384'),
    ('{"builtin": "fat-tree:7"}', JOBS,
     'topo:1:13: builtin: topology "fat-tree:7": 7: wanted an even number'),
    ('{"builtin": "ring:7"}', JOBS,
     'topo:1:13: builtin: unknown topology "ring:7": wanted star, two-tier, '
     'fat-tree, bcube or torus'),
    (TOPO, ONE % '[]', "jobs:1:36: jobs[0].workers: there are no workers"),
    (TOPO, ONE % '["a", "a"]',
     'jobs:1:42: jobs[0].workers[1]: "a" occurs twice'),
    (TOPO, ONE % '["s"]',
     'jobs:1:37: jobs[0].workers[0]: "s" is a switch: wanted a host'),
    (TOPO, ONE % '["x"]',
     'jobs:1:37: jobs[0].workers[0]: no host or switch "x"'),
    (TOPO, '{"jobs": []}', "jobs:1:10: jobs: there are no jobs"),
    (TOPO, JOBS.replace("1}", "0}"),
     "jobs:1:57: jobs[0].max_relays: 0 without a ps: no node would sum; raise "
     "it or name a ps"),
    (TOPO, JOBS.replace("1}", "99}"),
     "jobs:1:57: jobs[0].max_relays: 99 is not within 0 to 64"),
    (TOPO, JOBS.replace("1}", '1, "mode": "shared"}'),
     "jobs:1:68: jobs[0].mode: shared pools need a ps: name one"),
    (TOPO, JOBS.replace("1}", '1, "ps_relay": true}'),
     "jobs:1:72: jobs[0].ps_relay: is for shared pools only: remove it"),
    ('{"builtin": "star:70"}', JOBS,
     "jobs:1:57: jobs[0].max_relays: 70 workers do not fit: with 1 relays and "
     "64 children each there is room for 64"),
    (TOPO, JOBS.replace('"j"', '"../../etc"'),
     'jobs:1:20: jobs[0].name: "../../etc" contains \'/\''),
    (TOPO, JOBS.replace('"j"', '".j"'),
     'jobs:1:20: jobs[0].name: ".j" begins with .'),
    (TOPO, JOBS.replace("1}", '1, "ranks": 17}'),
     "jobs:1:69: jobs[0].ranks: 17 is not within 1 to 16"),
    (TOPO, JOBS.replace("1}", '1, "ps": "b", "mode": "shared", '
                        '"ranks": 2}').replace('"all"', '["a"]'),
     'jobs:1:98: jobs[0].ranks: several ranks of a host need "mode": "dedicated"'),
    ('{"builtin": "bcube:2,2"}', JOBS.replace("1}", '1, "ranks": 2}'),
     'jobs:1:69: jobs[0].ranks: several ranks of a host need "algorithm": "tree"'),
    (TOPO, JOBS.replace("1}", '1, "dtype": "f64"}'),
     'jobs:1:69: jobs[0].dtype: "f64" is not int, f32, f16 or bf16'),
    (TOPO, JOBS.replace("1}", '1, "ps": "b", "mode": "shared", '
                        '"dtype": "f32"}').replace('"all"', '["a"]'),
     'jobs:1:98: jobs[0].dtype: "f32": shared pools add up integers only'),
    (TOPO, JOBS.replace("1}", '1, "peers": "10.0.0.1"}'),
     'jobs:1:69: jobs[0].peers: "10.0.0.1" lacks a port from 1 to 65535'),
    (TOPO, JOBS.replace("1}", '1, "peers": "a:7416"}'),
     'jobs:1:69: jobs[0].peers: "a:7416" is not an address with a port'),
    (TOPO, JOBS.replace("1}", '1, "peers": "239.0.0.1:7416"}'),
     'jobs:1:69: jobs[0].peers: "239.0.0.1:7416" is not the address of one host'),
    (TOPO, JOBS.replace("1}", '1, "peers": 7416}'),
     'jobs:1:69: jobs[0].peers: wanted true or ADDR:PORT'),
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
        done = trib("plan", "topo", "jobs", cwd=FOLDER.name)
        got = done.stderr.strip()
        assert done.returncode == 1 and got.startswith(f"trib: {want}"), \
            f"{got!r}, not {want!r}"


@test
def errors__million_hosts_declared_are_refused_at_once():
    many = json.dumps({"hosts": [f"h{i}" for i in range(1000000)],
                       "links": []})
    path("topo", many)
    path("jobs", JOBS)
    done = trib("plan", "topo", "jobs", cwd=FOLDER.name, timeout=20)
    assert done.stderr.strip() == ("trib: topo:1:11: hosts: has 1000000 "
                                   "entries: at most 16384"), done.stderr


@test
def errors__a_built_in_topology_needs_its_option():
    done = trib("plan", "star:4", path("jobs", JOBS))
    assert done.returncode == 1 and "--builtin star:4" in done.stderr, done


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


if __name__ == "__main__":
    sys.exit(main())
