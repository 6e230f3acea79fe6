# SPDX-License-Identifier: BSD-2-Clause
"""The kernel module: its summation in user space (bench-sum), and its sockets and
functions in the VM (guest/module.py)."""

import json
import os
import tempfile

from driver import drive
from figures import Figures
from nets import TOP, call
from pairs import progress, ratios

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


def vm(figures, pairs):
    """Debian's 6.1 kernel under emulation: ratios count, not rates."""
    call("make", "-s", "module")
    with tempfile.TemporaryDirectory(prefix="trib-bench-") as folder:
        call(os.path.join(TOP, "scripts/vm"), "-m", "2048", "-t", "500", "-o",
             folder, "--", os.path.join(TOP, "tests/bench/guest/module.py"),
             str(pairs), "/vmout/figures.json", timeout=520)
        with open(os.path.join(folder, "figures.json"), encoding="utf-8") as f:
            got = json.load(f)
    figures.add("vm_ratio_socket_vs_udp", ratios(got["socket"], got["udp"]),
                bar=1.3, note="allreduce of 4 MiB of floats, n=4, kernel "
                "sockets over libtrib's UDP")
    figures.add("vm_algbw_socket", got["socket"], note="Gb/s")
    figures.add("vm_algbw_udp", got["udp"], note="Gb/s")
    figures.add("vm_ratio_cells_vs_sockets", ratios(got["cells"], got["plain"]),
                note="the same, kernel sockets with cells over those without")
    figures.add("vm_algbw_cells", got["cells"], note="Gb/s")
    figures.add("vm_fpu_ns", [a - b for a, b in zip(got["fpu"],
                                                    got["no_fpu"])],
                note="kernel_fpu_begin() and _end() of one call")


def measure(pairs, _transport):
    figures = Figures("module")
    summation(figures, pairs)
    vm(figures, pairs)
    progress(end=True)
    return figures
