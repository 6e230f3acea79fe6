#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""trib-ps ndn as a program, on the loopback device: a router and its workers
in one process of Python, which knows userspace/ndn/app/content.h and the names,
and no code of ours. All values are small integers, so that sums are exact."""

import array
import hashlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

PS = os.path.join(os.environ.get("B", "build"), "trib-ps")
ELEMENTS = 1000
LEASE = 1600


# --- NDN, as little as is needed

def tlv(kind, value):
    head = bytes([kind])
    n = len(value)
    return head + (bytes([n]) if n < 253 else
                   struct.pack(">BH", 253, n)) + value


def number(n):
    for size, form in ((1, ">B"), (2, ">H"), (4, ">I"), (8, ">Q")):
        if n < 1 << 8 * size:
            return struct.pack(form, n)
    raise ValueError(n)


def elements(data):
    i = 0
    while i < len(data):
        kind, n, i = data[i], data[i + 1], i + 2
        if n == 253:
            n, i = struct.unpack_from(">H", data, i)[0], i + 2
        yield kind, data[i:i + n]
        i += n


def name_of(text):
    """('ps', 5, ...): words, and (type, number)."""
    return b"".join(tlv(8, c.encode()) if isinstance(c, str) else
                    tlv(c[0], c[1].encode() if isinstance(c[1], str) else
                        number(c[1])) for c in text)


def parse_name(value):
    return tuple(v.decode() if t == 8 else
                 (t, v.decode()) if t == 32 else
                 (t, int.from_bytes(v, "big")) for t, v in elements(value))


def data_packet(name, content):
    signed = (tlv(7, name_of(name)) + tlv(21, content) +
              tlv(22, tlv(27, b"\0")))
    return tlv(6, signed + tlv(23, hashlib.sha256(signed).digest()))


def interest_packet(name, prefix=False, fresh=False):
    return tlv(5, tlv(7, name_of(name)) + (tlv(33, b"") if prefix else b"") +
               (tlv(18, b"") if fresh else b"") + tlv(10, os.urandom(4)) +
               tlv(12, number(1000)))


def parse(packet):
    """(type, name, content, MustBeFresh); of Data, the digest is right."""
    (kind, body), = elements(packet)
    parts = dict(elements(body))
    if kind == 6:
        at = body.rindex(b"\x17\x20")
        if hashlib.sha256(body[:at]).digest() != body[at + 2:]:
            raise ValueError("the digest of a Data is wrong")
    return kind, parse_name(parts[7]), parts.get(21, b""), 18 in parts


# --- workers

def gradient(worker, n):
    return array.array("f", (float((worker * 7 + n * 3 + i) % 16 - 8)
                             for i in range(ELEMENTS)))


class Workers:
    """All of them, and the router that they are behind."""

    def __init__(self, count):
        self.names = [f"gpu{i}" for i in range(count)]
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.start = None
        self.models = {}            # version: values, when it was whole
        self.parts = {}
        self.last = None
        self.fresh = []             # names that had MustBeFresh
        self.seen = set()

    def turn(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.socket], [], [], 0.05)[0]:
                continue
            packet, self.ps = self.socket.recvfrom(9000)
            kind, name, content, fresh = parse(packet)
            if fresh:
                self.fresh.append(name)
            (self.interest if kind == 5 else self.data)(name, content)
            yield

    def send(self, packet):
        self.socket.sendto(packet, self.ps)

    def interest(self, name, _):
        worker = self.names.index(name[0])
        self.seen.add(name[0])
        if len(name) == 3:
            self.send(data_packet(name, struct.pack(">HBBB3x", 0x544e, 1, 1, 1)))
            if self.start is None:
                self.send(interest_packet((*name[1:], name[0]), fresh=True))
                self.send(interest_packet(("insert", *name[1:])))
                self.send(interest_packet((*name[1:], (32, "newest")),
                                          prefix=True, fresh=True))
            return
        version = name[3][1]
        if version not in self.models or self.start is None:
            return
        segment = name[4][1] if len(name) == 5 else 0
        size = self.start["segment"]
        values = gradient(worker, version & 0xffffffff).tobytes()
        count = (len(values) + size - 1) // size
        head = struct.pack(">HBBIQQ", 0x544e, 1, 4, count,
                           worker << 32 | 1, version)
        self.send(data_packet(
            (*name[:4], (50, segment)),
            head + values[segment * size:(segment + 1) * size]))

    def data(self, name, content):
        if name[:2] == ("ps", "job") and name[2] in self.names:
            fields = struct.unpack(">HBBBBHQIIIIQ", content)
            assert fields[:3] == (0x544e, 1, 2)
            self.start = dict(zip(("mode", "dtype", "rsvd", "elements",
                                   "segment", "lease"), fields[3:]))
        elif name == ("distribute", "ps", "job"):
            assert content == b""
        elif name[:3] == ("distribute", "ps", "job"):
            version, segment = name[3][1], name[4][1]
            magic, form, kind, count, last = struct.unpack_from(
                ">HBBIB3x", content)
            assert (magic, form, kind) == (0x544e, 1, 5)
            parts = self.parts.setdefault(version, {})
            parts[segment] = content[12:]
            if len(parts) == count:
                values = array.array("f")
                values.frombytes(b"".join(parts[s] for s in range(count)))
                self.models[version] = values
                self.last = version if last else self.last


# --- the program

class Program:
    def __init__(self, folder, address, **fields):
        job = {
            "name": "train", "prefix": "/ps/job",
            "workers": ["gpu0", "gpu1"], "mode": "sync",
            "elements": ELEMENTS, "model": "zero", "sgd": {"lr": 0.5},
            "versions": 6, "every": 2, "lease_ms": LEASE, "rto_ms": 20,
            "rate_mbps": 100, "segment": 1024, "min_workers": 2, "state": os.path.join(folder, "state"),
        }
        job.update(fields)
        self.folder = folder
        self.file = os.path.join(folder, "job.json")
        self.stats = os.path.join(folder, "stats.json")
        with open(self.file, "w", encoding="ascii") as f:
            json.dump(job, f)
        self.process = subprocess.Popen(
            [PS, "ndn", "--forwarder", address, "--bind", "127.0.0.1:0",
             "--job", self.file, "--stats", self.stats, "--interval", "50"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=10)
        return self.process.returncode, out, err

    def job(self):
        with open(self.stats, encoding="ascii") as f:
            return json.load(f)["jobs"][0]


def oracle(n, start=None, since=0):
    """The model of version n: halves of means of integers are exact here."""
    model = start or array.array("f", [0.0] * ELEMENTS)
    for i in range(since, n):
        a, b = gradient(0, i), gradient(1, i)
        model = array.array("f", (m - 0.5 * ((x + y) / 2)
                                  for m, x, y in zip(model, a, b)))
    return model


# --- tests

def trains_exactly(folder):
    workers = Workers(2)
    program = Program(folder, workers.address)
    for _ in workers.turn(15):
        if workers.last:
            break
    want = {1 << 32 | n for n in range(7)}
    fresh = {n for n in workers.fresh}
    time.sleep(0.2)
    job = program.job()
    code, out, err = program.end()
    good = [set(workers.models) == want, code == 0,
            workers.last == 1 << 32 | 6,
            all(workers.models[v] == oracle(v & 0xffffffff)
                for v in workers.models),
            workers.start["mode"] == 0 and workers.start["dtype"] == 1,
            workers.start["elements"] == ELEMENTS,
            workers.start["lease"] == LEASE,
            # Offers pass caches, gradients need not.
            all(len(n) == 3 for n in fresh) and fresh,
            "version 6 of 6, gradients 2, workers 2" in out,
            job["gradient"] == 12 and job["model"] == 6 and job["over"],
            not any(n for k, n in job.items()
                    if k.startswith("drop") and
                    k not in ("drop-ended", "drop-unasked", "drop-copy"))]
    if not all(good):
        print("#", good, sorted(workers.models), out, err)
    return all(good)


def goes_on_after_a_kill(folder):
    workers = Workers(2)
    program = Program(folder, workers.address)
    for _ in workers.turn(15):
        if 1 << 32 | 3 in workers.models:
            break
    program.kill()
    workers.parts.clear()
    program = Program(folder, workers.address)
    for _ in workers.turn(15):
        if workers.last:
            break
    program.end()
    second = sorted(v & 0xffffffff for v in workers.models if v >> 32 == 2)
    first = second[0] if second else 0
    good = [workers.last == 2 << 32 | 6, first in (2, 4),
            second == list(range(first, 7)),
            all(workers.models[2 << 32 | n] == oracle(n) for n in second)]
    if not all(good):
        print("#", good, sorted(workers.models))
    return all(good)


def state_is_one_process_s(folder):
    workers = Workers(2)
    one = Program(folder, workers.address)
    for _ in workers.turn(10):
        if workers.models:
            break
    two = Program(folder, workers.address)
    err = two.process.communicate(timeout=10)[1]
    one.kill()
    return two.process.returncode == 1 and "another job works on it" in err


def damage_is_noticed(folder):
    """A checkpoint of which a bit is another, or a piece is missing."""
    workers = Workers(2)
    program = Program(folder, workers.address)
    for _ in workers.turn(15):
        if workers.last:
            break
    program.end()
    path = os.path.join(folder, "state", "model")
    with open(path, "rb") as f:
        good = f.read()
    bad = bytearray(good)
    bad[100] ^= 1
    for text, said in ((bytes(bad), "damaged"), (good[:-1], "damaged"),
                       (b"", "not a checkpoint")):
        with open(path, "wb") as f:
            f.write(text)
        again = Program(folder, workers.address)
        err = again.process.communicate(timeout=10)[1]
        if again.process.returncode != 1 or said not in err:
            print("#", err)
            return False
    return True


def first_model_is_the_file_s(folder):
    path = os.path.join(folder, "first")
    first = array.array("f", (float(i % 5) for i in range(ELEMENTS)))
    with open(path, "wb") as f:
        first.tofile(f)
    workers = Workers(2)
    program = Program(folder, workers.address, model={"file": path},
                      versions=2)
    for _ in workers.turn(15):
        if workers.last:
            break
    program.end()
    return (workers.models.get(1 << 32) == first and
            workers.models.get(1 << 32 | 2) == oracle(2, first))


def wrong_fields_are_refused(folder):
    cases = (
        ({"mode": "fast"}, "mode:"),
        ({"worker": []}, "worker: is not known here"),
        ({"workers": []}, "workers:"),
        ({"workers": ["a", "insert"]}, "or is a marker"),
        ({"workers": ["a", "a"]}, "is given twice"),
        ({"workers": [{"name": "a", "kye": 1}]}, "workers[0].kye: is not known here"),
        ({"elements": 0}, "elements:"),
        ({"elements": 1.5}, "elements: is a fraction, not an integer"),
        ({"segment": 6}, "segment:"),
        ({"segment": 8196}, "segment:"),
        ({"sgd": {}}, "sgd:"),
        ({"sgd": {"lr": 1, "momentum": 2}}, "sgd.momentum"),
        ({"rto_ms": 101}, "rto_ms:"),
        ({"prefix": "ps"}, "prefix:"),
        ({"prefix": "/insert/job"}, "prefix:"),
        ({"model": {"file": "/no", "seed": 1}}, "model:"),
        ({"key": "/no/such/file"}, "key:"),
        ({"versions": 0}, "versions:"),
        ({"min_workers": 3}, "min_workers:"),
        ({"markers": {"insert": "x", "join": "y"}}, "markers.join"),
        ({"markers": {"insert": "x", "delete": "x"}}, "prefix:"),
    )
    good = True
    for fields, said in cases:
        program = Program(folder, "127.0.0.1:9", **fields)
        try:
            err = program.process.communicate(timeout=5)[1]
        except subprocess.TimeoutExpired:
            program.kill()
            err = "it runs"
        if said not in err or program.process.returncode != 1:
            print("#", fields, err)
            good = False
    return good


def main():
    tests = (trains_exactly, goes_on_after_a_kill, state_is_one_process_s,
             damage_is_noticed, first_model_is_the_file_s,
             wrong_fields_are_refused)
    bad = 0
    for i, test in enumerate(tests):
        with tempfile.TemporaryDirectory() as folder:
            good = test(folder)
        bad += not good
        print(f"{'' if good else 'not '}ok {i + 1} - ps__{test.__name__}",
              flush=True)
    print(f"1..{len(tests)}")
    return bad > 0


sys.exit(main())
