# SPDX-License-Identifier: BSD-2-Clause
"""The ranks of the two jobs, and the parameter server and workers of a model that
is distributed by name. What they print is checked while they run.
"""
import collections
import json
import mmap
import os
import re
import struct
import sys
import threading
import time

from world import (BUILD, JOIN_TIMEOUT, LEASE, TIMEOUT, TOP, WORKERS, Daemon)
sys.path.insert(0, TOP + '/tests/netns/ndn')
from ndn_worker import gradient  # noqa: E402

# Seconds that a call may take beyond its time-out. A silence is noticed within two
# time-outs, one for the sign of life before it; the rest is for a busy machine.
MARGIN = TIMEOUT / 1000 + 3
LIMITS = {'attach': JOIN_TIMEOUT / 1000 + MARGIN, 'sum': TIMEOUT / 1000 + MARGIN,
          'detach': TIMEOUT / 1000 + MARGIN}
CALLS = ('none', 'attach', 'sum', 'detach')
CODES = ('none', 'argument', 'system', 'non-finite', 'dead', 'gone', 'rejoin',
         'relay', 'missing', 'removed')
NAMES_RANK = ('dead', 'gone', 'rejoin', 'missing')
MODEL = 500  # values


class Process(Daemon):
    """One that prints lines of JSON."""

    def __init__(self, world, host, name, argv, env=None):
        super().__init__(world, host, name, argv, env=env, log='%s/%s-%s' % (
            world.scratch, name.replace(':', '-'), host))
        self.at, self.stops = 0, []
        self.gives_up = False  # its end has been told, and is no crash

    def stop(self):
        self.stops.append([time.monotonic(), None])
        super().stop()

    def cont(self):
        super().cont()
        if self.stops and self.stops[-1][1] is None:
            self.stops[-1][1] = time.monotonic()

    def still(self, begun, ended):
        """Seconds in which it was stopped."""
        return sum(max(0, min(b or ended, ended) - max(a, begun))
                   for a, b in list(self.stops))

    def news(self):
        """New lines: dictionaries, or text that is no JSON."""
        with open(self.log, errors='replace') as f:
            f.seek(self.at)
            text = f.read()
        whole = text[:text.rfind('\n') + 1]
        self.at += len(whole.encode())
        for line in whole.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                # The former process may have died within a line.
                if line[:1] not in ('', '{'):
                    yield line


class Rank(Process):
    """rank.c on a worker's host, and its memory that we map."""

    def __init__(self, world, job, host, seed):
        with open('%s/jobs/%s/%s.env' % (world.state, job, host)) as f:
            env = dict(x.rstrip('\n').split('=', 1) for x in f)
        env['TRIB_JOIN_TIMEOUT_MS'] = str(JOIN_TIMEOUT)
        self.job, self.memory = job, '%s/%s-%s.map' % (world.scratch, job, host)
        super().__init__(world, host, job, [
            BUILD + '/tests/chaos/rank', '-s', str(seed), '-f', self.memory,
            '-l', str(int(min(LIMITS.values()) * 1000))], env)
        with open(self.memory, 'wb') as f:
            f.write(bytes(64))
        with open(self.memory, 'rb') as f:
            self.map = mmap.mmap(f.fileno(), 64, prot=mmap.PROT_READ)
        self.hung = None

    def status(self):
        return dict(zip(('call', 'begun', 'step', 'i32', 'f32', 'wrong',
                         'joined', 'errors'), struct.unpack('=8Q', self.map)))

    def hangs(self):
        """The text about a call that does not return, once for each."""
        s = self.status()
        if not s['call'] or not self.meant or self.stopped:
            return None
        now, begun = time.monotonic(), s['begun'] / 1e9
        call = CALLS[s['call']]
        took = now - begun - self.still(begun, now)
        if took < LIMITS[call] or self.hung == s['begun']:
            return None
        self.hung = s['begun']
        return '%s on %s of %s: %.1f s without an answer, limit %.1f' % (
            call, self.host, self.job, took, LIMITS[call])


class Judge:
    """Failures of all kinds, and what the summary counts."""

    def __init__(self):
        self.lock = threading.Lock()
        self.failures, self.errors = [], collections.Counter()
        self.texts = collections.Counter()  # of errors, their numbers left out
        self.tell = print

    def fail(self, kind, text):
        with self.lock:
            self.failures.append((kind, text))
        self.tell('FAIL %s: %s' % (kind, text))

    def count(self, kind):
        return sum(k == kind for k, _ in self.failures)


def judge_rank(rank, line, judge):
    """One line of a rank."""
    if isinstance(line, str):
        judge.fail('unnamed error', '%s of %s says: %s' % (rank.host, rank.job,
                                                           line))
        return
    who = '%s of %s' % (rank.host, rank.job)
    if line['what'] == 'wrong':
        judge.fail('wrong sum', '%s: %s' % (who, json.dumps(line)))
    elif line['what'] == 'late':
        end = line['begun'] + line['ms'] / 1000
        took = line['ms'] / 1000 - rank.still(line['begun'], end)
        if took > LIMITS[line['call']] and rank.hung is None:
            judge.fail('hang', '%s: %s took %.1f s, limit %.1f' % (
                who, line['call'], took, LIMITS[line['call']]))
    elif line['what'] == 'error':
        judge_error(who, line, judge)


