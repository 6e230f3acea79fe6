# SPDX-License-Identifier: BSD-2-Clause
"""A worker in Python: attaches to tribd, joins, sends chunks, reads what comes.

Written from the headers in kmod/uapi alone, so that it checks how libtrib and
tribd read them. Has namespaces, fabrics, other users and TAP besides.
"""
import contextlib
import ctypes
import errno
import json
import mmap
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import time

import keys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '../../..'))
BUILD = os.path.realpath(os.environ.get('TRIB_BUILD', TOP + '/build'))

PORT = 7417
NVAL = 352
GRAD, RESULT, NEED, ALIVE, ABORT = 1, 2, 3, 4, 5
JOIN, START, LEAVE = 16, 17, 18
UP, RESEND, PUSH, EMPTY = 1, 2, 4, 8
I32 = 2
WAIT, RUN, REFUSED = 0, 1, 2
DEAD, GONE, REJOIN, ADMIN = 1, 2, 3, 4
HELLO, BYE, EPOCH = 1, 2, 3
MAPPED, RESUME = 1, 2
ANY = 0xffff
RING_BYTES = 65536
CELL_HDR = 64
CELL_AT = 24  # of the header in a cell
CELL_READY, CELL_SENT, CELL_RESULT = 1, 2, 4
SHARED, REFLEX = 1, 2  # of a tree of the reply

WIRE_VERSION = 3
ATTACH_VERSION = 5
HDR = struct.Struct('>8B4HIIHHi8s')
START_FMT = struct.Struct('>QQII8H64HQ')
REP = struct.Struct('=IHHIHHHHHH16s16sQIIHHI216s16s')
TREE = struct.Struct('=16s16s16sHHHHH62x')


# --- packets

class Packet:
    """A decoded packet, or an event of the ring."""

    def __init__(self, data):
        f = HDR.unpack_from(data)
        (self.version, self.type, self.flags, self.op, self.fmt, _, _,
         bmwords, self.job, self.tree, _, self.child, self.chunk, self.epoch,
         self.nval, self.aux, self.scale, self.auth) = f
        self.len = len(data)
        self.payload = data[HDR.size + 8 * bmwords:]
        if self.type == START:
            s = START_FMT.unpack_from(self.payload)
            (self.nonce, self.seen, self.start_epoch, self.timeout, self.state,
             self.window, self.start_nval, self.world, self.nchild) = s[:9]
            self.ranks = s[12:12 + self.nchild]
            self.token = s[-1]

    def values(self):
        return struct.unpack_from('<%di' % self.nval, self.payload)


def header(type, flags, job, tree, child, auth, chunk=0, epoch=0, nval=0,
           fmt=0, aux=0):
    return HDR.pack(WIRE_VERSION, type, flags, 0, fmt, 0, 0, 0, job, tree, 0, child,
                    chunk, epoch, nval, aux, 0, auth)


# --- namespaces and users

libc = ctypes.CDLL(None, use_errno=True)


class Netns:
    """with Netns('name'): sockets made in the body are in that namespace."""
    home = os.open('/proc/self/ns/net', os.O_RDONLY)

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        fd = os.open('/run/netns/' + self.name, os.O_RDONLY)
        rc = libc.setns(fd, 0x40000000)
        os.close(fd)
        if rc:
            raise OSError(ctypes.get_errno(), 'setns ' + self.name)

    def __exit__(self, *_):
        libc.setns(Netns.home, 0x40000000)


