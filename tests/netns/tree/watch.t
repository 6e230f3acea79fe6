#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""trib watch names the rank that the others wait for, and why: it computes longer
than they do, or its wire is slow. Of ranks that are equal it names none.

    w0 .. w3 --- wires --- r0

Ranks repeat allreduces, in phases. Of all intervals of `trib -j watch`, 95 % must
be right, and none may show a job faster than its host.
"""
import ctypes
import json
import os
import select
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from ranks import moving  # noqa: E402
from worker import *  # noqa: E402,F403

HOSTS = ['w0', 'w1', 'w2', 'w3']
RATE = 200  # Mb/s
LATE, SLOW = 2, 1
MIB = 1 << 20


# --- a rank

def rank():
    """Phases from standard input: DTYPE BYTES SLEEP_MS. A phase ends when rank 0 has
    the next line; it tells the others by the first value."""
    lib = ctypes.CDLL(BUILD + '/libtrib.so')
    lib.trib_error_text.restype = ctypes.c_char_p
    job = ctypes.c_void_p()
    if lib.trib_attach(ctypes.byref(job), None):
        sys.exit(lib.trib_error_text(None).decode())
    me = lib.trib_rank(job)
    for line in iter(sys.stdin.readline, ''):
        dtype, size, ms = line.split()
        kind = ctypes.c_int32 if dtype == 'i32' else ctypes.c_float
        values, sums = ((kind * (int(size) // 4))() for _ in range(2))
        for i in range(1, len(values), 97):
            values[i] = i % 1000 + me
        while not sums[0]:
            if int(ms) and me == LATE:
                time.sleep(int(ms) / 1000)
            values[0] = not me and bool(select.select([0], [], [], 0)[0])
            if lib.trib_allreduce(job, values, sums, ctypes.c_size_t(len(values)),
                                  dtype == 'i32', 0):
                sys.exit(lib.trib_error_text(job).decode())
            if abs(sums[98] - 4 * 98 - 6) > 1e-3:
                sys.exit('sum of place 98: %s' % sums[98])
    lib.trib_detach(job)


# --- the test

def watch(f, sec, n):
    """So many reports of trib watch."""
    p = subprocess.Popen(
        ['nsenter', '--net=/run/netns/' + f.ns('r0'), BUILD + '/trib', '-j',
         'watch', '-n', str(sec)], stdout=subprocess.PIPE, text=True)
    out = [json.loads(p.stdout.readline()) for _ in range(n)]
    p.terminate()
    p.communicate()
    return out


def slow_wire(f, i):
    """Slows the wire from a worker to the relay to a quarter."""
    rate = RATE // 4
    run('ip', 'netns', 'exec', f.ns('wires'), 'tc', 'qdisc', 'replace', 'dev',
        'a%d' % i, 'root', 'tbf', 'rate', '%dmbit' % rate, 'burst', '6000',
        'limit', str(rate * 1000000 // 8 // 40))


def marks(report):
    return {c['rank']: c['mark'] for c in report['trees'][0]['children']
            if c['mark']}


def waits(report):
    return ' '.join('%d:%.2f/%.2f/%.2f' % (c['rank'], c.get('start_wait', 0),
                                           c.get('data_wait', 0),
                                           c.get('lag_windows', 0))
                    for c in report['trees'][0]['children'])


def faster(report):
    """Is a job faster than its host?"""
    return any(j[k] > report['host'][k] * 1.001
               for j in report['jobs'] for k in ('gbps', 'results', 'packets'))


def main():
    need_root()
    tap = Tap()
    f = Fabric('watch', 'star', '--workers', '4', '--rate', '%dm' % RATE)
    try:
        test(f, tap)
    finally:
        f.down()
    return tap.done()


def tell(ranks, *words):
    for p in reversed(ranks):  # rank 0 last: then all go on
        p.stdin.write(' '.join(map(str, words)) + '\n')
        p.stdin.flush()


def test(f, tap):
    ranks = [f.spawn(h, sys.executable, os.path.abspath(__file__), '--rank',
                     stdin=subprocess.PIPE)
             for h in HOSTS]
    right = total = 0
    fast, notes = [], []
    tell(ranks, 'i32', MIB, 0)
    moving(f)
    time.sleep(1)  # windows grow
    for what, size, ms, sec, n in (
            ('equal', MIB, 0, 1, 4), ('equal', 1024, 0, 0.4, 5),
            ('late', MIB, 200, 0.6, 5), ('late', 65536, 20, 0.4, 5),
            ('late', 1024, 2, 0.4, 5), ('slow wire', MIB, 0, 1, 4)):
        if what == 'slow wire':
            slow_wire(f, SLOW)
        want = {'late': {LATE: what}, 'slow wire': {SLOW: what}}.get(what, {})
        for dtype in ('f32', 'i32'):
            tell(ranks, dtype, size, ms)
            time.sleep(0.4)
            for r in watch(f, sec, n):
                total += 1
                right += marks(r) == want
                note = '%s %d %s: %s; waits %s' % (dtype, size, what, marks(r),
                                                   waits(r))
                if marks(r) != want:
                    notes.append(note)
                if 'VERBOSE' in os.environ:
                    print('#', note)
                if faster(r):
                    fast.append(r)
    # They end within an interval.
    tell(ranks, 'i32', 1024, 0)
    time.sleep(0.2)
    for p in ranks:
        p.stdin.close()
    fast += [r for r in watch(f, 0.4, 2) if faster(r)]
    codes = [p.wait(20) for p in ranks]
    tap.test('watch__sums_are_right', not any(codes),
             codes, *[p.stdout.read() for p in ranks])
    tap.test('watch__names_whom_the_others_wait_for', right >= 0.95 * total and total,
             '%d of %d right' % (right, total), *notes)
    tap.test('watch__no_job_is_faster_than_its_host', not fast, *fast[:1])
    print('# %d of %d intervals right' % (right, total))


if __name__ == '__main__':
    if sys.argv[1:] == ['--rank']:
        rank()
    else:
        sys.exit(main())
