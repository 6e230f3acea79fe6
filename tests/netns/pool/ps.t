#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Jobs on shared pools without relays, or with a dead one: trib-perf on four
workers, trib-ps on r0. Every sum is checked.

    w0 .. w3 --- wires --- r0: trib-ps (tribd's XDP lets its port through)
"""
import os
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
import ranks  # noqa: E402
from worker import *  # noqa: E402,F403

PS_PORT, DEAD_PORT = 7500, 7599
KEY = '11223344556677881122334455667788'
HOSTS = ['w0', 'w1', 'w2', 'w3']
tap = Tap()


def address(host):
    return '10.77.%d.%d' % (int(host[1]), 2)


def relay(host):
    return '10.77.%d.1' % int(host[1])


class Server:
    """trib-ps on r0, which the tests kill and start again."""

    def __init__(self, f, group=None):
        self.f = f
        self.dir = '/run/trib-fabric/' + f.name
        tree = {'tree': 1}
        if group:
            tree['group'] = group
        with open(self.dir + '/ps.job', 'w') as job:
            json.dump({'name': 'train', 'job': 9, 'key': KEY,
                       'window': 256, 'nval': 352, 'timeout_ms': 3000,
                       'workers': [address(h) for h in HOSTS],
                       'trees': [tree]}, job)
        self.start()

    def start(self):
        with open(self.dir + '/ps.log', 'a') as log:
            self.p = subprocess.Popen(
                ['nsenter', '--net=/run/netns/' + self.f.ns('r0'),
                 BUILD + '/trib-ps', '--listen', '0.0.0.0:%d' % PS_PORT,
                 '--job', self.dir + '/ps.job', '--state',
                 self.dir + '/ps.state', '--stats', self.dir + '/ps.stats',
                 '--interval', '50'], stdout=log, stderr=log)
        self.f.procs.append(self.p)

    def kill(self):
        self.p.kill()
        self.p.wait()

    def stat(self, name):
        try:
            with open(self.dir + '/ps.stats') as s:
                return json.load(s)['trees'][0][name]
        except FileNotFoundError:
            return 0

    def stop(self):
        self.p.terminate()
        self.p.wait(20)
        with open(self.dir + '/ps.log') as log:
            return log.read(), self.p.returncode


def ticket(host, hop=0, port=7417):
    return ('trib://%s:%d/train?job=9&%s&rank=%s&world=4'
            '&shared=1:%d:%s:%d' % (relay(host), port, keys.of_ticket(KEY, int(host[1])), host[1], hop,
                                    relay(host), PS_PORT))


class Ranks(ranks.Ranks):
    """trib-perf on every worker, with a ticket by way of relay number @hop."""

    def __init__(self, f, *args, hop=0, port=7417):
        self.watch({h: f.spawn(h, 'trib-perf', '-w', '0', '-c', '2', *args,
                               TRIB_JOB=ticket(h, hop, port), TRIB_RANK=h[1],
                               RANK=h[1], TRIB_TRANSPORT='udp')
                    for h in HOSTS})


def moving(server):
    time.sleep(0.2)  # what the job before did is told by now
    before = server.stat('done')
    return until(20, lambda: server.stat('done') > before + 20)


def sums(f, name):
    for what in (('-b', '4', '-e', '1m', '-f', '16', '-n', '5'),
                 ('-b', '300k', '-e', '300k', '-n', '5', '-d', 'int32'),
                 ('-b', '64k', '-e', '64k', '-n', '5', '-o', 'max'),
                 ('-b', '64k', '-e', '64k', '-n', '5', '-C', 'allgather'),
                 ('-b', '300k', '-e', '300k', '-n', '5', '-z', '2:4+int8')):
        ranks = Ranks(f, *what)
        good = ranks.wait()
        tap.test('%s__%s' % (name, '_'.join(what[-2:]).strip('-')), good,
                 ranks)


def restarts(f, server, name, forget):
    """Kills the PS repeatedly while sums are under way."""
    ranks = Ranks(f, '-b', '1m', '-e', '1m', '-n', '150', '-d', 'int32')
    moving(server)
    n = 0
    while ranks.running() and n < 5:
        server.kill()
        if forget:
            os.unlink(server.dir + '/ps.state')
        time.sleep(0.1)
        server.start()
        n += 1
        time.sleep(0.3)
    good = ranks.wait()
    tap.test(name, good and n > 2, n, ranks)


def faults(percent):
    f = Fabric('ps', 'star', '--workers', '4', '--transport', 'udp', '--loss',
               percent, '--dup', percent, '--reorder', percent)
    try:
        server = Server(f)
        sums(f, 'loss_%s_percent' % percent)
        restarts(f, server, 'loss_%s_percent__ps_killed_and_restarted' %
                 percent, False)
        restarts(f, server, 'loss_%s_percent__ps_lost_its_state_file_too' %
                 percent, True)
        server.stop()
    finally:
        f.down()


# Rank 0 detaches at once, the others after it has stopped waiting.
DETACH = """
import ctypes, os, sys, time
lib = ctypes.CDLL(sys.argv[1])
lib.trib_error_text.restype = ctypes.c_char_p
t = ctypes.c_void_p()
if lib.trib_attach(ctypes.byref(t), None):
    sys.exit(lib.trib_error_text(None))
if lib.trib_barrier(t):
    sys.exit(lib.trib_error_text(t))
if os.environ['RANK'] != '0':
    time.sleep(10)
start = time.monotonic()
lib.trib_detach(t)
print(time.monotonic() - start)
"""


def detach(f):
    """For 30 of the longest timeouts of 250 ms, the PS may ask any rank."""
    p = {h: f.spawn(h, 'python3', '-c', DETACH, BUILD + '/libtrib.so.0',
                    TRIB_JOB=ticket(h), TRIB_RANK=h[1], RANK=h[1],
                    TRIB_TRANSPORT='udp') for h in HOSTS}
    out = {h: q.communicate(timeout=40)[0] for h, q in p.items()}
    try:
        took = float(out['w0'])
    except ValueError:
        took = 0
    tap.test('detach__listens_for_30_time_outs', 7.4 < took < 9, out)


def clean():
    f = Fabric('ps', 'star', '--workers', '4', '--transport', 'udp')
    try:
        server = Server(f)
        sums(f, 'good_wires')
        detach(f)
        # The log says that all have left.
        until(5, lambda: server.stat('epoch') == 5 and
              not server.stat('joined'))
        epoch = server.stat('epoch')
        server.kill()
        server.start()
        tap.test('restart__in_a_new_epoch', Ranks(f, '-n', '2').wait() and
                 until(2, lambda: server.stat('epoch') == epoch + 1),
                 epoch, server.stat('epoch'))
        ranks = Ranks(f, '-b', '1m', '-e', '1m', '-n', '100000')
        moving(server)
        ranks.p['w2'].kill()
        start = time.monotonic()
        ranks.wait(30)
        tap.test('killed_rank__is_named_to_all', time.monotonic() - start < 8
                 and all('rank 2 ' in ranks.out[h] for h in HOSTS
                         if h != 'w2'), ranks)
        out, rc = server.stop()
        tap.test('trib_ps__ends_in_good_order', rc == 0 and
                 'epoch %d runs' % (epoch + 1) in out, rc, out)
    finally:
        f.down()


def dead_relay():
    """The ticket's relay does not exist; results are sent to it."""
    f = Fabric('ps', 'star', '--workers', '4', '--transport', 'udp')
    try:
        server = Server(f, ['10.77.0.9:%d' % DEAD_PORT])
        ranks = Ranks(f, '-b', '256k', '-e', '256k', '-n', '20', '-d', 'int32',
                      hop=3, port=DEAD_PORT)
        start = time.monotonic()
        good = ranks.wait()
        tap.test('dead_relay__is_gone_around', good, ranks)
        tap.test('dead_relay__costs_a_moment', time.monotonic() - start < 8,
                 time.monotonic() - start)
        server.stop()
        # Few results were asked for: the others came by themselves.
        tap.test('dead_relay__leases_were_served', server.stat('probe') >= 4
                 and server.stat('answer') < server.stat('done'),
                 [server.stat(k) for k in ('probe', 'answer', 'done')])
    finally:
        f.down()


def wrong_use():
    """Refused with one line that names what is wrong."""
    def ps(*args):
        p = run(BUILD + '/trib-ps', *args, check=False)
        return p.returncode, p.stdout

    for name, args, rc, want in (
            ('listen', ('--job', 'x'), 2, '--listen is missing'),
            ('address', ('--listen', '1.2.3', '--job', 'x'), 2,
             '--listen 1.2.3: want ADDR[:PORT]'),
            ('interval', ('--interval', '1'), 2, '--interval 1: want 10 to'),
            ('file', ('--listen', '127.0.0.1', '--job', '/none'), 1, '/none:'),
            ('rest', ('--listen', '127.0.0.1', '--job', 'x', 'y'), 2,
             "unexpected argument 'y'")):
        got, out = ps(*args)
        tap.test('wrong_%s__is_named' % name, got == rc and want in out, got,
                 out)


need_root()
for binary in ('trib-perf', 'trib-ps'):
    if not os.access(BUILD + '/' + binary, os.X_OK):
        skip(binary + ' is not built')
wrong_use()
clean()
dead_relay()
faults('1')
faults('5')
sys.exit(tap.done())
