# SPDX-License-Identifier: BSD-2-Clause
"""tribd's netlink by kmod/trib.yaml alone, for tests of NDN: requests are
dicts by the names of the spec, and so are answers.

	nl = Nl(netns)
	nl.do('face-new', face={'name': 'a', 'ifname': 'v0', ...})
	nl.dump('pit-get', pit={'name': '/ps'})  ->  [{...}, ...]
"""
import ctypes
import errno
import os
import socket
import struct

import yaml

from tribd import TOP

USERSOCK, PORT, TYPE = 2, 0x74726962, 0x74
REQUEST, ACK, DUMP, TLVS = 1, 4, 0x300, 0x200
ERROR, DONE = 2, 3
INTS = {'u8': 'B', 'u16': 'H', 'u32': 'I', 'u64': 'Q'}
libc = ctypes.CDLL(None, use_errno=True)

with open(TOP + '/kmod/trib.yaml') as f:
    SPEC = yaml.safe_load(f)
SETS = {s['name']: s for s in SPEC['attribute-sets']}
OPS = {o['name']: i + 1 for i, o in enumerate(SPEC['operations']['list'])}


def setns(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        if libc.setns(fd, 0x40000000):
            raise OSError(ctypes.get_errno(), 'setns')
    finally:
        os.close(fd)


def socket_in(ns, *args):
    """A socket of another network namespace."""
    setns('/run/netns/' + ns.name)
    try:
        return socket.socket(*args)
    finally:
        setns('/proc/1/ns/net' if os.getpid() == 1 else OWN)


OWN = '/proc/self/fd/%d' % os.open('/proc/self/ns/net', os.O_RDONLY)


class Refused(Exception):
    def __init__(self, err, text):
        super().__init__('%s: %s' % (errno.errorcode.get(err, err), text))
        self.errno, self.text = err, text


def pack(set, values):
    out = b''
    for i, a in enumerate(SETS[set]['attributes']):
        v = values.get(a['name'])
        if v is None:
            continue
        for x in v if isinstance(v, list) else [v]:
            if a['type'] == 'nest':
                x = pack(a['nested-attributes'], x)
            elif a['type'] == 'string':
                x = x.encode() + b'\0'
            elif a['type'] in INTS:
                x = struct.pack('=' + INTS[a['type']], x)
            out += struct.pack('=HH', 4 + len(x), i + 1) + x + \
                bytes(-len(x) % 4)
    unknown = set_names(set, values)
    assert not unknown, unknown
    return out


def set_names(set, values):
    return values.keys() - {a['name'] for a in SETS[set]['attributes']}


def unpack(set, data):
    out = {}
    while len(data) >= 4:
        n, type = struct.unpack_from('=HH', data)
        a, v = SETS[set]['attributes'][(type & 0x3fff) - 1], data[4:n]
        if a['type'] == 'nest':
            v = unpack(a['nested-attributes'], v)
        elif a['type'] == 'string':
            v = v[:-1].decode()
        elif a['type'] in INTS:
            v, = struct.unpack('=' + INTS[a['type']], v)
        if a.get('multi-attr'):
            out.setdefault(a['name'], []).append(v)
        else:
            out[a['name']] = v
        data = data[(n + 3) & ~3:]
    return out


def addr(text):
    """16 bytes; IPv4 is mapped to IPv6."""
    if ':' in text:
        return socket.inet_pton(socket.AF_INET6, text)
    return bytes(10) + b'\xff\xff' + socket.inet_aton(text)


class Nl:
    def __init__(self, ns):
        self.s = socket_in(ns, socket.AF_NETLINK, socket.SOCK_RAW, USERSOCK)
        self.s.bind((0, 0))
        self.s.settimeout(10)
        self.seq = 0

    def _ask(self, op, flags, args):
        self.seq += 1
        body = pack('trib', args)
        self.s.sendto(struct.pack('=IHHIIBBH', 20 + len(body), TYPE,
                                  REQUEST | flags, self.seq, 0, OPS[op], 1, 0)
                      + body, (PORT, 0))
        while True:
            data = self.s.recv(1 << 17)
            while len(data) >= 16:
                n, type, fl, seq, _ = struct.unpack_from('=IHHII', data)
                p, data = data[16:n], data[(n + 3) & ~3:]
                if seq != self.seq:
                    continue
                if type == ERROR:
                    err = -struct.unpack_from('=i', p)[0]
                    text = p[24:].rstrip(b'\0').decode() if fl & TLVS else ''
                    if err:
                        raise Refused(err, text)
                    return
                if type == DONE:
                    return
                yield unpack('trib', p[4:])
                if not flags & DUMP:
                    return

    def do(self, op, **args):
        """The answer, or {}."""
        out = {}
        for m in self._ask(op, 0, args):
            out = next(iter(m.values()))
        return out

    def dump(self, op, **args):
        return [next(iter(m.values())) for m in self._ask(op, DUMP, args)]

    def refused(self, op, **args):
        """The error text, or None if the request succeeds."""
        try:
            self.do(op, **args)
        except Refused as e:
            return str(e)
