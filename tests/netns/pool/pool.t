#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Jobs that share the slots of relays, and a PS for chunks without a slot, on two
racks (racks.py) with good wires. Every sum is checked."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from racks import *  # noqa: E402,F403

need()
tap = Tap()
net = Racks()
jobs = [SharedJob(net, 1, [0, 1, 2, 3]), SharedJob(net, 2, [0, 2, 3]),
        SharedJob(net, 3, [1, 2], cap=1)]
relay = net.relays


def sums(name, *args, only=jobs):
    for j in only:
        j.start(*args)
    for j in only:
        good, text = j.wait()
        tap.ok('%s__%s_sums_right' % (name, j.name), good, text)


def alone(server):
    sums('alone', '-b', '4', '-e', '1m', '-f', '16', '-n', '5', only=jobs[:1])
    merged = relay['a'].stat('pool-merged')
    tap.ok('alone__relays_add_up', merged > 1000, merged,
           relay['a'].cli('stats'))
    t = server.tree()
    tap.ok('alone__ps_gets_sums_of_all_workers',
           t['done'] > 1000 and t['grad'] < t['done'] * 5 // 4, t)


def two_slots(server):
    """Few slots for all jobs: hardly a chunk finds one."""
    for r in relay.values():
        r.restart('--pool', '2')
    passed = {x: r.stat('pool-passed') for x, r in relay.items()}
    before = server.trees()
    sums('two_slots', '-b', '256k', '-e', '256k', '-n', '20')
    for x, r in relay.items():
        more = r.stat('pool-passed') - passed[x]
        tap.ok('two_slots__%s_counts_what_it_passed_on' % x, more > 1000, more)
    # A chunk with a slot at all relays reaches the PS as one GRAD.
    for j, t, u in zip(jobs, before, server.trees()):
        done, grad = (u[k] - t[k] for k in ('done', 'grad'))
        tap.ok('two_slots__%s_was_finished_by_the_ps' % j.name,
               done >= 3600 and grad > done * 3 // 2, t, u)
    for r in relay.values():
        r.restart('--pool', '1024')


def forgotten(server):
    """The PS loses its state, and a relay its slots."""
    for j in jobs:
        j.start('-b', '1m', '-e', '1m', '-n', '60')
    time.sleep(0.7)
    server.end()
    server.start()
    relay['a'].cli('tree wipe 1')
    for j in jobs:
        good, text = j.wait()
        tap.ok('forgotten__%s_sums_right' % j.name, good, text)


def main():
    net.start()
    for j in jobs:
        j.rows()
    server = Server(net, *jobs)
    alone(server)
    sums('together', '-b', '256k', '-e', '256k', '-n', '20')
    two_slots(server)
    forgotten(server)


try:
    main()
except Exception as e:  # noqa: BLE001 all else would hide what was said
    tap.ok('shared__no_exception', False, repr(e))
tap.done()
