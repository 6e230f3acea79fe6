#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd's netlink server against clients that are wrong, slow or hostile.

Written from uapi/trib.h alone: neither libtrib nor trib takes part.
"""
import ctypes
import os
import random
import socket
import struct
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403

need()
tap = Tap()
r, w = Netns('r'), Netns('w')
veth(r, 'v0', '10.6.0.1/24', w, 'eth0', '10.6.0.2/24')
inst = use_instance('net-%d' % r.inode())
pins = Pins(inst)
trib = Cli(r)

USERSOCK, PORT, TYPE = 2, 0x74726962, 0x74
REQUEST, MULTI, ACK, INTR, DUMP = 1, 2, 4, 16, 0x300
CAPPED, TLVS = 0x100, 0x200
ERROR, DONE = 2, 3
(STATUS_GET, FACE_NEW, FACE_DEL, FACE_GET, JOB_NEW, JOB_DEL, JOB_GET, TREE_NEW,
 TREE_DEL, TREE_GET, GROUP_GET, STATS_GET, STATS_RESET, TICKET_GET,
 TREE_WIPE, TREE_SWITCH, JOB_SET) = range(1, 18)
NDN_GET, PIT_GET, CS_GET = 19, 24, 26
A_FACE, A_JOB, A_TREE, A_GROUP, A_TICKET = 2, 3, 4, 5, 7
A_PIT, A_CS = 10, 11
libc = ctypes.CDLL(None, use_errno=True)


def enter(path):
    with open(path) as f:
        if libc.setns(f.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), 'setns')


def attr(type, data):
    if isinstance(data, str):
        data = data.encode() + b'\0'
    return struct.pack('=HH', 4 + len(data), type) + data + \
        bytes(-len(data) % 4)


def message(cmd, body=b'', flags=REQUEST, seq=1, type=TYPE):
    return struct.pack('=IHHIIBBH', 20 + len(body), type, flags, seq, 0, cmd,
                       1, 0) + body


class Client:
    def __init__(self, rcvbuf=None):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, USERSOCK)
        self.s.bind((0, 0))
        self.s.settimeout(5)
        if rcvbuf:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)

    def send(self, data):
        self.s.sendto(data, (PORT, 0))

    def recv(self):
        """[(type, flags, seq, payload)] of one datagram."""
        data, out = self.s.recv(1 << 17), []
        while len(data) >= 16:
            n, type, flags, seq, _ = struct.unpack_from('=IHHII', data)
            out.append((type, flags, seq, data[16:n]))
            data = data[(n + 3) & ~3:]
        self.last_size = n
        return out

    def ask(self, data):
        self.send(data)
        return self.recv()

    def error(self, data):
        """(errno, text) of a request that is answered by an error."""
        (type, flags, _, p), = self.ask(data)
        assert type == ERROR, (type, p)
        err = -struct.unpack_from('=i', p)[0]
        text = p[24:-1].rstrip(b'\0').decode() if flags & TLVS else ''
        return err, text

    def dump(self, cmd, body=b''):
        """(messages, flags seen, largest datagram)"""
        self.send(message(cmd, body, REQUEST | DUMP))
        out, seen, largest = [], 0, 0
        while True:
            data = self.s.recv(1 << 17)
            largest = max(largest, len(data))
            while len(data) >= 16:
                n, type, flags, _, _ = struct.unpack_from('=IHHII', data)
                seen |= flags
                if type == DONE:
                    return out, seen, largest
                if type == ERROR:
                    return struct.unpack_from('=i', data, 16)[0], seen, largest
                out.append(data[20:n])
                data = data[(n + 3) & ~3:]


def name(s):
    return attr(1, s)


def contract(c):
    """The answers that uapi/trib.h promises."""
    err, text = c.error(message(JOB_NEW, attr(A_JOB, name('j') + attr(
        4, struct.pack('=I', 4)))))
    tap.same('contract__change_is_answered_by_error_0', (err, text), (0, ''))
    a = c.ask(message(JOB_GET, attr(A_JOB, name('j')), REQUEST | ACK))
    b = c.recv()
    tap.ok('contract__get_with_ack_is_answered_by_both', a[0][0] == TYPE and
           b[0][0] == ERROR and b[0][3][:4] == bytes(4), a, b)
    err, text = c.error(message(JOB_GET, attr(A_JOB, name('nope'))))
    tap.ok('contract__error_names_the_value', err == 2 and 'nope' in text,
           err, text)
    (_, flags, seq, p), = c.ask(message(200, seq=77))
    tap.ok('contract__error_holds_the_requests_header', seq == 77 and
           flags & CAPPED and struct.unpack_from('=IHHI', p, 4)[3] == 77,
           flags, p)
    out, seen, _ = c.dump(STATS_GET)
    tap.ok('contract__dump_is_multipart', len(out) > 30 and seen & MULTI,
           len(out), seen)
    creds = struct.calcsize('iII')
    c.s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    c.send(message(STATUS_GET))
    _, anc, _, _ = c.s.recvmsg(1 << 16, socket.CMSG_SPACE(creds))
    tap.ok('contract__answer_carries_the_credentials_of_root',
           struct.unpack('iII', anc[0][2])[1] == 0, anc)


def wrong(c):
    u16, u32 = (lambda v: struct.pack('=H', v)), (lambda v: struct.pack('=I',
                                                                       v))
    face = attr(1, 'f') + attr(2, 'v0') + attr(4, bytes(10) + b'\xff\xff' +
                                               bytes([10, 6, 0, 2]))
    many = b''.join(attr(3, attr(2, 'w') + attr(3, u16(i)))
                    for i in range(65))
    for what, data, word in (
            ('unknown_command', message(99), '99'),
            ('command_0', message(0), '0'),
            ('other_message_type', message(1, type=0x75), '117'),
            ('unknown_attribute', message(FACE_NEW, attr(60, b'')), '60'),
            ('attribute_of_another_object',
             message(FACE_NEW, attr(A_JOB, name('x'))), 'job'),
            ('nothing_at_all', message(FACE_NEW), 'name'),
            ('cut_attribute', message(FACE_NEW, struct.pack('=HH', 400, 2)),
             'no attribute'),
            ('read_only_attribute',
             message(FACE_NEW, attr(A_FACE, face + attr(3, u32(7)))),
             'ifindex'),
            ('attribute_twice', message(FACE_NEW, attr(A_FACE, face + face)),
             'twice'),
            ('short_number',
             message(FACE_NEW, attr(A_FACE, face + attr(6, b'\1'))), 'port'),
            ('text_without_end',
             message(FACE_NEW, attr(A_FACE, attr(1, b'abc'))), 'name'),
            ('text_with_escape',
             message(FACE_NEW, attr(A_FACE, attr(1, 'a\x1b[2J'))), '0x1b'),
            ('long_name', message(FACE_NEW, attr(A_FACE, attr(1, 'x' * 64))),
             '63'),
            ('long_ifname', message(FACE_NEW, attr(
                A_FACE, attr(1, 'x') + attr(2, 'y' * 16))), '15'),
            ('65_children', message(TREE_NEW, attr(
                A_TREE, attr(2, 'j') + many)), '64'),
            ('child_without_face', message(TREE_NEW, attr(
                A_TREE, attr(2, 'j') + attr(3, attr(1, u16(0))))), 'face'),
            ('rank_65535', message(TREE_NEW, attr(
                A_TREE, attr(2, 'j') + attr(3, attr(2, 'w') + attr(
                    3, u16(65535))))), '65535'),
            ('ticket_without_rank',
             message(TICKET_GET, attr(A_JOB, name('j'))), 'rank'),
            ('job_without_world',
             message(JOB_NEW, attr(A_JOB, name('x'))), 'world'),
            ('tree_0', message(TREE_NEW, attr(
                A_TREE, attr(1, u16(0)) + attr(2, 'j'))), '0'),
            ('dump_of_a_change', message(TICKET_GET, flags=REQUEST | DUMP),
             'dump')):
        err, text = c.error(data)
        tap.ok('wrong__%s_is_refused' % what, err and word in text and
               '\x1b' not in text and '\n' not in text, err, text)
    c.send(b'\0' * 15)
    c.send(struct.pack('=IHHII', 16, TYPE, REQUEST, 5, 0))
    err = c.recv()
    tap.ok('wrong__cut_message_is_refused', err[0][0] == ERROR and
           err[0][2] == 5, err)


def garbage(c, daemon):
    """Nearly valid bytes: each gets an answer, and nothing changes."""
    rng, before = random.Random(7417), state(inst)
    good = [message(FACE_NEW, attr(A_FACE, attr(1, 'f') + attr(2, 'nope') +
                                   attr(4, bytes(16)))),
            message(TREE_NEW, attr(A_TREE, attr(2, 'nope') + attr(
                3, attr(2, 'w') + attr(3, b'\0\0')) * 3)),
            message(JOB_GET, attr(A_JOB, name('j'))),
            message(TREE_GET, attr(A_TREE, attr(1, b'\1\0'))),
            message(TICKET_GET, attr(A_JOB, name('j')) + attr(
                A_TICKET, attr(1, b'\0\0')))]
    c.s.setblocking(False)
    for i in range(30000):
        m = bytearray(rng.choice(good))
        for _ in range(rng.randint(1, 6)):
            # Leaves the command alone: a request that works is no garbage.
            k = rng.randrange(20, len(m))
            m[k] = rng.randrange(256)
        m = m[:rng.randint(17, len(m))]
        m[0:4] = struct.pack('=I', len(m))
        try:
            c.send(m)
            c.s.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            pass
    c, tries, got = Client(), 50, ERROR
    while got == ERROR and tries:  # EBUSY: root's own requests wait
        got = c.ask(message(STATUS_GET))[0][0]
        tries -= 1
        time.sleep(0.1)
    tap.ok('garbage__daemon_answers_after_30000_messages',
           got == TYPE and daemon.alive())
    tap.ok('garbage__changes_nothing', state(inst) == before)


def fill():
    """Adds trees until a dump is much longer than a socket buffer."""
    trib('face add w dev v0 addr 10.6.0.2')
    trib('job add big world 64 window 1')
    kids = ' '.join('child w:%d' % i for i in range(64))
    with open('/tmp/trib-batch-%d' % os.getpid(), 'w') as f:
        f.write(('tree add big %s\n' % kids) * 120)
    try:
        trib('batch ' + f.name)
    finally:
        os.unlink(f.name)


def dumps(c):
    out, seen, largest = c.dump(TREE_GET)
    tap.ok('dump__has_all_objects_in_datagrams_of_32_kib',
           len(out) == 120 and 8192 < largest <= 32768, len(out), largest)
    out, _, _ = c.dump(TREE_GET, attr(A_TREE, attr(2, 'j')))
    tap.same('dump__of_one_job_has_its_trees_only', out, [])
    err, _, _ = c.dump(TREE_GET, attr(A_TREE, attr(2, 'nope')))
    tap.same('dump__of_a_job_that_is_not_there_is_refused', err, -2)


def slow(daemon):
    """Clients that send requests and do not read."""
    rss, lazy = daemon.rss(), []
    for i in range(200):
        c = Client(rcvbuf=4096)
        c.s.setblocking(False)
        try:
            for _ in range(10):
                c.send(message(TREE_GET, flags=REQUEST | DUMP))
                c.send(message(STATUS_GET))
        except BlockingIOError:
            time.sleep(0.01)
        lazy.append(c)
    c = Client()
    t = time.monotonic()
    for _ in range(100):
        assert c.ask(message(STATUS_GET))[0][0] == TYPE
    t = time.monotonic() - t
    tap.ok('slow__others_are_served_at_once', t < 3, t)
    tap.ok('slow__memory_is_bounded', daemon.rss() - rss < 32 * 1024,
           '%d KiB more' % (daemon.rss() - rss))
    # A late reader gets all of it, in order.
    late = Client(rcvbuf=4096)
    late.send(message(TREE_GET, flags=REQUEST | DUMP))
    time.sleep(0.3)
    n, done = 0, False
    while not done:
        for type, _, _, _ in late.recv():
            n += type == TYPE
            done |= type == DONE
    tap.same('slow__one_that_reads_late_gets_everything', n, 120)
    busy = Client(rcvbuf=4096)
    busy.send(message(TREE_GET, flags=REQUEST | DUMP))
    busy.send(message(TREE_GET, flags=REQUEST | DUMP, seq=2))
    time.sleep(0.1)  # else it reads as fast as tribd writes
    errs = []
    for _ in range(40):
        m = busy.recv()
        errs += [p for t, _, s, p in m if t == ERROR and s == 2]
        if errs:
            break
    tap.ok('slow__second_dump_meanwhile_is_refused', errs and
           struct.unpack_from('=i', errs[0])[0] == -16, errs)
    # A list that changes during a dump is marked.
    late = Client(rcvbuf=4096)
    late.send(message(TREE_GET, flags=REQUEST | DUMP))
    time.sleep(0.05)
    trib('tree del 100')
    seen, done = 0, False
    while not done:
        for type, flags, _, _ in late.recv():
            seen |= flags
            done |= type == DONE
    tap.ok('slow__change_meanwhile_is_marked', seen & INTR, seen)
    for x in lazy:
        x.s.close()
    tap.ok('slow__daemon_is_well', daemon.alive() and
           trib.json('')['trees'] == 119)


def flood(sent):
    """A child of nobody that asks for filtered dumps as fast as it can."""
    pid = os.fork()
    if pid:
        return pid
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    clients = [Client(rcvbuf=1 << 20) for _ in range(40)]
    name = attr(A_PIT, attr(1, '/nobody/has/this'))
    n = 0
    while True:
        for c in clients:
            c.s.setblocking(False)
            try:
                for cmd, nest in ((PIT_GET, name), (CS_GET, attr(A_CS, attr(
                        1, '/nobody/has/this'))), (NDN_GET, b'')):
                    c.send(message(cmd, nest, flags=REQUEST | (
                        0 if cmd == NDN_GET else DUMP)))
                    n += 1
            except BlockingIOError:
                pass
            try:
                while True:
                    c.s.recv(1 << 17)
            except BlockingIOError:
                pass
        os.pwrite(sent, struct.pack('=q', n), 0)


def fairness():
    """Root is served at once, whatever another user asks."""
    with tempfile.TemporaryFile() as f:
        pid = flood(f.fileno())
        time.sleep(1)
        c, worst = Client(), 0
        for _ in range(50):
            t = time.monotonic()
            got = c.ask(message(STATUS_GET))
            worst = max(worst, time.monotonic() - t)
            assert got[0][0] == TYPE
            time.sleep(0.02)
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        n = struct.unpack('=q', os.pread(f.fileno(), 8, 0))[0]
    tap.ok('fair__root_is_served_while_another_user_floods', worst < 1.5 and n > 100,
           '%d ms at worst, %d requests of the other' % (worst * 1000, n))


def unprivileged():
    """Every changing request, from an unprivileged user."""
    pid = os.fork()
    if not pid:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        c, bad = Client(), 0
        for cmd in (FACE_NEW, FACE_DEL, JOB_NEW, JOB_DEL, TREE_NEW, TREE_DEL,
                    STATS_RESET, TREE_WIPE, TREE_SWITCH, JOB_SET):
            for flags in (REQUEST, REQUEST | ACK, REQUEST | DUMP):
                bad += c.error(message(cmd, flags=flags))[0] != 1
        os._exit(bad)
    tap.same('user__every_change_is_refused',
             os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


home = '/proc/%d/ns/net' % os.getpid()
daemon = Tribd(r, '--slots', '2048', '--trees', '256', '--ndn', '65536')
enter('/run/netns/' + r.name)
client = Client()
contract(client)
wrong(client)
garbage(client, daemon)
fill()
client = Client()
dumps(client)
slow(daemon)
unprivileged()
fairness()
tap.same('end__sigterm_is_a_clean_exit', daemon.end(), 0)
tap.done()
