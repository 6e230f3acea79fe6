# SPDX-License-Identifier: BSD-2-Clause
"""Which trees chunks take: the shares of a job's trees against their weights."""

import json

from figures import Figures
from nets import Star

WEIGHTS = {1: 1, 2: 2, 3: 5}
HOSTS = ("r0", "w0", "w1", "w2", "w3")
# 21 sizes, 48 messages each.
MIXED = ("-b", "4", "-e", "4M", "-f", "2", "-n", "48", "-w", "0", "-c", "0")


class Weighted(Star):
    """A star whose job has several trees."""

    def __enter__(self):
        super().__enter__()
        for host in HOSTS:
            with open(f"/run/trib-fabric/{self.argv[2]}/{host}.trib", encoding="utf-8") as f:
                line = next(x.split() for x in f if x.startswith("tree add"))
            at = line.index("id") + 1
            for tree, weight in WEIGHTS.items():
                line[at] = str(tree)
                if tree > 1:
                    self.trib(host, *line, "weight", str(weight))
        return self

    def chunks(self):
        """Of each tree: how often a chunk was sampled at the relay, by all children."""
        trees = json.loads(self.trib("r0", "-j", "tree", "show"))
        return {t["id"]: sum(c["samples"] for c in t["children"]) for t in trees}


def error(net):
    """The largest distance of a tree's share from its weight's, over that."""
    before = net.chunks()
    net.run("trib-perf", *MIXED)
    after = net.chunks()
    took = {t: after[t] - before.get(t, 0) for t in after}
    total, weights = sum(took.values()), sum(WEIGHTS.values())
    return max(abs(took[t] / total * weights / w - 1) for t, w in WEIGHTS.items())


def measure(pairs, transport):
    figures = Figures("route")
    with Weighted(4, "--transport", transport) as net:
        figures.add("share_error_max", [error(net) for _ in range(min(pairs, 3))], bar=0.02,
                    at_most=True, value=max,
                    note="1,008 messages of 4 bytes to 4 MiB in trees of weight 1, 2 and 5; "
                    "a chunk in 16 is counted")
    return figures
