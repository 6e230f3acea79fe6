# SPDX-License-Identifier: BSD-2-Clause
"""Secrets of packets, written from kmod/uapi/trib_auth.h: SipHash-2-4, the keys
that follow from a job's key, and what a packet proves by them."""
import ipaddress
import struct

MASK = (1 << 64) - 1
UP, DOWN, TREE, NODE, DATA = (int.from_bytes(x, 'little') for x in
                              (b'up', b'down', b'tree', b'node', b'data'))
RELAYS = 0xffff


def _rotl(x, n):
    return (x << n | x >> (64 - n)) & MASK


def _rounds(v, n):
    for _ in range(n):
        v[0] = (v[0] + v[1]) & MASK
        v[2] = (v[2] + v[3]) & MASK
        v[1] = _rotl(v[1], 13) ^ v[0]
        v[3] = _rotl(v[3], 16) ^ v[2]
        v[0] = _rotl(v[0], 32)
        v[2] = (v[2] + v[1]) & MASK
        v[0] = (v[0] + v[3]) & MASK
        v[1] = _rotl(v[1], 17) ^ v[2]
        v[3] = _rotl(v[3], 21) ^ v[0]
        v[2] = _rotl(v[2], 32)


def siphash(key, data):
    k = struct.unpack('<2Q', key)
    v = [k[0] ^ 0x736f6d6570736575, k[1] ^ 0x646f72616e646f6d,
         k[0] ^ 0x6c7967656e657261, k[1] ^ 0x7465646279746573]
    whole = len(data) // 8 * 8
    last = data[whole:].ljust(7, b'\0') + bytes([len(data) & 255])
    for m in struct.iter_unpack('<Q', data[:whole] + last):
        v[3] ^= m[0]
        _rounds(v, 2)
        v[0] ^= m[0]
    v[2] ^= 0xff
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _derive(key, purpose, number):
    return b''.join(struct.pack('<Q', siphash(key, struct.pack(
        '<QQ', purpose, number | half << 32))) for half in (0, 1))


def of_rank(job, rank):
    return _derive(job, UP, rank)


def of_members(job):
    return _derive(job, DOWN, 0)


def of_tree(key, tree):
    return _derive(key, TREE, tree)


def of_node(key, address):
    """Of a relay that sends from that address."""
    a = ipaddress.ip_address(address)
    raw = a.packed if a.version == 6 else bytes(10) + b'\xff\xff' + a.packed
    return b''.join(struct.pack('<Q', siphash(key, struct.pack(
        '<Q', NODE | half << 32) + raw)) for half in (0, 1))


def secret(key):
    """Of data packets, as on the wire."""
    return struct.pack('<Q', siphash(key, struct.pack('<QQ', DATA, 0)))


def sign(key, packet):
    """The packet with its authenticator."""
    auth = struct.pack('<Q', siphash(key, packet[:32] + packet[40:]))
    return packet[:32] + auth + packet[40:]


def of_ticket(job, rank):
    """The parameter of a ticket; @job in hexadecimal digits."""
    job = bytes.fromhex(job)
    return 'keys=%s:%s' % (of_rank(job, rank).hex(), of_members(job).hex())
