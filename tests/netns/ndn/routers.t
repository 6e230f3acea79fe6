#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd --ndn: subscriptions, distributions and Interests over two routers, also
while tribd restarts, maps are lost and routes are deleted.

                                   w0 eth0 --- u1 \\
    ps eth0 --- v0 -- r1 -- v1 --- u0 -- r2 -- u2 --- eth0 w1
                      v2                 u3 --- eth0 w2 (IPv6)
                       \\                 u4 --- eth0 w3 (Ethernet)
                        x0 -- r3 -- x1 --- u5
"""
import os
import struct
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403
try:
    import yaml  # noqa: F401
except ImportError:
    skip_all('python3-yaml is not installed')
from ndn_host import DATA, INTEREST, EtherHost, Host, interest  # noqa: E402
from ndn_nl import Nl, addr  # noqa: E402

LEASE = 3.0
ARGS = ('--ndn', '1024', '--ndn-cache', '64', '--slots', '64', '--trees',
        '8')
JOB = '/ps/job'
NONE, ROUTER, HOST = 0, 1, 2

need()
tap = Tap()
ns = {n: Netns(n) for n in ('ps', 'r1', 'r2', 'r3', 'w0', 'w1', 'w2', 'w3')}
veth(ns['r1'], 'v0', '10.7.0.1/24', ns['ps'], 'eth0', '10.7.0.2/24')
veth(ns['r1'], 'v1', '10.7.1.1/24', ns['r2'], 'u0', '10.7.1.2/24')
veth(ns['r2'], 'u1', '10.7.2.1/24', ns['w0'], 'eth0', '10.7.2.2/24')
veth(ns['r2'], 'u2', '10.7.3.1/24', ns['w1'], 'eth0', '10.7.3.2/24')
veth(ns['r2'], 'u3', 'fd07::1/64', ns['w2'], 'eth0', 'fd07::2/64')
veth(ns['r2'], 'u4', '10.7.5.1/24', ns['w3'], 'eth0', '10.7.5.2/24')
veth(ns['r1'], 'v2', '10.7.6.1/24', ns['r3'], 'x0', '10.7.6.2/24')
veth(ns['r2'], 'u5', '10.7.7.1/24', ns['r3'], 'x1', '10.7.7.2/24')
for end in ('ps', 'w0', 'w1', 'w2', 'w3'):
    # Without GRO or XDP of its own a veth loses what XDP sends it.
    ns[end].run('ethtool', '-K', 'eth0', 'gro', 'on')

inst = {r: use_instance('net-%d' % ns[r].inode()) for r in ('r1', 'r2', 'r3')}
daemon = {r: Tribd(ns[r], *ARGS) for r in inst}
nl = {r: Nl(ns[r]) for r in inst}


def face(r, name, dev, ip, kind, **ndn):
    nl[r].do('face-new', face={'name': name, 'ifname': dev, 'addr': addr(ip),
                               'ndn': kind, **{'ndn-' + k: v
                                               for k, v in ndn.items()}})


def route(r, prefix, to):
    nl[r].do('route-new', route={'prefix': prefix, 'face': to})


def stat(r, name):
    return next(s['value'] for s in nl[r].dump('stats-get')
                if s['name'] == 'ndn-' + name)


def entry(r, name=JOB):
    """The entry of the PIT, or {}."""
    return next((e for e in nl[r].dump('pit-get', pit={'name': name})
                 if e['name'] == name), {})


def subscribers(r, name=JOB):
    return sorted(entry(r, name).get('face', []))


face('r1', 'ps', 'v0', '10.7.0.2', HOST, write=['/ps'])
face('r1', 'r2', 'v1', '10.7.1.2', ROUTER)
face('r2', 'r1', 'u0', '10.7.1.1', ROUTER)
for i, dev in (0, 'u1'), (1, 'u2'):
    face('r2', 'w%d' % i, dev, '10.7.%d.2' % (2 + i), HOST,
         subscribe=['/ps'], write=['/w%d' % i])
route('r1', '/ps', 'ps')
route('r2', '/ps', 'r1')
route('r1', '/w0', 'r2')
route('r2', '/w0', 'w0')
for r in 'r1', 'r2':
    nl[r].do('ndn-set', ndn={'lease-ms': int(LEASE * 1000)})

host = {'ps': Host(ns['ps'], '10.7.0.1'), 'w0': Host(ns['w0'], '10.7.2.1'),
        'w1': Host(ns['w1'], '10.7.3.1')}
ps, w0, w1 = (host[h] for h in ('ps', 'w0', 'w1'))
known = wait_for(lambda: all('mac' in f for r in ('r1', 'r2')
                             for f in nl[r].dump('face-get')))
tap.ok('face__mac_addresses_are_found', known)


def subscribe(h, job=JOB, tries=3):
    """Subscribe like a worker. Return: the acknowledgement, or None."""
    for _ in range(tries):
        host[h].ask('/insert' + job)
        if ps.want(INTEREST, '/insert' + job, 0.5):
            ps.tell('/distribute' + job)
        got = host[h].want(DATA, '/distribute' + job, 1)
        if got and got[1] == '/distribute' + job:
            return got


def drain():
    for h in host.values():
        h.drain()


def distributes():
    for w in 'w0', 'w1':
        tap.ok('insert__%s_is_acknowledged' % w, subscribe(w))
    tap.same('insert__both_are_in_the_entry', subscribers('r2'), ['w0', 'w1'])
    e = entry('r2')
    tap.same('insert__entry_is_confirmed', (e.get('state'), e.get('up')),
             (1, 'r1'))
    tap.same('insert__upstream_has_the_router', subscribers('r1'), ['r2'])
    for v in 1, 2:
        name = '/distribute%s/v=%d/seg=0' % (JOB, v)
        ps.tell(name, b'model' * 100)
        tap.ok('distribute__version_%d_is_copied_to_both' % v,
               all(w.want(DATA, name) == (DATA, name, b'model' * 100)
                   for w in (w0, w1)))
    e = entry('r2')
    tap.same('distribute__entry_stays_and_knows_the_version',
             (e.get('version'), e.get('segment'), len(e.get('face', []))),
             (2, 0, 2))
    ps.tell('/distribute%s/v=1/seg=0' % JOB)
    tap.ok('distribute__nothing_comes_twice', w0.quiet() and w1.quiet())
    tap.ok('distribute__that_is_counted', stat('r1', 'drop-seen') == 1)


def asks():
    drain()
    name = JOB + '/start'
    w0.ask(name, fresh=True)
    first = ps.want(INTEREST, name)
    w1.ask(name, fresh=True)
    tap.ok('interest__second_of_a_name_is_aggregated',
           first == (INTEREST, name, None) and ps.quiet())
    ps.tell(name, b'content')
    tap.ok('interest__one_answer_serves_both',
           all(w.want(DATA, name) == (DATA, name, b'content')
               for w in (w0, w1)))
    name = '/distribute%s/v=2/seg=0' % JOB
    w0.ask(name)
    tap.ok('cache__answers_a_segment', w0.want(DATA, name) ==
           (DATA, name, b'model' * 100) and ps.quiet())
    kept = [c['name'] for c in nl['r2'].dump('cs-get', cs={'name': JOB})]
    tap.ok('cache__is_shown', JOB + '/v=2/seg=0' in kept, kept)
    nl['r2'].do('cs-wipe', cs={'name': JOB + '/v=2'})
    kept = [c['name'] for c in nl['r2'].dump('cs-get')]
    tap.same('cache__is_wiped_below_a_name', kept, [JOB + '/v=1/seg=0'])
    ps.ask('/w0/ps/job/v=2')
    tap.ok('interest__finds_the_worker', w0.want(INTEREST, '/w0/ps/job/v=2')
           == (INTEREST, '/w0/ps/job/v=2', None))
    w0.tell('/w0/ps/job/v=2', b'gradient')
    tap.ok('interest__gradient_comes_back', ps.want(DATA, '/w0/ps/job/v=2') ==
           (DATA, '/w0/ps/job/v=2', b'gradient'))


def leaves():
    drain()
    w1.ask('/delete' + JOB)
    tap.ok('delete__with_others_left_is_answered_here',
           w1.want(DATA, '/delete' + JOB) and ps.quiet())
    tap.same('delete__others_stay', subscribers('r2'), ['w0'])
    w0.ask('/delete' + JOB)
    tap.ok('delete__of_the_last_goes_upstream',
           ps.want(INTEREST, '/delete' + JOB))
    tap.same('delete__entry_is_leaving', entry('r2').get('state'), 2)
    ps.tell('/delete' + JOB)
    tap.ok('delete__is_acknowledged', w0.want(DATA, '/delete' + JOB))
    tap.ok('delete__entries_are_gone', not entry('r2') and not entry('r1'))


def expires():
    subscribe('w0', '/ps/short')
    tap.same('lease__holds', subscribers('r2', '/ps/short'), ['w0'])
    tap.ok('lease__ends_and_the_entry_is_swept',
           wait_for(lambda: not entry('r2', '/ps/short') and
                    not entry('r1', '/ps/short'), 4 * LEASE))


def refuses():
    drain()
    before = stat('r2', 'drop-face')
    Host(ns['w0'], '10.7.2.1', src=7000).ask(JOB + '/x')
    tap.ok('foreign__is_refused_and_counted',
           wait_for(lambda: stat('r2', 'drop-face') == before + 1) and
           ps.quiet())
    line = 'trib face add NAME dev u1 addr 10.7.2.2 ndn host ndn-port 7000'
    tap.ok('foreign__log_says_how_to_admit_it',
           wait_for(lambda: line in daemon['r2'].log()), daemon['r2'].log())
    before = stat('r2', 'drop-right')
    w0.ask('/insert/other/job')
    w0.tell('/w1/lie')
    tap.ok('right__to_subscribe_and_to_write_is_needed',
           wait_for(lambda: stat('r2', 'drop-right') == before + 2))
    nl['r2'].do('face-set', face={'name': 'w0', 'ndn-subscribe': ['/pq']})
    w0.ask('/insert' + JOB)
    tap.ok('right__is_taken_away', wait_for(
        lambda: stat('r2', 'drop-right') == before + 3) and ps.quiet())
    nl['r2'].do('face-set', face={'name': 'w0', 'ndn-subscribe': ['/ps']})
    tap.ok('right__is_given_back', subscribe('w0'))


def refused(name, op, word, **args):
    text = nl['r2'].refused(op, **args) or 'it is accepted'
    tap.has('refuse__' + name, text, word)


def refusals():
    new = {'name': 'n', 'ifname': 'u1', 'addr': addr('10.7.2.9'), 'ndn': HOST}
    refused('kind', 'face-new', 'ndn 3', face={**new, 'ndn': 3})
    refused('name', 'face-new', "'ps'", face={**new, 'ndn-write': ['ps']})
    refused('deep_name', 'face-new', 'more than 16',
            face={**new, 'ndn-write': ['/a' * 17]})
    refused('group', 'face-new', '239.1.1.1',
            face={**new, 'addr': addr('239.1.1.1')})
    refused('two_of_one_sender', 'face-new', 'face w0',
            face={**new, 'addr': addr('10.7.2.2')})
    refused('no_address', 'face-new', 'ndn-port 0',
            face={k: v for k, v in new.items() if k != 'addr'})
    refused('prefix_without_kind', 'face-set', 'need ndn',
            face={'name': 'w1', 'ndn': NONE, 'ndn-write': ['/x']})
    refused('face_with_routes', 'face-set', '1 route',
            face={'name': 'r1', 'ndn': NONE})
    refused('change_of_address', 'face-set', 'addr',
            face={'name': 'w0', 'addr': addr('10.7.2.3')})
    refused('route_to_nobody', 'route-new', 'no face zz',
            route={'prefix': '/a', 'face': 'zz'})
    refused('route_with_marker', 'route-new', '/insert/a',
            route={'prefix': '/insert/a', 'face': 'r1'})
    refused('route_not_there', 'route-del', '/nix', route={'prefix': '/nix'})
    refused('entry_not_there', 'pit-del', '/nix', pit={'name': '/nix'})
    refused('lease', 'ndn-set', 'lease-ms 99', ndn={'lease-ms': 99})
    refused('leave', 'ndn-set', 'leave-ms 3001', ndn={'leave-ms': 3001})
    refused('marker', 'ndn-set', 'a/b', ndn={'mark-insert': 'a/b'})
    refused('same_markers', 'ndn-set', "'delete'",
            ndn={'mark-insert': 'delete'})
    nl['r2'].do('job-new', job={'name': 'j', 'world': 2})
    refused('tree_of_ndn', 'tree-new', 'no address',
            tree={'id': 1, 'job': 'j', 'child': [{'face': 'w3', 'rank': 0}]})


def other_kinds():
    """IPv6 and Ethernet faces."""
    face('r2', 'w2', 'u3', 'fd07::2', HOST, subscribe=['/ps'])
    mac = bytes.fromhex(ns['w3'].mac('eth0').replace(':', ''))
    nl['r2'].do('face-new', face={
        'name': 'w3', 'ifname': 'u4', 'mac': mac, 'ndn': HOST, 'ndn-port': 0,
        'ndn-subscribe': ['/ps']})
    host['w2'] = Host(ns['w2'], 'fd07::1')
    host['w3'] = EtherHost(ns['w3'], 'eth0', ns['w3'].mac('eth0'),
                           ns['r2'].mac('u4'))
    wait_for(lambda: 'mac' in nl['r2'].do('face-get', face={'name': 'w2'}))
    for w in 'w2', 'w3':
        tap.ok('kinds__%s_is_acknowledged' % w, subscribe(w))
    drain()
    name = '/distribute%s/v=5/seg=0' % JOB
    ps.tell(name, b'x' * 1100)
    for w in 'w2', 'w3':
        tap.ok('kinds__%s_gets_a_copy' % w, host[w].want(DATA, name) ==
               (DATA, name, b'x' * 1100))


def restarts():
    """Subscriptions survive a restart of tribd; renewals repair lost maps."""
    subscribe('w0')
    drain()
    before = nl['r2'].dump('face-get')
    daemon['r2'].end(9)
    name = '/distribute%s/v=6/seg=0' % JOB
    ps.tell(name, b'while it is dead')
    tap.ok('restart__forwarding_goes_on_without_tribd',
           w0.want(DATA, name) == (DATA, name, b'while it is dead'))
    # The next tribd learns the MAC address of w0 from the maps only.
    ns['w0'].ip('link', 'set', 'eth0', 'arp', 'off')
    ns['r2'].ip('neigh', 'flush', 'all')
    daemon['r2'] = Tribd(ns['r2'], *ARGS)
    tap.has('restart__maps_are_adopted', daemon['r2'].log(),
            'MB, adopted')
    tap.ok('restart__subscriptions_stay', 'w0' in subscribers('r2'),
           entry('r2'))
    name = '/distribute%s/v=7/seg=0' % JOB
    ps.tell(name, b'after')
    tap.ok('restart__copies_go_on', w0.want(DATA, name) ==
           (DATA, name, b'after'))
    ns['w0'].ip('link', 'set', 'eth0', 'arp', 'on')
    now = nl['r2'].dump('face-get')
    tap.same('restart__faces_are_as_before', [
        {k: v for k, v in f.items() if k.startswith('ndn')} for f in now], [
        {k: v for k, v in f.items() if k.startswith('ndn')} for f in before])
    tap.same('restart__times_are_as_before',
             nl['r2'].do('ndn-get')['lease-ms'], int(LEASE * 1000))


def wiped():
    """Lose the maps, keep the state file."""
    routes = nl['r2'].dump('route-get')
    daemon['r2'].end(9)
    for f in os.listdir(PIN + inst['r2']):
        os.unlink(os.path.join(PIN, inst['r2'], f))
    os.rmdir(PIN + inst['r2'])
    daemon['r2'] = Tribd(ns['r2'], *ARGS)
    tap.same('wiped__no_entry_is_left', nl['r2'].dump('pit-get'), [])
    tap.same('wiped__routes_come_from_the_file', nl['r2'].dump('route-get'),
             routes)
    wait_for(lambda: all('mac' in f for f in nl['r2'].dump('face-get')))
    drain()
    tap.ok('wiped__a_renewal_brings_the_entry_back', subscribe('w0'))
    name = '/distribute%s/v=8/seg=0' % JOB
    ps.tell(name, b'again')
    tap.ok('wiped__copies_go_on', w0.want(DATA, name) ==
           (DATA, name, b'again'))


def upgraded():
    """Maps of a version with another layout, which had fewer and others."""
    pins, routes = Pins(inst['r2']), nl['r2'].dump('route-get')
    subscribe('w0')
    faces = nl['r2'].dump('face-get')
    daemon['r2'].end()
    config = pins.raw('ndn_config', 0)
    pins.write('ndn_config', 0, struct.pack('=I', 4) + config[4:])
    for name in 'ndn_owners', 'ndn_seats', 'ndn_taken':
        os.unlink(pins.path(name))
    os.rename(pins.path('ndn_asked'), pins.path('ndn_bygone'))
    asks = pins.map_id('ndn_asks')
    status, log = tribd_fails(ns['r2'], *ARGS, '--check')
    tap.ok('upgrade__check_says_what_will_be_lost', status == 0 and
           'ABI 4, this tribd' in log and 'would start with new ones' in log and
           'subscriptions come back' in log and 'can take over' in log, log)
    tap.ok('upgrade__check_changes_nothing', pins.map_id('ndn_asks') == asks and
           'ndn_bygone' in pins.names() and 'ndn_seats' not in pins.names())
    daemon['r2'] = Tribd(ns['r2'], *ARGS)
    log = daemon['r2'].log()
    tap.ok('upgrade__log_says_what_was_lost', 'ABI 4, this tribd' in log and
           '; starts with new ones' in log and 'MB, adopted' not in log, log)
    tap.ok('upgrade__pins_are_of_this_version', 'ndn_seats' in pins.names() and
           'ndn_bygone' not in pins.names() and pins.map_id('ndn_asks') != asks,
           pins.names())
    tap.ok('upgrade__the_rest_is_adopted', nl['r2'].do('status-get').get('adopted'))
    tap.same('upgrade__routes_stay', nl['r2'].dump('route-get'), routes)
    wait_for(lambda: all('mac' in f for f in nl['r2'].dump('face-get')))
    tap.same('upgrade__faces_and_rights_stay', *[[
        {k: v for k, v in f.items() if k.startswith('ndn') or k == 'name'}
        for f in x] for x in (nl['r2'].dump('face-get'), faces)])
    drain()
    tap.ok('upgrade__a_renewal_brings_the_entry_back', subscribe('w0'))
    name = '/distribute%s/v=9/seg=0' % JOB
    ps.tell(name, b'upgraded')
    tap.ok('upgrade__copies_go_on', w0.want(DATA, name) ==
           (DATA, name, b'upgraded'))


def forgotten():
    """Removal by command."""
    nl['r2'].do('pit-del', pit={'name': JOB})
    tap.ok('forget__entry_is_gone', not entry('r2'))
    subscribe('w0')
    number = nl['r2'].do('face-get', face={'name': 'w0'})['ndn-number']
    subscribe('w1')
    nl['r2'].do('route-del', route={'prefix': '/w0'})
    w0.ask('/nowhere')
    wait_for(lambda: stat('r2', 'drop-route'))
    nl['r2'].do('face-set', face={'name': 'w0', 'ndn': NONE})
    tap.same('forget__face_leaves_its_entries', subscribers('r2'), ['w1'])
    mac = b'\2\0\0\0\0\7'
    nl['r2'].do('face-new', face={
        'name': 'x', 'ifname': 'u1', 'addr': addr('10.7.2.7'), 'mac': mac,
        'ndn': HOST, 'ndn-subscribe': ['/ps']})
    before = stat('r2', 'drop-face')
    w0.ask('/insert' + JOB)
    tap.ok('forget__sender_is_not_who_has_its_number_now', wait_for(
        lambda: stat('r2', 'drop-face') == before + 1) and nl['r2'].do(
        'face-get', face={'name': 'x'})['ndn-number'] == number)
    nl['r2'].do('face-del', face={'name': 'x'})
    nl['r2'].do('face-set', face={'name': 'w0', 'ndn': HOST,
                                  'ndn-subscribe': ['/ps'],
                                  'ndn-write': ['/w0']})
    f = nl['r2'].do('face-get', face={'name': 'w0'})
    tap.ok('forget__number_is_used_again_by_no_subscriber',
           f['ndn-number'] == number and subscribers('r2') == ['w1'], f)
    route('r2', '/w0', 'w0')


def many():
    """More entries than fit a netlink datagram."""
    drain()
    long = ['/ps/%03d' % i + 'x' * 200 for i in range(200)]
    for name in long:
        w0.ask('/insert' + name)
    wait_for(lambda: len(nl['r2'].dump('pit-get', pit={'name': '/ps'})) >=
             len(long), 2)
    got = [e['name'] for e in nl['r2'].dump('pit-get')]
    tap.ok('many__each_is_shown_once', sorted(got) == sorted(set(got)) and
           not set(long) - set(got), len(got), len(set(got)))
    for i in range(400):
        w0.ask('/insert/ps/more/%d' % i)
    tap.ok('many__more_than_there_is_room_for_are_refused',
           stat('r2', 'drop-quota') > 0)
    used = nl['r2'].do('ndn-get')
    tap.ok('many__entries_are_counted', used['entries-used'] >= 200 and
           used['entries'] == 1024, used)
    one = nl['r2'].dump('pit-get', pit={'name': long[7]})
    tap.same('many__one_is_found', [e['name'] for e in one], [long[7]])
    tap.ok('many__are_swept', wait_for(lambda: not set(long) & {
        e['name'] for e in nl['r2'].dump('pit-get')}, 4 * LEASE))


def circles():
    """Circular routes over three routers: no Interest keeps circulating."""
    # The entries that filled the table are swept after their lease.
    wait_for(lambda: not any(nl[r].dump('pit-get') for r in inst), 6 * LEASE)
    for r, name, dev, ip in (('r1', 'r3', 'v2', '10.7.6.2'),
                             ('r3', 'r1', 'x0', '10.7.6.1'),
                             ('r3', 'r2', 'x1', '10.7.7.1'),
                             ('r2', 'r3', 'u5', '10.7.7.2')):
        face(r, name, dev, ip, ROUTER)
    wait_for(lambda: all('mac' in f for r in inst
                         for f in nl[r].dump('face-get')))
    route('r1', '/round', 'r3')
    route('r3', '/round', 'r2')
    route('r2', '/round', 'r1')
    nl['r2'].do('face-set', face={'name': 'w0',
                                  'ndn-subscribe': ['/ps', '/round']})
    for r in inst:
        nl[r].do('stats-reset')
    w0.ask('/round/a')
    w0.ask('/insert/round/job')
    # Once around to the first router: known nonce, or from upstream.
    tap.ok('circle__ends_where_it_began', wait_for(
        lambda: stat('r2', 'drop-loop') == 2), [
        (r, s['name'], s['value']) for r in inst
        for s in nl[r].dump('stats-get') if s['value']])
    tap.same('circle__each_router_saw_it_once',
             [stat(r, 'rx-interest') for r in ('r1', 'r3', 'r2')], [2, 2, 4])
    tap.ok('circle__keeps_no_subscription_alive',
           wait_for(lambda: not any(entry(r, '/round/job') for r in
                                    ('r1', 'r2')), 4 * LEASE))


def readable():
    """Maps are readable without tribd: bpftool prints names."""
    text = run(BPFTOOL, 'map', 'dump', 'pinned', Pins(inst['r1']).path(
        'ndn_stats'))
    tap.ok('bpftool__shows_names_of_counters', all(
        '"%s": ' % x in text for x in
        ('rx_interest', 'drop_loop', 'bad_cut', 'bad_space')), text[:400])
    w0.ask('/insert/round/shown')
    tap.ok('bpftool__shows_flags_of_entries', wait_for(
        lambda: '"NDN_ENTRY_USED"' in run(BPFTOOL, 'map', 'dump', 'pinned',
                                          Pins(inst['r2']).path('ndn_pit'))))


def absent():
    """Without --ndn the host gets all NDN packets."""
    daemon['r1'].end()
    daemon['r1'] = Tribd(ns['r1'])
    tap.has('absent__requests_are_refused',
            nl['r1'].refused('route-get', route={'prefix': '/ps'}), '--ndn')
    tap.ok('absent__no_map_is_pinned',
           not [p for p in Pins(inst['r1']).names()
                if p.startswith('ndn_') and p not in
                ('ndn_in', 'ndn_leave')], Pins(inst['r1']).names())
    tap.ok('absent__no_filter_is_left', 'ndn_grow' not in
           ns['r1'].filters('v0') and 'trib_grow' in ns['r1'].filters('v0'))
    own = Host(ns['r1'], '10.7.0.2')
    ps.ask('/for/the/host')
    tap.ok('absent__packets_are_the_hosts', own.get(2) ==
           (INTEREST, '/for/the/host', None))
    daemon['r1'].end()
    own.s.close()
    daemon['r1'] = Tribd(ns['r1'], *ARGS)
    tap.same('absent__what_was_told_is_there_again',
             [x['prefix'] for x in nl['r1'].dump('route-get')][:2],
             ['/ps', '/w0'])


distributes()
asks()
leaves()
expires()
refuses()
other_kinds()
refusals()
restarts()
wiped()
upgraded()
forgotten()
many()
circles()
readable()
absent()
tap.done()
