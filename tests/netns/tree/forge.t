#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A host on the switch, which nobody configured, hears the multicast group and
what one worker sends, and attacks the job with all of it.

    w0 w1 w2 --- s0 --- r0        evil: a port of the switch s0
              evil
"""
import os
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from worker import *  # noqa: E402,F403

NEED_LEN = 8
ETH_P_ALL = 3
OUTGOING = 4
tap = Tap()


def own_address(f, host, dev):
    text = f.host(host, 'ip', '-j', 'addr', 'show', 'dev', dev).stdout
    link = json_of(text)
    v4 = [a['local'] for a in link['addr_info'] if a['family'] == 'inet'][0]
    return bytes.fromhex(link['address'].replace(':', '')), v4


def own_mac(ns, dev):
    text = run('ip', '-n', ns, '-j', 'link', 'show', 'dev', dev).stdout
    return bytes.fromhex(json_of(text)['address'].replace(':', ''))


class Port:
    """A raw socket at a device of a namespace."""

    def __init__(self, ns, dev):
        with Netns(ns):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                      socket.htons(ETH_P_ALL))
            self.sock.bind((dev, ETH_P_ALL))
        self.sock.settimeout(0.2)

    def send(self, frame):
        self.sock.send(frame)


class Ear(threading.Thread):
    """Keeps the newest frames of each type that a port sees."""

    def __init__(self, port, outgoing):
        super().__init__(daemon=True)
        self.port, self.outgoing = port, outgoing
        self.heard = {}
        self.over = False
        self.start()

    def run(self):
        while not self.over:
            try:
                frame, where = self.port.sock.recvfrom(4096)
            except TimeoutError:
                continue
            if (where[2] == OUTGOING) != self.outgoing or len(frame) < 82 or \
                    frame[12:14] != b'\x08\x00' or frame[23] != 17:
                continue
            p = Packet(frame[42:])
            if p.version == WIRE_VERSION:
                self.heard.setdefault(p.type, []).append(frame)
                del self.heard[p.type][:-500]

    def packets(self, type):
        return [Packet(x[42:]) for x in self.heard.get(type, [])]


def checksum(data):
    total = sum(struct.unpack('>%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Evil:
    """Sends in the name of others."""

    def __init__(self, f, ear):
        self.port = Port(f.name + '-evil', 'eth0')
        self.relay = own_address(f, 'r0', 'p0')
        self.victim = own_address(f, 'w1', 'eth0')
        self.mac = own_mac(f.name + '-evil', 'eth0')
        self.ear = ear

    def frame(self, source, to, payload, port=PORT):
        udp = struct.pack('>4H', 40000, port, 8 + len(payload), 0) + payload
        ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(udp), 0, 0x4000,
                         64, 17, 0, socket.inet_aton(source[1]),
                         socket.inet_aton(to[1]))
        ip = ip[:10] + struct.pack('>H', checksum(ip)) + ip[12:]
        # Its own MAC: with another's, the switch would send it what that one is due.
        return to[0] + self.mac + b'\x08\x00' + ip + udp

    def again(self, frame):
        """A frame of the victim's that was recorded."""
        self.port.send(frame[:6] + self.mac + frame[12:])

    def up(self, payload):
        self.port.send(self.frame(self.victim, self.relay, payload))

    def down(self, payload):
        group = (bytes.fromhex('01005e4d0001'), '239.77.0.1')
        self.port.send(self.frame(self.relay, group, payload,
                                  self.ear.port_of_group))

    def forge(self):
        """Every type, with what came down: its secret, and its epoch."""
        p = self.ear.packets(RESULT)[-1]
        for auth in (p.auth, bytes(8), os.urandom(8)):
            for i in range(3):
                # Abort, blaming rank 1; the scale is the packet's number.
                self.up(HDR.pack(WIRE_VERSION, ABORT, UP, 0, 0, 0, 0, 0, 1, 1, 0, 1,
                                 DEAD, p.epoch, 0, 1, 1000 + i, auth))
                self.down(HDR.pack(WIRE_VERSION, ABORT, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0,
                                   DEAD, p.epoch, 0, 1, 1000 + i, auth))
            self.up(HDR.pack(WIRE_VERSION, ALIVE, UP, 0, 0, 0, 0, 0, 1, 1, 0, 1, p.chunk,
                             p.epoch, 0, 1, 1 << 29, auth))
            self.up(HDR.pack(WIRE_VERSION, NEED, UP, 0, 0, 0, 0, 1, 1, 1, 0, 1, p.chunk,
                             p.epoch, 0, 0, 1 << 29, auth) + bytes(NEED_LEN))
            for ahead in range(1, 40):
                for type in (GRAD, RESULT):
                    self.up(HDR.pack(WIRE_VERSION, type, UP, p.op, p.fmt, 0, 0, 0, 1, 1,
                                     0, 1, p.chunk + ahead, p.epoch, NVAL, 0,
                                     p.scale, auth) + bytes(NVAL * 4))
            self.up(HDR.pack(WIRE_VERSION, JOIN, UP, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0,
                             NVAL, 1, 0, auth) +
                    struct.pack('>QIIQ', 77, 0, 1, 0) + bytes(NVAL * 4 - 24))


