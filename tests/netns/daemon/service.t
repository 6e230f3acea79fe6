#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What belongs to tribd stays tribd's: its addresses, its lock, its folders. A user
without rights tries to take them while tribd is down."""
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403
from systemd import Systemd, enter  # noqa: E402

need()
tap = Tap()
r, w = Netns('r'), Netns('w')
veth(r, 'v0', '10.8.0.1/24', w, 'eth0', '10.8.0.2/24')
inst = use_instance('net-%d' % r.inode())
trib = Cli(r)
TRIBD = BUILD + '/tribd'
NOBODY = ('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups')
TAKER = TOP + '/tests/netns/lib/taker'
NETLINK, UDP, ATTACH = 'netlink:0x74726962', 'udp::::7417', 'unix:trib/attach'
ALL = (NETLINK, UDP, 'udp:0.0.0.0:7417', 'udp:127.0.0.1:7417', ATTACH)
LOCK = RUN + inst + '/lock'


class Taker:
    """A process of a user without rights that takes what it can."""

    def __init__(self, *what, user=NOBODY):
        self.p = subprocess.Popen(r.argv(*user, TAKER, *what), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.got = self.p.stdout.readline().split()
        self.pid = self.p.pid

    def end(self):
        self.p.kill()
        self.p.wait()


def try_all(what=ALL + ('lock:' + LOCK,)):
    t = Taker(*what)
    t.end()
    return t.got


def kept(name, unit):
    """tribd dies and comes again; meanwhile nobody gets anything."""
    s = Systemd(r, TRIBD, unit=unit)
    if not tap.ok(name + '__tribd_says_that_it_is_ready', s.start(), s.log()):
        return
    trib('face add w0 dev v0 addr 10.8.0.2')
    trib('job add train world 1')
    s.kill()
    tap.same(name + '__nobody_takes_an_address_of_a_dead_tribd', try_all(),
             ['EADDRINUSE'] * 5 + ['EACCES'])
    tap.ok(name + '__the_next_tribd_goes_on', s.start() and
           trib.json('face show w0')['name'] == 'w0', s.log())
    tap.ok(name + '__with_the_kept_sockets',
           s.log().count('goes on with the socket that systemd kept') ==
           (5 if unit else 3), s.log())
    refuses_old(name, s)
    s.kill(signal.SIGTERM)
    tap.same(name + '__nor_of_one_that_ends', try_all(),
             ['EADDRINUSE'] * 5 + ['EACCES'])
    for _, fd in s.store:
        os.close(fd)
    for _, sock in s.passed:
        sock.close()
    s.close()
    run(*r.argv(TRIBD, '--purge'))


# A client of NETLINK_USERSOCK that sends before tribd starts, and waits.
OLD_CLIENT = '''
import socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
s.bind((0, 0))
s.settimeout(60)
s.sendto(struct.pack('=IHHIIBBHHHHH', 36, 0x74, 1, 1, 0, 6, 1, 0, 16, 3, 10, 1) +
         b'train\\0\\0\\0', (0x74726962, 0))
print('sent', flush=True)
data = s.recv(1 << 16)
print(-struct.unpack_from('=i', data, 16)[0], data[36:], flush=True)
'''


def refuses_old(name, s):
    """A request from before the start is answered, and not served."""
    s.kill()
    p = subprocess.Popen(r.argv(sys.executable, '-c', OLD_CLIENT), text=True,
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    good = s.start()
    said = p.stdout.readline()
    p.wait()
    tap.ok(name + '__requests_from_before_are_refused', good and
           said.startswith('11 ') and 'just started' in said and
           trib.json('job show train')['name'] == 'train', said, s.log())


def waits(name, what, word):
    """Without systemd: somebody took it. tribd names him, and goes on without him."""
    t = Taker(what)
    d = Tribd(r, wait=False)
    want = '%s is taken by process %d (' % (word, t.pid)
    wait_for(lambda: want in d.log() or not d.alive())
    line = [x for x in d.log().split('\n') if want in x]
    tap.ok(name + '__tribd_names_process_command_and_user', t.got == ['taken'] and
           len(line) == 1 and ', uid 65534)' in line[0] and
           'kill %d' % t.pid in line[0], t.got, d.log())
    rc, text = trib.fails('doctor')
    tap.ok(name + '__doctor_names_it_too', rc and any(
        word in x and 'process %d (' % t.pid in x and 'uid 65534' in x
        for x in text.split('\n')), text)
    t.end()
    tap.ok(name + '__tribd_goes_on_when_it_is_free', wait_for(d.serves, 30), d.log())
    tap.same(name + '__and_has_all', try_all(), ['EADDRINUSE'] * 5 + ['EACCES'])
    d.end()


def ends_waiting():
    t = Taker(UDP)
    d = Tribd(r, wait=False)
    wait_for(lambda: 'is taken by' in d.log())
    start = time.monotonic()
    status = d.end()
    tap.ok('wait__ends_by_a_signal', status == 1 and time.monotonic() - start < 5,
           status, d.log())
    t.end()
    d = Tribd(r)
    start = time.monotonic()
    status, log = tribd_fails(r, '--instance', inst + '-2')
    shutil.rmtree(RUN + inst + '-2', ignore_errors=True)
    tap.ok('wait__is_not_for_another_tribd', status == 1 and
           'taken by process %d (tribd' % d.proc.pid in log and
           time.monotonic() - start < 5, status, log)
    rc, text = trib.fails('doctor')
    tap.ok('doctor__says_that_tribd_has_its_addresses', all(
        any(x in line and 'process %d (tribd' % d.proc.pid in line
            for line in text.split('\n'))
        for x in ('netlink port', 'UDP port 7417', '@trib/attach')), text)
    d.end()


def lock():
    tap.same('lock__is_for_root_only', stat.S_IMODE(os.stat(LOCK).st_mode), 0o600)
    # tribd made it so once: whoever opened it then may still lock it.
    os.chmod(LOCK, 0o644)
    t = Taker('lock:' + LOCK)
    try:
        d = Tribd(r)
        tap.ok('lock__one_that_others_have_is_replaced', t.got == ['taken'] and
               stat.S_IMODE(os.stat(LOCK).st_mode) == 0o600, d.log())
        status, log = tribd_fails(r)
        tap.ok('lock__the_new_one_keeps_a_second_tribd_out', status == 1 and
               'already run by process %d' % d.proc.pid in log, log)
        d.end()
    except RuntimeError as e:
        tap.ok('lock__one_that_others_have_is_replaced', False, e)
        tap.skip('lock__the_new_one_keeps_a_second_tribd_out', 'there is none')
    t.end()
    run(*r.argv(TRIBD, '--purge'))


def refused(name, make, path, word):
    make(path)
    status, log = tribd_fails(r)
    tap.ok('folder__' + name, status == 1 and word in log and path in log, status, log)
    if os.path.islink(path):
        os.unlink(path)
    else:
        shutil.rmtree(path, ignore_errors=True)


def owned_by(uid, mode=0o755):
    def make(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(path)
        os.chown(path, uid, uid)
        os.chmod(path, mode)
    return make


def folders():
    refused('of_somebody_else_is_refused', owned_by(65534), RUN + inst, 'uid 65534')
    refused('that_others_may_write_to_is_refused', owned_by(0, 0o777), RUN + inst,
            '0777')
    refused('behind_a_symbolic_link_is_refused', lambda p: os.symlink('/tmp', p),
            RUN + inst, 'symbolic link')
    refused('of_pins_by_somebody_else_is_refused', owned_by(65534), PIN + inst,
            'uid 65534')
    shutil.rmtree(RUN + inst, ignore_errors=True)
    d = Tribd(r)
    tap.ok('folder__own_ones_are_used_again', d.end() == 0 and Tribd(r).end() == 0)


def ps_start(folder, *wrap):
    """trib-ps without systemd, and its log."""
    out = tempfile.TemporaryFile('w+')
    p = subprocess.Popen(r.argv(*wrap, BUILD + '/trib-ps', '--listen', '10.8.0.1:7415',
                                '--jobs', folder), stdout=out, stderr=out)

    def log():
        with open('/proc/self/fd/%d' % out.fileno()) as f:
            return f.read()

    return p, log


def ps():
    """trib-ps: its port, its folder."""
    top = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, top)
    os.chmod(top, 0o755)
    port = 'udp:10.8.0.1:7415'
    s = Systemd(r, BUILD + '/trib-ps', '--listen', '10.8.0.1:7415', '--jobs',
                top + '/jobs')
    tap.ok('ps__says_that_it_is_ready', s.start(), s.log())
    s.kill()
    tap.same('ps__nobody_takes_the_port_or_the_lock_of_a_dead_one', try_all(
        (port, 'lock:' + top + '/jobs/.lock')), ['EADDRINUSE', 'EACCES'])
    tap.ok('ps__the_next_one_goes_on_with_its_socket', s.start() and
           [n for n, _ in s.store] == ['udp'], s.log(), s.news)
    s.kill()
    for _, fd in s.store:
        os.close(fd)
    s.close()
    t = Taker(port)
    p, log = ps_start(top + '/jobs')
    want = '10.8.0.1:7415 is taken by process %d (' % t.pid
    tap.ok('ps__names_who_has_its_port', wait_for(lambda: want in log()), log())
    t.end()
    tap.ok('ps__goes_on_when_it_is_free', wait_for(lambda: '0 trees' in log()), log())
    p.kill()
    p.wait()
    os.chown(top + '/jobs', 65534, 65534)
    p, log = ps_start(top + '/jobs')
    tap.ok('ps__refuses_a_folder_of_somebody_else', p.wait() == 1 and
           'uid 65534' in log(), log())


kept('units', 'userspace/daemon/tribd.socket')
kept('store', None)
waits('netlink', NETLINK, 'netlink port 0x74726962')
waits('udp', UDP, 'UDP port 7417')
waits('udp_of_one_address', 'udp:127.0.0.1:7417', 'UDP port 7417')
waits('attach', ATTACH, '@trib/attach')
ends_waiting()
lock()
folders()
ps()
tap.done()
