# SPDX-License-Identifier: BSD-2-Clause
"""The relay's BPF program by itself: bench-relay, several times."""

from driver import drive
from figures import Figures
from pairs import progress


def measure(pairs, _transport):
    figures = Figures("relay")
    runs = [drive("bench-relay") for _ in range(min(pairs, 5))]
    progress(end=True)

    def add(name, **how):
        figures.add(name, [r[name] for r in runs], **how)

    add("gbps_per_core", bar=100, note="Gb/s of values, 352 a packet")
    add("scale_2_cores", bar=1.8, note="a chunk each, over one core")
    add("scale_2_cores_shared", note="both cores on every chunk")
    add("ns_per_packet", note="driver included")
    add("ns_driver", note="driver alone")
    add("gbps_expand_24_per_core", bar=60, note="masks 2:4, dense-equivalent")
    add("gbps_expand_any_per_core", bar=35, note="the slowest of four other masks")
    return figures