def perf(f, *options):
    return [f.spawn('w%d' % k, 'trib-perf', '-b', '64k', '-e', '64k',
                    *options) for k in range(3)]


def ended(ranks):
    out = [(p.communicate()[0], p.returncode) for p in ranks]
    return all(rc == 0 for _, rc in out), out


def counters(f):
    rows = json.loads(f.trib('r0', '-j', 'stats', 'show'))
    return {r['name']: r['value'] for r in rows}


def attack(f, evil, ear, spy):
    ok, text = ended(perf(f, '-n', '5'))
    tap.test('first__job_ran', ok, text)
    joins = spy.heard.get(JOIN, [])[:]
    tap.test('first__joins_were_heard', joins)
    first = f.tree('r0')['epoch']
    ear.heard.clear()
    ranks = perf(f, '-n', '4000', '-c', '2')
    tap.test('second__runs', until(10, lambda: len(ear.heard.get(RESULT, []))
                                   > 20), f.tree('r0'))
    epoch = f.tree('r0')['epoch']
    before = counters(f)
    for _ in range(5):
        evil.forge()
        time.sleep(0.02)
    after = counters(f)
    tap.test('forged__are_counted', after['drop-auth'] -
             before['drop-auth'] > 100, after)
    tap.test('forged__joins_are_counted', until(5, lambda: json_of(
        f.trib('r0', '-j', 'status'))['unproven'] >= 15),
        f.trib('r0', 'status'))
    tap.test('forged__change_nothing', f.tree('r0')['epoch'] == epoch and
             all(p.poll() is None for p in ranks))

    # Signs of life, to have something to repeat: rank 2 stops for a moment.
    os.kill(ranks[2].pid, signal.SIGSTOP)
    heard = until(10, lambda: spy.heard.get(ALIVE))
    os.kill(ranks[2].pid, signal.SIGCONT)
    tap.test('recorded__signs_of_life_were_heard', heard)
    before = counters(f)

    def repeated():
        for frame in spy.heard.get(ALIVE, []) + spy.heard.get(NEED, []):
            evil.again(frame)
        return counters(f)['drop-replay'] > before['drop-replay']

    # The newest one counts as new if the relay has not had it itself.
    tap.test('recorded__control_is_counted', until(5, repeated), counters(f))
    for frame in joins:
        evil.again(frame)
    time.sleep(0.3)
    tap.test('recorded__joins_of_another_epoch_change_nothing',
             f.tree('r0')['epoch'] == epoch > first and
             all(p.poll() is None for p in ranks), first, f.tree('r0'))
    ok, text = ended(ranks)
    tap.test('job__ends_with_the_right_sums', ok, text)


def main():
    f = Fabric('forge', 'star', '--workers', '3', '--transport', 'udp',
               '--one-nic')
    ns = f.name + '-evil'
    try:
        run('ip', 'netns', 'add', ns)
        run('ip', '-n', ns, 'link', 'add', 'eth0', 'type', 'veth', 'peer',
            'name', 'evil0', 'netns', f.ns('s0'))
        run('ip', '-n', ns, 'link', 'set', 'eth0', 'up', 'promisc', 'on')
        run('ip', '-n', f.ns('s0'), 'link', 'set', 'evil0', 'master', 'br0',
            'up')
        ear = Ear(Port(ns, 'eth0'), False)
        ear.port_of_group = 7418
        spy = Ear(Port(f.ns('w1'), 'eth0'), True)
        attack(f, Evil(f, ear), ear, spy)
        ear.over = spy.over = True
    finally:
        run('ip', 'netns', 'del', ns, check=False)
        f.down()


need_root()
main()
sys.exit(tap.done())
