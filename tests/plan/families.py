# SPDX-License-Identifier: BSD-2-Clause
"""Random instances by family and number: a topology and a job each."""

import random


def finish(rng, topo, ps, workers, relays, cap):
    job = {"name": "j", "workers": workers, "ps": ps, "max_relays": relays}
    if cap:
        job["relay_capacity"] = cap
    return topo, job


def random_graph(n):
    """6 to 9 switches in a connected graph, hosts anywhere."""
    rng = random.Random(f"random {n}")
    count = rng.randint(6, 9)
    switches = [f"s{i}" for i in range(count)]
    links = [{"a": switches[i], "b": switches[rng.randrange(i)]}
             for i in range(1, count)]
    pairs = {(x["a"], x["b"]) for x in links}
    for _ in range(rng.randint(1, count)):
        a, b = rng.sample(switches, 2)
        if (a, b) not in pairs and (b, a) not in pairs:
            pairs.add((a, b))
            links.append({"a": a, "b": b})
    for x in links:
        x["capacity"] = rng.choice([1, 1, 2, 4])
    hosts = [f"w{i}" for i in range(rng.randint(5, 10))]
    for h in hosts + ["ps"]:
        links.append({"a": rng.choice(switches), "b": h, "capacity":
                      rng.choice([1, 2])})
    topo = {"switches": switches, "hosts": hosts + ["ps"], "links": links}
    return finish(rng, topo, "ps", hosts, rng.randint(1, 4),
                  rng.choice([None, None, 3, 6]))


def racks(n):
    """3 to 6 racks below one or two cores, the PS on a ToR of its own or in
    a rack."""
    rng = random.Random(f"racks {n}")
    count, cores = rng.randint(3, 6), rng.randint(1, 2)
    switches = [f"c{i}" for i in range(cores)]
    hosts, links = [], []
    uplink = rng.choice([1, 1, 2])
    for r in range(count + 1):
        switches.append(f"t{r}")
        links += [{"a": f"c{i}", "b": f"t{r}", "capacity": uplink}
                  for i in range(cores)]
    for r in range(count):
        for _ in range(rng.randint(1, 4)):
            hosts.append(f"w{len(hosts)}")
            links.append({"a": f"t{r}", "b": hosts[-1], "capacity": 1})
    links.append({"a": f"t{count if rng.random() < 0.6 else 0}", "b": "ps",
                  "capacity": 1})
    topo = {"switches": switches, "hosts": hosts + ["ps"], "links": links}
    return finish(rng, topo, "ps", hosts, rng.randint(1, 4),
                  rng.choice([None, None, 4, 8]))


def fat_tree_4(n):
    """Some of the hosts of a fat-tree(4)."""
    rng = random.Random(f"fat {n}")
    switches = [f"c{i}" for i in range(4)]
    links, hosts = [], []
    for p in range(4):
        switches += [f"a{p}.{i}" for i in range(2)]
        switches += [f"e{p}.{i}" for i in range(2)]
        links += [{"a": f"c{2 * a + i}", "b": f"a{p}.{a}"}
                  for a in range(2) for i in range(2)]
        links += [{"a": f"a{p}.{a}", "b": f"e{p}.{e}"}
                  for a in range(2) for e in range(2)]
        for e in range(2):
            for _ in range(2):
                hosts.append(f"h{len(hosts)}")
                links.append({"a": f"e{p}.{e}", "b": hosts[-1]})
    some = rng.sample(hosts, rng.randint(5, 10))
    topo = {"capacity": 1, "switches": switches, "hosts": hosts,
            "links": links}
    return finish(rng, topo, some[0], some[1:], rng.randint(1, 3),
                  rng.choice([None, None, 2, 4]))


FAMILIES = {"random": random_graph, "racks": racks, "fat-tree(4)": fat_tree_4}
