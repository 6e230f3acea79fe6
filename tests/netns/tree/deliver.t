#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Attaching to tribd, and delivery of results into memory: two ranks on one host.

    w0 (ranks 0 and 1, tribd, XDP) --- r0 (relay) --- w1 (rank 2, no tribd)
"""
import os
import re
import signal
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import keys  # noqa: E402
from worker import *  # noqa: E402,F403

OWNER, OTHER = 4242, 4243
WINDOW = 8
tap = Tap()


def setup(f):
    """Adds to the fabric: two ranks on a host, an owner."""
    key = f.key().hex()
    job = ('job', 'add', 'train', 'id', '1', 'world', '3', 'window',
           str(WINDOW), 'key', key, 'owner', str(OWNER))
    for host in ('r0', 'w0'):
        f.trib(host, 'job', 'del', 'train')
        f.trib(host, *job)
    f.trib('r0', 'face', 'del', 'w1')
    f.trib('r0', 'face', 'add', 'w1', 'dev', 'p1', 'addr', '10.77.1.2',
           'port', str(PORT + 3))
    f.trib('r0', 'tree', 'add', 'train', 'id', '1', 'child', 'w0:0',
           'child', 'w0:1', 'child', 'w1:2')
    f.trib('w0', 'tree', 'add', 'train', 'id', '1', 'parent', 'up', 'index',
           '0', 'local', '0:0', 'local', '1:1')
    # No tribd delivers there: results must reach an ordinary socket.
    f.kill_tribd('w1', signal.SIGTERM)
    f.host('w1', BUILD + '/tribd', '--purge', '--instance', f.ns('w1'))
    # The other end of the veth can send to it only while GRO or XDP is on.
    f.host('w1', 'ethtool', '-K', 'eth0', 'gro', 'off')
    f.host('w1', 'ethtool', '-K', 'eth0', 'gro', 'on')


class Rank:
    """A rank of w0: the connection, the maps, and the socket."""

    def __init__(self, f, rank):
        self.a = Attached(f.ns('w0'))
        assert self.a.hello(rank=rank) == 0, self.a.text
        self.cells = Cells(self.a.fds[0], self.a.ncell)
        self.ring = Ring(self.a.fds[1])
        self.w = Worker(f.ns('w0'), '10.77.0.1', rank, self.a.trees[0][5],
                        up=self.a.up)

    def kill(self):
        self.a.close()

    def sent(self, epoch, chunks):
        for c in chunks:
            self.cells.sent(epoch, c)
        self.cells.arm()


# --- permissions

def owner(f):
    def attach():
        a = Attached()
        return a.hello(), a.text, a.flags, a.rank, len(a.fds)

    err, text, *_ = as_user(OTHER, f.ns('w0'), attach)
    tap.test('attach__another_user_is_refused',
             err == errno.EACCES and str(OTHER) in text, err, text)
    err, text, flags, rank, fds = as_user(OWNER, f.ns('w0'), attach)
    tap.test('attach__owner_gets_the_lowest_rank_and_its_maps',
             (err, flags, rank, fds) == (0, MAPPED, 0, 2), err, text)


def own_cells(f):
    """Arrays are one process's: who was there before can write no more into them."""
    def first():
        a = Attached()
        a.hello()
        cells = Cells(a.fds[0], a.ncell)
        Ring(a.fds[1]).events()
        cells.map[:4] = b'mine'
        a.close()
        return a.ncell, cells

    def both():
        n, old = first()
        # The rank is free as soon as tribd knows of the end.
        a = Attached()
        assert until(2, lambda: a.hello(rank=0) != errno.EBUSY), a.text
        new = Cells(a.fds[0], a.ncell)
        old.map[-4:] = b'late'
        return n, a.ncell, old.map[:4], new.map[:4], new.map[-4:]

    got = as_user(OWNER, f.ns('w0'), both)
    tap.test('cells__each_process_has_new_ones', got ==
             (1024, 1024, b'mine', bytes(4), bytes(4)), got)

    def entries():
        """Of the array in the row of tree 1, place 0."""
        pins = bpf_get('/sys/fs/bpf/trib/%s/cells' % f.ns('w0'))
        try:
            inner = bpf(14, '=I', int.from_bytes(bpf_lookup(pins, 16, 4), 'little'))
            with open('/proc/self/fdinfo/%d' % inner) as info:
                n = int(re.search(r'max_entries:\s*(\d+)', info.read())[1])
            os.close(inner)
            return n
        except OSError:
            return 0
        finally:
            os.close(pins)

    tap.test('cells__leave_the_map_with_their_process', until(2, lambda: entries() < 2),
             entries())
    a = Attached(f.ns('w0'))
    a.hello(rank=0)
    tap.test('cells__are_in_the_row_of_tree_and_place', entries() == 1025, entries())
    a.bye()
    until(2, lambda: again(f, 0) == 0)