def as_user(uid, ns, fn):
    """The result of fn(), run in that namespace by a child process of that user."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            Netns(ns).__enter__()
            if uid:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
            out = fn()
        except BaseException as e:  # the parent shows it
            out = e
        os.write(w, pickle.dumps(out))
        os._exit(0)
    os.close(w)
    data = b''
    while True:
        more = os.read(r, 65536)
        if not more:
            break
        data += more
    os.close(r)
    os.waitpid(pid, 0)
    out = pickle.loads(data)
    if isinstance(out, BaseException):
        raise out
    return out


# --- maps

def bpf(cmd, fmt, *values):
    attr = ctypes.create_string_buffer(struct.pack(fmt, *values), 128)
    rc = libc.syscall(321, cmd, attr, 128)
    return rc if rc >= 0 else -ctypes.get_errno()


def bpf_get(path):
    """A descriptor of a pinned map."""
    name = ctypes.create_string_buffer(path.encode())
    fd = bpf(7, '=QII', ctypes.addressof(name), 0, 0)
    if fd < 0:
        raise OSError(-fd, os.strerror(-fd), path)
    return fd


def bpf_lookup(fd, index, size):
    key = ctypes.create_string_buffer(struct.pack('=I', index))
    val = ctypes.create_string_buffer(size)
    rc = bpf(1, '=IIQQQ', fd, 0, ctypes.addressof(key),
             ctypes.addressof(val), 0)
    if rc:
        raise OSError(-rc, os.strerror(-rc))
    return bytearray(val.raw)


def bpf_update(fd, index, value):
    """0, or the errno of BPF_MAP_UPDATE_ELEM."""
    key = ctypes.create_string_buffer(struct.pack('=I', index))
    val = ctypes.create_string_buffer(bytes(value))
    return -bpf(2, '=IIQQQ', fd, 0, ctypes.addressof(key),
                ctypes.addressof(val), 0)


# --- the attach socket

class Attached:
    """A connection to the tribd of a namespace (None: the one we are in)."""

    def __init__(self, ns=None):
        with Netns(ns) if ns else contextlib.nullcontext():
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self.sock.connect('\0trib/attach')
        self.sock.settimeout(5)
        self.fds = []

    def send(self, data):
        self.sock.send(data)

    def request(self, cmd, flags=0, rank=ANY, job='train'):
        self.send(struct.pack('=IHHII64s', 0x54524942, ATTACH_VERSION, cmd,
                              flags, rank, job.encode()))

    def hello(self, flags=MAPPED, rank=ANY, job='train'):
        """0, or the errno that tribd answers."""
        self.request(HELLO, flags, rank, job)
        data, fds, _, _ = socket.recv_fds(self.sock, 65536, 64)
        f = REP.unpack_from(data)
        (_, _, self.err, self.flags, self.rank, self.world, self.job,
         ntree, self.nval, self.window, self.up, self.down, self.rate, self.timeout,
         self.epoch, self.fmt, self.peers_port, self.ncell, text, self.peers) = f
        self.text = text.split(b'\0')[0].decode()
        self.trees = [TREE.unpack_from(data, REP.size + i * TREE.size)
                      for i in range(ntree)]
        self.fds = list(fds)
        return self.err

    def tell_epoch(self, tree, epoch):
        self.send(struct.pack('=IHHII', 0x54524942, ATTACH_VERSION, EPOCH, tree, epoch))
        return struct.unpack('=IHH', self.sock.recv(64))[2]

    def bye(self):
        self.request(BYE)
        self.close()

    def close(self):
        for fd in self.fds:
            os.close(fd)
        self.fds = []
        self.sock.close()


class Cells:
    """A rank's array of n cells, and the desk behind them."""

    def __init__(self, fd, n, nval=NVAL):
        self.stride = CELL_HDR + 4 * nval
        self.n = n
        self.map = mmap.mmap(fd, (n + 1) * self.stride)

    def at(self, chunk):
        return (chunk & self.n - 1) * self.stride

    def sent(self, epoch, chunk):
        """Without this XDP delivers no result of the chunk. That of an empty contribution
        may have any length."""
        at = self.at(chunk)
        self.map[at + CELL_AT:at + CELL_HDR] = header(
            GRAD, UP | EMPTY, 0, 0, 0, bytes(8), chunk, epoch, 0, I32)
        struct.pack_into('=Q', self.map, at, epoch << 32 | chunk & ~7 | CELL_SENT)

    def get(self, epoch, chunk):
        """The values of a result, or None."""
        at = self.at(chunk)
        word, = struct.unpack_from('=Q', self.map, at)
        if word != epoch << 32 | chunk & ~7 | CELL_RESULT:
            return None
        nval, = struct.unpack_from('>H', self.map, at + CELL_AT + 24)
        return struct.unpack_from('<%di' % nval, self.map, at + CELL_HDR)

    def ready(self, w, chunk, values):
        """Leaves a GRAD of worker w for XDP to send."""
        at, n = self.at(chunk), len(values)
        h = header(GRAD, UP, w.job, w.tree, w.child, bytes(8), chunk, w.epoch, n, I32)
        self.map[at + CELL_AT:at + CELL_HDR] = h
        struct.pack_into('<%di' % n, self.map, at + CELL_HDR, *values)
        struct.pack_into('=Q', self.map, at, w.epoch << 32 | chunk & ~7 | CELL_READY)

    def distance(self, d):
        struct.pack_into('=I', self.map, self.n * self.stride, d)

    def arm(self):
        """Asks for one record in the ring, with the next result."""
        struct.pack_into('=I', self.map, self.n * self.stride + 4, 1)

    def carried(self, n):
        """Says that XDP sent so many on the CPU of line 3."""
        struct.pack_into('=Q', self.map,
                         self.n * self.stride + 64 + 3 * 64 + 8, n)


