#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Begin and end of epochs with real tribds, observed on the wire.

    star:  w0 w1 w2 --- r0           tree:  w0 w1 - r1 \
                                            w2 w3 - r2 -- r0
"""
import os
import signal
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from worker import *  # noqa: E402,F403

tap = Tap()


def star_worker(f, k, **more):
    """A worker without tribd: results come to port 7418 + child."""
    return Worker(f.ns('w%d' % k), '10.77.%d.1' % k, k, k,
                  key=f.key(), port=7418 + k, **more)


def epoch_of(f, host='r0'):
    return f.tree(host)['epoch']


# --- star

def joining(f, w):
    w[0].join()
    w[2].join()
    p = w[2].recv(2, START)
    tap.test('join__start_names_those_who_are_missing',
             p and p.state == WAIT and p.seen & 4 and not p.seen & 2 and
             p.nchild == 3 and p.ranks == (0, 1, 2), p)
    tap.test('join__answer_is_as_long_as_the_request',
             p and p.len == HDR.size + NVAL * 4)
    w[1].join()
    e = wait_run(w)
    tap.test('join__all_are_told_the_same_epoch', e == {1}, e)
    tap.test('join__tree_shows_it', epoch_of(f) == 1, f.tree('r0'))
    w[0].drain()

    # The relay limits its answers.
    def again():
        w[0].session(JOIN, w[0].nonce)
        p = w[0].recv(0.1, START)
        return p and p.state == RUN and p.start_epoch == 1
    tap.test('join__repetition_is_told_again', until(2, again))


def strangers(f, w):
    for x in w:
        x.drain()
    w[0].session(JOIN, 5, up=bytes(16))
    w[0].session(JOIN, 5, nval=16)
    w[0].send(b'')
    w[0].send(os.urandom(60))
    quiet = w[0].recv(0.3) is None
    tap.test('join__without_the_key_is_not_answered', quiet)
    w[0].session(JOIN, 6, rank=1, up=w[1].up)
    p = w[0].recv(2, START)
    tap.test('join__as_another_rank_is_refused',
             p and p.state == REFUSED and p.nonce == 6)
    other = Worker(f.ns('w0'), '10.77.0.1', 1, 1, key=f.key())
    other.join()
    tap.test('join__in_the_place_of_another_host_is_dropped',
             other.recv(0.3) is None)
    tap.test('join__none_of_them_touched_the_epoch', epoch_of(f) == 1)


def rejoining(f, w):
    for x in w:
        x.drain()
    w[1].join()
    got = [x.recv(2, ABORT) for x in (w[0], w[2])]
    tap.test('rejoin__others_are_told_who',
             all(p and p.chunk == REJOIN and p.aux == 1 and p.epoch == 1
                 for p in got), got)
    tap.test('rejoin__epoch_has_ended', epoch_of(f) == 0)
    w[0].join()
    w[2].join()
    e = wait_run(w)
    tap.test('rejoin__next_epoch_is_larger', e == {2}, e)


def leaving(f, w):
    for x in w[:2]:
        x.leave()
    until(0.3, lambda: epoch_of(f) == 0)
    tap.test('leave__epoch_runs_until_the_last', epoch_of(f) == 2)
    w[2].leave()
    tap.test('leave__epoch_ends_with_the_last',
             until(2, lambda: epoch_of(f) == 0))


def left_behind(f, w):
    e = join_all(w)
    w[1].leave()
    w[0].grad(0, range(16))
    w[0].drain()
    p = w[0].recv(5, ABORT)
    tap.test('leave__who_is_needed_after_leaving_is_named',
             p and p.chunk == GONE and p.aux == 1 and p.epoch == e, p)


def flood(f, w):
    for x in w:
        x.drain()
    join_all(w)
    w[0].drain()
    start = time.monotonic()
    while time.monotonic() - start < 0.5:
        w[0].session(JOIN, w[0].nonce)
    took = time.monotonic() - start
    n = sum(1 for _ in iter(lambda: w[0].recv(0.3, START), None))
    # One answer in 20 ms; queued requests may be answered a little later.
    tap.test('flood__is_answered_at_a_pace', 0 < n < (took + 0.5) * 50 + 2, n)
    for k in range(3000):
        w[0].session(JOIN, 10000 + k)
    w[0].drain()
    # The last of those nonces may get in again and end the epoch of the others.
    tap.test('flood__others_can_go_on', until(10, lambda: join_all(w)))


def restarts(f, w):
    e = join_all(w)
    f.kill_tribd('r0')
    f.start_tribd('r0')
    for x in w:
        x.drain()
        x.session(JOIN, x.nonce)
    got = [x.recv(2, START) for x in w]
    tap.test('restart__running_epoch_goes_on',
             all(p and p.state == RUN and p.start_epoch == e for p in got))
    # One has joined, then tribd dies. Only the library repeats requests.
    w[0].join()
    until(2, lambda: epoch_of(f) == 0)
    f.kill_tribd('r0')
    f.start_tribd('r0')
    w[1].join()
    w[2].join()
    got = wait_run(w)
    tap.test('restart__in_the_middle_of_joining', got == {e + 1}, got)
    for x in w:
        x.leave()
    until(2, lambda: epoch_of(f) == 0)
    f.kill_tribd('r0', signal.SIGTERM)
    f.start_tribd('r0')
    tap.test('restart__epochs_are_not_used_again', join_all(w) == e + 2)


def removal(f, w):
    join_all(w)
    for x in w:
        x.drain()
    f.trib('r0', 'job', 'del', 'train')
    got = [x.recv(2, ABORT) for x in w]
    tap.test('removal__everybody_is_told',
             all(p and p.chunk == ADMIN for p in got), got)


def star():
    f = Fabric('session', 'star', '--workers', '3', '--transport', 'udp')
    try:
        w = [star_worker(f, k) for k in range(3)]
        for test in (joining, strangers, rejoining, leaving, left_behind,
                     flood, restarts, removal):
            test(f, w)
    finally:
        f.down()


# --- tree

def tree_worker(f, k):
    return Worker(f.ns('w%d' % k), '10.77.%d.1' % (2 + k), k, k % 2,
                  key=f.key(), port=7418 + k % 2)


def depth_two(f, w):
    for x in w[:3]:
        x.join()
    p = until(3, lambda: f.tree('r0')['joined'])
    tap.test('tree__a_complete_rack_joins_the_core', p, f.tree('r0'))

    # Its workers are told that the other rack is missing.
    def hint():
        w[0].session(JOIN, w[0].nonce)
        p = w[0].recv(0.1, START)
        return p and p.ranks == (0xffff, 0xffff) and p.seen == 1
    tap.test('tree__workers_learn_that_another_rack_is_missing',
             until(3, hint))
    w[3].join()
    e = wait_run(w)
    tap.test('tree__one_epoch_for_all', e == {1}, e)
    tap.test('tree__every_relay_runs_it',
             [epoch_of(f, r) for r in ('r0', 'r1', 'r2')] == [1, 1, 1])


def sums(w):
    for x in w:
        x.drain()
    for k, x in enumerate(w):
        x.grad(0, [k + 1] * 16)
    got = [x.recv(2, RESULT) for x in w]
    tap.test('tree__sum_comes_back',
             all(p and p.values() == (10,) * 16 for p in got), got)


def rejoin_crosses_racks(f, w):
    for x in w:
        x.drain()
    w[0].join()
    got = [x.recv(3, ABORT) for x in w[1:]]
    tap.test('tree__restarted_rank_is_named_in_every_rack',
             all(p and p.chunk == REJOIN and p.aux == 0 for p in got), got)
    for x in w[1:]:
        x.join()
    e = wait_run(w)
    tap.test('tree__next_epoch_for_all', e == {2}, e)
    sums(w)


def inner_restart(f, w):
    for x in w:
        x.leave()
    tap.test('tree__epoch_ends_everywhere', until(3, lambda: all(
        epoch_of(f, r) == 0 for r in ('r0', 'r1', 'r2'))))
    for x in w[:3]:
        x.drain()
        x.join()
    until(3, lambda: f.tree('r0')['joined'])
    for r in ('r1', 'r0'):
        f.kill_tribd(r)
        f.start_tribd(r)
    w[3].drain()
    w[3].join()
    e = wait_run(w, 10)
    tap.test('tree__relays_restarted_in_the_middle_of_joining',
             len(e) == 1 and min(e) > 2, e)
    sums(w)


def tree():
    f = Fabric('session', 'tree', '--racks', '2', '--workers', '2',
               '--transport', 'udp')
    try:
        w = [tree_worker(f, k) for k in range(4)]
        depth_two(f, w)
        sums(w)
        rejoin_crosses_racks(f, w)
        inner_restart(f, w)
    finally:
        f.down()


need_root()
star()
tree()
sys.exit(tap.done())
