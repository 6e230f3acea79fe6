#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Hosts that flood the tables of an NDN router: others must not notice. Each
floods as fast as a process can send, while w0 asks, subscribes and is answered.

	ps -- r1 -- r2 -- w0
	             |--- x     no right
	             |--- y     the rights of a worker
	             '--- z     no face of its own kind: an unknown sender
"""
import os
import signal
import socket
import struct
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import Tap, need, skip_all, wait_for  # noqa: E402
try:
    import yaml  # noqa: F401
except ImportError:
    skip_all('python3-yaml is not installed')
from ndn_host import DATA, INTEREST, Host, interest  # noqa: E402
from ndn_net import Net  # noqa: E402

ASKED = 200
FLOOD = 4400
JOB = '/hand/job'
SO_RCVBUFFORCE = 33
WORKER = {'write': ['/y'], 'subscribe': ['/hand']}

need()
tap = Tap()
net = Net({'r1': ['ps', 'r2'], 'r2': ['w0', 'x', 'y', 'z']}, lease=30.0,
          rights={'ps': {'write': ['/hand']},
                  'w0': {'write': ['/w0'], 'subscribe': ['/hand']},
                  'x': {'write': [], 'subscribe': []}, 'y': WORKER})
net.route('/hand', 'r2', 'r1', 'ps')


class Flood:
    """A process that sends Interests for ever: long ones, whose names begin with
    @prefix and have @names different ends, each time with another nonce."""

    def __init__(self, host, prefix, names=1 << 20, src=6363):
        self.seen = net.stat('r2', 'rx-interest')
        self.pid = os.fork()
        if not self.pid:
            try:
                self.send(Host(net.ns[host], net.router_of(host)[0], src=src),
                          prefix, names)
            finally:
                os._exit(1)

    @staticmethod
    def send(host, prefix, names):
        packet = interest(prefix + '/xxxxxxxx', life=60000, nonce=b'nnnn')
        name, nonce = packet.index(b'xxxxxxxx'), packet.index(b'nnnn')
        packet, n = bytearray(packet), 0
        while True:
            packet[name:name + 8] = b'%08x' % (n % names)
            packet[nonce:nonce + 4] = struct.pack('=I', n)
            n += 1
            host.s.sendto(packet, host.to)

    def __enter__(self):
        if not wait_for(lambda: net.stat('r2', 'rx-interest') - self.seen >
                        FLOOD):
            raise RuntimeError('no flood arrives')
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def host(name):
    """An end, with room for what passes while Python is slow: thousands a second."""
    h = Host(net.ns[name], net.router_of(name)[0])
    h.s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
    return h


def answered(what):
    """How many of ASKED Interests of w0 are answered, each asked once."""
    n, ps, w0 = 0, host('ps'), host('w0')
    for i in range(ASKED):
        name = '/hand/%s/%d' % (what, i)
        w0.ask(name)
        up = ps.want(INTEREST, name, 1)
        if up and up[:2] == (INTEREST, name):
            ps.tell(name, b'here')
            down = w0.want(DATA, name, 1)
            n += bool(down and down[:2] == (DATA, name))
        if i - n > 10:
            break
    ps.s.close()
    w0.s.close()
    return n


def no_right():
    with Flood('x', '/hand/nothing'):
        tap.same('no_right__others_are_answered', answered('one'), ASKED)
    tap.ok('no_right__is_refused', net.stat('r2', 'drop-quota') > FLOOD / 2)
    tap.same('no_right__fills_nothing', net.stat('r2', 'drop-full'), 0)


def a_right():
    before = net.stat('r2', 'drop-quota')
    with Flood('y', '/hand/nothing'):
        tap.same('a_right__others_are_answered', answered('two'), ASKED)
        with Flood('x', '/hand/neither'):
            tap.same('a_right__with_one_without_too', answered('three'), ASKED)
    tap.ok('a_right__is_refused', net.stat('r2', 'drop-quota') > before)


def subscriptions():
    """Names of jobs that do not exist, each of them an entry."""
    before = net.stat('r2', 'drop-quota')
    with Flood('y', '/insert/hand'), host('ps') as ps, host('w0') as w0:
        # Without a quota the flood goes on until all rows are taken.
        wait_for(lambda: net.stat('r2', 'drop-quota') > before + FLOOD or
                 net.stat('r2', 'drop-full') > FLOOD)
        tap.ok('subscriptions__flood_is_refused',
               net.stat('r2', 'drop-quota') > before + FLOOD)
        got = 0
        for i in range(10):
            name = '%s%d' % (JOB, i)
            w0.ask('/insert' + name)
            up = ps.want(INTEREST, '/insert' + name, 1)
            if up and up[:2] == (INTEREST, '/insert' + name):
                ps.tell('/distribute' + name)
                down = w0.want(DATA, '/distribute' + name, 1)
                got += bool(down and down[:2] == (DATA, '/distribute' + name))
        tap.same('subscriptions__of_others_find_room', got, 10)
        tap.ok('subscriptions__entries_remain',
               net.subscribers('r2', JOB + '9') == ['w0'])


def unknown():
    """Nobody knows the sender: its reports fill a ring that others need."""
    with Flood('z', '/hand/nothing', src=7777):
        tap.same('unknown__others_are_answered', answered('four'), ASKED)
        tap.ok('unknown__tribd_answers', net.nl['r2'].dump('face-get'))


def main():
    no_right()
    a_right()
    subscriptions()
    # Counters of Interests do not include those of strangers.
    Flood.__enter__ = lambda self: wait_for(
        lambda: net.stat('r2', 'drop-face') > FLOOD) and self
    unknown()
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())
