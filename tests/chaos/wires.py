# SPDX-License-Identifier: BSD-2-Clause
"""The wires of the fabric and the devices at their ends: faults of packets, carrier,
devices that go and come back.
"""
import json
import os
import re
import socket
import struct
import subprocess

from tribd import BPFTOOL
from worker import Netns, bpf_get, bpf_lookup, bpf_update

ROW = 64  # bytes of struct wire_end
# Those that scripts/lib/fabric-net.sh gives faulty wires.
OFFLOADS = ('gro', 'on', 'tx-udp-segmentation', 'off', 'tso', 'off', 'gso',
            'off', 'tx', 'off')


def run(*argv, ok=True, **more):
    """The output of a command. Its failure raises RuntimeError."""
    p = subprocess.run(argv, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                       **more)
    if ok and p.returncode:
        raise RuntimeError('%s: %d: %s' % (' '.join(argv), p.returncode,
                                           p.stdout[-2000:]))
    return p.stdout


class Wires:
    """ends: (host, device) -> the device in the namespace of the wires."""

    def __init__(self, world, fabric):
        """@fabric: the file with the fabric's tables."""
        self.world, self.ends = world, {}
        with open(fabric) as f:
            links = re.search(r'links=\((.*)\)', f.read())[1]
        rows = re.findall(r'"(\S+) (\S+) (\S+) (\S+)"', links)
        for i, (a, dev_a, b, dev_b) in enumerate(rows):
            self.ends[a, dev_a], self.ends[b, dev_b] = 'a%d' % i, 'b%d' % i
        # Pins the program, for ends that are made again.
        out = json.loads(world.on('wires', 'tc', '-j', 'filter', 'show', 'dev',
                                  'a0', 'ingress'))
        prog = next(f['options']['prog']['id'] for f in out
                    if 'prog' in f.get('options', {}))
        run(BPFTOOL, 'prog', 'pin', 'id', str(prog), world.pin)
        self.index = {e: self.index_of(e) for e in self.ends.values()}

    def index_of(self, end):
        with Netns(self.world.ns('wires')):
            return socket.if_nametoindex(end)

    def spoil(self, *chances):
        """Loss, duplication, reordering on all wires, as fractions of 1. Returns
        how many packets there were so far: all, lost, doubled, late."""
        fd = bpf_get('/sys/fs/bpf/trib-fabric-' + self.world.name)
        seen = []
        for i in self.index.values():
            row = bpf_lookup(fd, i, ROW)
            packets, _, *spoilt = struct.unpack_from('=5Q', row, 16)
            seen.append((packets, *spoilt))
            struct.pack_into('=III', row, 4,
                             *(int(x * 2 ** 32) for x in chances))
            bpf_update(fd, i, row)
        os.close(fd)
        return [sum(x) for x in zip(*seen)]

    def carrier(self, host, dev, on):
        self.world.on('wires', 'ip', 'link', 'set', self.ends[host, dev],
                      'up' if on else 'down')

    def addresses(self, host):
        """Gives devices the addresses and routes that they lack, as a host's
        network manager does."""
        with open('%s/%s.ip' % (self.world.state, host)) as f:
            subprocess.run(['ip', '-n', self.world.ns(host), '-force',
                            '-batch', '-'], stdin=f, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)

    def remove(self, host, dev):
        self.world.on(host, 'ip', 'link', 'del', dev)

    def make(self, host, dev):
        """Makes a removed device and its far end, which gets its former index:
        the wire knows it by that."""
        w, end = self.world, self.ends[host, dev]
        run('ip', '-n', w.ns('wires'), 'link', 'add', end, 'index',
            str(self.index[end]), 'type', 'veth', 'peer', 'name', dev, 'netns',
            w.ns(host))
        w.on('wires', 'tc', 'qdisc', 'add', 'dev', end, 'clsact')
        w.on('wires', 'tc', 'filter', 'add', 'dev', end, 'ingress', 'bpf',
             'da', 'pinned', w.pin)
        for ns, d in ((host, dev), ('wires', end)):
            w.on(ns, 'ethtool', '-K', d, *OFFLOADS)
            w.on(ns, 'ip', 'link', 'set', d, 'up')
        self.addresses(host)
        for ns, d in ((host, dev), ('wires', end)):
            # XDP features are computed when GRO comes while both are up.
            w.on(ns, 'ethtool', '-K', d, 'gro', 'off')
            w.on(ns, 'ethtool', '-K', d, 'gro', 'on')