def numbers(f):
    a = Attached(f.ns('w0'))
    err = a.hello()
    t = a.trees[0]
    tap.test('attach__parameters_are_the_jobs',
             err == 0 and (a.world, a.job, a.nval, a.window, a.up) ==
             (3, 1, NVAL, WINDOW, keys.of_rank(f.key(), 0)), a.text)
    tap.test('attach__tree_names_the_relay',
             t[0][10:] == b'\xff\xff' + bytes([10, 77, 0, 1]) and
             t[1][10:] == b'\xff\xff' + bytes([10, 77, 0, 2]) and
             t[3:] == (PORT, 1, 0, 0, 0), t)
    b = Attached(f.ns('w0'))
    tap.test('attach__taken_rank_is_busy',
             b.hello(rank=0) == errno.EBUSY and str(os.getpid()) in b.text,
             b.text)
    for rank, err in ((2, errno.EINVAL), (7, errno.EINVAL)):
        b = Attached(f.ns('w0'))
        tap.test('attach__rank_%d_is_not_here' % rank,
                 b.hello(rank=rank) == err, b.err, b.text)
    b = Attached(f.ns('w0'))
    tap.test('attach__unknown_job_is_named',
             b.hello(job='nosuch') == errno.ENOENT and 'nosuch' in b.text,
             b.text)
    b = Attached(f.ns('w0'))
    b.hello(flags=0)
    tap.test('attach__udp_gets_no_maps_but_a_port',
             (b.err, b.rank, len(b.fds), b.trees[0][6]) ==
             (0, 1, 0, PORT + 1 + 1), b.err, b.trees)
    c = Attached(f.ns('w0'))
    tap.test('attach__all_ranks_taken', c.hello() == errno.EBUSY, c.text)
    a.bye()
    c = Attached(f.ns('w0'))
    tap.test('attach__bye_gives_the_rank_back',
             until(2, lambda: again(f, 0) == 0))
    b.bye()


def again(f, rank):
    a = Attached(f.ns('w0'))
    err = a.hello(rank=rank)
    a.bye()
    return err


# --- results

def ready(f):
    """All attached and joined; the epoch is known."""
    ranks = [Rank(f, 0), Rank(f, 1)]
    w = [r.w for r in ranks]
    w.append(Worker(f.ns('w1'), '10.77.1.1', 2, 2, key=f.key(),
                    port=PORT + 3))
    epoch = join_all(w)
    for r in ranks:
        err = r.a.tell_epoch(1, epoch)
        assert not err, err
    return ranks, w, epoch


def results(f):
    ranks, w, epoch = ready(f)
    tap.test('epoch__leaf_row_has_it', f.tree('w0')['epoch'] == epoch)
    for x in w:
        x.drain()
    for r in ranks:
        r.sent(epoch, range(WINDOW))
    for c in range(WINDOW):
        for k, x in enumerate(w):
            x.grad(c, [c + 10 ** k] * 32, PUSH if c == WINDOW - 1 else 0)
    got = until(2, lambda: ranks[0].cells.get(epoch, WINDOW - 1))
    want = [(111 + 3 * c,) * 32 for c in range(WINDOW)]
    for r in ranks:
        tap.test('deliver__rank_%d_finds_sums_in_its_cells' % r.w.rank, got and
                 [r.cells.get(epoch, c) for c in range(WINDOW)] == want,
                 [r.cells.get(epoch, c) for c in range(WINDOW)])
        ev = r.ring.events(2)
        tap.test('deliver__rank_%d_is_rung_once_armed' % r.w.rank,
                 [e[0] for e in ev] == [RESULT], ev)
    p = [w[2].recv(2, RESULT) for _ in range(WINDOW)]
    tap.test('deliver__rank_2_gets_packets',
             all(p) and [x.values() for x in p] == want, p)
    return ranks, w, epoch


