#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Keeps the tables of rules in kmod/uapi/PROTOCOL.md as rules.py has them.

    tests/sim/protocol.py           check: exit status 1 if they differ
    tests/sim/protocol.py --write   write them
"""
import importlib.util
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)
PAGE = os.path.join(HERE, "../../kmod/uapi/PROTOCOL.md")
BEGIN = "<!-- rules: begin (tests/sim/protocol.py --write) -->\n"
END = "<!-- rules: end -->\n"
PARTS = (("Dedicated pools", "rules.py"), ("Shared pools", "pool/rules.py"),
         ("Workers whose XDP program sends", "reflex/rules.py"),
         ("From a relay to the ranks and back", "failover/rules.py"),
         ("Ways round dead links", "ways/rules.py"))

FAILS = {
    "wrong": "wrong sum",
    "differ": "ranks hold different results",
    "hang": "hangs",
    "slow": "far too slow",
    "false-alarm": "error although nobody died",
    "unnamed": "error does not name the dead rank",
    "unfetched": "a live rank cannot get a result that exists",
    "overwritten": "cell overwritten before it was read",
    "echo": "packet returns to its sender",
    "noise": "answers that nobody asked for",
    "stall": "time-out although nothing was lost",
    "thrash": "epochs without end",
    "overdrawn": "a job holds more slots than its cap",
    "twice": "two first copies of a GRAD",
    "early": "a GRAD a window too early",
    "lost": "a host is not reached, although there is a way",
    "stale": "hosts know different things",
    "lie": "a forged or repeated report is believed",
    "flap": "a link that works is reported dead",
    "escape": "XDP sends what a rank chose, or waits for it",
}
COSTS = {"packets": "GRADs at the PS", "resends": "resends", "time": "time",
         "false": "false resends", "socket": "GRADs by socket",
         "held": "time in which chunks are held", "changes": "detours",
         "reports": "reports"}


def failure(rule):
    """What the simulator sees without a rule."""
    if isinstance(rule.red, str):
        return ", ".join(FAILS[word] for word in rule.red.split()[:2])
    return f"{rule.red.times} times the {COSTS[rule.red.name]}"


def table(path):
    """The rules of one file, with its sections, as Markdown."""
    with open(path, encoding="utf-8") as text:
        order = re.findall(r'^    (?:# --- (.*)|"(\w+)": Rule\()', text.read(),
                           re.M)
    spec = importlib.util.spec_from_file_location("rules_of_part", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for section, name in order:
        if section:
            yield f"\n| {section} | demand | without it (scenario) |\n"
            yield "| --- | --- | --- |\n"
        else:
            rule = module.RULES[name]
            yield (f"| `{name}` | {rule.text} | {failure(rule)} "
                   f"({rule.scenario}) |\n")


def tables():
    return "".join(f"\n### {title}\n{''.join(table(os.path.join(HERE, path)))}"
                   for title, path in PARTS) + "\n"


def check(write=False):
    """(whether the page has the tables, a note)."""
    with open(PAGE, encoding="utf-8") as text:
        page = text.read()
    head, rest = page.split(BEGIN)
    old, tail = rest.split(END)
    new = tables()
    if write:
        with open(PAGE, "w", encoding="utf-8") as text:
            text.write(head + BEGIN + new + END + tail)
    return old == new, "differs: run tests/sim/protocol.py --write"


if __name__ == "__main__":
    good, note = check(sys.argv[1:] == ["--write"])
    if not good and sys.argv[1:] != ["--write"]:
        sys.exit(note)
