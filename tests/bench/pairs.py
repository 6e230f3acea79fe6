# SPDX-License-Identifier: BSD-2-Clause
"""Pairs of runs: the machine's speed drifts, so a ratio compares two runs next to each
other, and the figure is the median of several pairs."""

import math
import sys


def in_turns(count, *runs):
    """Call each of `runs` once in each of `count` rounds, forth and back;
    a list of results for each."""
    got = [[] for _ in runs]
    for i in range(count):
        order = range(len(runs))
        for k in order if i % 2 == 0 else reversed(order):
            got[k].append(runs[k]())
            progress()
    progress(end=True)
    return got


def progress(end=False):
    """A dot per run, on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" if end else ".")
        sys.stderr.flush()


def ratios(ours, theirs):
    return [a / b for a, b in zip(ours, theirs)]


def p95(samples):
    return sorted(samples)[math.ceil(0.95 * len(samples)) - 1]


def gbps(row):
    """algbw in Gb/s."""
    return row["algbw_GBps"] * 8


def best(switch, algorithms, options, value, at_most=False):
    """The fastest of Gloo's algorithms, by one run of each."""
    found = {}
    for name in algorithms:
        found[name] = value(switch.gloo(name, *options))
        progress()
    progress(end=True)
    pick = min if at_most else max
    return pick(found, key=found.get)
