#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""libtrib, tribd and XDP with faults: packets lost, doubled and late, relays that
forget, killed daemons and workers. Every sum is checked.

    star:  w0 .. w3 --- wires --- r0       tree:  w0 w1 - r1 \
                                                  w2 w3 - r2 -- r0
"""
import os
import re
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from ranks import Ranks, moving, stat  # noqa: E402
from worker import *  # noqa: E402,F403

OWNER, OTHER = 4242, 4243
FAULTY = 60  # rounds of 1 MiB on bad wires: seconds, not minutes
tap = Tap()


HOSTS = ['w0', 'w1', 'w2', 'w3']


# --- faults while sums are under way

def wipes(f, relays, ranks):
    n = 0
    while ranks.running() and n < 20:
        for r in relays:
            f.trib(r, 'tree', 'wipe', '1')
        n += 1
        time.sleep(0.05)
    return n


def restarts(f, hosts, ranks):
    n = 0
    while ranks.running() and n < 3:
        for h in hosts:
            f.kill_tribd(h)
            time.sleep(0.1)
            f.start_tribd(h)
        n += 1
    return n


def under_faults(f, name, relays, leaves):
    ranks = Ranks(f, HOSTS, rounds=FAULTY)
    moving(f)
    n = wipes(f, relays, ranks)
    good = ranks.wait()
    tap.test(name + '__slots_wiped_again_and_again', good and n > 3, n, ranks)
    ranks = Ranks(f, HOSTS, rounds=FAULTY)
    moving(f)
    n = restarts(f, relays + leaves, ranks)
    good = ranks.wait()
    tap.test(name + '__tribd_killed_and_restarted', good and n > 0, n, ranks)


def cut_off(f):
    """Cuts w0 off until nothing moves and has the relay forget; w0's packets
    still come through. True if the others then send results: they can only be
    such as w0 lacks, and the others have consumed."""
    f.cut(0, True)
    last = -1
    while last != stat(f, 'r0', 'done'):
        last = stat(f, 'r0', 'done')
        time.sleep(0.1)
    before = stat(f, 'r0', 'rx-result')
    f.trib('r0', 'tree', 'wipe', '1')
    return until(2, lambda: stat(f, 'r0', 'rx-result') > before)


def lacking(f, name):
    rounds = 50
    lacks = False
    while not lacks and rounds < 1000:
        ranks = Ranks(f, HOSTS, rounds=rounds)
        while not lacks and ranks.running():
            f.cut(0, False)
            moving(f)
            lacks = cut_off(f)
        # Once more, and no other rank can help.
        f.trib('r0', 'tree', 'wipe', '1')
        f.kill_tribd('r0')
        f.cut(0, False)
        f.start_tribd('r0')
        good = ranks.wait()
        if not good:
            break
        rounds *= 2
    tap.test(name + '__one_lacks_what_others_consumed_and_the_relay_forgets',
             good and lacks, ranks)


def star(transport, percent):
    f = Fabric('recovery', 'star', '--workers', '4', '--transport', transport,
               '--loss', percent, '--dup', percent, '--reorder', percent)
    try:
        name = '%s_%s_percent' % (transport, percent)
        under_faults(f, name, ['r0'],
                     ['w1'] if transport == 'xdp' else [])
        lacking(f, name)
    finally:
        f.down()


def tree():
    f = Fabric('recovery', 'tree', '--racks', '2', '--workers', '2',
               '--loss', '1', '--dup', '1', '--reorder', '1')
    try:
        under_faults(f, 'tree_1_percent', ['r1', 'r0'], ['w3'])
        killed(f, 'tree', 1, False)
        again(f, 'tree')
    finally:
        f.down()


# --- workers that leave

def names(text, rank):
    return 'rank %d ' % rank in text


def killed(f, name, limit, restart):
    ranks = Ranks(f, HOSTS, rounds=100000)
    moving(f)
    if restart:
        # The new tribd must know that it has a process to watch.
        f.kill_tribd('w2')
        f.start_tribd('w2')
        until(5, lambda: local_pid(f, 'w2'))
    start = time.monotonic()
    ranks.p['w2'].kill()
    ranks.wait(30)
    took = time.monotonic() - start
    tap.test(name + '__killed_rank_is_named_to_all', all(
        names(ranks.out[h], 2) and ranks.p[h].returncode
        for h in HOSTS if h != 'w2'), ranks)
    tap.test(name + '__within_%.1f_s' % limit, took < limit, took)


def local_pid(f, host):
    return f.tree(host)['local'][0]['pid']


def again(f, name):
    before = f.tree('r0')['epoch']
    ranks = Ranks(f, HOSTS, rounds=10)
    good = ranks.wait()
    tap.test(name + '__all_start_again_and_sums_are_right', good, ranks)
    ranks = Ranks(f, HOSTS, rounds=1000)
    moving(f)
    after = f.tree('r0')['epoch']
    tap.test(name + '__in_a_new_epoch', after > before, before, after)
    ranks.p['w0'].kill()
    ranks.wait(30)


def missing(f, name):
    ranks = Ranks(f, ['w0', 'w2'], TRIB_JOIN_TIMEOUT_MS='1500')
    ranks.wait(30)
    # The first that gives up is missing to the other.
    tap.test(name + '__joining_names_those_who_are_missing', all(
        re.search('ranks (0, )?1, (2, )?3 did not join', o)
        for o in ranks.out.values()), ranks)


def users(f):
    """The job of a user, whose processes have no privileges."""
    key = f.key().hex()
    for h in ['r0', *HOSTS]:
        tree = f.tree(h)
        f.trib(h, 'tree', 'del', '1')
        f.trib(h, 'job', 'del', 'train')
        f.trib(h, 'job', 'add', 'train', 'id', '1', 'world', '4', 'owner',
               str(OWNER), 'key', key)
        batch = [line for line in open('/run/trib-fabric/%s/%s.trib' %
                                       (f.name, h)) if line[:4] == 'tree']
        f.trib(h, *batch[0].split())
        assert tree
    ranks = Ranks(f, HOSTS, rounds=20, uid=OWNER)
    tap.test('users__owner_without_privileges', ranks.wait(), ranks)
    ranks = Ranks(f, ['w0'], uid=OTHER)
    ranks.wait()
    tap.test('users__another_one_is_refused',
             ranks.p['w0'].returncode and 'belongs to uid' in ranks.out['w0'],
             ranks)


def removed(f, name):
    ranks = Ranks(f, HOSTS, rounds=100000)
    moving(f)
    f.trib('r0', 'job', 'del', 'train')
    ranks.wait(30)
    tap.test(name + '__removing_the_job_ends_its_collectives', all(
        'operator removed' in o for o in ranks.out.values()), ranks)


def going(transport, limit):
    f = Fabric('recovery', 'star', '--workers', '4', '--transport', transport,
               '--timeout', '2000')
    try:
        missing(f, transport)
        killed(f, transport, limit, False)
        again(f, transport)
        if transport == 'xdp':
            killed(f, 'xdp_tribd_restarted', limit, True)
            users(f)
        removed(f, transport)
    finally:
        f.down()


# --- all kinds in one job

def mixed():
    """Ranks 0 and 1 mapped on one host, 2 through tribd, but with an ordinary
    socket, 3 by ticket."""
    f = Fabric('recovery', 'star', '--workers', '3', '--loss', '1')
    key = f.key().hex()
    job = ('job', 'add', 'train', 'id', '1', 'world', '4', 'key', key)
    try:
        for h in ('r0', 'w0', 'w1', 'w2'):
            f.trib(h, 'job', 'del', 'train')
            f.trib(h, *job)
        for k in (1, 2):
            f.trib('r0', 'face', 'del', 'w%d' % k)
            f.trib('r0', 'face', 'add', 'w%d' % k, 'dev', 'p%d' % k, 'addr',
                   '10.77.%d.2' % k, 'port', str(PORT + k + 2))
        f.trib('r0', 'tree', 'add', 'train', 'id', '1', 'child', 'w0:0',
               'child', 'w0:1', 'child', 'w1:2', 'child', 'w2:3')
        f.trib('w0', 'tree', 'add', 'train', 'id', '1', 'parent', 'up',
               'index', '0', 'local', '0:0', 'local', '1:1')
        f.trib('w1', 'tree', 'add', 'train', 'id', '1', 'parent', 'up',
               'index', '2', 'local', '2')
        ticket = f.trib('r0', 'job', 'ticket', 'train', 'rank', '3').strip()

        def start(rounds):
            ranks = Ranks(f, [])
            for rank, host, name, transport in (
                    (0, 'w0', 'train', 'xdp'), (1, 'w0', 'train', 'auto'),
                    (2, 'w1', 'train', 'udp'), (3, 'w2', ticket, 'auto')):
                ranks.p[rank] = f.spawn(
                    host, 'trib-perf', '-b', '64k', '-e', '1m', '-c', '2',
                    '-n', rounds, TRIB_JOB=name, TRIB_RANK=str(rank),
                    RANK=str(rank), TRIB_TRANSPORT=transport)
            return ranks

        ranks = start('20')
        tap.test('mixed__two_on_a_host_one_by_socket_one_by_ticket',
                 ranks.wait(), ranks)
        ranks = start('10000')
        moving(f)
        before = time.monotonic()
        ranks.p[2].kill()
        ranks.wait(30)
        tap.test('mixed__tribd_sees_that_the_one_by_socket_is_gone',
                 all('rank 2 ended' in ranks.out[k] for k in (0, 1, 3)) and
                 time.monotonic() - before < 2, ranks)
    finally:
        f.down()

# A worker on the relay itself sends out of one end of a veth pair, so that its
# packets come in at the other, as those of others do. Both addresses are the
# host's own: routes must be made to take the way through the pair.
LOCAL_FACE = """
ip link add trib0 type veth peer name trib1
ip addr add 10.99.0.1/32 dev trib0
ip addr add 10.99.0.2/32 dev trib1
ip link set trib0 up
ip link set trib1 up
ethtool -K trib1 gro on
ip rule add pref 100 lookup local
ip rule del pref 0
ip route add 10.99.0.1 dev trib1 table 99
ip route add 10.99.0.2 dev trib0 table 98
ip rule add pref 50 from 10.99.0.2 iif lo lookup 99
ip rule add pref 51 from 10.99.0.1 iif lo lookup 98
sysctl -q -w net.ipv4.conf.all.rp_filter=0
sysctl -q -w net.ipv4.conf.trib0.rp_filter=0 net.ipv4.conf.trib1.rp_filter=0
sysctl -q -w net.ipv4.conf.trib0.accept_local=1
sysctl -q -w net.ipv4.conf.trib1.accept_local=1
"""


def on_the_relay():
    """Ranks 0 and 1 as ever, rank 2 on the host of the relay."""
    f = Fabric('recovery', 'star', '--workers', '2')
    key = f.key().hex()
    job = ('job', 'add', 'train', 'id', '1', 'world', '3', 'key', key)
    try:
        for line in LOCAL_FACE.split('\n')[1:-1]:
            f.host('r0', *line.split())
        for h in ('r0', 'w0', 'w1'):
            f.trib(h, 'job', 'del', 'train')
            f.trib(h, *job)
        f.trib('r0', 'face', 'add', 'here', 'dev', 'trib0', 'addr',
               '10.99.0.2', 'local', '10.99.0.1')
        f.trib('r0', 'tree', 'add', 'train', 'id', '1', 'child', 'w0:0',
               'child', 'w1:1', 'child', 'here:2', 'local', '2:2')
        for k in '01':
            f.trib('w' + k, 'tree', 'add', 'train', 'id', '1', 'parent',
                   'up', 'index', k, 'local', k)
        with open('/run/trib-fabric/%s/r0.env' % f.name, 'w') as env:
            env.write('TRIB_JOB=train\nTRIB_RANK=2\nRANK=2\nWORLD_SIZE=3\n')
        hosts = ['w0', 'w1', 'r0']
        ranks = Ranks(f, hosts, rounds=10, TRIB_TRANSPORT='xdp')
        tap.test('relay__a_rank_on_its_host_takes_part', ranks.wait(), ranks)
        for victim, rank in (('r0', 2), ('w0', 0)):
            ranks = Ranks(f, hosts, rounds=100000)
            moving(f)
            ranks.p[victim].kill()
            before = time.monotonic()
            ranks.wait(30)
            tap.test('relay__and_is_told_or_named_when_rank_%d_dies' % rank,
                     all('rank %d ended' % rank in ranks.out[h]
                         for h in hosts if h != victim) and
                     time.monotonic() - before < 2, ranks)
    finally:
        f.down()


need_root()
if not os.access(BUILD + '/trib-perf', os.X_OK):
    skip('trib-perf is not built')
mixed()
on_the_relay()
going('xdp', 1)
going('udp', 5)
star('xdp', '1')
star('udp', '1')
star('xdp', '5')
star('udp', '5')
tree()
sys.exit(tap.done())
