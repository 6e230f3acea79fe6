# SPDX-License-Identifier: BSD-2-Clause
"""A double of systemd as far as services notice it: sockets passed at the start, those
of a unit file among them, and the store of sockets that a service wants kept."""
import atexit
import array
import os
import select
import shutil
import signal
import socket
import tempfile
import time

from tribd import BUILD, TOP, wait_for


def enter(path):
    """Moves this process into a network namespace."""
    import ctypes
    with open(path) as f:
        if ctypes.CDLL(None, use_errno=True).setns(f.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), 'setns')


def unit_sockets(path):
    """Opens what a unit file of type socket lists, in this network namespace."""
    out = []
    with open(path) as f:
        for line in f:
            kind, _, where = line.strip().partition('=')
            if kind == 'ListenSequentialPacket':
                s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                s.bind('\0' + where[1:])
                s.listen(128)
            elif kind == 'ListenDatagram':
                addr, port = where.rsplit(':', 1)
                s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                s.bind((addr.strip('[]'), int(port)))
            else:
                continue
            out.append((os.path.basename(path), s))
    return out


class Systemd:
    """One service. store: [(name, fd)], kept while the service is down."""

    def __init__(self, ns, *argv, unit=None):
        self.ns, self.argv = ns, argv
        self.folder = tempfile.mkdtemp()
        self.log_path = self.folder + '/log'
        self.news, self.store, self.passed, self.pid = [], [], [], None
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(self.folder + '/notify')
        if unit:
            home = os.open('/proc/thread-self/ns/net', os.O_RDONLY)
            enter('/run/netns/' + ns.name)
            self.passed = unit_sockets(TOP + '/' + unit)
            enter('/proc/self/fd/%d' % home)
            os.close(home)
        atexit.register(self.close)

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def child(self):
        """Becomes the service."""
        given = [(n, s.fileno()) for n, s in self.passed] + self.store
        # Out of the way of the numbers that the service gets.
        given = [(n, os.dup2(fd, 200 + i, inheritable=False))
                 for i, (n, fd) in enumerate(given)]
        log = os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        enter('/run/netns/' + self.ns.name)
        for i, (_, fd) in enumerate(given):
            os.dup2(fd, 3 + i)
        env = dict(os.environ, NOTIFY_SOCKET=self.folder + '/notify')
        if given:
            env.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(given)),
                       LISTEN_FDNAMES=':'.join(n for n, _ in given))
        os.execve(self.argv[0], self.argv, env)

    def start(self, wait=True):
        self.news.clear()
        self.pid = os.fork()
        if not self.pid:
            try:
                self.child()
            finally:
                os._exit(127)
        return not wait or self.ready()

    def ready(self, seconds=60):
        return wait_for(lambda: self.hear() or any('READY=1' in n for n in self.news) or
                        self.ended(), seconds) and not self.ended()

    def ended(self):
        if self.pid and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.pid = None
        return not self.pid

    def kill(self, sig=signal.SIGKILL):
        """Ends the service, and hears its last words."""
        if not self.ended():
            os.kill(self.pid, sig)
            os.waitpid(self.pid, 0)
            self.pid = None
        self.hear()

    def hear(self):
        """Takes all news. Always False."""
        while select.select([self.notify], [], [], 0)[0]:
            text, anc, _, _ = self.notify.recvmsg(4096, socket.CMSG_SPACE(64))
            fds = array.array('i')
            for _, _, data in anc:
                fds.frombytes(data[:len(data) & ~3])
            text = text.decode()
            self.news.append(text)
            words = dict(w.split('=', 1) for w in text.split('\n'))
            if words.get('FDSTORE') == '1':
                for fd in fds:
                    self.keep(words, fd)
            elif words.get('FDSTOREREMOVE') == '1':
                for name, fd in self.store[:]:
                    if name == words['FDNAME']:
                        self.store.remove((name, fd))
                        os.close(fd)
        return False

    def keep(self, words, fd):
        """A socket that has, or may get, an error is kept only if it is not polled."""
        ino = os.fstat(fd).st_ino
        if words.get('FDPOLL') != '0' or any(os.fstat(f).st_ino == ino
                                             for _, f in self.store):
            os.close(fd)
            return
        self.store.append((words['FDNAME'], fd))

    def log(self):
        with open(self.log_path) as f:
            return f.read()
