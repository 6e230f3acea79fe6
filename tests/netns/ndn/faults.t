#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Faults in a network of NDN routers: by hand, packet by
packet, where one certain packet is to be lost; with trib-ps and libtrib's
workers, whose sums must stay exact, where training must go on.

	ps \\\\      r2 -- w0, w1
	    r1 --<  |
	qs /       r3 -- w2, w3
"""
import json
import os
import socket
import struct
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import Tap, need, skip_all, wait_for  # noqa: E402
try:
    import yaml  # noqa: F401
except ImportError:
    skip_all('python3-yaml is not installed')
from ndn_host import DATA, INTEREST, Host, data, interest  # noqa: E402
from ndn_net import Net, Ps, worker  # noqa: E402
from ndn_nl import socket_in  # noqa: E402
from ndn_worker import model  # noqa: E402

LEASE = 3.0
SIZE = 600
PENDING, CONFIRMED, LEAVING = 0, 1, 2
ALL = ('w0', 'w1', 'w2', 'w3')
RIGHTS = {w: {'write': ['/' + w], 'subscribe': ['/ps', '/qs', '/round']}
          for w in ALL}
JOB = '/hand/job'  # of tests by hand, beside those that train

need()
tap = Tap()
scratch = tempfile.TemporaryDirectory()
for w in 'w0', 'w1':
    RIGHTS[w] = {'write': ['/' + w], 'subscribe': ['/ps', '/qs', '/round',
                                                   '/hand']}
net = Net({'r1': ['ps', 'qs', 'r2', 'r3'], 'r2': ['w0', 'w1', 'r3'],
           'r3': ['w2', 'w3']}, lease=LEASE, wires=True,
          rights={'ps': {'write': ['/ps', '/hand']}, 'qs': {'write': ['/qs']},
                  **RIGHTS})
for p in 'ps', 'qs':
    net.route('/' + p, 'r2', 'r1', p)
    net.route('/' + p, 'r3', 'r1')
net.route('/hand', 'r2', 'r1', 'ps')
for w in ALL:
    net.route('/' + w, 'r1', 'r2' if w < 'w2' else 'r3', w)


class Hand:
    """Hosts whose packets are made by hand."""

    def __init__(self, *names):
        self.host = {n: Host(net.ns[n], net.router_of(n)[0]) for n in names}

    def __enter__(self):
        return self.host.values()

    def __exit__(self, *_):
        for h in self.host.values():
            h.s.close()


def insert(h, ps, acknowledged=True, job=JOB):
    """Does an Interest reach the PS, and its Data return?"""
    h.drain()
    h.ask('/insert' + job)
    up = ps.want(INTEREST, '/insert' + job, 1)
    if up and acknowledged:
        ps.tell('/distribute' + job)
    down = h.want(DATA, '/distribute' + job, 1 if acknowledged else 0.3)
    return bool(up), bool(down and down[1] == '/distribute' + job)


def comes(hosts, ps, v, job=JOB):
    """How often each of them gets version v."""
    n = '/distribute%s/v=%d/seg=0' % (job, v)
    for h in hosts:
        h.drain()
    ps.tell(n, b'model %d' % v)
    return [1 if h.want(DATA, n, 1) == (DATA, n, b'model %d' % v) and
            h.quiet(0.15) else 0 for h in hosts]


# --- by hand

def lost_acknowledgement():
    with Hand('ps', 'w0') as (ps, w0):
        net.spoil('r1', 'r2', loss=1)
        tap.same('lost_ack__does_not_come', insert(w0, ps), (True, False))
        tap.same('lost_ack__entry_is_pending',
                 net.entry('r2', JOB).get('state'), PENDING)
        net.spoil('r1', 'r2')
        tap.same('lost_ack__repeat_is_passed_up', insert(w0, ps),
                 (True, True))
        # It acknowledges the first insert, a third of a lease ago.
        tap.same('lost_ack__so_is_the_next', insert(w0, ps), (True, True))
        tap.same('lost_ack__entry_is_confirmed',
                 net.entry('r2', JOB).get('state'), CONFIRMED)
        tap.same('lost_ack__version_comes_once', comes([w0], ps, 1), [1])


def duplicated_subscription():
    """A duplicate packet, and another packet of the same host."""
    job = '/hand/twice'
    with Hand('ps', 'w0') as (ps, w0):
        loops = net.stat('r2', 'drop-loop')
        net.spoil('w0', 'r2', dup=1)
        insert(w0, ps, True, job)
        net.spoil('w0', 'r2')
        tap.ok('twice__copy_is_dropped', wait_for(
            lambda: net.stat('r2', 'drop-loop') > loops))
        w0.drain()
        w0.ask('/insert' + job)
        tap.ok('twice__again_is_answered_by_the_router', w0.want(
            DATA, '/distribute' + job) and ps.quiet())
        tap.same('twice__is_one_subscriber', net.subscribers('r2', job),
                 ['w0'])
        tap.same('twice__version_comes_once', comes([w0], ps, 1, job), [1])


def second_while_first_is_lost():
    job = '/hand/second'
    with Hand('ps', 'w0', 'w1') as (ps, w0, w1):
        net.spoil('r2', 'r1', loss=1)
        tap.same('lost_up__does_not_come', insert(w0, ps, True, job),
                 (False, False))
        net.spoil('r2', 'r1')
        tap.same('lost_up__second_subscriber_goes_up',
                 insert(w1, ps, True, job), (True, True))
        tap.ok('lost_up__first_is_acknowledged_too', w0.want(
            DATA, '/distribute' + job, 1))
        tap.same('lost_up__both_are_given_a_version',
                 comes([w0, w1], ps, 1, job), [1, 1])


def delete_overtaken():
    """An insert arrives while the acknowledgement of a delete is under way."""
    job = '/hand/turn'
    with Hand('ps', 'w0') as (ps, w0):
        insert(w0, ps, True, job)
        held = net.stat('r2', 'drop-leaving')
        w0.ask('/delete' + job)
        ps.want(INTEREST, '/delete' + job)
        tap.same('overtaken__entry_is_leaving',
                 net.entry('r2', job).get('state'), LEAVING)
        w0.ask('/insert' + job)
        tap.ok('overtaken__insert_waits', wait_for(
            lambda: net.stat('r2', 'drop-leaving') == held + 1) and ps.quiet())
        ps.tell('/delete' + job)
        tap.ok('overtaken__subscriber_stays', wait_for(
            lambda: net.entry('r2', job).get('state') == PENDING and
            net.subscribers('r2', job) == ['w0']), net.entry('r2', job))
        tap.same('overtaken__repeat_goes_up', insert(w0, ps, True, job),
                 (True, True))
        tap.same('overtaken__version_comes', comes([w0], ps, 1, job), [1])


def circle():
    """Circular routes: no packet circulates."""
    net.route('/round', 'r1', 'r3', 'r2', 'r1')
    for n in '/round/job', '/round/other':
        with Hand('w0', 'w2') as (w0, w2):
            for w in w0, w2:
                w.ask('/insert' + n)
                w.put(interest('/insert' + n, hops=20))
    subscribed = {r: net.subscribers(r, '/round/job') for r in net.routers}
    tap.ok('circle__routers_subscribe_at_each_other',
           sum('r' in f[0] for faces in subscribed.values()
               for f in faces) >= 2, subscribed)
    for r in net.routers:
        net.nl[r].do('stats-reset')
    for h, r in ('ps', 'r1'), ('w0', 'r2'):
        net.nl[r].do('face-set', face={'name': h, 'ndn-write': [
            '/ps', '/hand', '/w0', '/round']})
    above = Spoof('r1', 'r2')
    with Hand('ps', 'w0', 'w2') as (ps, w0, w2):
        for v in range(1, 11):
            # Data not from upstream; then Data that enters the circle.
            for h in ps, w0:
                h.tell('/distribute/round/job/v=%d/seg=0' % (20 + v))
            above.put(data('/distribute/round/job/v=%d/seg=0' % v))
        tap.same('circle__subscribers_are_given_each_once', [
            [h.get(1)[1] for _ in range(10)] + [h.quiet(0.3)] for h in
            (w0, w2)], 2 * [['/distribute/round/job/v=%d/seg=0' % v
                             for v in range(1, 11)] + [True]])
    seen = {r: net.stat(r, 'rx-data') for r in net.routers}
    # The packets of the hosts go round once, back to the first router.
    tap.same('circle__data_goes_round_once', seen,
             {'r1': 10 + 10, 'r2': 10 + 10 + 10, 'r3': 10})
    tap.same('circle__its_return_is_noticed', net.stat('r2', 'drop-seen'), 10)
    time.sleep(0.5)
    tap.same('circle__and_then_there_is_silence', seen,
             {r: net.stat(r, 'rx-data') for r in net.routers})
    tap.ok('circle__entries_end', wait_for(
        lambda: not any(net.entry(r, '/round/job') for r in net.routers),
        4 * LEASE))


class Spoof:
    """Forge packets of @host, from its own address and port."""

    def __init__(self, host, to):
        ip = net.link[host, to][1]
        self.s = socket_in(net.ns[host], socket.AF_INET, socket.SOCK_RAW,
                           socket.IPPROTO_UDP)
        self.to = ip

    def put(self, packet):
        self.s.sendto(struct.pack('>HHHH', 6363, 6363, 8 + len(packet), 0) +
                      packet, (self.to, 0))


# --- training

def notes(*ends):
    return [e.text()[-900:] for e in ends] + [net.seen()]


def trains(who, ends, ps, ranks, versions, seconds=45):
    """All finished, versions were in order, and each sum is the one that
    takes every gradient once."""
    whole = wait_for(lambda: all(any(m['last'] for m in e.said('model'))
                                 for e in ends), seconds)
    tap.ok(who + '__training_goes_on', whole, *notes(*ends, ps),
           json.dumps(ps.job())[:1500])
    orders = [[m['v'] for m in e.said('model')] for e in ends]
    tap.ok(who + '__versions_never_go_back',
           all(o == sorted(set(o)) for o in orders), orders)
    want = {n: sum(model(ranks, n, SIZE)) for n in range(versions + 1)}
    wrong = [(m['v'], m['sum'], want[m['v'] & 0xffffffff]) for e in ends
             for m in e.said('model') if m['sum'] != want[m['v'] & 0xffffffff]]
    tap.ok(who + '__no_gradient_counts_twice_or_not_at_all',
           not wrong and all(orders), wrong)
    for e in ends:
        e.end()
    ps.end()


def start(who, versions=12, hosts=ALL, slow=0.05, prefix='/ps', at='ps',
          **job):
    """Start (workers, PS) and wait for their first versions."""
    more = {'key': job['key']} if isinstance(job.get('key'), str) else {}
    ends = [worker(net, w, int(w[1]), job=prefix + '/job', slow=slow, **more)
            for w in hosts]
    ps = Ps(net, scratch.name + '/' + who, hosts, host=at, elements=SIZE,
            versions=versions, segment=400, lease_ms=int(LEASE * 1000),
            prefix=prefix + '/job', **job)
    for e in ends:
        e.says('model', 2)
    return ends, ps


def counters(end):
    return (end.said('done') or end.said('waits') or [{}])[-1]


def storm():
    for a, b in net.link:
        net.spoil(a, b, loss=0.04, dup=0.03, reorder=0.03)
    ends, ps = start('storm', 25, slow=0)
    trains('storm', ends, ps, range(4), 25, 90)
    for a, b in net.link:
        net.spoil(a, b)


def lost_distribution():
    ends, ps = start('lost', 12)
    before = net.stats('r1').get('ndn-rx-interest')
    net.spoil('r1', 'r2', loss=1)
    time.sleep(0.8)
    net.spoil('r1', 'r2')
    wait_for(lambda: all(e.said('done') for e in ends), 30)
    asked = [counters(e).get('fetches', 0) for e in ends]
    tap.ok('lost__is_asked_for_by_name', asked[0] + asked[1] > 0 and
           net.stats('r1').get('ndn-rx-interest') > before, asked)
    trains('lost', ends, ps, range(4), 12)


def restarted(wipe=False):
    who = 'wiped' if wipe else 'restart'
    ends, ps = start(who, 15, slow=0.2)
    net.restart('r2', wipe)
    tap.ok(who + '__is_in_the_middle_of_training', not any(
        m['last'] for e in ends for m in e.said('model')))
    if wipe:
        tap.ok('wiped__subscribers_lease_again', wait_for(
            lambda: net.subscribers('r2', '/ps/job') == ['w0', 'w1'], 6),
            net.entry('r2', '/ps/job'))
    else:
        tap.same('restart__subscriptions_are_still_there',
                 net.subscribers('r2', '/ps/job'), ['w0', 'w1'])
    trains(who, ends, ps, range(4), 15)


def wiped():
    restarted(True)


def two_servers():
    """Jobs of the same name that differ in their prefixes only."""
    first = start('first', 10, ALL[:2])
    second = start('second', 10, ALL[2:], prefix='/qs', at='qs')
    trains('pair_first', *first, range(2), 10)
    trains('pair_second', *second, range(2, 4), 10)


def key_file(which):
    path = '%s/key-%s' % (scratch.name, which)
    with open(path, 'w', opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write('hmac /ps/KEY/1 %s\n' % (which * 32))
    return path


def forged():
    """Forged models from the address of the PS."""
    key = key_file('5a')
    ends, ps = start('forged', 14, slow=0.15, key=key)
    v = max(m['v'] for m in ends[0].said('model'))
    liar = Spoof('ps', 'r1')
    for ahead in 1, 2, 1000:
        liar.put(data('/distribute/ps/job/v=%d/seg=0' % (v + ahead), struct.pack(
            '>HBBIB3x', 0x544e, 1, 5, 1, 1) + bytes(400)))
    wait_for(lambda: all(e.said('done') for e in ends), 40)
    bad = [counters(e).get('bad_signatures', 0) for e in ends]
    tap.ok('forged__is_refused_and_counted', all(bad), bad, *notes(*ends, ps))
    trains('forged', ends, ps, range(4), 14)


def intruder():
    """w3 may neither subscribe to nor write names of others."""
    net.nl['r3'].do('face-set', face={'name': 'w3', 'ndn-subscribe': ['/no'],
                                      'ndn-write': ['/w3']})
    ends, ps = start('intruder', 12, ALL[:2], slow=0.1)
    before = net.stat('r3', 'drop-right')
    with Hand('w3') as (w3,):
        w3.ask('/insert/ps/job')
        w3.tell('/distribute/ps/job')
        w3.tell('/distribute/ps/job/v=%d/seg=0' % (1 << 40))
        w3.tell('/w0/ps/job')
        tap.ok('intruder__is_refused_and_counted', wait_for(
            lambda: net.stat('r3', 'drop-right') == before + 4),
            net.stat('r3', 'drop-right') - before)
        tap.same('intruder__subscribes_nobody',
                 net.subscribers('r3', '/ps/job'), [])
        tap.ok('intruder__is_given_nothing', w3.quiet(0.5))
    trains('intruder', ends, ps, range(2), 12)


TESTS = (lost_acknowledgement, duplicated_subscription,
         second_while_first_is_lost, delete_overtaken, circle, storm,
         lost_distribution, restarted, wiped, two_servers, forged, intruder)
chosen = sys.argv[1:]
for test in TESTS:
    if not chosen or test.__name__ in chosen:
        began = time.monotonic()
        test()
        print('# %s: %.1f s' % (test.__name__, time.monotonic() - began))
tap.done()
