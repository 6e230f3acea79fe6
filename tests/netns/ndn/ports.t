#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd --ndn: ports that are shared, without native XDP, gone and back; and
neighbours whose address changes.

    ps eth0 --- v0 \\        / v1 --- eth0 w0 (two addresses)
                    -- r --- v2 --- eth0 w1 (MTU 9000: no native XDP)
                            \\ v3 --- eth0 w2
"""
import os
import socket
import struct
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403
try:
    import yaml  # noqa: F401
except ImportError:
    skip_all('python3-yaml is not installed')
from ndn_host import DATA, INTEREST, Host, data  # noqa: E402
from ndn_nl import Nl, addr, socket_in  # noqa: E402

ARGS = ('--ndn', '64', '--ndn-cache', '0', '--slots', '64', '--trees', '8')
JOB = '/ps/job'
HOST = 2

need()
tap = Tap()
r, p, w = Netns('r'), Netns('p'), [Netns('w%d' % i) for i in range(3)]
veth(r, 'v0', '10.7.0.1/24', p, 'eth0', '10.7.0.2/24')
for i in range(3):
    veth(r, 'v%d' % (i + 1), '10.7.%d.1/24' % (i + 1), w[i], 'eth0',
         ['10.7.%d.%d/24' % (i + 1, a) for a in (2, 3)])
for ns, dev in (r, 'v2'), (w[1], 'eth0'):
    ns.ip('link', 'set', dev, 'mtu', '9000')
for ns in [p] + w:
    ns.run('ethtool', '-K', 'eth0', 'gro', 'on')

inst = use_instance('net-%d' % r.inode())
d = Tribd(r, *ARGS)
nl = Nl(r)


def face(name, dev, ip, **ndn):
    nl.do('face-new', face={'name': name, 'ifname': dev, 'addr': addr(ip),
                            'ndn': HOST, **{'ndn-' + k: v
                                            for k, v in ndn.items()}})


def known(*names):
    return wait_for(lambda: all('mac' in nl.do('face-get', face={'name': n})
                                for n in names))


def row(name):
    """A row of the map ndn_faces."""
    n = nl.do('face-get', face={'name': name})['ndn-number']
    return Pins(inst).lookup('ndn_faces', n)


face('ps', 'v0', '10.7.0.2', write=['/ps'])
face('a', 'v1', '10.7.1.2', subscribe=['/ps'])
face('b', 'v1', '10.7.1.3', subscribe=['/ps'])
face('c', 'v2', '10.7.2.2', subscribe=['/ps'])
face('d', 'v3', '10.7.3.2', subscribe=['/ps'])
nl.do('route-new', route={'prefix': '/ps', 'face': 'ps'})
known('ps', 'a', 'b', 'c', 'd')
ps = Host(p, '10.7.0.1')
host = {}
for name, ns, net, mine in (('a', 0, 1, 2), ('b', 0, 1, 3), ('c', 1, 2, 2),
                            ('d', 2, 3, 2)):
    h = host[name] = Host(w[ns], '10.7.%d.1' % net,
                          addr='10.7.%d.%d' % (net, mine))


def subscribe(name, tries=3):
    for _ in range(tries):
        host[name].ask('/insert' + JOB)
        if ps.want(INTEREST, '/insert' + JOB, 0.5):
            ps.tell('/distribute' + JOB)
        got = host[name].want(DATA, '/distribute' + JOB, 1)
        if got and got[1] == '/distribute' + JOB:
            return got


version = 0


def copies(who):
    """Each of them receives a segment, and no other host does."""
    global version
    for h in host.values():
        h.drain()
    version += 1
    name = '/distribute%s/v=%d/seg=0' % (JOB, version)
    ps.tell(name, b'x' * 900)
    good = [n for n in who if host[n].want(DATA, name) ==
            (DATA, name, b'x' * 900)]
    return good == list(who) and all(
        h.quiet(0.05) for n, h in host.items() if n not in who)


mode = {f['name']: f['xdp-mode'] for f in nl.dump('face-get')}
tap.same('ports__are_native_and_generic', (mode['a'], mode['c']), (1, 2))
tap.ok('shared__first_is_acknowledged', subscribe('a'))
tap.ok('shared__only_it_gets_copies', copies('a'))
tap.ok('shared__other_is_acknowledged', subscribe('b'))
tap.ok('shared__both_get_copies', copies('ab'))
tap.ok('generic__is_acknowledged', subscribe('c'))
tap.ok('generic__gets_copies', copies('abc'))
tap.ok('native__is_acknowledged', subscribe('d'))
tap.ok('native__gets_copies_beside_others', copies('abcd'))

nl.do('face-del', face={'name': 'a'})
tap.ok('shared__first_one_goes_and_the_other_stays', copies('bcd'))
face('a', 'v1', '10.7.1.2', subscribe=['/ps'])
known('a')
tap.ok('shared__it_comes_back_as_no_subscriber', copies('bcd') and
       subscribe('a') and copies('abcd'))

# --- frames with our marks, as they are between our programs
FORMS = {
    '802.1ad': b'\x88\xa8\0\x05\x08\0',
    'two tags': b'\x81\0\0\x05\x81\0\0\x06\x08\0',
    'three tags': b'\x81\0\0\x05\x81\0\0\x06\x81\0\0\x07\x08\0',
    'IPv4': b'\x08\0',
    'IPv6 of version 5': b'\x86\xdd',
    'other type': b'\x99\x99',
}


def forge(ns, form, tail):
    """All flights that the router may just have sent, and groups of trib_xdp,
    with another packet in their frame."""
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 28 + len(tail), 0, 0, 64, 17, 0,
                     bytes([10, 7, 3, 2]), bytes([10, 7, 3, 1]))
    if 'IPv6' in form:
        ip = struct.pack('>IHBB16s16s', 5 << 28, 8 + len(tail), 17, 64,
                         bytes(16), bytes(16))
    rest = FORMS[form] + ip + struct.pack('>HHHH', 6363, 6363, 8 + len(tail),
                                          0) + tail
    s = socket_in(ns, socket.AF_PACKET, socket.SOCK_RAW)
    s.bind(('eth0', 0))
    for place in [c * 1024 + k for c in range(os.cpu_count())
                  for k in range(48)]:
        s.send(struct.pack('=IHHI', place % 1024, 0, 0x6e03, place) + rest)
        s.send(struct.pack('=IHHI', 0, 0, 0x5403, place % 1024) + rest)
    s.close()
    return 2 * 48 * os.cpu_count()


def stat(name):
    return {s['name']: s['value'] for s in nl.dump('stats-get')}[name]


# A later version: those who get it drop the genuine ones as seen.
late = data('/distribute%s/v=1000/seg=0' % JOB, b'forged')
for h in host.values():
    h.drain()
slow, n = stat('ndn-tx-slow'), stat('drop-mark')
for stranger in w[2], w[1]:
    for form in FORMS:
        n += forge(stranger, form, late)
tap.ok('forged__marks_are_dropped', wait_for(lambda: stat('drop-mark') >= n),
       '%d of %d' % (stat('drop-mark'), n))
tap.ok('forged__nobody_gets_anything', stat('ndn-tx-slow') == slow and
       all(h.quiet(0.05) for h in host.values()))
tap.ok('forged__genuine_versions_go_on', copies('abcd'))

# --- the device of d is replaced by one of the same name
r.ip('link', 'del', 'v3')
gone = wait_for(lambda: nl.do('face-get', face={'name': 'd'})['ifindex'] == 0)
tap.ok('device__that_is_gone_is_noticed', gone and row('d')['flags'] == 0,
       row('d'))
tap.ok('device__others_go_on', copies('abc'))
veth(r, 'v3', '10.7.3.1/24', w[2], 'eth0', '10.7.3.2/24')
w[2].run('ethtool', '-K', 'eth0', 'gro', 'on')
wait_for(lambda: row('d')['flags'])
tap.ok('device__that_is_back_gets_what_it_had_subscribed', copies('abcd'),
       row('d'))

# --- another MAC address at the same IP address
w[2].ip('link', 'set', 'eth0', 'address', '02:00:00:00:09:09')
w[2].run('ping', '-c1', '-W1', '10.7.3.1', ok=False)
r.ip('neigh', 'replace', '10.7.3.2', 'lladdr', '02:00:00:00:09:09', 'dev',
     'v3')
tap.ok('neighbour__with_another_mac_address_is_followed',
       wait_for(lambda: mac_text(row('d')['dmac']) == '02:00:00:00:09:09'),
       row('d'))
tap.ok('neighbour__gets_copies_there', copies('abcd'))

# --- tribd is killed and adopts everything attached
d.end(9)
d = Tribd(r, *ARGS)
tap.ok('restart__all_of_it_goes_on', copies('abcd'), d.log())
d.end()
status, log = tribd_fails(r, '--ndn-cache', '8')
tap.ok('options__cache_without_names_is_refused', status == 2 and
       'without --ndn' in log, log)
d = Tribd(r, '--ndn', '640', '--ndn-cache', '0')
tap.has('options__another_size_starts_anew', d.log(),
        'pinned maps do not fit: ')
tap.ok('options__subscribers_renew', subscribe('a') and copies('a'))
tap.done()
