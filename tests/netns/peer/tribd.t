#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ranks without a relay learn from tribd where they meet. Job "meet" has a rank on each
host, no tree, and names where rank 0 listens; job "alone" names nothing.

    w0 (rank 0, 10.9.0.1) ---- w1 (rank 1, 10.9.0.2)
"""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import worker  # noqa: E402
from tribd import *  # noqa: E402,F403

AT = '10.9.0.1:7416'
KEY = '11223344556677881122334455667788'
OWNER = 65534
need()
tap = Tap()
w0, w1 = (Netns(n) for n in ('w0', 'w1'))
trib = {ns: Cli(ns) for ns in (w0, w1)}
daemon = {}


def begin():
    veth(w0, 'eth0', '10.9.0.1/24', w1, 'eth0', '10.9.0.2/24')
    for ns in (w0, w1):
        use_instance('net-%d' % ns.inode())
        daemon[ns] = Tribd(ns)
        trib[ns]('job add meet world 2 id 1 key %s owner %d peers %s' %
                 (KEY, OWNER, AT))
        trib[ns]('job add alone world 2 id 2 key ' + KEY)


def perf(job, **more):
    """trib-perf of both ranks: (whether all sums were right, what they said)"""
    procs = [subprocess.Popen(
        ns.argv('setpriv', '--reuid', str(OWNER), '--regid', str(OWNER), '--clear-groups',
                BUILD + '/trib-perf', '-b', '4', '-e', '1m', '-f', '64', '-n', '3', '-c', '2'),
        env={**os.environ, 'TRIB_JOB': job(r), 'TRIB_RANK': str(r), **more},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for r, ns in enumerate((w0, w1))]
    return finish(procs)


def operator():
    cli = trib[w0]
    tap.same('job__has_the_meeting', cli.json('job show meet').get('peers'), AT)
    tap.has('job__shows_the_meeting', cli('job show'), AT)
    tap.ok('job__without_one_says_nothing', 'peers' not in cli.json('job show alone'))
    for bad, word in (('10.9.0.1', 'lacks a port'), ('w0:7416', 'is not an address'),
                      ('0.0.0.0:7416', 'address of one host')):
        tap.has('job__%s_is_refused' % bad, cli.fails('job add x world 2 peers ' + bad)[1], word)
    tap.has('ticket__leads_to_the_meeting', cli('job ticket meet rank 1'),
            'trib://%s/meet?job=1&rank=1&world=2&' % AT)
    tap.has('ticket__names_the_meeting', cli('job ticket meet rank 1'), '&peers=' + AT)
    tap.has('ticket__needs_a_tree_or_a_meeting', cli.fails('job ticket alone rank 1')[1],
            'is no child of this host')


def doctor():
    text = trib[w0].fails('doctor')[1]
    tap.has('doctor__tries_the_port', text, 'rank 0 can listen here, at ' + AT)
    tap.has('doctor__finds_the_library', text, 'libtrib-peer.so.0 can be loaded')
    tap.ok('doctor__wants_no_tree', 'job meet' not in text and 'job alone' in text, text)
    text = trib[w1].fails('doctor')[1]
    tap.has('doctor__finds_the_way', text, 'rank 0 listens at %s, by eth0' % AT)
    thief = subprocess.Popen(w0.argv(sys.executable, '-c', (
        'import socket, time; s = socket.create_server(("10.9.0.1", 7416)); '
        'print(1, flush=True); time.sleep(60)')), text=True, stdout=subprocess.PIPE)
    thief.stdout.readline()
    code, text = trib[w0].fails('doctor')
    tap.has('doctor__finds_who_took_the_port', text,
            '%s is taken by process %d' % (AT, thief.pid))
    tap.same('doctor__calls_that_a_failure', code, 1)
    thief.kill()
    thief.communicate()
    w1.ip('addr', 'del', '10.9.0.2/24', 'dev', 'eth0')
    tap.has('doctor__misses_the_route', trib[w1].fails('doctor')[1],
            'no route to where rank 0 listens')
    w1.ip('addr', 'add', '10.9.0.2/24', 'dev', 'eth0')


def hello(job='meet', **how):
    """(errno, the connection)"""
    a = worker.Attached(w0.name)
    return a.hello(job=job, **how), a


def answer(uid, **how):
    """(errno, its reason) for a process of that user."""
    def ask():
        a = worker.Attached()
        return a.hello(job='meet', **how), a.text
    return worker.as_user(uid, w0.name, ask)


def refused(name, text, **how):
    err, a = hello(**how)
    tap.ok('attach__%s_is_refused' % name, err and text in a.text, err, a.text)
    a.close()


def attach():
    err, a = hello(rank=1)
    tap.same('attach__needs_no_tree', (err, a.rank, a.world, a.trees, a.fds, a.flags),
             (0, 1, 2, [], [], 0))
    tap.same('attach__tells_where_to_meet',
             (a.peers[10:], a.peers_port), (b'\xff\xff' + bytes((10, 9, 0, 1)), 7416))
    tap.same('attach__is_counted', trib[w0].json('job show meet')['attached'], 1)
    refused('a_rank_twice', 'is taken by process %d' % os.getpid(), rank=1)
    refused('any_rank', 'set TRIB_RANK')
    refused('a_rank_too_large', 'has ranks 0 to 1', rank=2)
    err, text = answer(1234, rank=0)
    tap.ok('attach__a_stranger_is_refused', err and 'belongs to uid %d' % OWNER in text, text)
    refused('to_resume', 'attach it anew', rank=0, flags=worker.RESUME)
    refused('a_job_without_meeting', 'is not on this host', job='alone', rank=0)
    a.close()
    tap.ok('attach__a_dead_rank_is_free', wait_for(
        lambda: trib[w0].json('job show meet')['attached'] == 0))
    tap.same('attach__is_for_the_owner', answer(OWNER, rank=1), (0, ''))


def sums():
    # No process of these has TRIB_PEERS.
    for transport in ('auto', 'peer'):
        good, text = perf(lambda r: 'meet', TRIB_TRANSPORT=transport)
        tap.ok('sums__%s_goes_by_peers' % transport, good and 'peer transport' in text, text)
    tickets = [trib[w0]('job ticket meet rank %d' % r).strip() for r in range(2)]
    good, text = perf(lambda r: tickets[r])
    tap.ok('sums__by_tickets_of_tribd', good, text)
    good, text = perf(lambda r: 'meet', TRIB_TRANSPORT='udp')
    tap.ok('sums__others_need_a_tree', not good and
           'the job has no tree on this host: use transport auto or peer' in text, text)
    good, text = perf(lambda r: 'meet', TRIB_PEERS='10.9.0.1:7499')
    tap.ok('sums__the_environment_goes_first', good, text)


def restart():
    for ns in (w0, w1):
        daemon[ns].end()
        daemon[ns] = Tribd(ns)
    tap.same('restart__keeps_the_meeting', trib[w1].json('job show meet').get('peers'), AT)
    good, text = perf(lambda r: 'meet')
    tap.ok('restart__ranks_still_meet', good, text)


def tree():
    """With a tree of the job a host has the ranks of its rows only."""
    trib[w0]('face add w1 dev eth0 addr 10.9.0.2')
    trib[w0]('tree add meet id 1 parent w1 index 0 local 0')
    refused('a_rank_of_no_row', 'is not on this host', rank=1)
    err, a = hello(rank=0, flags=0)
    tap.same('tree__comes_with_the_meeting', (err, len(a.trees), a.peers_port), (0, 1, 7416))
    a.bye()


try:
    begin()
    operator()
    doctor()
    attach()
    sums()
    restart()
    tree()
finally:
    cleanup()
tap.done()
