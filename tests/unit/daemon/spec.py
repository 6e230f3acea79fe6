#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares kmod/trib.yaml with the copies that scripts/mkspec does not make:
tribd's table of commands (`policy --commands`) and kmod/uapi/trib_sock.h.
"""
import os
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("1..0 # SKIP python3-yaml is not installed")
    sys.exit(4)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
BUILD = os.environ.get("B", os.path.join(ROOT, "build"))
POLICY = os.path.join(BUILD, "tests/unit/daemon/policy")
MODULE_FIRST = "module-get"
count = failed = 0


def check(name, problems):
    """One TAP line; each problem is a diagnostic."""
    global count, failed
    count += 1
    failed += bool(problems)
    for p in problems:
        print("#", p)
    print(f"{'not ' if problems else ''}ok {count} - {name}")


def header_enum(path, name):
    """[(enumerator, value)] of an enum of a C header."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    body = re.search(r"enum %s \{(.*?)\};" % name, text, re.S).group(1)
    value, members = -1, []
    for item in filter(None, (i.strip() for i in body.split(","))):
        word, _, given = (w.strip() for w in item.partition("="))
        value = int(given, 0) if given else value + 1
        members.append((word, value))
    return members


def check_header():
    run = subprocess.run([os.path.join(ROOT, "scripts/mkspec"), "--check"],
                         capture_output=True, text=True, check=False)
    check("spec__header_is_made_from_it", run.stderr.splitlines())


def check_states(spec):
    entries = next(d["entries"] for d in spec["definitions"]
                   if d["name"] == "sock-state")
    want = [("TRIB_SOCK_" + e.upper(), i) for i, e in enumerate(entries)]
    have = header_enum("kmod/uapi/trib_sock.h", "trib_sock_state")
    check("spec__sock_state_is_the_headers",
          [] if have == want else [f"{have} and {want}"])


def check_commands(spec):
    """Which commands change something, and which can be dumps."""
    lines = subprocess.run([POLICY, "--commands"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    table = {n: (c == "1", p == "1") for n, c, p in map(str.split, lines)}
    ops = spec["operations"]["list"]
    names = [o["name"] for o in ops]
    check("spec__commands_do_what_tribd_does",
          [f"{o['name']}: {table.get(str(i + 1))}"
           for i, o in enumerate(ops[:names.index(MODULE_FIRST)])
           if table.get(str(i + 1)) != ("flags" in o, "dump" in o)])


def main():
    with open(os.path.join(ROOT, "kmod/trib.yaml"), encoding="utf-8") as f:
        spec = yaml.safe_load(f)
    check_header()
    check_states(spec)
    check_commands(spec)
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
