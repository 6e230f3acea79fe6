#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd on the PS's own host as its last relay: trib-ps is behind the LOCAL pair and
receives the sums of tribd's XDP. Every sum is checked.

    w0 w1 -- a (1) --+
                     +-- p (4): trib0/trib1 -- trib-ps
    w2 w3 -- b (2) --+   |
                         s (a switch) -- w4 w5, results by multicast
"""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import keys  # noqa: E402
from tribd import *  # noqa: E402,F403

KEY = '11223344556677881122334455667788'
PS_PORT = 7500
NUMBER = 4  # of p as a relay
need()
tap = Tap()
dir_ = tempfile.TemporaryDirectory()
a, b, p, s = (Netns(n) for n in 'abps')
w = [Netns('w%d' % i) for i in range(6)]
for ns in (a, b, p):
    use_instance('net-%d' % ns.inode())


def join(x, dev_x, addr_x, y, dev_y, addr_y):
    """Makes a link. Both ends accept packets from XDP."""
    veth(x, dev_x, addr_x, y, dev_y, addr_y)
    for ns, dev in ((x, dev_x), (y, dev_y)):
        ns.run('ethtool', '-K', dev, 'gro', 'on')


def network():
    for i in range(4):
        join((a, b)[i // 2], 'v%d' % i, '10.9.%d.1/24' % i, w[i], 'eth0',
             '10.9.%d.2/24' % i)
        w[i].ip('route', 'add', 'default', 'via', '10.9.%d.1' % i)
    for k, ns in enumerate((a, b)):
        up = '10.9.%d.' % (10 + k)
        join(p, 'v' + 'ab'[k], up + '1/24', ns, 'core', up + '2/24')
        ns.ip('route', 'add', 'default', 'via', up + '1')
        ns.run('sysctl', '-qw', 'net.ipv4.ip_forward=1')
        for i in (2 * k, 2 * k + 1):
            p.ip('route', 'add', '10.9.%d.0/24' % i, 'via', up + '2')
    s.ip('link', 'add', 'bridge', 'type', 'bridge', 'mcast_snooping', '0')
    s.ip('link', 'set', 'bridge', 'up')
    for ns, dev, n in ((p, 'vs', 1), (w[4], 'eth0', 4), (w[5], 'eth0', 5)):
        join(s, 'p%d' % n, [], ns, dev,
             ['10.9.20.%d/24' % n, 'fd09::%d/64' % n])
        s.ip('link', 'set', 'p%d' % n, 'master', 'bridge')
        # With IPv6 and a bitmap, packets of 352 values are longer than 1500.
        for x, d in ((s, 'p%d' % n), (ns, dev)):
            x.ip('link', 'set', d, 'mtu', '1600')


class Job:
    """A job of some workers, its row on p, its place at the PS, and tickets."""

    def __init__(self, number, hosts, v6=False, group=None):
        self.number, self.hosts, self.v6 = number, hosts, v6
        self.group = group or ['local']
        self.name = 'job%d' % number
        self.world = len(hosts)
        self.procs = []

    def row(self, cli, tree, relay, next_, workers):
        cli('job add %s id %d world %d window 64 key %s' %
            (self.name, self.number, self.world, KEY))
        cli('tree add %s id %d %s relay %d next %d workers %s' %
            (self.name, self.number, tree, relay, next_, workers))

    def file(self):
        path = '%s/%s' % (dir_.name, self.name)
        with open(path, 'w') as f:
            json.dump({'name': self.name, 'job': self.number, 'key': KEY,
                       'window': 64, 'nval': 352,
                       'timeout_ms': 20000,
                       'workers': ['%s:%d' % (self.address(i), self.port())
                                   for i in range(self.world)],
                       'trees': [{'tree': self.number,
                                  'group': self.group}]}, f)
        return path

    def port(self):
        return 7600 + self.number

    def start(self, *args):
        self.procs = []
        for r in range(self.world):
            env = dict(os.environ, TRIB_JOB=self.ticket(r), RANK=str(r),
                       TRIB_TRANSPORT='udp')
            self.procs.append(subprocess.Popen(
                w[self.hosts[r]].argv(BUILD + '/trib-perf', '-w', '0', '-c',
                                      '2', *args),
                env=env, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT))

    def running(self):
        return all(q.poll() is None for q in self.procs)

    def kill(self):
        for q in self.procs:
            q.kill()

    def wait(self, seconds=90):
        """(all sums were right, what the ranks said)"""
        return finish(self.procs, seconds)


class Racks(Job):
    """A job behind relays a and b, whose next hop is p."""

    def address(self, r):
        return '10.9.%d.2' % r

    def rows(self):
        for k, ns in enumerate((a, b)):
            cli = tribd['ab'[k]].cli
            cli('face add up dev core addr 10.9.%d.1' % (10 + k))
            for r in (2 * k, 2 * k + 1):
                cli('face add w%d dev v%d addr 10.9.%d.2 port %d' %
                    (r, r, r, self.port()))
            self.row(cli, 'child w%d:%d w%d:%d parent up' %
                     (2 * k, 2 * k, 2 * k + 1, 2 * k + 1), 1 + k, NUMBER,
                     '%d-%d' % (2 * k, 2 * k + 1))
            tribd['p'].cli('face add %s dev v%s addr 10.9.%d.2' %
                           ('ab'[k], 'ab'[k], 10 + k))
        self.row(tribd['p'].cli, 'child a b parent ps', NUMBER, 65535, '0-3')

    def ticket(self, r):
        ps = '10.9.%d.1' % (10 + r // 2)
        return ('trib://10.9.%d.1:7417/%s?job=%d&%s&rank=%d&world=%d'
                '&shared=%d:%d:%s:%d,%d&via=%d:%d:%s' %
                (r, self.name, self.number, keys.of_ticket(KEY, r), r,
                 self.world, self.number,
                 1 + r // 2, ps, PS_PORT, self.port(), self.number, NUMBER,
                 ps))


class Switch(Job):
    """A job of p's own neighbours, with no other relay."""

    def address(self, r):
        return ('[fd09::%d]' if self.v6 else '10.9.20.%d') % self.hosts[r]

    def multicast(self):
        return 'ff12::77' if self.v6 else '239.9.0.2'

    def rows(self):
        cli = tribd['p'].cli
        names = []
        for i in self.hosts:
            names.append('n%d-%d' % (self.number, i))
            cli('face add %s dev vs addr %s%d port %d' %
                (names[-1], 'fd09::' if self.v6 else '10.9.20.', i,
                 self.port()))
        cli('face add all%d dev vs addr %s port %d' %
            (self.number, self.multicast(), self.port()))
        self.row(cli, 'child %s down all%d parent %s' %
                 (' '.join('%s:%d' % (n, r) for r, n in enumerate(names)),
                  self.number, 'ps6' if self.v6 else 'ps'),
                 NUMBER, 65535, '0-%d' % (self.world - 1))

    def ticket(self, r):
        host = '[fd09::1]' if self.v6 else '10.9.20.1'
        group = '[%s]' % self.multicast() if self.v6 else self.multicast()
        return ('trib://%s:7417/%s?job=%d&%s&rank=%d&world=%d'
                '&shared=%d:%d:%s:%d,%d@%s' %
                (host, self.name, self.number, keys.of_ticket(KEY, r), r,
                 self.world,
                 self.number, NUMBER, host, PS_PORT, self.port(), group))


