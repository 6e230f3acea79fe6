# SPDX-License-Identifier: BSD-2-Clause
"""Accuracy of compressed training: trib-train on loud8, four ranks around a relay. Seeds
are paired: of each seed, all modes have the same data, first weights and batches. In a
job of integers every result is the same in every run on the same kind of CPU."""

import statistics

from figures import Figures
from nets import Star, measured
from pairs import progress

SEEDS = (1, 2, 3, 4, 5)
OPTIONS = ("--task", "loud8", "--samples", "32768", "--test", "10240",
           "--batch", "128", "--epochs", "6")
# Figure, options, bar, whether the bar is an upper one.
MODES = (
    ("24_int8", ("--compress", "2:4+int8"), -0.5, False),
    ("int4", ("--compress", "int4"), -1, False),
    ("24_int8_no_feedback", ("--compress", "2:4+int8", "--no-feedback"), -3, True),
    ("24", ("--compress", "2:4"), None, False),
    ("24_local", ("--compress", "2:4/local"), None, False),
    ("24_int4", ("--compress", "2:4+int4"), None, False),
)


def train(star, seed, mode):
    row = measured(star.run, "trib-train", *OPTIONS, "--seed", str(seed), *mode,
                   option="--json")
    progress()
    return row


def points(rows):
    return [100 * r["test_accuracy"] for r in rows]


def measure(_pairs, transport):
    figures = Figures("train")
    with Star(4, "--transport", transport) as star:
        dense = [train(star, s, ()) for s in SEEDS]
        rows = {name: [train(star, s, mode) for s in SEEDS]
                for name, mode, _, _ in MODES}
    progress(end=True)
    for name, mode, bar, at_most in MODES:
        figures.add(f"points_{name}",
                    [a - b for a, b in zip(points(rows[name]), points(dense))],
                    bar=bar, at_most=at_most, value=statistics.mean,
                    note=f"{' '.join(mode[1:])}: percentage points above dense")
    figures.add("accuracy_dense", points(dense), value=statistics.mean,
                note=f"percent; {dense[0]['test_samples']} test samples, "
                f"{dense[0]['parameters']} parameters, {len(SEEDS)} seeds")
    for name, _, _, _ in MODES:
        figures.add(f"saves_{name}",
                    [r["compressed_dense_bytes"] / r["compressed_sent_bytes"]
                     for r in rows[name]],
                    note="bytes of floats over bytes that a rank sends")
    return figures
