# SPDX-License-Identifier: BSD-2-Clause
"""Checks a plan against its topology: loads, limits, and rows that fit each
other. Each check returns a list of mistakes."""

from oracle import Net

CHILDREN_MAX = 64


def depth(tree):
    """Relays on the longest path from a worker to the root."""
    deep = 0
    for i in set(tree["workers"]):
        n, at = 0, i
        while "up" in tree["nodes"][at]:
            at = tree["nodes"][at]["up"]
            n += 1
        deep = max(deep, n)
    return deep


def loads(net, plan):
    """bit/s by arc, results included, and contributions by job and relay."""
    arcs, taken = {}, {}
    for job in plan["jobs"]:
        total = sum(t["weight"] for t in job["trees"])
        for tree in job["trees"]:
            rate = job["rate"] * tree["weight"] / total
            names = [n["node"] for n in tree["nodes"]]
            hops = [(w, names[up]) for w, up in
                    zip(job["workers"], tree["workers"])]
            hops += [(n["node"], names[n["up"]]) for n in tree["nodes"]
                     if "up" in n]
            for a, b in hops:
                if a != b and b != job.get("ps"):
                    taken[job["name"], b] = taken.get((job["name"], b),
                                                      0) + rate
                for arc in net.path(net.index[a], net.index[b]):
                    for way in arc, arc[::-1]:
                        arcs[way] = arcs.get(way, 0) + rate
    return arcs, taken


def check_loads(topo, plan, capacity=None):
    net, bad = Net(topo), []
    arcs, taken = loads(net, plan)
    for arc, load in arcs.items():
        if load > net.caps[arc] * (1 + 1e-6):
            bad.append(f"{net.names[arc[0]]}>{net.names[arc[1]]}: {load}")
    for (job, node), load in taken.items():
        if capacity and load > capacity * (1 + 1e-6):
            bad.append(f"{job} {node} takes {load}")
    return bad


def check_trees(plan):
    bad = []
    for job in plan["jobs"]:
        table = job["schedule"]["table"]
        if not 1 <= len(table) <= 64:
            bad.append(f"schedule of {len(table)}")
        for i, tree in enumerate(job["trees"]):
            if table.count(i) != tree["weight"]:
                bad.append(f"tree {i}: {table.count(i)} entries")
            if len(tree["workers"]) != len(job["workers"]):
                bad.append(f"tree {i}: workers missing")
            if [n for n in tree["nodes"][1:] if "up" not in n] or \
                    "up" in tree["nodes"][0]:
                bad.append(f"tree {i}: roots")
            for k, n in enumerate(tree["nodes"]):
                if n.get("up", -1) >= k:
                    bad.append(f"tree {i}: a parent comes after its child")
                kids = tree["workers"].count(k) + sum(
                    m.get("up") == k for m in tree["nodes"])
                if kids > CHILDREN_MAX and job["mode"] == "dedicated":
                    bad.append(f"tree {i}: {kids} children")
        used = {n["node"] for t in job["trees"] for n in t["nodes"]}
        relays = used - {job.get("ps")}
        if relays - {r["node"] for r in job["relays"]}:
            bad.append("a relay that was not placed")
    return bad


def addresses(topo):
    """Node by the address of one of its ports."""
    out = {}
    for link in topo["links"]:
        out[link["a_addr"]] = link["a"]
        out[link["b_addr"]] = link["b"]
    return out


def check_rows(topo, plan):
    """Compare senders, receivers and child indices of rows with the trees."""
    bad, where = [], addresses(topo)
    rows = {h["host"]: h for h in plan["hosts"]}
    faces = {h: {f["name"]: f for f in r["faces"]} for h, r in rows.items()}
    for host, row in rows.items():
        if len(faces[host]) != len(row["faces"]) or len(row["faces"]) != \
                len({(f["dev"], f["addr"]) for f in row["faces"]}):
            bad.append(f"{host}: faces twice")

    def leads(host, face):
        if face not in faces[host]:
            bad.append(f"{host}: no face {face}")
            return None
        if faces[host][face]["dev"] == "trib0":
            return host
        return where.get(faces[host][face]["addr"])

    for job in plan["jobs"]:
        for tree in job["trees"]:
            bad += check_tree_rows(job, tree, rows, faces, leads)
    return bad


def check_tree_rows(job, tree, rows, faces, leads):
    bad = []
    mine = {h: t for h, r in rows.items() for t in r["trees"]
            if t["id"] == tree["id"]}
    names = [n["node"] for n in tree["nodes"]]
    for k, name in enumerate(names):
        want = [(w, r) for r, (w, up) in enumerate(
            zip(job["workers"], tree["workers"])) if up == k]
        want += [(n["node"], None) for n in tree["nodes"] if n.get("up") == k]
        row = mine.get(name)
        if not row:
            bad.append(f"tree {tree['id']}: no row at {name}")
            continue
        have = [(leads(name, c["face"]), c.get("rank"))
                for c in row["children"]]
        if have != want:
            bad.append(f"tree {tree['id']} at {name}: {have}, not {want}")
        for i, (child, rank) in enumerate(want):
            below = mine.get(child, {})
            if child == name:
                if {"rank": rank, "index": i} not in row["local"]:
                    bad.append(f"{name}: rank {rank} is not local")
                continue
            if leads(child, below.get("parent")) != name:
                bad.append(f"{child}: parent is not {name}")
            index = below["local"][0]["index"] if rank is not None and \
                "children" not in below else below.get("index")
            if index != i:
                bad.append(f"{child}: index {index}, not {i}")
        bad += check_down(name, row, faces[name])
        known = {j["name"] for j in rows[name]["jobs"]}
        if job["name"] not in known:
            bad.append(f"{name}: no job")
    return bad


def check_down(name, row, faces):
    """Multicast faces are only for ports with several children."""
    ports = {}
    for c in row["children"]:
        face = faces[c["face"]]
        if face["dev"] != "trib0":
            ports.setdefault(face["dev"], set()).add(face["addr"])
    down = {faces[f]["dev"]: faces[f]["addr"] for f in row.get("down", [])}
    return [f"{name}: down at {dev}" for dev, addr in down.items()
            if not addr.startswith("239.77.") or len(ports[dev]) < 2]