def judge_error(who, line, judge):
    code = CODES[line['code']] if line['code'] < len(CODES) else 'none'
    judge.errors['%s: %s' % (line['call'], code)] += 1
    text = line['text']
    judge.texts[re.sub(r'\b[0-9a-f]*\d[0-9a-f.]*\b', 'N', text)] += 1
    named = bool(text)
    if code in NAMES_RANK:
        # A worker knows only the ranks below its own relay.
        named &= 'relay' in text or \
            line['rank'] >= 0 and str(line['rank']) in text
    elif code == 'relay':
        # It does not answer; or all wait for the rank that it does not reach.
        named &= 'relay' in text or 'PS' in text or \
            line['rank'] >= 0 and 'rank %d ' % line['rank'] in text
    elif code in ('none', 'non-finite'):
        named = False
    if not named:
        judge.fail('unnamed error', '%s: %s' % (who, json.dumps(line)))


# --- the model by name

class Model:
    """trib-ps ndn and its workers. Each version must be the one before it minus the
    mean of whole gradients of one, two, three or four different workers."""

    def __init__(self, world, judge):
        self.world, self.judge = world, judge
        self.seen, self.checked = {}, 0
        state = world.scratch + '/ndn-state/job'
        with open(world.scratch + '/ndn.json', 'w') as f:
            json.dump({'name': 'job', 'prefix': '/ps/job', 'mode': 'sync',
                       'elements': MODEL, 'versions': 1000000, 'sgd': {'lr': 1.0},
                       'lease_ms': LEASE, 'rto_ms': 50, 'every': 1,
                       'rate_mbps': 100, 'state': state,
                       'workers': list(WORKERS)}, f)
        env = world.ndn_env('ps')
        self.ps = Daemon(world, 'ps', 'ndn', [
            BUILD + '/trib-ps', 'ndn', '--forwarder',
            env['TRIB_PS_FORWARDER'], '--job', world.scratch + '/ndn.json'],
            log=world.scratch + '/ndn-ps.log')
        world.daemons['ps', 'ndn'] = self.ps
        self.workers = {w: self.worker(w, r) for r, w in enumerate(WORKERS)}
        for r in ('r0', 'r1', 'r2'):
            world.trib(r, 'strategy', 'set', 'lease', '%dms' % LEASE)

    def worker(self, host, rank):
        args = {'name': '/' + host, 'job': '/ps/job', 'rank': rank,
                'forwarder': self.world.ndn_env(host)['TRIB_PS_FORWARDER'],
                'slow': 0.1, 'show': MODEL}
        p = Process(self.world, host, 'ndn-worker', [
            sys.executable, TOP + '/tests/netns/ndn/ndn_worker.py',
            json.dumps(args)], {'TRIB_BUILD': BUILD})
        self.world.daemons[host, 'ndn-worker'] = p
        return p

    def start(self):
        for w in self.workers.values():
            w.start()
        self.ps.start()

    def newest(self):
        return max(self.seen, default=0)

    def hear(self):
        """Checks what the workers have said since the last call."""
        for host, w in self.workers.items():
            for line in w.news():
                if isinstance(line, str):
                    self.judge.fail('unnamed error', 'NDN worker %s says: %s' %
                                    (host, line))
                elif line['what'] == 'model':
                    self.hear_model(host, line)
                elif line['what'] == 'ends' or line.get('err'):
                    self.judge.errors['model: errno %d' % -line['err']] += 1
                    # A worker that gave up is started again, as by a supervisor.
                    w.gives_up |= line['what'] == 'ends'
                    if not line.get('text'):
                        self.judge.fail('unnamed error', 'NDN worker %s: %s' %
                                        (host, json.dumps(line)))

    def hear_model(self, host, line):
        v, values = line['v'], line['values']
        if v in self.seen:
            if self.seen[v] != values:
                self.judge.fail('wrong sum', 'model %x of %s differs from '
                                "another worker's" % (v, host))
            return
        self.seen[v] = values
        for a in (v - 1, v):
            if a in self.seen and a + 1 in self.seen:
                self.check(a)
        for old in [x for x in self.seen if x < v - 50]:
            del self.seen[old]

    def check(self, v):
        """Is the next version made of whole gradients, each once?"""
        n = v & 0xffffffff
        self.checked += 1
        step = [a - b for a, b in zip(self.seen[v], self.seen[v + 1])]
        base = [x - 3 * 1 for x in gradient(0, n, MODEL)]
        mean = [s - b for s, b in zip(step, base)]
        subsets = {3 * sum(r + 1 for r in range(4) if m >> r & 1) /
                   bin(m).count('1') for m in range(1, 16)}
        slack = 1e-6 * (1 + max(map(abs, self.seen[v + 1])))
        if not any(all(abs(x - s) <= slack for x in mean) for s in subsets):
            self.judge.fail('wrong sum', 'model %x: the step from %x is no mean '
                            'of gradients: %s ...' % (v + 1, v, mean[:8]))
