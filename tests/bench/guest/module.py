#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures with the module loaded: runs in the VM for bench_module.py and writes lists
of its measurements as JSON.

    module.py ROUNDS FILE

socket, udp: Gb/s of an allreduce of 4 MiB of floats by 4 workers around a relay.
cells, plain: the same by sockets with cells of tribd, and by sockets without.
fpu, no_fpu: ns of an empty function with and without kernel_fpu_begin()."""

import json
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from nets import TOP, Star, call, measured  # noqa: E402 # pylint: disable=wrong-import-position
from pairs import gbps, in_turns  # noqa: E402 # pylint: disable=wrong-import-position

KO = os.path.join(TOP, "build/module/trib.ko")
OPTIONS = ("-b", "4M", "-e", "4M", "-n", "10", "-w", "2", "-c", "1")
PIN = "/sys/fs/bpf/bench"
FRAME = "/tmp/bench-frame"
# struct kfunc_ask of tests/vm/kfunc/kfunc.h: add no values of TRIB_FMT_F32 to memory.
ASK = struct.pack("=IIIIQqQ", 0, 0, 0, 0, 4, 0, 0)


def rate(star, transport):
    return gbps(measured(star.run, "env", f"TRIB_TRANSPORT={transport}",
                         "trib-perf", *OPTIONS)["results"][0])


def sockets(rounds):
    with Star(4, "--transport", "udp") as star:
        return in_turns(rounds, lambda: rate(star, "kernel"),
                        lambda: rate(star, "udp"))


def cells(rounds):
    """Only where their host has a tribd do sockets have cells."""
    with Star(4) as mapped, Star(4, "--transport", "udp") as plain:
        return in_turns(rounds, lambda: rate(mapped, "kernel"),
                        lambda: rate(plain, "kernel"))


def empty_calls(rounds, *parameters):
    """With the module at one level; ns of each call, a figure a round."""
    call("insmod", KO, *parameters)
    call("bpftool", "prog", "load", "build/tests/vm/kfunc/kfunc.bpf.o", PIN,
         "pinmaps", "/sys/fs/bpf/maps")
    call("bpftool", "map", "update", "pinned", "/sys/fs/bpf/maps/ask", "key",
         "0", "0", "0", "0", "value", *(str(b) for b in ASK))
    with open(FRAME, "wb") as f:
        f.write(bytes(64))
    got = []
    for _ in range(rounds):
        out = call("bpftool", "prog", "run", "pinned", PIN, "data_in",
                   FRAME, "repeat", "100000")
        got.append(int(re.search(r"average\): (\d+)ns", out).group(1)))
    os.unlink(PIN)
    subprocess.run(["rm", "-r", "/sys/fs/bpf/maps"], check=True)
    call("sh", "-c", "until rmmod trib; do sleep 0.1; done")
    return got


def main():
    rounds, path = int(sys.argv[1]), sys.argv[2]
    figures = {"fpu": empty_calls(rounds),
               "no_fpu": empty_calls(rounds, "level=scalar")}
    call("insmod", KO)
    figures["socket"], figures["udp"] = sockets(rounds)
    figures["cells"], figures["plain"] = cells(rounds)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(figures, f)


main()
