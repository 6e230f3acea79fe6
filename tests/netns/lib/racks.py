# SPDX-License-Identifier: BSD-2-Clause
"""Two racks of two workers and a PS, for tests and benches of shared pools. Relays
a and b serve the racks, relay d is in front of the PS.

    w0 w1 -- a (1) --+
                     +-- d (3) -- p: trib-ps
    w2 w3 -- b (2) --+

With a rate or faults each link leads through the namespace of the wires.
scripts/lib/fabric-net.sh explains the offloads.
"""
import ctypes
import struct
import threading

import keys
from tribd import *  # noqa: F403 pylint: disable=wildcard-import

KEY = '11223344556677881122334455667788'
PS = '10.8.12.2'
LINKS = 7
BPF_OBJ_GET, BPF_LINK_DETACH = 7, 34
libc = ctypes.CDLL(None, use_errno=True)


def bpf(cmd, fmt, *values):
    """The system call. Packs its attributes by fmt."""
    attr = ctypes.create_string_buffer(struct.pack(fmt, *values), 128)
    rc = libc.syscall(321, cmd, attr, len(attr))
    if rc < 0:
        raise OSError(ctypes.get_errno(), 'bpf(%d)' % cmd)
    return rc


class Wires:
    """Links through `wire`: bits a second; percent lost, doubled, late."""

    def __init__(self, ns, rate=0, loss=0, dup=0, reorder=0):
        self.rate = rate
        self.faults = ['-l%g' % loss, '-d%g' % dup, '-r%g' % reorder]
        self.faulty = any((loss, dup, reorder))
        self.ns = ns
        self.pin = PIN[:-1] + '-' + self.ns.name
        self.offloads = ['gro', 'on', 'tx-udp-segmentation', 'off']
        if self.faulty:
            self.offloads += ['tso', 'off', 'gso', 'off', 'tx', 'off']
        self.ends = []
        self.proc = None

    def lead(self, ns, dev):
        """Adds one end of a link: a device of ns, and its far end here."""
        end = 'e%d' % len(self.ends)
        self.ends.append(end)
        ns.ip('link', 'add', dev, 'type', 'veth', 'peer', 'name', end,
              'netns', self.ns.name)
        both = ((ns, dev), (self.ns, end))
        for n, d in both:
            n.ip('link', 'set', d, 'up')
        for n, d in both:
            # The peer's XDP features are computed while both are up.
            n.run('ethtool', '-K', d, *self.offloads)
        if self.rate:
            # A burst of a millisecond, 25 ms of queue.
            run('tc', '-n', self.ns.name, 'qdisc', 'add', 'dev', end, 'root',
                'tbf', 'rate', '%dbit' % self.rate,
                'burst', str(max(self.rate // 8000, 131072)),
                'limit', str(max(self.rate // 320, 48000)))

    def start(self):
        self.proc = subprocess.Popen(
            self.ns.argv(BUILD + '/scripts/wire/wire', '-p', self.pin,
                         *self.faults,
                         *map(':'.join, zip(self.ends[::2], self.ends[1::2]))),
            text=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        atexit.register(self.end)
        if self.proc.stdout.readline() != 'ready\n':
            raise RuntimeError('wire: %s' % self.proc.wait())

    def end(self):
        self.proc.terminate()
        self.proc.wait()

    def count(self, what):
        """Packets lost, doubled or delayed on all wires."""
        out = self.ns.run(BUILD + '/scripts/wire/wire', '-s', self.pin).split()
        return sum(int(n) for word, n in zip(out, out[1:]) if word == what)


class Relay:
    """A host with a tribd that relays."""

    def __init__(self, ns):
        self.ns, self.cli, self.daemon = ns, Cli(ns), None
        self.instance = use_instance('net-%d' % ns.inode())

    def start(self, *args):
        self.daemon = Tribd(self.ns, *args)

    def restart(self, *args):
        self.daemon.end()
        self.start(*args)

    def stat(self, name):
        return next((s['value'] for s in self.cli.json('stats')
                     if s['name'] == name), 0)

    def pinned_links(self):
        pins = Pins(self.instance)
        for name in pins.names():
            if name.startswith('link'):
                path = ctypes.create_string_buffer(pins.path(name).encode())
                yield bpf(BPF_OBJ_GET, '=QII', ctypes.addressof(path), 0, 0)

    def kill(self):
        """Stops tribd and detaches XDP: the kernel only routes now. Returns the
        time of that by time.monotonic()."""
        self.daemon.proc.send_signal(signal.SIGSTOP)
        links = list(self.pinned_links())
        begun = time.monotonic()
        for fd in links:
            bpf(BPF_LINK_DETACH, '=I', fd)
        for fd in links:
            os.close(fd)
        return begun

    def revive(self):
        """Lets tribd go on, which attaches the programs again."""
        self.daemon.proc.send_signal(signal.SIGCONT)


class Racks:
    """The network, and its relays; faults as in Wires."""
    count = 0

    def __init__(self, **faults):
        Racks.count += 1
        self.a, self.b, self.d, self.p = (self.host(n) for n in 'abdp')
        self.w = [self.host('w%d' % i) for i in range(4)]
        self.wires = Wires(self.host('wires'), **faults) if faults else None
        self.links()
        self.routes()
        if self.wires:
            self.wires.start()
        self.relays = {n: Relay(getattr(self, n)) for n in 'abd'}

    def host(self, name):
        """A process may make several networks."""
        return Netns('%d%s' % (Racks.count, name))

    def links(self):
        for i in range(4):
            self.join((self.a, self.b)[i // 2], 'v%d' % i, self.w[i], 'eth0',
                      i)
        self.join(self.d, 'va', self.a, 'core', 10)
        self.join(self.d, 'vb', self.b, 'core', 11)
        self.join(self.d, 'vp', self.p, 'eth0', 12)

    def join(self, x, dev_x, y, dev_y, subnet):
        """Makes a link. The upper end has .1, the lower .2; both accept packets
        from XDP."""
        ends = ((x, dev_x, '10.8.%d.1/24' % subnet),
                (y, dev_y, '10.8.%d.2/24' % subnet))
        if not self.wires:
            veth(*ends[0], *ends[1])
            for ns, dev, _ in ends:
                ns.run('ethtool', '-K', dev, 'gro', 'on')
            return
        for ns, dev, addr in ends:
            self.wires.lead(ns, dev)
            ns.ip('addr', 'add', addr, 'dev', dev)

    def routes(self):
        ways = [(self.a, '10.8.10.1'), (self.b, '10.8.11.1'),
                (self.p, '10.8.12.1')]
        ways += [(self.w[i], '10.8.%d.1' % i) for i in range(4)]
        for ns, via in ways:
            ns.ip('route', 'add', 'default', 'via', via)
        for i in range(4):
            self.d.ip('route', 'add', '10.8.%d.0/24' % i, 'via',
                      '10.8.%d.2' % (10 + i // 2))
        for ns in (self.a, self.b, self.d):
            ns.run('sysctl', '-qw', 'net.ipv4.ip_forward=1')

    def start(self, *args):
        """Starts the relays and adds the faces between them."""
        for r in self.relays.values():
            r.start(*args)
        for x, up in (('a', '10.8.10.1'), ('b', '10.8.11.1')):
            self.relays[x].cli('face add up dev core addr ' + up)
        cli = self.relays['d'].cli
        cli('face add a dev va addr 10.8.10.2')
        cli('face add b dev vb addr 10.8.11.2')
        cli('face add ps dev vp addr %s port 7415' % PS)


class Job:
    """A job: its rows at the relays, and its processes, started by `wrap`."""
    wrap = ()

    def __init__(self, racks, number, ranks, window=64, timeout=5000):
        self.racks, self.number, self.ranks = racks, number, ranks
        self.window, self.timeout = window, timeout
        self.name = 'job%d' % number
        self.world = len(ranks)
        self.procs = []

    def port(self, rank):
        return 7500 + 16 * self.number + rank

    def rows(self):
        """Adds the faces of the job's workers: each rank has a port."""
        racks = sorted({i // 2 for i in self.ranks})
        for place, rack in enumerate(racks):
            cli = self.racks.relays['ab'[rack]].cli
            children = []
            for r, i in enumerate(self.ranks):
                if i // 2 == rack:
                    face = 'f%d-%d' % (self.number, r)
                    cli('face add %s dev v%d addr 10.8.%d.2 port %d' %
                        (face, i, i, self.port(r)))
                    children.append('%s:%d' % (face, r))
            wait_for(lambda: all('mac' in f for f in cli.json('face show')))
            self.row(cli, 'child %s parent up%s' % (' '.join(children),
                                                    self.at_rack(rack, place)))
        self.row(self.racks.relays['d'].cli,
                 'child %s%s' % (' '.join('ab'[x] for x in racks),
                                 self.at_core()))

    def row(self, cli, tree):
        cli('job add %s id %d world %d window %d timeout %d key %s' %
            (self.name, self.number, self.world, self.window, self.timeout,
             KEY))
        cli('tree add %s id %d %s' % (self.name, self.number, tree))

    def at_rack(self, _rack, place):
        return ' index %d' % place

    def at_core(self):
        return ''

    def ticket(self, r):
        cli = self.racks.relays['ab'[self.ranks[r] // 2]].cli
        return cli('job ticket %s rank %d' % (self.name, r)).strip()

    def spawn(self, r, *argv, **more):
        env = dict(os.environ, TRIB_JOB=self.ticket(r), RANK=str(r),
                   TRIB_TRANSPORT='udp')
        return subprocess.Popen(
            self.racks.w[self.ranks[r]].argv(*self.wrap, *argv), env=env,
            text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)

    def perf(self, *args):
        """Starts trib-perf on all ranks."""
        self.procs = [self.spawn(r, BUILD + '/trib-perf', *args)
                      for r in range(self.world)]

    def start(self, *args):
        """Starts trib-perf with every sum checked."""
        self.perf('-w', '0', '-c', '2', *args)

    def running(self):
        return any(q.poll() is None for q in self.procs)

    def wait(self, seconds=60):
        """(all sums were right, what the ranks said)"""
        return finish(self.procs, seconds)


class SharedJob(Job):
    """A job that shares the relays' pool with others, and has a PS."""

    def __init__(self, racks, number, ranks, cap=0, **more):
        super().__init__(racks, number, ranks, **more)
        self.cap = ' cap %d' % cap if cap else ''

    def at_rack(self, rack, _place):
        return ' relay %d next 3%s' % (1 + rack, self.cap)

    def at_core(self):
        return ' parent ps relay 3 next 65535 workers 0-%d%s' % (
            self.world - 1, self.cap)

    def file(self, folder):
        """The PS's description of the job."""
        path = '%s/%s' % (folder, self.name)
        workers = ['10.8.%d.2:%d' % (i, self.port(r))
                   for r, i in enumerate(self.ranks)]
        with open(path, 'w') as f:
            json.dump({'name': self.name, 'job': self.number, 'key': KEY,
                       'window': self.window, 'nval': 352,
                       'timeout_ms': self.timeout, 'workers': workers,
                       'trees': [{'tree': self.number,
                                  'group': ['10.8.12.1']}]}, f)
        return path

    def ticket(self, r):
        i = self.ranks[r]
        return ('trib://10.8.%d.1:7417/%s?job=%d&%s&rank=%d&world=%d'
                '&shared=%d:%d:%s,%d&via=%d:3:10.8.%d.1' %
                (i, self.name, self.number, keys.of_ticket(KEY, r), r,
                 self.world,
                 self.number, 1 + i // 2, PS, self.port(r), self.number,
                 10 + i // 2))


class Server(TribPs):
    """trib-ps of some jobs."""

    def __init__(self, racks, *jobs, wrap=()):
        self.own = tempfile.TemporaryDirectory()
        super().__init__(racks.p, PS, [j.file(self.own.name) for j in jobs],
                         self.own.name, wrap=wrap)

    def trees(self):
        return self.stats()['trees']

    def goes_on(self):
        """Waits until the first job completes sums again."""
        before = self.tree()['done']
        return wait_for(lambda: self.tree()['done'] > before + 100, 20)


class Pulse:
    """Endless sums on all ranks of a job, each checked, and the times when none
    were completed (pulse.c)."""

    def __init__(self, job, *args):
        self.job = job
        self.lines = [[] for _ in range(job.world)]
        self.procs = [job.spawn(r, BUILD + '/tests/netns/lib/pulse', *args,
                                stdin=subprocess.PIPE)
                      for r in range(job.world)]
        self.readers = [threading.Thread(target=self.lines[r].extend,
                                         args=(q.stdout,), daemon=True)
                        for r, q in enumerate(self.procs)]
        for t in self.readers:
            t.start()
        atexit.register(self.kill)
        if not wait_for(lambda: all(self.lines) or not self.alive(), 60) or \
                not self.alive():
            raise RuntimeError('pulse: %s' % self.lines)

    def alive(self):
        return all(q.poll() is None for q in self.procs)

    def gaps(self, rank):
        """[(from, to)] in seconds of time.monotonic()"""
        words = [s.split() for s in list(self.lines[rank])]
        return [(int(x[1]) / 1e9, int(x[2]) / 1e9) for x in words
                if x[0] == 'gap']

    def resumed(self, rank, begun):
        """How long after `begun` the first sum came that took another way, or
        None; to be asked when sums come again. Those that had passed the relay
        by then may still arrive: it ends the longest of the gaps."""
        gaps = [g for g in self.gaps(rank)
                if g[0] < begun + 0.05 and g[1] > begun]
        longest = max(gaps, key=lambda g: g[1] - g[0], default=None)
        return longest and longest[1] - begun

    def end(self, seconds=30):
        """(all sums were right, what the ranks said)"""
        for q in self.procs:
            q.stdin.close()
        end = time.monotonic() + seconds
        for q in self.procs:
            try:
                q.wait(max(end - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                q.kill()
                q.wait()
        for t in self.readers:
            t.join()
        good = all(q.returncode == 0 for q in self.procs)
        return good, '\n'.join('%d\n%s' % (q.returncode, ''.join(lines))
                               for q, lines in zip(self.procs, self.lines))

    def kill(self):
        for q in self.procs:
            q.kill()
            q.wait()
