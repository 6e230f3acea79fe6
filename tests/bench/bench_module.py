# SPDX-License-Identifier: BSD-2-Clause
"""The kernel module: its summation (bench-sum), several times. Each part adds
its figures; one that needs more than user space belongs into a function of its
own, too."""

from driver import drive
from figures import Figures
from pairs import progress

LEVELS = ("scalar", "sse2", "avx2", "avx512")
FORMATS = ("f32", "bf16", "f16", "i32")


def summation(figures, pairs):
    """Functions behind the kfuncs, 1408 byte payloads, one core, data in L2."""
    runs = [drive("bench-sum") for _ in range(min(pairs, 5))]

    def add(name, source, **how):
        figures.add(name, [r[source] for r in runs], **how)

    add("gbps_f32", "gbps_f32", bar=300, note="Gb/s of values, added to slots")
    add("gbps_bf16", "gbps_bf16", bar=150, note="... to fp32 slots")
    add("gbps_24_expand", "gbps_f32_24_expand", bar=100,
        note="Gb/s of packed f32 values, 2 of 4")
    for fmt in ("f16", "i32"):
        add(f"gbps_{fmt}", f"gbps_{fmt}")
    for fmt in FORMATS[1:]:
        add(f"gbps_{fmt}_24_expand", f"gbps_{fmt}_24_expand")
    for what, note in (("store", "the first packet of a slot"),
                       ("final", "the last one: added, and the sum stored "
                                 "into it"),
                       ("emit", "a slot stored into a packet")):
        for fmt in FORMATS:
            add(f"gbps_{fmt}_{what}", f"gbps_{fmt}_{what}", note=note)
    for level in LEVELS:
        if f"gbps_{level}_f32" not in runs[0]:
            continue
        for op in (*FORMATS, "f32_24_expand"):
            add(f"gbps_{level}_{op}", f"gbps_{level}_{op}")


def measure(pairs, _transport):
    figures = Figures("module")
    summation(figures, pairs)
    progress(end=True)
    return figures
