#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Jobs of floats: sums by the kernel module, each checked on every rank, and its
bits compared between ranks. Runs in the VM; TRIB_KO is the module's file, which
must not be loaded. The short run has two of the networks.
"""
import os
import re
import sys
import time

if 'VMOUT' not in os.environ:
    os.execvp('scripts/vm', ['scripts/vm', '-m', '2048', '-t', '900', '--',
                             'env', 'TRIB_KO=build/module/trib.ko',
                             *sys.argv])
sys.path.insert(0, sys.path[0] + '/../netns/lib')
from ranks import Ranks, moving, stat  # noqa: E402
from worker import *  # noqa: E402,F403

HOSTS = ['w0', 'w1', 'w2', 'w3']
BAD = ['--loss', '1', '--dup', '1', '--reorder', '1']
PAUSE = 2.2  # what a wipe costs, and some
LONG = os.environ.get('TRIB_TEST_SCALE', '1') != '1'
tap = Tap()


def add(f, dtype, host='r0'):
    return f.trib(host, 'job', 'add', 'more', 'world', '2', 'dtype', dtype,
                  check=False)


def restart(f, host):
    f.kill_tribd(host)
    f.start_tribd(host)


def module_comes(ko):
    """An operator starts without the module and loads it later."""
    f = Fabric('floats', 'star', '--workers', '2')
    try:
        said = add(f, 'f32')
        tap.test('job_add__without_the_module_says_what_to_do',
                 'modprobe trib' in said and 'restart tribd' in said, said)
        tap.test('job_add__integers_need_none',
                 f.trib('r0', '-j', 'job', 'show', 'train').count('"int"'))
        run('insmod', ko)
        tap.test('job_add__tribd_looks_when_it_loads',
                 'modprobe' in add(f, 'bf16'))
        ranks = Ranks(f, HOSTS[:2], size='64k', rounds=2000 if LONG else 600)
        moving(f)
        restart(f, 'r0')
        said = add(f, 'bf16') + f.trib('r0', 'job', 'show', 'more')
        tap.test('job_add__after_a_restart', 'bf16' in said, said)
        tap.test('job_add__meanwhile_others_went_on', ranks.wait(), ranks)
        tap.test('status__names_the_module', json_of(
            f.trib('r0', '-j', 'status'))['module'])
        said = f.trib('r0', 'tree', 'add', 'more', 'relay', '3', 'next', '4',
                      'child', 'w0:0', 'child', 'w1:1', 'parent', 'up',
                      check=False)
        tap.test('tree_add__shared_pools_have_no_floats',
                 'shared pools' in said, said)
        restart(f, 'r0')
        tap.test('job__dtype_outlives_tribd', 'bf16' in f.trib(
            'r0', 'job', 'show', 'more'))
        gone = run('rmmod', 'trib', check=False)
        tap.test('module__stays_while_programs_call_it', gone.returncode,
                 gone.stdout)
    finally:
        f.down()


def sums(name, dtype, *options, rounds=10 if LONG else 3, trains=False):
    f = Fabric('floats', *options, '--dtype', dtype, *BAD)
    try:
        ranks = Ranks(f, HOSTS, size='100k', rounds=rounds, dtype='float')
        good = ranks.wait()
        shown = 'sums as ' + dtype
        tap.test(name, good and shown in str(ranks), ranks)
        if trains:
            ps = [f.spawn(h, 'trib-train', '--samples', '1024', '--hidden',
                          '32', '--epochs', '1') for h in HOSTS]
            said = [p.communicate(timeout=120)[0] for p in ps]
            tap.test(name + '__parameters_are_the_same_on_all_ranks',
                     not any(p.returncode for p in ps), *said)
    finally:
        f.down()


def forgets(f, name, relays):
    """Slots are lost, tribds end: nobody may hold other bits than the others."""
    ranks = Ranks(f, HOSTS, size='100k', rounds=200 if LONG else 60,
                  dtype='float')
    moving(f)
    n = 0
    while ranks.running() and n < 3:
        for r in relays:
            f.trib(r, 'tree', 'wipe', '1')
        n += 1
        time.sleep(PAUSE)
    waited = sum(stat(f, r, 'drop-wiped') for r in relays)
    for r in relays:
        restart(f, r)
    good = ranks.wait()
    tap.test(name, good and n and waited, n, waited, ranks)


def tree():
    f = Fabric('floats', 'tree', '--racks', '2', '--workers', '2', '--dtype',
               'f32', *BAD)
    try:
        forgets(f, 'tree_f32__relays_forget_and_restart', ['r1', 'r0'])
        ticket = f.trib('r1', 'job', 'ticket', 'train', 'rank', '0')
        tap.test('ticket__names_the_format',
                 re.search(r'&fmt=f32(&|\s*$)', ticket), ticket)
    finally:
        f.down()


def main():
    module_comes(os.environ['TRIB_KO'])
    if LONG:
        sums('star_f32__udp', 'f32', 'star', '--workers', '4', '--transport',
             'udp')
    sums('star_bf16__xdp', 'bf16', 'star', '--workers', '4', trains=True)
    if LONG:
        sums('tree_f16__xdp', 'f16', 'tree', '--racks', '2', '--workers', '2')
        sums('bcube_f32__xdp', 'f32', 'bcube', '--window', '64')
        tree()
    gone = run('rmmod', 'trib', check=False)
    tap.test('module__goes_when_all_tribds_have', not gone.returncode,
             gone.stdout)
    sys.exit(tap.done())


main()