def need_event(ranks, w, epoch):
    w[2].grad(WINDOW, [1] * 16)
    w[2].grad(WINDOW, [1] * 16, RESEND)
    ev = [r.ring.events(2) for r in ranks]
    tap.test('deliver__need_reaches_every_ring',
             all(any(e[0] == NEED and e[2] == WINDOW and e[5] == 4
                     for e in es) for es in ev), ev)


def death(f, ranks, w, epoch):
    w[2].drain()
    ranks[0].kill()
    p = w[2].recv(1, ABORT)
    tap.test('death__others_are_told_at_once',
             p and p.chunk == GONE and p.aux == 0 and p.epoch == epoch, p)
    ev = []
    tap.test('death__and_the_other_rank_of_the_host', until(
        1, lambda: ev.extend(ranks[1].ring.events()) or
        any(e[0] == ABORT and e[2] == GONE and e[4] == 0 for e in ev)), ev)
    ranks[1].a.bye()
    got = [p.aux for p in iter(lambda: w[2].recv(0.4, ABORT), None)]
    tap.test('bye__is_no_death', 1 not in got, got)
    w[2].sock.close()
    tap.test('bye__last_one_ends_delivery',
             until(2, lambda: f.tree('w0')['epoch'] == 0))


def again_and_again(f):
    ranks, w, epoch = ready(f)
    tap.test('epoch__an_old_one_is_refused',
             ranks[0].a.tell_epoch(1, epoch - 1) == errno.ESTALE)
    tap.test('epoch__another_tree_is_refused',
             ranks[0].a.tell_epoch(2, epoch) == errno.ENOENT)
    a = Attached(f.ns('w0'))
    tap.test('attach__reply_names_the_newest_epoch',
             again_epoch(f, ranks) == epoch)
    a.close()
    for r in ranks:
        r.sent(epoch, [0])
    for x in w:
        x.drain()
        x.grad(0, [5] * 16, PUSH)
    tap.test('deliver__new_epoch_starts_at_chunk_0',
             until(2, lambda: ranks[1].cells.get(epoch, 0) == (15,) * 16))
    return ranks, w, epoch


def again_epoch(f, ranks):
    """Events as a third process would receive them."""
    ranks[0].a.bye()
    until(2, lambda: again(f, 0) == 0)
    new = Rank(f, 0)
    new.w = ranks[0].w
    ranks[0] = new
    ranks[0].a.tell_epoch(1, new.a.epoch)
    return new.a.epoch


# --- restarts

def restart(f, ranks, w, epoch):
    f.kill_tribd('w0')
    for r in ranks:
        r.sent(epoch, [1])
    for x in w:
        x.grad(1, [6] * 16, PUSH)
    tap.test('restart__results_arrive_without_tribd',
             until(2, lambda: ranks[1].cells.get(epoch, 1) == (18,) * 16))
    tap.test('restart__and_rings_ring', ranks[1].ring.events(2))
    f.start_tribd('w0')
    for r in ranks:
        fds = r.a.fds
        r.a = Attached(f.ns('w0'))
        err = r.a.hello(flags=MAPPED | RESUME, rank=r.w.rank)
        tap.test('restart__rank_%d_comes_back_and_keeps_its_maps' % r.w.rank,
                 err == 0 and not r.a.fds, r.a.text)
        r.a.fds = fds
        tap.test('restart__rank_%d_hears_of_as_many_cells' % r.w.rank,
                 r.a.ncell == r.cells.n, r.a.ncell)
        r.sent(epoch, [2])
    for x in w:
        x.grad(2, [7] * 16, PUSH)
    tap.test('restart__new_tribd_goes_on_with_the_same_cells',
             until(2, lambda: ranks[0].cells.get(epoch, 2) == (21,) * 16))
    tap.test('restart__and_the_same_rings',
             any(e[2] == 2 for e in ranks[0].ring.events(2)))


def orphan(f, ranks, w):
    """One rank comes back, the other ended while tribd was down."""
    w[2].drain()
    f.kill_tribd('w0')
    ranks[0].kill()
    f.start_tribd('w0')
    a = Attached(f.ns('w0'))
    tap.test('restart__other_rank_comes_back',
             a.hello(flags=MAPPED | RESUME, rank=1) == 0, a.text)
    p = w[2].recv(15, ABORT)
    tap.test('restart__who_does_not_come_back_is_dead',
             p and p.chunk == GONE and p.aux == 0, p)
    b = Attached(f.ns('w0'))
    tap.test('restart__dead_rank_cannot_come_back',
             b.hello(flags=MAPPED | RESUME, rank=0) == errno.ESTALE, b.text)
    a.close()


