#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Packets for UDP port 7417 of other hosts: the kernel's to forward or not; XDP
forwards them for faces with the right only.

    a --- v0 \\
    c --- v2 -- r --- v1 --- b

The kernel's policy is a queue of v1 that drops everything: packets that the kernel
forwards meet it as they meet the chain FORWARD, and those that XDP sends do not.
"""
import ctypes
import os
import socket
import struct
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403

GRAD = struct.pack('>8B4H2I2HIQ', 3, 1, 1, 0, 1, 0, 0, 0, 77, 7, 0, 0, 1, 1, 16, 0,
                   0, 1) + bytes(64)

need()
tap = Tap()
r, hosts = Netns('r'), {name: Netns(name) for name in 'abc'}
for i, name in enumerate('abc'):
    veth(r, 'v%d' % i, '10.6.%d.1/24' % i, hosts[name], 'eth0', '10.6.%d.2/24' % i)
    hosts[name].run('ethtool', '-K', 'eth0', 'gro', 'on')
    hosts[name].ip('route', 'add', 'default', 'via', '10.6.%d.1' % i)
r.run('sysctl', '-qw', 'net.ipv4.ip_forward=1')
inst = use_instance('net-%d' % r.inode())
d = Tribd(r, '--slots', '64', '--trees', '8')
trib = Cli(r)
for i, name in enumerate('abc'):
    trib('face add %s dev v%d addr 10.6.%d.2' % (name, i, i))
wait_for(lambda: all('mac' in f for f in trib.json('face show')))


libc = ctypes.CDLL(None, use_errno=True)


def enter(path):
    with open(path) as ns:
        if libc.setns(ns.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), 'setns ' + path)


def udp(name, port):
    """A socket of another host."""
    with open('/proc/self/ns/net') as home:
        enter('/run/netns/' + hosts[name].name)
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        enter('/proc/self/fd/%d' % home.fileno())
    s.bind(('0.0.0.0', port))
    s.settimeout(0.4)
    return s


sock = {name: udp(name, 7417) for name in 'abc'}


def stat(name):
    return {s['name']: s['value'] for s in trib.json('stats show')}[name]


def arrives(name, to='10.6.1.2'):
    """Does a packet of the host get to b? And how many does XDP pass?"""
    before = stat('relayed')
    sock[name].sendto(GRAD, (to, 7417))
    try:
        good = sock['b'].recv(4096) == GRAD
    except TimeoutError:
        good = False
    return good, stat('relayed') - before


def policy(drop):
    r.run('tc', 'qdisc', *(('add', 'dev', 'v1', 'root', 'blackhole') if drop else
                           ('del', 'dev', 'v1', 'root')))


r.ip('neigh', 'replace', '10.6.1.2', 'lladdr', hosts['b'].mac('eth0'), 'dev', 'v1')
tap.same('default__the_kernel_forwards', arrives('a'), (True, 0))
policy(True)
tap.same('default__its_policy_holds', [arrives(n) for n in 'ac'], [(False, 0)] * 2)

trib('face set a forward yes')
tap.same('right__is_shown', [f.get('forward') for f in trib.json('face show')],
         ['yes', None, None])
tap.same('right__xdp_forwards', arrives('a'), (True, 1))
tap.same('right__is_of_that_face_alone', arrives('c'), (False, 0))
hosts['a'].ip('link', 'set', 'eth0', 'address', '02:00:00:00:07:07')
tap.same('right__is_of_that_neighbour_alone', arrives('a'), (False, 0))
r.ip('neigh', 'replace', '10.6.0.2', 'lladdr', '02:00:00:00:07:07', 'dev', 'v0')
tap.ok('right__follows_its_mac_address',
       wait_for(lambda: arrives('a') == (True, 1)))
before = stat('drop-tree')
sock['a'].sendto(GRAD, ('10.6.0.1', 7417))
tap.ok('right__packets_for_us_are_dropped',
       wait_for(lambda: stat('drop-tree') == before + 1))

d.end(9)
d = Tribd(r, '--slots', '64', '--trees', '8')
tap.same('restart__the_right_stays', arrives('a'), (True, 1))
trib('face set a forward no')
tap.same('right__can_be_taken_away', arrives('a'), (False, 0))
trib('face set a forward yes')
trib('face del a')
trib('face add a dev v0 addr 10.6.0.2')
tap.same('right__ends_with_the_face', arrives('a'), (False, 0))
policy(False)
tap.same('none__the_kernel_forwards', arrives('a'), (True, 0))
tap.done()
