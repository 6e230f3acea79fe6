#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How ranks send: tribd lets XDP send for a rank where it can, and says why not.

    w0 (rank 0, tribd, XDP) --- r0 (relay) --- w1 (rank 1, by socket)
"""
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from worker import *  # noqa: E402,F403

tap = Tap()


def local(f):
    """The rank of w0 as trib shows it."""
    return f.tree('w0')['local'][0]


def stat(f, name):
    rows = json.loads(f.trib('w0', '-j', 'stats', 'show'))
    return next(r['value'] for r in rows if r['name'] == name)


def says(f, way, why=''):
    """The same in JSON, in words, and by doctor."""
    def good():
        out.clear()
        l, text = local(f), f.trib('w0', 'tree', 'show', '1')
        doctor = f.trib('w0', 'doctor', check=False)
        row = next((x for x in text.splitlines() if ' %s ' % way in x), '')
        out.extend((l, text, [x for x in doctor.splitlines() if x.split()[1:2] == ['way']]))
        return (l['way'] == way and why in l.get('why', '') and ('why' in l) == bool(why)
                and why in row and row and
                'rank 0 sends by ' + ('XDP' if way == 'reflex' else 'socket: ') in doctor and
                why in doctor)
    out = []
    return until(3, good), out


def test(name, got):
    tap.test(name, got[0], *got[1])


def attach(f):
    a = Attached(f.ns('w0'))
    assert a.hello(rank=0) == 0, a.text
    w = Worker(f.ns('w0'), '10.77.0.1', 0, a.trees[0][5], up=a.up)
    return a, Cells(a.fds[0], a.ncell), w


def sends(f):
    """XDP sends a chunk that the rank left to it, as the parent expects."""
    a, cells, w = attach(f)
    tap.test('attach__tells_the_rank', a.trees[0][7] == REFLEX, a.trees)
    w1 = Worker(f.ns('w1'), '10.77.1.1', 1, 1, key=f.key(), port=PORT + 2)
    epoch = join_all([w, w1])
    a.tell_epoch(1, epoch)
    cells.distance(a.window)
    cells.sent(epoch, 0)
    cells.ready(w, a.window, [7] * 32)
    w.grad(0, [1] * 32)
    w1.grad(0, [2] * 32)
    tap.test('xdp__delivers', until(2, lambda: cells.get(epoch, 0) == (3,) * 32))
    w1.grad(a.window, [30] * 32)
    tap.test('xdp__sends_for_the_rank',
             until(2, lambda: cells.get(epoch, a.window) == (37,) * 32) and
             stat(f, 'tx-reflex') == 1, stat(f, 'tx-reflex'))
    tap.test('show__counts_it', local(f)['carried'] == 1, local(f))
    cells.carried(10**9)
    tap.test('show__count_is_the_ranks_word', local(f)['carried'] == 10**9 + 1 and
             '(it says)' in f.trib('w0', 'tree', 'show', '1').lower() and
             stat(f, 'tx-reflex') == 1, local(f), f.trib('w0', 'tree', 'show', '1'))
    a.bye()
    tap.test('show__without_a_process_there_is_no_count',
             until(2, lambda: 'carried' not in local(f)), local(f))


def follows(f):
    """Off and on with what it needs."""
    a, _, _ = attach(f)
    f.host('w0', 'ip', 'link', 'set', 'eth0', 'address', '02:77:00:00:00:09')
    row = lambda: deliver_row(f)
    tap.test('row__has_a_new_mac_address', until(
        3, lambda: bytes.fromhex('027700000009') in row()), row().hex())
    f.host('w0', 'ip', 'address', 'add', '10.77.0.9/24', 'dev', 'eth0')
    f.host('w0', 'ip', 'route', 'change', '10.77.0.0/24', 'dev', 'eth0', 'src', '10.77.0.9')
    tap.test('row__has_a_new_address', until(
        3, lambda: bytes((10, 77, 0, 9)) in row()), row().hex())
    f.host('w0', 'ip', 'route', 'change', '10.77.0.0/24', 'dev', 'eth0', 'src', '10.77.0.2')
    f.kill_tribd('w0', signal.SIGTERM)
    f.start_tribd('w0', args=('--no-reflex',))
    b = Attached(f.ns('w0'))
    err = b.hello(flags=MAPPED | RESUME, rank=0)
    tap.test('off__rank_goes_on_by_socket', err == 0 and b.trees[0][7] == 0 and
             b.ncell == a.ncell, b.text, b.trees)
    test('off__says_so', says(f, 'socket', 'tribd runs with --no-reflex'))
    tap.test('off__row_is_empty', not any(row()[-40:]), row().hex())
    f.kill_tribd('w0', signal.SIGTERM)
    f.start_tribd('w0')
    test('on__again', says(f, 'reflex'))
    b.close()
    a.close()
    c = Attached(f.ns('w0'))
    until(12, lambda: c.hello(flags=0, rank=0) == 0)
    tap.test('socket__rank_is_told', c.trees[0][7] == 0, c.trees)
    test('socket__says_so', says(f, 'socket', 'without mapped delivery'))
    c.bye()


def deliver_row(f):
    fd = bpf_get('/sys/fs/bpf/trib/%s/delivers' % f.ns('w0'))
    row = bytes(bpf_lookup(fd, 1, 200))
    os.close(fd)
    return row


def several(f):
    """A second rank on the host."""
    f.trib('w0', 'tree', 'del', '1')
    f.trib('w0', 'tree', 'add', 'train', 'id', '1', 'parent', 'up', 'index', '0', 'local',
           '0:0', 'local', '1:1')
    test('several__says_so', says(f, 'socket', '2 ranks of the tree are on this host'))


def main():
    need_root()
    f = Fabric('way', 'star', '--workers', '2')
    try:
        f.kill_tribd('w1', signal.SIGTERM)
        f.host('w1', BUILD + '/tribd', '--purge', '--instance', f.ns('w1'))
        f.host('w1', 'ethtool', '-K', 'eth0', 'gro', 'off')
        f.host('w1', 'ethtool', '-K', 'eth0', 'gro', 'on')
        f.trib('r0', 'tree', 'del', '1')
        f.trib('r0', 'face', 'del', 'w1')
        f.trib('r0', 'face', 'add', 'w1', 'dev', 'p1', 'addr', '10.77.1.2', 'port',
               str(PORT + 2))
        f.trib('r0', 'tree', 'add', 'train', 'id', '1', 'child', 'w0:0', 'child', 'w1:1')
        test('reflex__is_on', says(f, 'reflex'))
        sends(f)
        follows(f)
        several(f)
    finally:
        f.down()
    return tap.done()


sys.exit(main())
