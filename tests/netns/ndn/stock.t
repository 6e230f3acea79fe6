#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""python-ndn, as it comes from PyPI, trains with tribd's routers between: as a
worker and as a parameter server, with each other and with ours.

	ps -- r1 -- r2 -- w0, w1, w2
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import BUILD, TOP, Tap, need, skip_all, wait_for  # noqa: E402
try:
    import yaml  # noqa: F401
except ImportError:
    skip_all('python3-yaml is not installed')
from ndn_net import End, Net, Ps, worker  # noqa: E402
from ndn_worker import model  # noqa: E402

LEASE = 3.0
SIZE = 500  # values: three segments of a stock PS
VERSIONS = 5
PYTHON = TOP + '/tests/ndn/python'

need()
tap = Tap()
if subprocess.run([PYTHON, '-c', 'import ndn']).returncode:
    tap.ok('stock__has_python_ndn', False)
    tap.done()
scratch = tempfile.TemporaryDirectory()
net = Net({'r1': ['ps', 'r2'], 'r2': ['w0', 'w1', 'w2']}, lease=LEASE,
          rights={'ps': {'write': ['/ps']}})
net.route('/ps', 'r2', 'r1', 'ps')
for w in 'w0', 'w1', 'w2':
    net.route('/' + w, 'r1', 'r2', w)
for h in 'ps', 'w0', 'w1', 'w2':
    # A face is identified by its port; UdpFace lets the kernel choose one.
    net.ns[h].run('sysctl', '-qw', 'net.ipv4.ip_local_port_range=6363 6363')


def stock(program, host, *args):
    return End(net.ns[host], PYTHON, TOP + '/tests/netns/ndn/' + program,
               net.router_of(host)[0], *map(str, args))


def stock_worker(host, rank, seconds=60, *more):
    return stock('stock_worker.py', host, host, '/ps/job', rank, seconds,
                 *more)


def stock_ps(workers, versions=VERSIONS):
    return stock('stock_ps.py', 'ps', '/ps/job', SIZE, versions,
                 int(LEASE * 1000), 60, *workers)


def notes(*ends):
    return [e.text()[-1500:] for e in ends] + [net.seen()]


def trains(who, ends, others, ranks, size=SIZE, versions=VERSIONS):
    """The models printed by each of @ends are those that all gradients
    lead to, none twice, none back, up to the last."""
    whole = wait_for(lambda: all(any(m['last'] for m in e.said('model'))
                                 for e in ends), 50)
    tap.ok(who + '__last_version_comes', whole, *notes(*ends, *others))
    for e in ends:
        said = e.said('model')
        order = [m['v'] for m in said]
        tap.ok(who + '__versions_never_go_back', order == sorted(set(order)),
               order)
        want = {n: model(ranks, n, size) for n in range(versions + 1)}
        wrong = [m['v'] for m in said if
                 want[m['v'] & 0xffffffff][:64] != m['values'] or
                 sum(want[m['v'] & 0xffffffff]) != m['sum']]
        tap.ok(who + '__sums_are_exact', said and not wrong, wrong, order,
               *notes(e))


def among_themselves():
    """Stock PS and stock workers."""
    waits = net.stat('r2', 'drop-waits')
    ends = [stock_worker('w0', 0), stock_worker('w1', 1)]
    for e in ends:
        e.says('runs')
    ps = stock_ps(('w0', 'w1'))
    trains('stock_both', ends, [ps], (0, 1))
    left = wait_for(lambda: all(e.said('left') for e in ends), 20)
    tap.ok('stock_both__delete_is_acknowledged',
           left and all(e.said('left')[0]['acknowledged'] for e in ends),
           *notes(*ends))
    tap.ok('stock_both__entries_are_gone', wait_for(
        lambda: not net.entry('r2', '/ps/job') and
        not net.entry('r1', '/ps/job')), net.entry('r2', '/ps/job'))
    tap.ok('stock_both__models_came_by_distribution', left and
           all(e.said('left')[0]['came'] > VERSIONS for e in ends),
           *[e.said('left') for e in ends])
    tap.ok('stock_both__waiting_interests_end_at_the_router',
           net.stat('r2', 'drop-waits') > waits)
    asked = net.stat('r1', 'rx-interest')
    late = stock_worker('w2', 2, 20, 'late')
    got = wait_for(lambda: late.said('model'), 20)
    tap.ok('stock_cache__newest_is_fetched', got and
           got[0]['values'] == model((0, 1), VERSIONS, SIZE)[:64] and
           got[0]['fetched'] >= 1, *notes(late, ps))
    tap.ok('stock_cache__segments_come_from_the_nearest_cache',
           got and net.stat('r1', 'rx-interest') - asked == 1,
           net.stat('r1', 'rx-interest') - asked)
    for e in ends + [ps, late]:
        e.end()


def at_our_ps():
    """trib-ps, one stock worker and one of libtrib."""
    ends = [stock_worker('w0', 0), worker(net, 'w1', 1)]
    ends[0].says('runs')
    ps = Ps(net, scratch.name + '/ps', ('w0', 'w1'), elements=SIZE,
            versions=VERSIONS, segment=800)
    trains('our_ps', ends, [ps], (0, 1))
    tap.ok('our_ps__stock_worker_leaves', wait_for(
        lambda: ends[0].said('left') and ends[0].said('left')[0]
        ['acknowledged'], 20), *notes(*ends, ps))
    for e in ends + [ps]:
        e.end()


def our_workers():
    """A stock PS, and workers of libtrib."""
    ends = [worker(net, 'w0', 0), worker(net, 'w1', 1)]
    ps = stock_ps(('w0', 'w1'))
    trains('our_workers', ends, [ps], (0, 1))
    for e in ends:
        wait_for(lambda: e.said('done'))
    tap.ok('our_workers__are_acknowledged_when_they_leave', wait_for(
        lambda: ps.said('ended') and ps.said('ended')[0]['deleted'], 15),
        *notes(ps, *ends))
    for e in ends + [ps]:
        e.end()


among_themselves()
at_our_ps()
our_workers()
tap.done()