class Ring:
    def __init__(self, fd):
        page = mmap.PAGESIZE
        self.fd = fd
        self.ours = mmap.mmap(fd, page)
        self.theirs = mmap.mmap(fd, page + 2 * RING_BYTES, mmap.MAP_SHARED,
                                mmap.PROT_READ, offset=page)

    def events(self, seconds=0):
        """Records that are there within that time: (type, tree, chunk, epoch,
        aux, seen)."""
        select.select([self.fd], [], [], seconds)
        out = []
        at, = struct.unpack_from('=Q', self.ours)
        while at < struct.unpack_from('=Q', self.theirs)[0]:
            where = mmap.PAGESIZE + at % RING_BYTES
            size, = struct.unpack_from('=I', self.theirs, where)
            if size & 1 << 31:
                continue
            t, _, tree, chunk, epoch, aux, _, seen = struct.unpack_from(
                '=BBHIIHHQ', self.theirs, where + 8)
            out.append((t, tree, chunk, epoch, aux, seen))
            at += (size + 8 + 7) & ~7
            struct.pack_into('=Q', self.ours, 0, at)
        return out


# --- the network

class Worker:
    """One child of a relay, by the packets it sends and gets."""

    def __init__(self, ns, relay, rank, child, job=1, tree=1, key=None,
                 up=None, port=0, local=None, relay_rank=False):
        self.rank, self.child = rank, child
        self.job, self.tree = job, tree
        # The part of the job's key that tribd tells this rank.
        up = up or keys.of_rank(key, keys.RELAYS if relay_rank else rank)
        self.up = keys.of_tree(up, tree)
        self.secret = keys.secret(self.up)
        self.token = 0
        self.kept = []
        self.relay_rank = relay_rank
        self.relay = (relay, PORT)
        self.epoch = 0
        self.nonce = 0
        with Netns(ns):
            v6 = ':' in relay
            self.sock = socket.socket(
                socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
            self.sock.bind((local or ('::' if v6 else '0.0.0.0'), port))
            if relay_rank:
                self.up = keys.of_node(self.up, local)

    def send(self, data):
        self.sock.sendto(data, self.relay)

    def session(self, type, nonce, epoch=0, nval=NVAL, up=None, rank=None,
                token=None):
        self.sent = time.monotonic()
        if rank is None:
            rank = 0xffffffff if self.relay_rank else self.rank
        if token is None:
            token = self.token if type == JOIN else 0
        self.send(keys.sign(
            up or self.up,
            header(type, UP, self.job, self.tree, self.child, bytes(8),
                   nval=nval, aux=self.rank) +
            struct.pack('>QIIQ', nonce, epoch, rank, token) +
            bytes(nval * 4 - 24)))

    def learn(self, nonce):
        """Asks for the token that a JOIN needs now."""
        self.session(JOIN, nonce, token=0)
        kept = []
        while True:
            p = self.recv(0.3)
            if not p or p.type == START and p.nonce == nonce:
                break
            kept.append(p)
        self.kept += kept

    def join(self, nonce=None, **more):
        if nonce is None:
            nonce = int.from_bytes(os.urandom(8), 'big') | 1
        self.nonce = nonce
        self.epoch = 0
        self.learn(nonce)
        self.session(JOIN, nonce, **more)

    def leave(self):
        self.session(LEAVE, self.nonce, self.epoch, nval=16)

    def recv(self, seconds=2, type=None):
        """The next packet (of a type), or None."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            for p in self.kept:
                if type is None or p.type == type:
                    self.kept.remove(p)
                    return p
            if not select.select([self.sock], [], [], max(left, 0))[0]:
                return None
            data = self.sock.recv(65536)
            if not data:  # trib doctor probes by empty datagrams
                continue
            p = Packet(data)
            if p.type == START:
                self.token = p.token
            if type is None or p.type == type:
                return p

    def drain(self):
        while self.recv(0):
            pass

    def hear_run(self):
        """True once START(RUN) has answered our JOIN."""
        while self.epoch == 0:
            p = self.recv(0)
            if not p:
                return False
            if p.type == START and p.nonce == self.nonce and p.state == RUN:
                self.epoch = p.start_epoch
        return True

    def grad(self, chunk, values, flags=0):
        n = len(values)
        body = struct.pack('<%di' % n, *values)
        pad = (n + 15) // 16 * 64
        self.send(header(GRAD, UP | flags, self.job, self.tree, self.child,
                         self.secret, chunk, self.epoch, n, I32) +
                  body + bytes(pad - len(body)))


def wait_run(workers, seconds=5):
    """Repeats all JOINs until all run; returns the epochs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        select.select([w.sock for w in workers if not w.epoch], [], [], 0.2)
        late = [w for w in workers if not w.hear_run()]
        if not late:
            break
        for w in late:
            if time.monotonic() - w.sent >= 0.2:
                w.session(JOIN, w.nonce)
    return {w.epoch for w in workers}


def join_all(workers):
    """All join; returns the epoch they agree on, or None."""
    for w in workers:
        w.drain()
        w.join()
    epochs = wait_run(workers)
    return epochs.pop() if len(epochs) == 1 and 0 not in epochs else None


# --- fabrics

def run(*command, check=True, **more):
    return subprocess.run(command, check=check, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **more)


class Fabric:
    def __init__(self, name, *options):
        self.name = '%s-%d' % (name, os.getpid())
        self.procs = []
        p = self.fabric('up', *options, check=False)
        if p.returncode:
            raise RuntimeError(p.stdout)

    def fabric(self, *command, **more):
        return run(TOP + '/scripts/fabric', '-n', self.name, *command, **more)

    def ns(self, host):
        return '%s-%s' % (self.name, host)

    def host(self, host, *command, **more):
        return run('nsenter', '--net=/run/netns/' + self.ns(host),
                   *command, **more)

    def trib(self, host, *command, **more):
        return self.host(host, BUILD + '/trib', *command, **more).stdout

    def key(self, host='r0'):
        """Of the job."""
        for line in open('/run/trib-fabric/%s/%s.trib' % (self.name, host)):
            words = line.split()
            if words[:2] == ['job', 'add']:
                return bytes.fromhex(words[words.index('key') + 1])

    def tree(self, host):
        return json_of(self.trib(host, '-j', 'tree', 'show', '1'))

    def pid(self, host):
        path = '/run/trib-fabric/%s/%s.pid' % (self.name, host)
        return int(open(path).read())

    def kill_tribd(self, host, sig=signal.SIGKILL):
        pid = self.pid(host)
        os.kill(pid, sig)
        until(10, lambda: not alive(pid))

    def start_tribd(self, host, wait=True, program=None, args=()):
        log = open('/run/trib-fabric/%s/%s.log' % (self.name, host), 'a')
        p = subprocess.Popen(
            ['nsenter', '--net=/run/netns/' + self.ns(host),
             program or BUILD + '/tribd', '--instance', self.ns(host), *args],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.procs.append(p)
        with open('/run/trib-fabric/%s/%s.pid' % (self.name, host), 'w') as f:
            f.write('%d\n' % p.pid)
        if wait and not until(60, lambda: self.host(
                host, BUILD + '/trib', check=False).returncode == 0):
            raise RuntimeError('tribd of %s does not come back: %s' %
                               (host, open(log.name).read()[-2000:]))
        return p

    def env(self, host):
        """The environment of that host's worker in `fabric run`."""
        path = '/run/trib-fabric/%s/%s.env' % (self.name, host)
        return dict(line.rstrip('\n').split('=', 1) for line in open(path))

    def spawn(self, host, *command, uid=None, stdin=None, **env):
        """A worker's process, as `fabric run` starts it."""
        who = ['setpriv', '--reuid', str(uid), '--regid', str(uid),
               '--clear-groups'] if uid else []
        p = subprocess.Popen(
            ['nsenter', '--net=/run/netns/' + self.ns(host), *who, *command],
            env={**os.environ, **self.env(host), **env,
                 'PATH': BUILD + ':' + os.environ['PATH']},
            text=True, stdin=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.procs.append(p)
        return p

    def cut(self, link, on):
        """Let nothing (or what it let) through on a wire, in the direction
        from the relay."""
        fd = bpf_get('/sys/fs/bpf/trib-fabric-' + self.name)
        with Netns(self.ns('wires')):
            index = socket.if_nametoindex('a%d' % link)
        end = bpf_lookup(fd, index, 64)
        chance = struct.unpack_from('=I', end, 4)[0]
        if chance != 0xffffffff:
            self.chance = chance
        struct.pack_into('=I', end, 4, 0xffffffff if on else self.chance)
        bpf_update(fd, index, end)
        os.close(fd)

    def down(self):
        # Reaps our children: a zombie would count as alive.
        for p in self.procs:
            if p.poll() is None:
                p.terminate()
                p.wait(60)
        self.fabric('down', check=False)


def alive(pid):
    try:
        with open('/proc/%d/stat' % pid) as f:
            return f.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(seconds, fn):
    """Waits until fn() is true; False when time is up."""
    end = time.monotonic() + seconds
    while True:
        if fn():
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(0.01)


def json_of(text):
    v = json.loads(text)
    return v[0] if isinstance(v, list) else v


# --- TAP

class Tap:
    count = failed = 0

    def test(self, name, good, *notes):
        self.count += 1
        print('%sok %d - %s' % ('' if good else 'not ', self.count, name))
        if not good:
            self.failed += 1
            for n in notes:
                for line in str(n).splitlines():
                    print('# ' + line)
        sys.stdout.flush()

    def done(self):
        print('1..%d' % self.count)
        return 1 if self.failed else 0


def skip(why):
    print('1..0 # SKIP ' + why)
    sys.exit(4)


def need_root():
    if os.geteuid():
        skip('needs root')
    if not os.access(BUILD + '/tribd', os.X_OK):
        skip('tribd is not built')
