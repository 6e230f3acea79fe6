# SPDX-License-Identifier: BSD-2-Clause
"""Compressed sums on wires of 200 Mb/s: the time of one message against Gloo's dense ring,
and the time of a training up to an accuracy against PyTorch over Gloo, with PyTorch's own
hooks that compress. All on the same wires in the same run."""

import os
import sys
import tempfile

from figures import Figures
from nets import TOP, BenchError, Star, Switch, measured
from pairs import gbps, in_turns, progress, ratios
from rivals.pypi import TORCH

WORKERS = 4
RATE = ("--rate", "200m")
SIZE = ("-b", "64M", "-e", "64M", "-w", "1")
# Figure, -z, bar.
SPECS = (("shared24_int8", "2:4+int8", 5), ("int4", "int4", 7),
         ("local24", "2:4/local", 1.4), ("24_int4", "2:4+int4", None),
         ("shared24", "2:4", None), ("dense", "dense", None))

TASK = ("--task", "loud8", "--samples", "32768", "--test", "10240", "--batch", "128",
        "--epochs", "4")
TARGET = 0.75
HOOKS = ("bf16", "powersgd:1:10", "powersgd:4:10")
OURS = "2:4+int4"


def against_ring(figures, star, switch, pairs):
    def ours(spec):
        return lambda: gbps(star.perf(*SIZE, "-n", "3", "-z", spec))

    ring, *rates = in_turns(
        pairs, lambda: gbps(switch.gloo("ring", *SIZE, "-n", "1")),
        *[ours(spec) for _, spec, _ in SPECS])
    for (name, spec, bar), rate in zip(SPECS, rates):
        figures.add(f"ratio_vs_gloo_{name}", ratios(rate, ring), bar=bar,
                    note=f"-z {spec}, 64 MiB, n={WORKERS}, over Gloo's ring of floats")
    figures.add("algbw_shared24_int8", rates[0], note="Gb/s of floats")
    figures.add("gloo_algbw", ring, note="Gb/s")


def until(row):
    """Seconds up to the first epoch that reaches the target; infinite without one."""
    return next((e["seconds"] for e in row["epochs"] if e["test"] >= TARGET),
                float("inf"))


def train(star, *mode):
    return measured(star.run, "trib-train", *TASK, *mode, option="--json")


def peer(switch, python, hook):
    with tempfile.TemporaryDirectory(prefix="trib-torch-") as folder:
        row = measured(switch.run, python, os.path.join(TOP, "tests", "bench", "train",
                                              "torch_peer.py"),
                       *TASK, "--hook", hook, "--meet", os.path.join(folder, "meet"))
    progress()
    return row


def to_accuracy(figures, star, switch, python, pairs):
    tried = {hook: peer(switch, python, hook) for hook in HOOKS}
    best = min(HOOKS, key=lambda h: until(tried[h]))
    if until(tried[best]) == float("inf"):
        raise BenchError(f"with none of {', '.join(HOOKS)} PyTorch reaches {TARGET}")
    theirs, ours, plain = in_turns(
        pairs, lambda: peer(switch, python, best),
        lambda: train(star, "--compress", OURS), lambda: train(star))
    figures.add("time_to_accuracy_ratio",
                ratios([until(r) for r in theirs], [until(r) for r in ours]), bar=2,
                note=f"seconds of training until {100 * TARGET:.0f} % on loud8: PyTorch "
                f"{theirs[0]['torch']} with {best} over trib-train --compress {OURS}")
    figures.add("time_to_accuracy_vs_dense",
                ratios([until(r) for r in plain], [until(r) for r in ours]),
                note="the same, trib-train without compression over that with it")
    figures.add("s_to_accuracy", [until(r) for r in ours], note=f"seconds, {OURS}")
    figures.add("ms_step", [1e3 * r["seconds"] / r["steps"] for r in ours],
                note=f"milliseconds a step, {OURS}")
    figures.add("accuracy", [100 * r["test_accuracy"] for r in ours], note=f"percent, {OURS}")
    for hook, row in tried.items():
        name = "torch_" + hook.replace(":", "_")
        figures.add(f"ms_step_{name}", [1e3 * row["seconds"] / row["steps"]],
                    note="milliseconds a step")
        figures.add(f"accuracy_{name}", [100 * row["test_accuracy"]],
                    note="percent, after the same number of steps")


def measure(pairs, transport):
    figures = Figures("compress")
    pairs = min(pairs, 3)  # a wire of fixed rate varies little
    why = TORCH.install()
    python = TORCH.path("bin", "python")
    with Star(WORKERS, "--transport", transport, *RATE) as star, \
         Switch(WORKERS, *RATE) as switch:
        switch.limit = 400
        against_ring(figures, star, switch, pairs)
        if not why:
            to_accuracy(figures, star, switch, python, pairs)
    progress(end=True)
    if why:
        print(f"  time_to_accuracy_ratio: no PyTorch: {why}", file=sys.stderr)
    return figures
