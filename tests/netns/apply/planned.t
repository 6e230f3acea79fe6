#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures predictions of the planner, on dedicated slots and on shared pools. On
two racks of four workers and shaped links: one job with 0 to 3
relays, then two jobs that share links. On a fat tree of 16 hosts: right sums.

                     ps
                     |
    w0 .. w3 --- r1 --- r0 --- r2 --- w4 .. w7
"""
import os
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../lib')
from worker import *  # noqa: E402,F403

RATE = '80m'
# Seconds that a message takes if the plan is right; messages that are timed.
SECONDS, TIMES = 0.6, 3
# A busy machine may be too slow; the figures of all tries are printed.
TRIES = 3
TOLERANCE = 0.15
# Share of a link's rate with 0 to 3 relays. Two relays sum in a chain; in shared
# pools only the PS's own switch accepts partial sums.
RATES = {'dedicated': [0.125, 0.25, 0.75, 1],
         'shared': [0.125, 0.25, 0.5625, 1]}
# Each of these pairs of jobs shares links, with different weights and paths.
PAIRS = {
    'one with relays and one without share the link of the PS': (
        {'workers': ['w0', 'w1', 'w4', 'w5'], 'max_relays': 0},
        {'workers': ['w2', 'w3', 'w6', 'w7'], 'max_relays': 2, 'weight': 2}),
    'one comes the way that the other goes': (
        {'workers': ['w0', 'w1', 'w2', 'w3'], 'max_relays': 0, 'ps': 'w4'},
        {'workers': ['w5', 'w6', 'w7'], 'max_relays': 1, 'weight': 3}),
    'one has two trees of different weights': (
        {'workers': ['w0', 'w1', 'w4'], 'max_relays': 1},
        {'workers': ['w2', 'w5', 'w6'], 'max_relays': 1, 'ps': 'w3',
         'weight': 2}),
}
tap = Tap()
scratch = tempfile.TemporaryDirectory(prefix='trib-planned-')


def path(name):
    return os.path.join(scratch.name, name)


def state(f):
    return '/run/trib-fabric/' + f.name


def apply(f, *jobs):
    """Makes the plan for these jobs and waits until all hosts have it."""
    # A rank without CPU for long must not count as dead.
    jobs = [{'timeout': 30000, **job} for job in jobs]
    with open(path('jobs'), 'w') as out:
        json.dump({'jobs': jobs}, out)
    run(BUILD + '/trib', 'plan', state(f) + '/topology.json', path('jobs'),
        '-o', path('plan'))
    p = f.fabric('apply', path('plan'), check=False)
    if p.returncode:
        raise RuntimeError(p.stdout)
    with open(path('plan')) as plan:
        return json.load(plan)


def remove(f, plan):
    for host in plan['hosts']:
        for job in host['jobs']:
            f.trib(host['host'], 'job', 'del', job['name'])
        for row in host.get('shared', []):
            if row['role'] == 'ps':
                os.unlink('/run/trib/ps/net-%d/%s.json' % (
                    os.stat('/run/netns/' + f.ns(host['host'])).st_ino,
                    row['job']))


class Perf:
    """trib-perf of all workers of a job, with messages of SECONDS each."""

    def __init__(self, f, job, times=TIMES, size=None):
        self.job = job
        self.size = size or int(job['predicted'] / 8 * SECONDS) // 4096 * 4096
        self.p = subprocess.Popen(
            [TOP + '/scripts/fabric', '-n', f.name, 'run', '--job',
             job['name'], '--fail-fast', '--', 'trib-perf', '-b',
             str(self.size), '-e', str(self.size), '-n', str(times), '-w',
             '1'], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def result(self):
        """(median of measured over predicted, True if all sums are right)"""
        try:
            self.out = self.p.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            self.p.terminate()
            self.out = self.p.communicate()[0] + '\nstill running after 30 s'
        for line in self.out.splitlines():
            words = line.split()
            if words and words[0] == str(self.size):
                return (self.size * 8 / (float(words[9]) / 1e6) /
                        self.job['predicted'], words[8] == '0')
        return 0, False


def as_planned(name, start):
    """start() makes a Perf for each job. All must be within TOLERANCE in one
    try."""
    tries, right = [], True
    for _ in range(TRIES):
        runs = start()
        results = [r.result() for r in runs]
        right = right and all(good for _, good in results)
        tries.append([round(ratio, 3) for ratio, _ in results])
        if not right or all(abs(r - 1) <= TOLERANCE for r in tries[-1]):
            break
    print('# %s: measured over predicted, all tries: %s' % (name, tries))
    tap.test(name + ': sums are right', right, *(r.out for r in runs))
    tap.test(name + ': throughput is as planned',
             all(abs(r - 1) <= TOLERANCE for r in tries[-1]), tries)


def relays(f, mode):
    """Each further relay halves the copies on the full link."""
    rates = []
    for m in range(4):
        plan = apply(f, {'name': 'job', 'workers': 'all', 'ps': 'ps',
                         'max_relays': m, 'mode': mode})
        job = plan['jobs'][0]
        rates.append(job['rate'] / 80e6)
        as_planned('%s, %d relays' % (mode, m), lambda: [Perf(f, job)])
        remove(f, plan)
    tap.test(mode + ': the plan counts on more of a link with each relay',
             [round(r, 4) for r in rates] == RATES[mode], rates)


def pairs(f, mode):
    for name, what in PAIRS.items():
        plan = apply(f, *({'ps': 'ps', 'mode': mode, 'name': 'job%d' % i, **w}
                          for i, w in enumerate(what)))
        as_planned('%s, %s' % (mode, name), lambda: [
            Perf(f, job) for job in plan['jobs']])
        remove(f, plan)


def fat_tree():
    """A job in a corner of the fat tree, and one everywhere."""
    start = time.monotonic()
    f = Fabric('fattree', 'fat-tree', '4')
    try:
        print('# up after %.1f s' % (time.monotonic() - start))
        corners = ['h0', 'h1', 'h4', 'h8', 'h15']
        plan = apply(f, {'name': 'all', 'workers': 'all', 'max_relays': 4,
                         'trees': 2, 'window': 64},
                     {'name': 'few', 'workers': corners, 'ps': 'h12',
                      'max_relays': 2, 'trees': 2, 'window': 64},
                     {'name': 'pool', 'workers': corners, 'ps': 'h12',
                      'max_relays': 2, 'trees': 2, 'window': 64,
                      'mode': 'shared'})
        for job in plan['jobs']:
            r = Perf(f, job, 3, 65536)
            tap.test('fat tree, %s: sums are right' % job['name'],
                     r.result()[1], r.out)
    finally:
        f.down()


def main():
    need_root()
    # Not in `finally`: only after exceptions.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    f = Fabric('planned', 'two-tier', '2,4,0', '--rate', RATE)
    try:
        for mode in 'dedicated', 'shared':
            relays(f, mode)
            pairs(f, mode)
    finally:
        f.down()
    fat_tree()
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())
