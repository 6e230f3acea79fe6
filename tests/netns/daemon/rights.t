#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Who may change things: CAP_NET_ADMIN over tribd's network namespace, whatever the
user. tribd itself has no more rights than its unit file gives it."""
import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403
from systemd import enter  # noqa: E402

need()
tap = Tap()
r, w = Netns('r'), Netns('w')
veth(r, 'v0', '10.5.0.1/24', w, 'eth0', '10.5.0.2/24')
inst = use_instance('net-%d' % r.inode())
trib = Cli(r)
folder = tempfile.mkdtemp()
atexit.register(shutil.rmtree, folder)
LIBC = ctypes.CDLL(None, use_errno=True)

USER = ('setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups')
OTHER = ('setpriv', '--reuid', '1001', '--regid', '1001', '--clear-groups')
CAP = ('--inh-caps', '+net_admin', '--ambient-caps', '+net_admin')
BARE = ('setpriv', '--bounding-set', '-net_admin')  # uid 0


def confined(argv):
    return r.argv(TOP + '/tests/netns/lib/confine',
                  TOP + '/userspace/daemon/tribd.service', *argv)


def as_(who, *words):
    """(exit status, output) of trib."""
    p = subprocess.run(r.argv(*who, BUILD + '/trib', *words), text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.returncode, p.stdout.strip()


def jobs():
    return sorted(j['name'] for j in trib.json('job show'))


def may(name, who, word=None):
    """@word: of the refusal; None: it may."""
    before = jobs()
    rc, text = as_(who, 'job', 'add', 'x', 'world', '2')
    if word is None:
        tap.ok(name, rc == 0 and 'x' in jobs(), rc, text)
    else:
        tap.ok(name, rc == 1 and word in text and jobs() == before, rc, text)
    if 'x' in jobs():
        trib('job del x')


def changes():
    may('root__may_change', ())
    may('root_without_the_capability__may_not', BARE, 'lacks CAP_NET_ADMIN')
    may('root_in_a_user_namespace__may_not', ('unshare', '-Ur'),
        'another user namespace')
    may('user__may_not', USER, 'lacks CAP_NET_ADMIN')
    may('user_with_the_capability__may', USER + CAP)
    may('user_with_the_capability_in_a_user_namespace__may_not',
        USER + CAP + ('unshare', '-Ur'), 'not trusted')
    may('root_in_another_pid_namespace__may_not', ('unshare', '-pf'), 'process')
    rc, text = as_(BARE, 'status')
    tap.ok('root_without_the_capability__may_read', rc == 0, text)


def has_key(who):
    rc, text = as_(who, '-j', 'job', 'show')
    one = as_(who, '-j', 'job', 'show', 'train')[1]
    ticket = as_(who, 'job', 'ticket', 'far', 'rank', '0')
    return ('key' in text, 'key' in one, ticket[0] == 0)


def secrets():
    for name, who, good in (('root', (), True), ('owner', USER, True),
                            ('user_with_the_capability', OTHER + CAP, True),
                            ('user', OTHER, False),
                            ('root_without_the_capability', BARE, False)):
        tap.same('secrets__%s_%s' % (name, 'has_them' if good else 'has_none'),
                 has_key(who), (good,) * 3)


HELLO = '''
import socket, struct
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect('\\0trib/attach')
s.send(struct.pack('=IHHII64s', %d, %d, 1, 0, 0xffff, b'train'))
d = s.recv(1 << 16)
print(struct.unpack_from('=H', d, 6)[0])
'''


def magic():
    """The magic number and the version of the attach protocol."""
    text = open(TOP + '/kmod/uapi/trib_attach.h').read()
    return tuple(int(text.split('#define TRIB_ATTACH_' + x)[1].split()[0], 0)
                 for x in ('MAGIC', 'VERSION'))


def attaching():
    code = HELLO % magic()
    for name, who, want in (
            ('root', (), 0), ('owner', USER, 0), ('user', OTHER, 13),
            ('user_with_the_capability', OTHER + CAP, 0),
            ('root_without_the_capability', BARE, 13),
            ('root_in_a_user_namespace', ('unshare', '-Ur'), 13)):
        tap.same('rank__%s_%s' % (name, 'is_refused' if want else 'may_have_one'),
                 r.run(*who, sys.executable, '-c', code, ok=False).strip(), str(want))


# Sends `job add x` as a client would; then becomes what the arguments say.
SENDER = '''
import os, socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
s.bind((0, 0))
s.set_inheritable(True)
body = struct.pack('=HH4sHHI', 6, 1, b'x', 8, 4, 2)
s.sendto(struct.pack('=IHHIIBBHHH', 24 + len(body), 0x74, 1, 1, 0, 5, 1, 0,
                     4 + len(body), 3) + body, (0x74726962, 0))
print('sent', flush=True)
if len(sys.argv) > 1:
    os.execv(sys.argv[1], sys.argv[1:])
if %d:
    print(-struct.unpack_from('=i', s.recv(1 << 16), 16)[0])
'''


def send_and(who, *become, waits=False):
    code = SENDER % waits
    p = subprocess.Popen(r.argv(*who, sys.executable, '-c', code, *become),
                         stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline() == 'sent\n'
    return p


def stopped(d, fn):
    """Jobs after fn() ran while tribd was stopped."""
    os.kill(d.proc.pid, signal.SIGSTOP)
    try:
        fn()
    finally:
        os.kill(d.proc.pid, signal.SIGCONT)
    return jobs()


def later(d):
    """The sender is another one when tribd looks."""
    p = send_and((), waits=True)
    tap.same('sender__the_request_by_hand_is_a_good_one', (p.communicate()[0], jobs()),
             ('0\n', ['far', 'train', 'x']))
    trib('job del x')
    before = jobs()
    ended = []
    tap.same('sender__that_has_ended_is_refused',
             stopped(d, lambda: send_and(()).wait()), before)
    sleep = folder + '/sleep'
    shutil.copy(shutil.which('sleep'), sleep)
    run('setcap', 'cap_net_admin+ep', sleep)
    os.chmod(folder, 0o755)

    def become():
        p = send_and(USER, sleep, '100')
        ended.append(p)
        wait_for(lambda: 'CapEff:\t0000000000001000' in
                 open('/proc/%d/status' % p.pid).read())

    tap.same('sender__that_executes_a_program_with_more_rights_is_refused',
             stopped(d, become), before)
    ended.pop().kill()

    def recycle():
        p = send_and(BARE)
        p.wait()
        for _ in range(100):
            with open('/proc/sys/kernel/ns_last_pid', 'w') as f:
                f.write(str(p.pid - 1))
            q = subprocess.Popen(r.argv('sleep', '100'))
            ended.append(q)
            if q.pid == p.pid:
                return
        raise RuntimeError('process numbers are taken')

    def number_of(pid):
        """A sender in a PID namespace has the number that process @pid has here."""
        code = "open('/proc/sys/kernel/ns_last_pid', 'w').write('%d')" % (pid - 1)
        r.run('unshare', '-pf', 'sh', '-c', '%s -c "%s"; %s "$@"; true' % (
            sys.executable, code, ' '.join(BARE)), 'sh', sys.executable, '-c',
            SENDER % False)

    if os.access('/proc/sys/kernel/ns_last_pid', os.W_OK):
        tap.same('sender__another_process_with_its_number_has_not_sent',
                 stopped(d, recycle), before)
    else:
        tap.skip('sender__another_process_with_its_number_has_not_sent',
                 'no /proc/sys/kernel/ns_last_pid')
    if os.access('/proc/sys/kernel/ns_last_pid', os.W_OK):
        tap.same('sender__in_a_pid_namespace_has_no_rights_of_its_number_here',
                 stopped(d, lambda: number_of(ended[-1].pid)), before)
    else:
        tap.skip('sender__in_a_pid_namespace_has_no_rights_of_its_number_here',
                 'no /proc/sys/kernel/ns_last_pid')
    for p in ended:
        p.kill()


def own_netns():
    """A user's network namespace is the user's, in the user's user namespace."""
    p = subprocess.Popen((*USER, 'unshare', '-Urn', 'sh', '-c', 'echo; exec cat'),
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    net = '--net=/proc/%d/ns/net' % p.pid
    use_instance('net-%d' % os.stat('/proc/%d/ns/net' % p.pid).st_ino)
    d = Tribd(r, wrap=lambda argv: ('nsenter', net) + argv)
    for name, enter_ in (('of_the_user_namespace', ('--user',)),
                         ('of_the_host', ())):
        # By hand: trib trusts only root of its own user namespace.
        got = run('nsenter', '-t', str(p.pid), '--net', *enter_, 'env', 'python3', '-c',
                  SENDER % True, ok=False)
        tap.same('namespace_of_a_user__root_%s_may_change' % name, got, 'sent\n0\n')
        run('nsenter', net, BUILD + '/trib', 'job', 'del', 'x', ok=False)
    got = run('nsenter', net, *USER, BUILD + '/trib', 'job', 'add', 'z', 'world', '2',
              ok=False)
    tap.has('namespace_of_a_user__that_user_outside_may_not', got, 'CAP_NET_ADMIN')
    d.end()
    p.kill()
    p.wait()


d = Tribd(r, wrap=confined)
changes()
trib('face add w0 dev v0 addr 10.5.0.2')
trib('job add train world 8 owner 1000')
trib('tree add train parent w0 local 1:1 local 2:2 local 3:3 local 4:4 local 5:5')
trib('job add far world 2 owner 1000')
trib('tree add far child w0:0')
secrets()
attaching()
later(d)
d.end()
own_netns()
tap.done()
