#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Hosts that send NDN packets made by hand, over UDP or Ethernet. As a program,
one host in the present network namespace; its router is $TRIB_PS_FORWARDER,
port 6363, its own port 6363 or $TRIB_NDN_PORT.

    ndn_host.py ask NAME              an Interest, until it is answered (20 s)
    ndn_host.py subscribe NAME COUNT  the same with /insert/NAME; then receive
                                      COUNT segments
    ndn_host.py serve NAME VERSION COUNT
                                      answer every Interest; at SIGUSR1 send
                                      segments of /distribute/NAME/v=VERSION
"""
import hashlib
import os
import select
import signal
import socket
import struct
import sys
import time

INTEREST, DATA = 5, 6
NUMBERS = {'v': 54, 'seg': 50}
ETHERTYPE = 0x8624


def num(n):
    return bytes([n]) if n < 253 else b'\xfd' + struct.pack('>H', n)


def tlv(type, value):
    return num(type) + num(len(value)) + value


def name_value(text):
    out = b''
    for c in text.strip('/').split('/'):
        word, eq, n = c.partition('=')
        if eq and word in NUMBERS:
            n = int(n)
            size = next(s for s in (1, 2, 4, 8) if n < 1 << 8 * s)
            out += tlv(NUMBERS[word], n.to_bytes(size, 'big'))
        else:
            out += tlv(8, c.encode())
    return out


def interest(name, prefix=False, fresh=False, life=4000, nonce=None, hops=None):
    body = tlv(7, name_value(name))
    body += (tlv(0x21, b'') if prefix else b'') + \
        (tlv(0x12, b'') if fresh else b'')
    body += tlv(0x0a, nonce or os.urandom(4)) + \
        tlv(0x0c, struct.pack('>H', life))
    if hops is not None:
        body += tlv(0x22, bytes([hops]))
    return tlv(INTEREST, body)


def data(name, content=b''):
    """@name: text, or the VALUE of a Name."""
    value = name if isinstance(name, bytes) else name_value(name)
    signed = tlv(7, value) + tlv(0x14, b'') + tlv(0x15, content) + \
        tlv(0x16, tlv(0x1b, b'\0'))
    return tlv(DATA, signed + tlv(0x17, hashlib.sha256(signed).digest()))


def elems(b):
    at = 0
    while at < len(b):
        head = []
        for _ in 0, 1:
            n = b[at]
            at += 1
            if n >= 253:
                size = 2 << (n - 253)
                n = int.from_bytes(b[at:at + size], 'big')
                at += size
            head.append(n)
        yield head[0], b[at:at + head[1]]
        at += head[1]


def read(packet):
    """(type, name, content)"""
    type, body = next(elems(packet))
    parts = list(elems(body))
    words = {v: k for k, v in NUMBERS.items()}
    text = ''.join('/%s=%d' % (words[t], int.from_bytes(v, 'big'))
                   if t in words else '/' + v.decode()
                   for t, v in elems(parts[0][1]))
    content = next((v for t, v in parts[1:] if t == 0x15), None) \
        if type == DATA else None
    return type, text, content


class Host:
    """Sends to one router and reads packets from it."""

    def __init__(self, ns, to, port=6363, src=6363, addr=None):
        from ndn_nl import socket_in
        v6 = ':' in to
        self.s = socket_in(ns, socket.AF_INET6 if v6 else socket.AF_INET,
                           socket.SOCK_DGRAM)
        self.s.bind((addr or ('::' if v6 else '0.0.0.0'), src))
        self.to = (to, port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()

    def put(self, packet):
        self.s.sendto(packet, self.to)

    def take(self):
        return self.s.recv(9000)

    def ask(self, name, **kw):
        self.put(interest(name, **kw))

    def tell(self, name, content=b''):
        self.put(data(name, content))

    def get(self, seconds=2.0):
        """The next packet, or None."""
        if not select.select([self.s], [], [], seconds)[0]:
            return None
        return read(self.take())

    def want(self, type, name, seconds=2.0):
        """Read until this packet comes. Return: the last packet."""
        end, last = time.monotonic() + seconds, None
        while True:
            p = self.get(max(end - time.monotonic(), 0))
            if p is None:
                return last
            last = p
            if p[:2] == (type, name):
                return p

    def quiet(self, seconds=0.2):
        """Does no packet come?"""
        return self.get(seconds) is None

    def drain(self):
        while self.get(0):
            pass


class EtherHost(Host):
    """The same with EtherType 0x8624."""

    def __init__(self, ns, dev, mac, to):
        from ndn_nl import socket_in
        self.s = socket_in(ns, socket.AF_PACKET, socket.SOCK_RAW,
                           socket.htons(ETHERTYPE))
        self.s.bind((dev, ETHERTYPE))
        self.head = b''.join(bytes.fromhex(m.replace(':', ''))
                             for m in (to, mac)) + struct.pack('>H', ETHERTYPE)

    def put(self, packet):
        self.s.send((self.head + packet).ljust(60, b'\0'))

    def take(self):
        return self.s.recv(9000)[14:]


# --- the program

LOST = (TimeoutError, ConnectionError)


def name_of(packet):
    """The VALUE of the name of an Interest or Data."""
    return next(elems(next(elems(packet))[1]))[1]


def link():
    router = os.environ['TRIB_PS_FORWARDER']
    s = socket.socket(socket.AF_INET6 if ':' in router else socket.AF_INET,
                      socket.SOCK_DGRAM)
    s.bind(('', int(os.environ.get('TRIB_NDN_PORT', '6363'))))
    s.connect((router, 6363))
    s.settimeout(0.05)
    return s


def ask(s, text):
    for _ in range(100):
        try:
            s.send(interest(text))
        except LOST:
            pass
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            try:
                return s.recv(9000)
            except LOST:
                pass
    return None


def subscribe(text, count):
    s, got = link(), set()
    if not ask(s, '/insert' + text):
        return 1
    print('subscribed', flush=True)
    end = time.monotonic() + 20
    start = name_value('/distribute' + text + '/v=0')[:-3]
    while len(got) < count and time.monotonic() < end:
        try:
            p = s.recv(9000)
        except LOST:
            continue
        if p[0] == DATA and name_of(p).startswith(start):
            got.add(name_of(p))
    return len(got) != count


def serve(text, version, count):
    s, go = link(), []
    insert, distribute = name_value('/insert'), name_value('/distribute')
    signal.signal(signal.SIGUSR1, lambda *_: go.append(1))
    print('ready', flush=True)
    while True:
        if go:
            go.clear()
            for i in range(count):
                s.send(data(f'/distribute{text}/v={version}/seg={i}',
                            bytes(500)))
        try:
            p = s.recv(9000)
        except LOST:
            continue
        if p[0] != INTEREST:
            continue
        name = name_of(p)
        if name.startswith(insert):
            name = distribute + name[len(insert):]
        s.send(data(name))


def main():
    match sys.argv[1:]:
        case ['ask', text]:
            return ask(link(), text) is None
        case ['subscribe', text, count]:
            return subscribe(text, int(count))
        case ['serve', text, version, count]:
            return serve(text, int(version), int(count))
    sys.exit(__doc__)


if __name__ == '__main__':
    sys.exit(main())
