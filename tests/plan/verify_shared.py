# SPDX-License-Identifier: BSD-2-Clause
"""Checks the rows of shared pools against the trees of all jobs."""

RELAY_PORT, PS_PORT = 7417, 7415
CHILDREN_MAX = 64


def ranks_of(text):
    """[0, 1, 2, 3, 7] for "0-3,7"."""
    out = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


def weight_of(job, tree):
    """Weight in the rows; None: all trees of the job have the same."""
    all_ = {t["weight"] for t in job["trees"]}
    return tree["weight"] if len(all_) > 1 else None


class Rows:
    """The rows of a plan, and the nodes that their faces lead to."""

    def __init__(self, topo, made):
        self.owner = {l[f"{e}_addr"]: l[e] for l in topo["links"] for e in "ab"}
        self.rows = {h["host"]: h for h in made["hosts"]}

    def face(self, host, name):
        it, = [f for f in self.rows[host]["faces"] if f["name"] == name]
        return it

    def leads(self, host, face):
        """Node and port at the end of a face."""
        it = self.face(host, face)
        return self.owner[it["addr"]], it.get("port", RELAY_PORT)

    def row(self, host, role, **want):
        """The only row of a role with these members."""
        it, = [r for r in self.rows[host].get("shared", []) if r["role"] == role
               and all(r[k] == v for k, v in want.items())]
        return it

    def children(self, host, row):
        """Node, port and rank of each child, sorted."""
        return sorted([(*self.leads(host, c["face"]), c.get("rank"))
                       for c in row["children"]], key=str)


class Tree:
    """One tree of a job: nodes on the way of each rank, PS excluded."""

    def __init__(self, rows, job, tree, group, workers):
        self.rows, self.job, self.tree = rows, job, tree
        self.nodes, self.id = tree["nodes"], tree["id"]
        self.port = [int(w[1]) for w in workers]
        self.number = {r["node"]: r["relay"] for r in job["relays"]}
        self.number[job["ps"]] = job.get("ps_relay")
        self.group = group["group"]
        self.local = self.group == ["local"]
        self.ways = [self.way(at) for at in tree["workers"]]
        # Children of the PS, each as often as a rank comes by it.
        self.top = [(self.nodes[w[-1]]["node"], RELAY_PORT, None) if w else
                    (job["workers"][r], self.port[r], r)
                    for r, w in enumerate(self.ways)]

    def way(self, at):
        way = []
        while at:
            way.append(at)
            at = self.nodes[at]["up"]
        return way

    def check_worker(self, rank):
        host = self.job["workers"][rank]
        row = self.rows.row(host, "worker", id=self.id)
        assert row.get("weight") == weight_of(self.job, self.tree)
        assert row["local"] == [{"rank": rank, "port": self.port[rank]}]
        assert self.rows.owner[row["ps"]] == self.job["ps"]
        assert row["ps_port"] == PS_PORT
        names = [self.nodes[k]["node"]
                 for k in self.ways[rank] + [0] * self.local]
        assert [(h["relay"], *self.rows.leads(host, h["face"]))
                for h in row["hops"]] == \
            [(self.number[n], n, RELAY_PORT) for n in names]

    def check_ps_relay(self):
        """The relay on the PS's host, before trib-ps."""
        ps = self.job["ps"]
        row = self.rows.row(ps, "relay", id=self.id)
        face = self.rows.face(ps, row["parent"])
        assert (face["dev"], face["port"]) == ("trib0", PS_PORT)
        assert face["addr"] == "169.254.77.2"
        assert row["relay"] == self.number[ps]
        assert row["next"] == 65535
        assert ranks_of(row["workers"]) == list(range(len(self.ways)))
        have = self.rows.children(ps, row)
        assert have == sorted(set(self.top), key=str)
        assert len(have) <= CHILDREN_MAX

    def check_relay(self, k):
        name, up = self.nodes[k]["node"], self.nodes[k]["up"]
        row = self.rows.row(name, "relay", id=self.id)
        assert row["relay"] == self.number[name]
        assert row["next"] == (self.number[self.nodes[up]["node"]]
                               if up or self.local else 65535)
        assert self.rows.leads(name, row["parent"]) == (
            self.nodes[up]["node"],
            RELAY_PORT if up or self.local else PS_PORT)
        assert row.get("weight") == weight_of(self.job, self.tree)
        assert ranks_of(row["workers"]) == \
            [r for r, w in enumerate(self.ways) if k in w]
        have = self.rows.children(name, row)
        assert len(have) <= CHILDREN_MAX
        assert have == sorted(
            [(self.job["workers"][r], self.port[r], r)
             for r, w in enumerate(self.ways) if w and w[0] == k] +
            [(self.nodes[c]["node"], RELAY_PORT, None)
             for c in range(1, len(self.nodes)) if self.nodes[c]["up"] == k
             and any(c in w for w in self.ways)], key=str)

    def check(self):
        for rank in range(len(self.ways)):
            self.check_worker(rank)
        if self.local:
            self.check_ps_relay()
        assert self.local == (self.job.get("ps_relay") is not None and
                              len(set(self.top)) <= CHILDREN_MAX)
        below = {self.rows.owner.get(g.split(":")[0]) for g in self.group}
        assert self.local or below == {t[0] for t in self.top}
        for k in {k for w in self.ways for k in w}:
            self.check_relay(k)


def ps_address(topo, ps):
    return next(l[f"{e}_addr"] for l in topo["links"] for e in "ab"
                if l[e] == ps)


def check_shared(topo, made):
    rows = Rows(topo, made)
    for job in made["jobs"]:
        at_ps = rows.row(job["ps"], "ps", job=job["name"])
        workers = [w.rsplit(":", 1) for w in at_ps["workers"]]
        assert [rows.owner[w[0]] for w in workers] == job["workers"]
        any_local = False
        for tree, group in zip(job["trees"], at_ps["trees"], strict=True):
            assert tree["id"] == group["id"]
            it = Tree(rows, job, tree, group, workers)
            it.check()
            any_local |= it.local
        assert at_ps["listen"].split(":") == \
            ["0.0.0.0" if any_local else ps_address(topo, job["ps"]),
             str(PS_PORT)]
        assert bool(rows.rows[job["ps"]]["jobs"]) == any_local
