#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares kmod/trib.yaml with kmod/uapi/trib.h and with tribd's tables.

The header's enums are read as text, the tables are printed by
`policy --dump`, whose path is the only argument needed.
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
# What the kernel module serves: tribd has no tables for these.
MODULE_SETS = {"module", "kfunc", "event", "sock", "claim"}
MODULE_FIRST = "module-get"
# The definitions' names in the header.
HEADER_ENUMS = {
    "xdp": ("trib_xdp_mode", "trib-xdp-"),
    "face-ndn": ("trib_face_ndn", "trib-face-ndn-"),
    "pit-state": ("trib_pit_state", "trib-pit-"),
    "event": ("trib_module_event", "trib-module-event-"),
    "sock-state": ("trib_sock_state", "trib-sock-"),
}
count = failed = 0


def check(name, problems):
    """One TAP line; each problem is a diagnostic."""
    global count, failed
    count += 1
    failed += bool(problems)
    for p in problems:
        print("#", p)
    print(f"{'not ' if problems else ''}ok {count} - {name}")


def header_enums(path):
    """{enum name: [(enumerator, value)]} of a C header."""
    with open(path) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    enums = {}
    for name, body in re.findall(r"enum (\w+) \{(.*?)\};", text, re.S):
        value, members = -1, []
        for item in filter(None, (i.strip() for i in body.split(","))):
            word, _, given = (w.strip() for w in item.partition("="))
            value = int(given, 0) if given else value + 1
            members.append((word, value))
        enums[name] = members
    return enums


def c_name(prefix, name):
    return (prefix + name).upper().replace("-", "_")


def compare_enum(enums, enum, prefix, names, first):
    """The header's enumerators against @names, numbered from @first."""
    have = dict(enums.get(enum.replace("-", "_"), []))
    end = c_name(prefix, "-max")
    want = {c_name(prefix, n): first + i for i, n in enumerate(names)}
    want[end] = first + len(names)
    if first:
        want[c_name(prefix, "unspec")] = 0
    out = [f"{k} is {have.get(k)} in the header, {v} in the spec"
           for k, v in want.items() if have.get(k) != v]
    out += [f"{k} is only in the header" for k in have if k not in want]
    return out


def spec_kind(a):
    """As the C tables call it: kind and size."""
    checks = a.get("checks", {})
    kind = {"string": "text", "binary": "bytes"}.get(a["type"], a["type"])
    size = checks.get("exact-len", 0)
    if "max-len" in checks:
        size = checks["max-len"] + 1
    return kind, size


def compare_tables(spec, lines):
    table = {}
    for line in lines:
        where, kind, size, multi, read_only, nest = line.split()
        table[where] = (kind, int(size), multi == "1", read_only == "1", nest)
    out = []
    for s in spec["attribute-sets"]:
        for a in s["attributes"]:
            where = f"{s['name']}.{a['name']}"
            if MODULE_SETS & {s["name"], a.get("nested-attributes")}:
                continue
            if where not in table:
                out.append(f"{where} is not in tribd's tables")
                continue
            kind, size, multi, read_only, nest = table.pop(where)
            want_kind, want_size = spec_kind(a)
            if kind != want_kind:
                out.append(f"{where}: {kind}, the spec says {want_kind}")
            # What only answers hold needs no limit in the spec.
            if want_size != size and not (kind == "text" and read_only):
                out.append(f"{where}: size {size}, the spec says {want_size}")
            if multi != a.get("multi-attr", False):
                out.append(f"{where}: multi-attr differs")
            if nest != a.get("nested-attributes", "-"):
                out.append(f"{where}: nested {nest}")
            # Sets whose every attribute is an answer need not say so.
            if "Read only." in a.get("doc", "") and not read_only:
                out.append(f"{where}: tribd accepts it in requests")
    return out + [f"{w} is not in the spec" for w in table]


def main():
    with open(os.path.join(ROOT, "kmod/trib.yaml")) as f:
        spec = yaml.safe_load(f)
    enums = header_enums(os.path.join(ROOT, "kmod/uapi/trib.h"))
    sock = header_enums(os.path.join(ROOT, "kmod/uapi/trib_sock.h"))
    enums["trib_sock_state"] = sock["trib_sock_state"]
    seen = set()
    for s in spec["attribute-sets"]:
        names = [a["name"] for a in s["attributes"]]
        seen.add(s["enum-name"].replace("-", "_"))
        check(f"spec__attributes_of_{s['name']}_are_the_headers",
              compare_enum(enums, s["enum-name"], s["name-prefix"], names, 1))
    ops = spec["operations"]
    seen.add(ops["enum-name"].replace("-", "_"))
    check("spec__commands_are_the_headers",
          compare_enum(enums, ops["enum-name"], ops["name-prefix"],
                       [o["name"] for o in ops["list"]], 1))
    for d in spec["definitions"]:
        if d["type"] != "enum":
            continue
        enum, prefix = HEADER_ENUMS[d["name"]]
        seen.add(enum)
        have = enums[enum]
        want = [(c_name(prefix, e), i) for i, e in enumerate(d["entries"])]
        check(f"spec__{d['name'].replace('-', '_')}_is_the_headers",
              [] if have == want else [f"{have} and {want}"])
    check("spec__knows_every_enum_of_the_header",
          [f"enum {e} is not in the spec" for e in enums if e not in seen])
    lines = subprocess.run([POLICY, "--dump"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    check("spec__types_are_those_of_tribds_tables",
          compare_tables(spec, lines))
    changing = {o["name"] for o in ops["list"] if "flags" in o}
    dumps = {o["name"] for o in ops["list"] if "dump" in o}
    lines = subprocess.run([POLICY, "--commands"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    table = {n: (c == "1", p == "1") for n, c, p in map(str.split, lines)}
    names = [o["name"] for o in ops["list"]]
    check("spec__commands_do_what_tribd_does",
          [f"{o['name']}: {table.get(str(i + 1))}"
           for i, o in enumerate(ops["list"][:names.index(MODULE_FIRST)])
           if table.get(str(i + 1)) != (o["name"] in changing,
                                        o["name"] in dumps)])
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