# --- clients that misbehave

def hostile(f):
    def crowd():
        conns = []
        for _ in range(100):
            conns.append(Attached())
        open_ = 0
        for c in conns:
            c.sock.settimeout(0.05)
            try:
                if c.sock.recv(1) != b'':
                    open_ += 1
            except socket.timeout:
                open_ += 1
            except OSError:
                pass
        return open_

    n = as_user(OTHER, f.ns('w0'), crowd)
    tap.test('hostile__idle_connections_of_a_user_are_few', 0 < n <= 40, n)
    tap.test('hostile__others_attach_all_the_same', again(f, 0) == 0)
    ends = 0
    for junk in (b'', b'x', bytes(80), bytes(5000), b'\x42\x49\x52\x54' * 20):
        a = Attached(f.ns('w0'))
        a.send(junk) if junk else a.sock.shutdown(socket.SHUT_WR)
        try:
            ends += a.sock.recv(100) == b''
        except ConnectionResetError:
            ends += 1
    tap.test('hostile__junk_ends_the_connection', ends == 5, ends)
    a = Attached(f.ns('w0'))
    a.hello(rank=0)
    start = time.monotonic()
    acks = [a.tell_epoch(1, 1000 + e) for e in range(500)]
    most = 64 * (time.monotonic() - start + 1)
    tap.test('hostile__epochs_are_taken_at_a_pace',
             0 < acks.count(0) <= most and errno.EAGAIN in acks,
             acks.count(0), most)
    a.close()
    a = Attached(f.ns('w0'))
    a.hello(rank=0)
    try:
        for e in range(5000):
            a.send(struct.pack('=IHHII', 0x54524942, ATTACH_VERSION, EPOCH, 1, e))
        cut = False
    except OSError:
        cut = True
    tap.test('hostile__who_does_not_read_is_cut_off', cut)
    tap.test('hostile__tribd_lives', again(f, 1) == 0)


def impostor(f):
    """Another user has tribd's name where no tribd runs."""
    def listen():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind('\0trib/attach')
        s.listen()
        return run(BUILD + '/trib-perf', '-b', '4', '-e', '4', check=False,
                   env={**os.environ, 'TRIB_JOB': 'train'}, timeout=60).stdout
    run('ip', 'netns', 'add', f.ns('bare'))
    try:
        text = as_user(OTHER, f.ns('bare'), listen)
    finally:
        run('ip', 'netns', 'del', f.ns('bare'))
    tap.test('hostile__who_has_tribds_name_and_is_not_root_is_not_trusted',
             'is not root: not trusted' in text, text)


def generations(f):
    f.trib('w0', 'tree', 'add', 'train', 'id', '2', 'parent', 'up', 'index',
           '0', 'local', '0:0', 'local', '1:1', 'held')
    a = Attached(f.ns('w0'))
    a.hello(rank=0)
    f.trib('w0', 'tree', 'del', '2')
    b = Attached(f.ns('w0'))
    # Only after it is known to have a ring.
    tap.test('generation__that_goes_leaves_others_their_rank_and_ring',
             b.hello(flags=MAPPED | RESUME, rank=0) == errno.EBUSY, b.text)
    a.close()


def removal(f):
    a = Attached(f.ns('w0'))
    a.hello(rank=0)
    f.trib('w0', 'job', 'del', 'train')
    a.sock.settimeout(2)
    tap.test('removal__processes_are_sent_away', a.sock.recv(10) == b'')
    b = Attached(f.ns('w0'))
    tap.test('removal__and_told_why_when_they_come_back',
             b.hello(flags=MAPPED | RESUME, rank=0) == errno.ENOENT, b.text)


def main():
    need_root()
    f = Fabric('deliver', 'star', '--workers', '2')
    try:
        setup(f)
        owner(f)
        own_cells(f)
        numbers(f)
        ranks, w, epoch = results(f)
        need_event(ranks, w, epoch)
        death(f, ranks, w, epoch)
        ranks, w, epoch = again_and_again(f)
        restart(f, ranks, w, epoch)
        orphan(f, ranks, w)
        hostile(f)
        impostor(f)
        generations(f)
        removal(f)
    finally:
        f.down()
    return tap.done()


sys.exit(main())
