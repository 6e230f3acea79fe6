# SPDX-License-Identifier: BSD-2-Clause
"""Compression by itself, one core: speed, and methods that it replaces (bench-codec)."""

from driver import drive
from figures import Figures
from pairs import progress

FUNCTIONS = ("select_pack", "select", "pack_lanes", "unpack_lanes", "expand")
METHODS = {"bf16": "bf16", "int8": "int8 alone, in lanes for 4 workers",
           "top_k": "key and value above a threshold",
           "block_l1": "half of the blocks of 32",
           "24": "2:4", "24_int8": "2:4+int8", "int4": "int4 alone"}
COLUMNS = {"energy": "share of the energy that arrives",
           "bytes": "bytes a value", "imbalance": "largest message / smallest",
           "encode_ns": "ns a value", "decode_ns": "ns a value"}


def measure(pairs, _transport):
    figures = Figures("codec")
    runs = [drive("bench-codec") for _ in range(pairs)]

    def add(name, **how):
        figures.add(name, [r[name] for r in runs], **how)

    add("share_of_memcpy_24_f32", bar=0.8,
        note="2:4 with residual, 256 MiB, one core: bytes read and written a "
        "second, over memcpy's")
    add("gbytes_24_f32", note="GB/s")
    add("gbytes_memcpy", note="GB/s")
    add("ratio_vs_scalar", bar=6,
        note="geometric mean of the next five; ranges in L2")
    for name in FUNCTIONS:
        add(f"ratio_{name}", note="time of scalar over the best level's")
    for name in FUNCTIONS:
        add(f"ns_{name}", note="ns a value, best level")
    for column, what in COLUMNS.items():
        for method, text in METHODS.items():
            add(f"{column}_{method}", note=f"{text}: {what}")
    progress(end=True)
    return figures
