# SPDX-License-Identifier: BSD-2-Clause
"""The figures of a bench with spread and bars, as a table and as JSON."""

import json
import os
import platform
import statistics
import subprocess
import time

OUT = os.path.join("build", "bench")


class Figures:
    """The figures of one bench."""

    newest = None

    def __init__(self, bench):
        Figures.newest = self
        self.bench = bench
        self.values, self.spread, self.bars, self.notes = {}, {}, {}, {}

    def add(self, name, samples, bar=None, at_most=False, note="",
            value=statistics.median):
        """A figure is the median of its samples, unless `value` makes it;
        `bar` is what it should reach, or stay below."""
        self.values[name] = value(samples)
        self.spread[name] = [min(samples), max(samples)]
        self.notes[name] = note
        if bar is not None:
            self.bars[name] = {"at_most" if at_most else "at_least": bar}

    def met(self, name):
        """True, False, or None where there is no bar."""
        bar = self.bars.get(name)
        if bar is None:
            return None
        if "at_most" in bar:
            return self.values[name] <= bar["at_most"]
        return self.values[name] >= bar["at_least"]

    def table(self):
        rows = [("figure", "value", "spread", "bar", "met", "")]
        for name, value in self.values.items():
            low, high = self.spread[name]
            bar = self.bars.get(name)
            text = ""
            if bar:
                sign = "<=" if "at_most" in bar else ">="
                text = f"{sign} {number(next(iter(bar.values())))}"
            met = {True: "yes", False: "NO", None: "-"}[self.met(name)]
            rows.append((name, number(value), f"{number(low)}..{number(high)}",
                         text, met, self.notes[name]))
        wide = [max(len(r[i]) for r in rows) for i in range(5)]
        return "\n".join(
            f"  {r[0]:{wide[0]}}  {r[1]:>{wide[1]}}  {r[2]:>{wide[2]}}  "
            f"{r[3]:>{wide[3]}}  {r[4]:>{wide[4]}}  {r[5]}".rstrip()
            for r in rows)

    def write(self):
        os.makedirs(OUT, exist_ok=True)
        path = os.path.join(OUT, f"{self.bench}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({
                "bench": self.bench, "figures": self.values,
                "spread": self.spread, "bars": self.bars,
                "met": {n: self.met(n) for n in self.bars},
                "notes": {n: t for n, t in self.notes.items() if t},
                **machine()}, f, indent=1)
            f.write("\n")
        return path


def number(v):
    """Three significant digits, without an exponent."""
    return f"{v:.0f}" if abs(v) >= 100 else f"{v:.3g}"


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty",
                           "--abbrev=12"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() or "unknown"


def machine():
    return {"kernel": platform.release(), "cpu": cpu_model(),
            "cores": os.cpu_count(), "load": os.getloadavg()[0],
            "realtime": os.environ.get("BENCH_RT") == "1",
            "commit": commit(),
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
