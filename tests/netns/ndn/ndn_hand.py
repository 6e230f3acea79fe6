#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ends of the NDN protocol, as far as routers see them. All packets go to
the router at $TRIB_PS_FORWARDER, port 6363, from port 6363 ($TRIB_NDN_PORT).

    ndn_hand.py ask NAME              an Interest, until it is answered (20 s)
    ndn_hand.py subscribe NAME COUNT  the same with /insert/NAME; then until so
                                      many segments are there
    ndn_hand.py serve NAME VERSION COUNT
                                      answers all that comes; at SIGUSR1, sends
                                      segments of /distribute/NAME/v=VERSION
"""
import hashlib
import os
import random
import signal
import socket
import sys
import time

LOST = (TimeoutError, ConnectionError)


def tlv(kind, value):
    n = len(value)
    return bytes([kind]) + (bytes([n]) if n < 253
                            else b'\xfd' + n.to_bytes(2, 'big')) + value


def number(v):
    return v.to_bytes(next(n for n in (1, 2, 4, 8) if v < 256 ** n), 'big')


def name(text):
    """The VALUE of a name: "/a/v=1/seg=0"."""
    out = b''
    for c in text.strip('/').split('/'):
        kind, _, v = c.rpartition('=')
        out += (tlv({'v': 0x36, 'seg': 0x32}[kind], number(int(v))) if kind
                else tlv(8, c.encode()))
    return out


def interest(text):
    return tlv(5, tlv(7, name(text)) + tlv(10, random.randbytes(4)) +
               tlv(12, (4000).to_bytes(2, 'big')))


def data(value, content=b''):
    body = tlv(7, value) + tlv(0x15, content) + tlv(0x16, tlv(0x1b, b'\0'))
    return tlv(6, body + tlv(0x17, hashlib.sha256(body).digest()))


def name_of(packet):
    at = 2 if packet[1] < 253 else 4
    return packet[at + 2:at + 2 + packet[at + 1]]


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
    start = name('/distribute' + text + '/v=0')[:-3]
    while len(got) < count and time.monotonic() < end:
        try:
            p = s.recv(9000)
        except LOST:
            continue
        if p[0] == 6 and name_of(p).startswith(start):
            got.add(name_of(p))
    return len(got) != count


def serve(text, version, count):
    s, go = link(), []
    insert, distribute = name('/insert'), name('/distribute')
    signal.signal(signal.SIGUSR1, lambda *_: go.append(1))
    print('ready', flush=True)
    while True:
        if go:
            go.clear()
            for i in range(count):
                s.send(data(name(f'/distribute{text}/v={version}/seg={i}'),
                            bytes(500)))
        try:
            p = s.recv(9000)
        except LOST:
            continue
        if p[0] != 5:
            continue
        what = name_of(p)
        if what.startswith(insert):
            what = distribute + what[len(insert):]
        s.send(data(what))


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
