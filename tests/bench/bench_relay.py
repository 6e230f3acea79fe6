# SPDX-License-Identifier: BSD-2-Clause
"""The relay's BPF program by itself: bench-relay, several times."""

import json
import os
import tempfile

from figures import Figures
from nets import TOP, BenchError, call
from pairs import progress


def once():
    with tempfile.TemporaryDirectory(prefix="trib-bench-") as folder:
        path = os.path.join(folder, "out.json")
        out = call(os.path.join(TOP, "build", "bench-relay"), "-o", path)
        progress()
        try:
            with open(path, encoding="utf-8") as f:
                return json.load(f)["figures"]
        except (OSError, ValueError, KeyError) as e:
            raise BenchError(f"bench-relay left no figures:\n{out}") from e


def measure(pairs, _transport):
    figures = Figures("relay")
    runs = [once() for _ in range(min(pairs, 5))]
    progress(end=True)

    def add(name, **how):
        figures.add(name, [r[name] for r in runs], **how)

    add("gbps_per_core", bar=100, note="Gb/s of values, 352 a packet")
    add("scale_2_cores", bar=1.8, note="a chunk each, over one core")
    add("scale_2_cores_shared", note="both cores on every chunk")
    add("ns_per_packet", note="driver included")
    add("ns_driver", note="driver alone")
    return figures
