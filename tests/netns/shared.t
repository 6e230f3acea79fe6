#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Jobs that share the slots of relays, with a PS for what finds none: rack
relays a and b, relay d in front of the PS. Every sum is checked.

    w0 w1 -- a (1) --+
                     +-- d (3) -- p: trib-ps
    w2 w3 -- b (2) --+
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from tribd import *  # noqa: E402,F403

COOKIE = '1122334455667788'
PS = '10.8.12.2'
need()
tap = Tap()
dir_ = tempfile.TemporaryDirectory()
a, b, d, p = (Netns(n) for n in 'abdp')
w = [Netns('w%d' % i) for i in range(4)]
for ns in (a, b, d):
    use_instance('net-%d' % ns.inode())


def join(x, dev_x, y, dev_y, subnet):
    """The upper end has .1, the lower one .2; both take what XDP sends."""
    veth(x, dev_x, '10.8.%d.1/24' % subnet, y, dev_y, '10.8.%d.2/24' % subnet)
    for ns, dev in ((x, dev_x), (y, dev_y)):
        ns.run('ethtool', '-K', dev, 'gro', 'on')


def network():
    for i in range(4):
        join((a, b)[i // 2], 'v%d' % i, w[i], 'eth0', i)
        w[i].ip('route', 'add', 'default', 'via', '10.8.%d.1' % i)
    join(d, 'va', a, 'core', 10)
    join(d, 'vb', b, 'core', 11)
    # The PS is below nobody; its link's far end is d's.
    veth(d, 'vp', '10.8.12.1/24', p, 'eth0', PS + '/24')
    p.run('ethtool', '-K', 'eth0', 'gro', 'on')
    p.ip('route', 'add', 'default', 'via', '10.8.12.1')
    for ns, up in ((a, '10.8.10.1'), (b, '10.8.11.1')):
        ns.ip('route', 'add', 'default', 'via', up)
    for i in range(4):
        d.ip('route', 'add', '10.8.%d.0/24' % i, 'via',
             '10.8.%d.2' % (10 + i // 2))
    for ns in (a, b, d):
        ns.run('sysctl', '-qw', 'net.ipv4.ip_forward=1')


class Job:
    """A job of some workers, with its rows, its place at the PS and tickets."""

    def __init__(self, number, ranks, cap=0):
        self.number, self.ranks, self.cap = number, ranks, cap
        self.name = 'job%d' % number
        self.world = len(ranks)

    def rows(self):
        """Those of workers' faces are the job's: each rank has a port."""
        for name, ns, base, up in (('a', a, 0, 1), ('b', b, 2, 2)):
            here = [r for r in range(self.world)
                    if self.ranks[r] // 2 == base // 2]
            if not here:
                continue
            cli = relay[name].cli
            children = []
            for r in here:
                i = self.ranks[r]
                face = 'f%d-%d' % (self.number, r)
                cli('face add %s dev v%d addr 10.8.%d.2 port %d' %
                    (face, i, i, self.port(r)))
                children.append('%s:%d' % (face, r))
            wait_for(lambda: all('mac' in f for f in cli.json('face show')))
            self.row(cli, 'child ' + ' '.join(children) + ' parent up', up, 3)
        below = sorted({self.ranks[r] // 2 for r in range(self.world)})
        self.row(relay['d'].cli, 'child ' + ' '.join('ab'[i] for i in below) +
                 ' parent ps', 3, 65535, ' workers 0-%d' % (self.world - 1))

    def row(self, cli, tree, number, next_, more=''):
        cli('job add %s id %d world %d window 64 cookie %s' %
            (self.name, self.number, self.world, COOKIE))
        cli('tree add %s id %d %s relay %d next %d%s%s' %
            (self.name, self.number, tree, number, next_, more,
             ' cap %d' % self.cap if self.cap else ''))

    def port(self, rank):
        return 7500 + 16 * self.number + rank

    def file(self):
        path = '%s/%s' % (dir_.name, self.name)
        with open(path, 'w') as f:
            json.dump({'name': self.name, 'job': self.number, 'cookie': COOKIE,
                       'window': 64, 'nval': 352, 'timeout_ms': 5000,
                       'workers': ['10.8.%d.2:%d' % (self.ranks[r],
                                                     self.port(r))
                                   for r in range(self.world)],
                       'trees': [{'tree': self.number,
                                  'group': ['10.8.12.1']}]}, f)
        return path

    def ticket(self, r):
        i = self.ranks[r]
        return ('trib://10.8.%d.1:7417/%s?job=%d&cookie=%s&rank=%d&world=%d'
                '&shared=%d:%d:%s,%d&via=%d:3:10.8.%d.1' %
                (i, self.name, self.number, COOKIE, r, self.world,
                 self.number, 1 + i // 2, PS, self.port(r), self.number,
                 10 + i // 2))

    def start(self, *args):
        self.procs = []
        for r in range(self.world):
            env = dict(os.environ, TRIB_JOB=self.ticket(r), RANK=str(r),
                       TRIB_TRANSPORT='udp')
            self.procs.append(subprocess.Popen(
                w[self.ranks[r]].argv(BUILD + '/trib-perf', '-w', '0', '-c',
                                      '2', *args),
                env=env, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT))

    def running(self):
        return any(q.poll() is None for q in self.procs)

    def wait(self, seconds=60):
        """(all sums were right, what the ranks said)"""
        end, out = time.monotonic() + seconds, []
        for q in self.procs:
            try:
                text = q.communicate(timeout=max(end - time.monotonic(), 1))[0]
            except subprocess.TimeoutExpired:
                q.kill()
                text = q.communicate()[0] + '\nHANGS'
            out.append('%s\n%s' % (q.returncode, text))
        return all(q.returncode == 0 for q in self.procs), '\n'.join(out)


class Relay:
    def __init__(self, ns, *args):
        self.ns, self.cli = ns, Cli(ns)
        self.start(*args)

    def start(self, *args):
        self.daemon = Tribd(self.ns, *args)

    def stat(self, name):
        return next((s['value'] for s in self.cli.json('stats')
                     if s['name'] == name), 0)


class Server:
    def __init__(self, *jobs):
        self.argv = p.argv(BUILD + '/trib-ps', '--listen', PS, '--state',
                           dir_.name + '/state', '--stats',
                           dir_.name + '/stats', '--interval', '100')
        for j in jobs:
            self.argv += ('--job', j.file())
        self.start()

    def start(self):
        self.log = open(dir_.name + '/ps.log', 'a')
        self.proc = subprocess.Popen(self.argv, stdout=self.log,
                                     stderr=self.log)

    def end(self):
        self.proc.kill()
        self.proc.wait()

    def stats(self):
        with open(dir_.name + '/stats') as f:
            return json.load(f)['trees']


network()
jobs = [Job(1, [0, 1, 2, 3]), Job(2, [0, 2, 3]), Job(3, [1, 2], cap=1)]
relay = {'a': Relay(a), 'b': Relay(b), 'd': Relay(d)}
for x, up in (('a', '10.8.10.1'), ('b', '10.8.11.1')):
    relay[x].cli('face add up dev core addr ' + up)
relay['d'].cli('face add a dev va addr 10.8.10.2')
relay['d'].cli('face add b dev vb addr 10.8.11.2')
relay['d'].cli('face add ps dev vp addr ' + PS)
for j in jobs:
    j.rows()
server = Server(*jobs)


def sums(name, *args, only=jobs):
    for j in only:
        j.start(*args)
    for j in only:
        good, text = j.wait()
        tap.ok('%s__%s_sums_right' % (name, j.name), good, text)



try:
    sums('alone', '-b', '4', '-e', '1m', '-f', '16', '-n', '5', only=jobs[:1])
    merged = relay['a'].stat('pool-merged')
    tap.ok('alone__relays_add_up', merged > 1000, merged,
           relay['a'].cli('stats'))
    time.sleep(0.2)  # two intervals of the PS's counters
    t = server.stats()[0]
    tap.ok('alone__ps_gets_sums_of_all_workers',
           t['done'] > 1000 and t['grad'] < t['done'] * 5 // 4, t)
    sums('together', '-b', '256k', '-e', '256k', '-n', '20')
    # Two slots for all: hardly a chunk finds one.
    for x in 'abd':
        relay[x].daemon.end()
        relay[x].start('--pool', '2')
    before = [relay[x].stat('pool-passed') for x in 'abd']
    sums('two_slots', '-b', '256k', '-e', '256k', '-n', '20')
    after = [relay[x].stat('pool-passed') for x in 'abd']
    tap.ok('two_slots__what_finds_none_is_passed_on',
           all(y > x + 1000 for x, y in zip(before, after)), before, after)
    for x in 'abd':
        relay[x].daemon.end()
        relay[x].start('--pool', '1024')

    # The PS loses what it knew, and a relay its slots.
    for j in jobs:
        j.start('-b', '1m', '-e', '1m', '-n', '60')
    time.sleep(0.7)
    server.end()
    server.start()
    relay['a'].cli('tree wipe 1')
    for j in jobs:
        good, text = j.wait()
        tap.ok('forgotten__%s_sums_right' % j.name, good, text)

    # Relay a goes: its host only forwards from then on.
    jobs[0].start('-b', '1m', '-e', '1m', '-n', '100')
    time.sleep(0.7)
    tap.ok('dead__job_still_ran', jobs[0].running())
    relay['a'].daemon.end()
    pins = Pins('net-%d' % a.inode())
    for link in [n for n in pins.names() if n.startswith('link')]:
        run(BPFTOOL, 'link', 'detach', 'pinned', pins.path(link))
    good, text = jobs[0].wait()
    tap.ok('dead__job_goes_on_without_the_relay', good, text)
    time.sleep(0.2)
    tap.ok('dead__leases_were_taken', server.stats()[0]['probe'] > 0,
           server.stats()[0])
except Exception as e:  # noqa: BLE001 all else would hide what was said
    tap.ok('shared__no_exception', False, repr(e))
server.end()
tap.done()
