# SPDX-License-Identifier: BSD-2-Clause
"""The seed LP's best placement and rate, as a MILP for glpsol and by
enumeration. Independent of the planner: own paths, own model, own solver."""

import itertools
import os
import subprocess
import tempfile

MASK = (1 << 64) - 1
EPS = 1e-7


def mix(z):
    z = (z + 0x9e3779b97f4a7c15) & MASK
    z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
    return z ^ (z >> 31)


class Net:
    """A topology (a dict of the planner's JSON) with paths."""

    def __init__(self, topo):
        self.names = [n["name"] if isinstance(n, dict) else n
                      for n in topo["switches"] + topo["hosts"]]
        self.is_host = ([False] * len(topo["switches"]) +
                        [True] * len(topo["hosts"]))
        self.index = {n: i for i, n in enumerate(self.names)}
        self.caps = {}
        self.out = [[] for _ in self.names]
        default = topo.get("capacity", 10e9)
        # Arcs in the order of links: the hash selects by this order.
        for link in topo["links"]:
            a, b = self.index[link["a"]], self.index[link["b"]]
            cap = link.get("capacity", default)
            self.caps[a, b] = self.caps[b, a] = cap
            self.out[a].append(b)
            self.out[b].append(a)

    def home(self, node):
        """The switch of a host with one link, else the node."""
        if self.is_host[node] and len(self.out[node]) == 1 \
                and not self.is_host[self.out[node][0]]:
            return self.out[node][0]
        return node

    def path(self, a, b):
        """Arcs from a to b; the reverse path if a's switch has the higher number."""
        if a == b:
            return []
        start, end = self.home(a), self.home(b)
        if start > end:
            return [arc[::-1] for arc in reversed(self.path(b, a))]
        arcs = [(a, start)] if start != a else []
        if start == b:
            return arcs
        dist = {end: 0}
        todo = [end]
        for v in todo:
            if v != end and self.is_host[v]:
                continue
            for u in self.out[v]:
                if u not in dist:
                    dist[u] = dist[v] + 1
                    todo.append(u)
        at = start
        while at != end:
            near = [v for v in self.out[at] if dist.get(v, 1 << 30) + 1 ==
                    dist[at] and (v == end or not self.is_host[v])]
            pick = 0
            if len(near) > 1:
                pick = mix(start << 42 | end << 21 | at) % len(near)
            arcs.append((at, near[pick]))
            at = near[pick]
        return arcs + ([(end, b)] if end != b else [])


class Model:
    """The seed LP of one job with a PS, for any placement."""

    def __init__(self, topo, job, both_ways=False):
        self.net = net = Net(topo)
        self.both_ways = both_ways
        self.scale = max(net.caps.values())
        self.workers = [net.index[w] for w in job["workers"]]
        self.ps = net.index[job["ps"]]
        self.max = job["max_relays"]
        self.cap = job.get("relay_capacity")
        self.places = [i for i, h in enumerate(net.is_host) if not h]
        home = net.home(self.ps)
        self.tor = home if home != self.ps else None

    def rows(self, placed):
        """Rows (sense, bound, {column name: value}). If `placed` is None, binaries
        u<place> choose the placement."""
        net, rows, load = self.net, [], {}
        open_ = self.places if placed is None else sorted(placed)

        def flow(col, a, b, amount=1):
            for arc in net.path(a, b):
                if self.both_ways:
                    arc = min(arc), max(arc)
                load.setdefault(arc, {})
                load[arc][col] = load[arc].get(col, 0) + amount

        for w in self.workers:
            share = {"g": -1.0, f"y{w}_d": 1.0}
            flow(f"y{w}_d", w, self.ps)
            for s in open_:
                share[f"y{w}_{s}"] = 1.0
                flow(f"y{w}_{s}", w, s)
                cover = {f"y{w}_{s}": 1.0, f"x{s}_d": -1.0}
                if s != self.tor and self.tor in open_:
                    cover[f"x{s}_t"] = -1.0
                rows.append(("<", 0, cover))
            rows.append((">", 0, share))
        for s in open_:
            flow(f"x{s}_d", s, self.ps)
            if s != self.tor and self.tor in open_:
                flow(f"x{s}_t", s, self.tor)
                rows.append(("<", 0, {f"x{s}_t": 1.0,
                                      f"x{self.tor}_d": -1.0}))
            taken = {f"y{w}_{s}": 1.0 for w in self.workers}
            if s == self.tor:
                taken.update({f"x{k}_t": 1.0 for k in open_
                              if k != self.tor})
            if self.cap:
                rows.append(("<", self.cap / self.scale, taken))
            if placed is None:
                # No flow enters a relay that is not placed.
                big = sum(net.caps[a, s] for a in net.out[s]) / self.scale
                closed = dict(taken)
                closed[f"u{s}"] = -big
                rows.append(("<", 0, closed))
        for arc, row in sorted(load.items()):
            rows.append(("<", net.caps[arc] / self.scale, row))
        if placed is None:
            rows.append(("<", self.max, {f"u{s}": 1.0 for s in open_}))
        return rows

    def solve(self, placed=None):
        """The best rate as a share of the largest capacity, and the placement."""
        rows = self.rows(placed)
        text = ["Maximize", " obj: g", "Subject To"]
        for i, (sense, bound, row) in enumerate(rows):
            terms = " ".join(f"{v:+.12g} {c}" for c, v in sorted(row.items()))
            text.append(f" r{i}: {terms} {sense}= {bound:.12g}")
        if placed is None:
            text += ["Binary"] + [f" u{s}" for s in self.places]
        text.append("End")
        cols = glpsol("\n".join(text) + "\n", placed is None)
        chosen = [s for s in self.places if cols.get(f"u{s}", 0) > 0.5]
        return cols.get("g", 0.0), chosen if placed is None else placed

    def enumerate(self):
        """The best rate by trying all placements."""
        size = min(self.max, len(self.places))
        return max(self.solve(c)[0]
                   for c in itertools.combinations(self.places, size))


def glpsol(text, is_mip):
    """Solve; the value of each column."""
    with tempfile.TemporaryDirectory(prefix="trib-milp-") as folder:
        model = os.path.join(folder, "m.lp")
        out = os.path.join(folder, "out")
        with open(model, "w", encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run(
            ["glpsol", "--lp", model, "--write", out, "--tmlim", "300"] +
            (["--cuts"] if is_mip else []), capture_output=True, text=True,
            check=False)
        if done.returncode or not os.path.exists(out):
            raise RuntimeError(f"glpsol: {done.stdout[-500:]}")
        with open(out, encoding="utf-8") as f:
            lines = [line.split() for line in f]
    status = next(x for x in lines if x[0] == "s")
    good = status[4] == "o" if is_mip else status[4:6] == ["f", "f"]
    if not good:
        raise RuntimeError(f"glpsol: no optimum: {' '.join(status)}")
    values = [float(x[2] if is_mip else x[3]) for x in lines if x[0] == "j"]
    return dict(zip(columns_of(text), values))


def columns_of(text):
    """Column names in glpsol's order, which is that of appearance."""
    seen = {}
    for word in text.replace("obj:", "").split():
        if word[0] in "gxyu" and (len(word) == 1 or word[1].isdigit()):
            seen.setdefault(word, None)
    return list(seen)
