#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A relay of a job dies, and its ranks sum without it until it is back, by the network
of lib/bypass.py: the only relay of a star, that of one rack, a server of a BCube.
FAILOVER_KILLS: how often it is cut off (8).
"""
import os
import re
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
import racks  # noqa: E402
from bypass import WAY, Job, Net, one_death  # noqa: E402
from ranks import Ranks, moving  # noqa: E402
from worker import *  # noqa: E402,F403

KILLS = int(os.environ.get('FAILOVER_KILLS', 8))
BAR = 0.2  # seconds, of 95 in 100 kills
tap = Tap()


def detours(text):
    return [int(x) for x in re.findall('^detours ([0-9]+)', text, re.M)]


def dies_again_and_again(n, name, kills, crashes):
    pulse = racks.Pulse(Job(n), '-g', '10')
    moving(n.f, n.relay)
    gaps = [one_death(n, pulse, n.cut, n.mend) for _ in range(kills)]
    gaps += [one_death(n, pulse, n.kill, n.start) for _ in range(crashes)]
    good, text = pulse.end()
    text = '\n'.join(x for x in text.split('\n') if not x.startswith('gap'))
    tap.test(name + '__no_sum_is_wrong_or_lost', good, text)
    tap.test(name + '__it_goes_back_to_the_relay_each_time', None not in gaps, gaps, text)
    gaps = sorted(g for g in gaps if g is not None) or [9]
    p95 = gaps[max(len(gaps) * 95 // 100 - 1, 0)]
    print('# %s: failover_ms of %d: median %.0f, p95 %.0f, most %.0f' % (
        name, len(gaps), gaps[len(gaps) // 2] * 1e3, p95 * 1e3, gaps[-1] * 1e3))
    tap.test(name + '__within_200_ms', p95 <= BAR, gaps)
    tap.test(name + '__counters_tell', all(d >= kills + crashes for d in detours(text)) and
             len(detours(text)) == len(n.hosts), text)


def every_kind(n, name):
    for dtype, op in (('int32', 'sum'), ('float', 'sum'), ('float', 'max')):
        ranks = Ranks(n.f, n.hosts, size='300k', rounds=400, dtype=dtype, **WAY) \
            if op == 'sum' else None
        if not ranks:
            ranks = Ranks(n.f, [])
            ranks.watch({h: n.f.spawn(h, 'trib-perf', '-b', '4', '-e', '64k', '-f', '16',
                                      '-n', '400', '-w', '0', '-c', '2', '-d', dtype, '-o', op,
                                      **WAY) for h in n.hosts})
        moving(n.f, n.relay)
        n.cut()
        time.sleep(0.7)
        n.mend()
        good = ranks.wait()
        tap.test('%s__%s_%s_is_right' % (name, dtype, op), good, str(ranks)[-2000:])


def rank_dies_meanwhile(n, name):
    ranks = Ranks(n.f, n.hosts, rounds=100000, **WAY)
    moving(n.f, n.relay)
    n.cut()
    time.sleep(0.5)
    alive = ranks.running()
    begun = time.monotonic()
    ranks.p['w1'].kill()
    ranks.wait(30)
    took = time.monotonic() - begun
    n.mend()
    named = all('rank 1 ended or left' in ranks.out[h] and ranks.p[h].returncode
                for h in ('w0', 'w2'))
    tap.test(name + '__a_rank_that_dies_without_relay_is_named', alive and named, ranks)
    tap.test(name + '__within_a_second', took < 1, took)


def without_wish(n, name):
    ranks = Ranks(n.f, n.hosts, rounds=100000, TRIB_TIMEOUT_MS='1000')
    began = moving(n.f, n.relay)
    n.cut()
    ranks.wait(30)
    n.mend()
    tap.test(name + '__a_job_that_does_not_want_it_ends', all(
        'does not answer' in o or 'nothing can be sent' in o or 'sign of life' in o
        for o in ranks.out.values()), began, ranks)


def star(way):
    net = Net('failover', 'star', '--transport', way)
    try:
        dies_again_and_again(net, way, KILLS, 2)
        every_kind(net, way)
        rank_dies_meanwhile(net, way)
        without_wish(net, way)
    finally:
        net.down()


def several_relays(name, kind, crashes, **more):
    net = Net('failover', kind, **more)
    try:
        dies_again_and_again(net, name, KILLS // 2, crashes)
        every_kind(net, name)
    finally:
        net.down()


star('xdp')
star('udp')
several_relays('rack', 'tree', 2, dies='r1')
several_relays('core', 'tree', 2, dies='r0')
several_relays('bcube', 'bcube', 0)
sys.exit(tap.done())