class Daemon:
    def __init__(self, ns):
        self.ns, self.cli = ns, Cli(ns)
        self.start()

    def start(self):
        self.daemon = Tribd(self.ns)

    def stat(self, name):
        return next((x['value'] for x in self.cli.json('stats')
                     if x['name'] == name), 0)

    def detach(self):
        """Detaches XDP from all ports, as another program might."""
        pins = Pins('net-%d' % self.ns.inode())
        for link in [n for n in pins.names() if n.startswith('link')]:
            run(BPFTOOL, 'link', 'detach', 'pinned', pins.path(link))


def serve(listen, *which):
    return TribPs(p, '%s:%d' % (listen, PS_PORT), [j.file() for j in which],
                  dir_.name)


SIZES = ('-b', '4', '-e', '1m', '-f', '16', '-n', '5')
LONG = ('-b', '1m', '-e', '1m', '-n')


def right(name, job, *args):
    job.start(*args)
    good, text = job.wait()
    tap.ok(name + '__sums_right', good, text, tribd['p'].cli('stats'))


def merged(name, server, job):
    """The PS received sums of all ranks."""
    t = server.tree(job.number)
    tap.ok(name + '__ps_gets_one_packet_a_chunk',
           t['done'] > 500 and t['partial'] >= t['done'] * 9 // 10 and
           t['grad'] < t['done'] * 12 // 10, t)


def moves(server):
    before = server.tree()['done']
    return wait_for(lambda: server.tree()['done'] > before + 20)


def racks(server, job):
    right('racks', job, *SIZES)
    merged('racks', server, job)
    tap.ok('racks__results_free_slots_on_their_way_out',
           tribd['p'].stat('pool-freed') > 500, tribd['p'].cli('stats'))
    net = server.stats()['net']
    tap.ok('racks__all_that_the_ps_sends_finds_its_way',
           not net['tx-error'], net)


def faults(server, job):
    job.start(*LONG, '200')
    moves(server)
    tribd['p'].daemon.end(signal.SIGKILL)
    tap.ok('tribd_dead__chunks_go_on', moves(server))
    tribd['p'].start()
    tap.ok('tribd_back__chunks_go_on', moves(server) and job.running())
    server.end()
    server.start()
    tap.ok('ps_restarted__chunks_go_on', moves(server) and job.running())
    good, text = job.wait()
    tap.ok('restarts__sums_right', good, text)
    t = server.tree()
    tap.ok('restarts__ps_gets_sums_as_before', t['partial'] > 500, t)


def detached(server, job):
    before = server.tree()['probe']
    job.start(*LONG, '200')
    moves(server)
    tribd['p'].daemon.end()
    tribd['p'].detach()
    tap.ok('detached__chunks_go_on', moves(server) and job.running())
    tap.ok('detached__workers_go_round_it', server.tree()['probe'] > before,
           server.tree())
    tribd['p'].start()
    at = tribd['p'].stat('pool-merged')
    tap.ok('attached__it_adds_up_again',
           wait_for(lambda: tribd['p'].stat('pool-merged') > at + 1000) and
           job.running())
    good, text = job.wait()
    tap.ok('detached__sums_right', good, text)


def purged(server, job):
    """Removes the pair and makes another one."""
    job.start(*LONG, '200')
    moves(server)
    tribd['p'].daemon.end()
    p.run(BUILD + '/tribd', '--purge')
    tap.ok('purged__chunks_go_on', moves(server) and job.running() and
           not p.link('trib1'))
    good, text = job.wait()
    tap.ok('purged__sums_right', good, text)
    tribd['p'].start()
    p_faces()
    for j in jobs:
        if isinstance(j, Racks):
            for k in range(2):
                tribd['p'].cli('face add %s dev v%s addr 10.9.%d.2' %
                               ('ab'[k], 'ab'[k], 10 + k))
            j.row(tribd['p'].cli, 'child a b parent ps', NUMBER, 65535, '0-3')
        else:
            j.rows()
    at = server.tree()['partial']
    right('new_pair', job, *SIZES)
    tap.ok('new_pair__is_found', server.tree()['partial'] > at + 500)


def p_faces():
    cli = tribd['p'].cli
    cli('face add ps dev trib0 addr 169.254.77.2 port %d' % PS_PORT)
    cli('face add ps6 dev trib0 addr fe80::77:2 port %d' % PS_PORT)


def refused():
    argv = p.argv(BUILD + '/trib-ps', '--check', '--listen',
                  '10.9.10.1:%d' % PS_PORT, '--job', jobs[0].file())
    out = run(*argv, ok=False)
    tap.has('local__needs_all_addresses', out, '--listen at all (0.0.0.0')


network()
jobs = [Racks(1, [0, 1, 2, 3]), Switch(2, [4, 5]), Switch(3, [4, 5], v6=True)]
tribd = {n: Daemon(ns) for n, ns in (('a', a), ('b', b), ('p', p))}
server = None
try:
    p_faces()
    for j in jobs:
        j.rows()
    refused()
    server = serve('0.0.0.0', *jobs[:2])
    racks(server, jobs[0])
    right('switch', jobs[1], *SIZES)
    merged('switch', server, jobs[1])
    faults(server, jobs[0])
    detached(server, jobs[0])
    server.end()
    server = serve('[::]', *jobs)
    for j, name in zip(jobs, ('mapped', 'switch_mapped', 'ipv6')):
        right(name, j, *SIZES)
        merged(name, server, j)
    purged(server, jobs[0])
except Exception as e:  # noqa: BLE001 all else would hide what was said
    tap.ok('ps_local__no_exception', False, repr(e))
finally:
    if server:
        server.end()
    for j in jobs:
        j.kill()
tap.done()
