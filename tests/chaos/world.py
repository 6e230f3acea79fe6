# SPDX-License-Identifier: BSD-2-Clause
"""The fabric under chaos and its daemons, which the driver kills and starts again.
The driver ends only processes that it or its fabric started, by their numbers.

    w0 w1 -- r1 --+
                  +-- r0 -- ps: trib-ps, trib-ps ndn
    w2 w3 -- r2 --+

All hosts run tribd; r0, r1 and r2 forward NDN, too. Each wire leads through the
namespace of the wires (scripts/wire), whose ends lose packets when told to.
"""
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '../..'))
sys.path.insert(0, TOP + '/tests/netns/lib')
from tribd import BUILD  # noqa: E402
from worker import alive, until  # noqa: E402
from wires import Wires, run  # noqa: E402

TIMEOUT = 2000  # ms: of the jobs
JOIN_TIMEOUT = 8000  # ms
LEASE = 3000  # ms: of NDN subscriptions
DISK = '128k'  # of each daemon's state
CLOCK = BUILD + '/tests/chaos/clock.so'  # clock.c
WORKERS = ('w0', 'w1', 'w2', 'w3')

class Failed(Exception):
    """The run fails; the text says why."""


def signal_of(pid, sig):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


class Daemon:
    """A process that is to run always: `meant` is false while a fault has it
    dead. pid: the fabric's at first, then ours."""

    def __init__(self, world, host, name, argv=None, pid=None, log=None,
                 env=None):
        self.world, self.host, self.name = world, host, name
        self.argv, self.env, self.log = argv, env, log
        self.pid, self.proc = pid, None
        self.file = None  # where the fabric looks for the number
        self.meant, self.stopped = True, False
        self.died = []

    def start(self):
        with open(self.log, 'a') as log:
            self.proc = subprocess.Popen(
                ['nsenter', '--net=/run/netns/' + self.world.ns(self.host),
                 *self.argv], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True,
                env={**self.world.env(), **(self.env or {})})
        self.pid = self.proc.pid
        if self.file:
            with open(self.file, 'w') as f:
                f.write('%d\n' % self.pid)
        self.meant = True

    def end(self, sig=signal.SIGKILL, seconds=10):
        """True if it ended in time."""
        self.meant = False
        if self.pid is None:
            return True
        signal_of(self.pid, signal.SIGCONT)
        signal_of(self.pid, sig)
        return until(seconds, lambda: not self.runs())

    def runs(self):
        if self.proc and self.proc.pid == self.pid:
            return self.proc.poll() is None
        return self.pid is not None and alive(self.pid)

    def stop(self):
        self.stopped = True
        signal_of(self.pid, signal.SIGSTOP)

    def cont(self):
        signal_of(self.pid, signal.SIGCONT)
        self.stopped = False

    def state(self):
        """One letter, as ps shows it; Z: it is gone."""
        try:
            with open('/proc/%d/stat' % self.pid) as f:
                return f.read().rsplit(')', 1)[1].split()[0]
        except OSError:
            return 'Z'

    def stepped(self):
        """Is its clock ours?"""
        try:
            with open('/proc/%d/maps' % self.pid) as f:
                return CLOCK in f.read() or not self.runs()
        except OSError:
            return True

    def last_words(self, lines=4):
        with open(self.log, errors='replace') as f:
            return ' | '.join(f.read().splitlines()[-lines:])

    def rss(self):
        """kB, or 0."""
        try:
            with open('/proc/%d/status' % self.pid) as f:
                return int(re.search(r'VmRSS:\s*(\d+)', f.read())[1])
        except (OSError, TypeError):
            return 0

    def files(self):
        try:
            return len(os.listdir('/proc/%d/fd' % self.pid))
        except OSError:
            return 0


class World:
    """hosts, relays, ports [(host, device)], jobs, workers: what faults may strike."""
    workers, jobs = WORKERS, ('trees', 'pools')
    relays = ('r0', 'r1', 'r2')
    hosts = (*relays, 'ps', *WORKERS)
    ports = (*(('r0', 'p%d' % i) for i in range(3)),
             *((r, d) for r in ('r1', 'r2') for d in ('up0', 'p0', 'p1')),
             *((h, 'eth0') for h in ('ps', *WORKERS)))

    def __init__(self):
        self.name = 'chaos%d' % os.getpid()
        self.state = '/run/trib-fabric/' + self.name
        self.scratch = tempfile.mkdtemp(prefix='trib-chaos-')
        self.clocks = self.scratch + '/clocks'
        os.mkdir(self.clocks)
        self.daemons, self.mounts, self.namespaces = {}, [], []
        self.litter = []  # files in folders that down() found not empty
        self.refusal = ''
        self.ps_jobs, self.pin = None, '/sys/fs/bpf/' + self.name + '-wire'

    def ns(self, host):
        return '%s-%s' % (self.name, host)

    def instance(self, host):
        return self.ns(host)

    def env(self):
        """Of programs whose clocks can be stepped."""
        return {**os.environ, 'LD_PRELOAD': CLOCK, 'TRIB_CHAOS_CLOCK': self.clocks}

    def clock(self, host, seconds):
        """Steps the host's clock to so far ahead of the machine's."""
        with open('%s/%d' % (self.clocks, os.stat(
                '/run/netns/' + self.ns(host)).st_ino), 'r+b') as f:
            f.write(struct.pack('=q', seconds))

    def asked(self):
        """How often programs asked for the clock that can be stepped."""
        return sum(struct.unpack('=qQ', open(f, 'rb').read())[1]
                   for f in glob.glob(self.clocks + '/*'))

    def fabric(self, *argv, **more):
        return run(TOP + '/scripts/fabric', '-n', self.name, *argv,
                   env=self.env(), **more)

    def on(self, host, *argv, **more):
        """The output of a command on a host."""
        return run('nsenter', '--net=/run/netns/' + self.ns(host), *argv,
                   **more)

    def trib(self, host, *argv, **more):
        return self.on(host, 'timeout', '20', BUILD + '/trib', *argv, **more)

    # --- up

    def mount(self, folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        run('mount', '-t', 'tmpfs', '-o', 'size=%s,mode=0700' % DISK,
            self.name, folder)
        self.mounts.append(folder)

    def up(self):
        for h in self.hosts:
            self.mount('/run/trib/' + self.instance(h))
        # Faults that hardly ever come: wires are made for those to come.
        self.fabric('up', 'two-tier', '2,2,0', '--ndn', '--slots', '2048',
                    '--loss', '0.001', '--dup', '0.001', '--reorder', '0.001')
        self.wires = Wires(self, self.state + '/fabric')
        self.wires.spoil(0, 0, 0)
        self.ps_jobs = '/run/trib/ps/net-%d' % os.stat(
            '/run/netns/' + self.ns('ps')).st_ino
        self.mount(self.ps_jobs)
        self.mount(self.scratch + '/ndn-state')
        for h in self.hosts:
            self.adopt(h, 'tribd', '%s/%s.pid' % (self.state, h))
        job = {'workers': list(WORKERS), 'max_relays': 3, 'window': 64,
               'timeout': TIMEOUT}
        self.plan('plan', {'name': 'trees', 'id': 1, **job},
                  {'name': 'pools', 'id': 2, 'mode': 'shared', 'ps': 'ps',
                   **job})
        self.apply('plan')
        self.adopt('ps', 'trib-ps', self.state + '/ps/ps.pid')

    def adopt(self, host, name, file):
        """Takes over a daemon that the fabric started."""
        with open(file) as f:
            pid = int(f.read())
        with open('/proc/%d/cmdline' % pid) as f:
            argv = f.read().split('\0')[:-1]
        d = Daemon(self, host, name, argv, pid, file[:-4] + '.log')
        d.file = file
        self.daemons[host, name] = d
        return d

    def plan(self, name, *jobs):
        with open('%s/%s-jobs' % (self.scratch, name), 'w') as f:
            json.dump({'jobs': jobs}, f)
        run(BUILD + '/trib', 'plan', self.state + '/topology.json',
            '%s/%s-jobs' % (self.scratch, name), '-o',
            '%s/%s' % (self.scratch, name))

    def apply(self, name, *more):
        self.fabric('apply', '%s/%s' % (self.scratch, name), *more)

    # --- daemons

    def serves(self, host):
        """Does tribd answer?"""
        return subprocess.run(
            ['nsenter', '--net=/run/netns/' + self.ns(host), 'timeout', '5',
             BUILD + '/trib', 'status'], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL).returncode == 0

    def configure(self, host):
        """Gives the NDN forwarder its faces and routes, as after a boot."""
        if os.path.exists('%s/%s.trib' % (self.state, host)):
            self.trib(host, 'batch', '%s/%s.trib' % (self.state, host),
                      ok=False)
            self.trib(host, 'strategy', 'set', 'lease', '%dms' % LEASE)

    def applied(self, name):
        """Tries once; `refusal` says why not. Applying starts a trib-ps that does not
        run: not while a fault has it dead, or there would be two."""
        if not all(d.meant for d in self.processes('ps')):
            self.refusal = 'trib-ps is dead'
            time.sleep(0.2)
            return False
        try:
            self.apply(name, '--now')
        except RuntimeError as e:
            self.refusal = str(e)
            time.sleep(0.5)
            return False
        return True

    def processes(self, host):
        return [d for (h, _), d in self.daemons.items() if h == host]

    def of(self, host, name='tribd'):
        return self.daemons[host, name]

    def ndn_env(self, host):
        """What fabric run sets for programs that speak NDN."""
        out = self.fabric('exec', host, '--', 'env')
        return dict(x.split('=', 1) for x in out.splitlines()
                    if x.startswith('TRIB_PS_'))

    # --- down

    def down(self):
        """Ends everything, whatever state it is in."""
        # Held until left() has looked: a later namespace may get the same number.
        self.namespaces = [os.open(f, os.O_RDONLY) for h in [*self.hosts, 'wires']
                           for f in ['/run/netns/' + self.ns(h)] if os.path.exists(f)]
        for d in self.daemons.values():
            d.cont()
        for d in self.daemons.values():
            d.end(signal.SIGTERM, 5) or d.end()
        for h in self.hosts:
            if os.path.exists('/run/netns/' + self.ns(h)):
                self.on(h, BUILD + '/tribd', '--purge', '--instance',
                        self.instance(h), ok=False)
        for folder in reversed(self.mounts):
            if os.path.basename(folder).startswith(self.name + '-'):
                self.litter += ['%s/%s' % (folder, n)
                                for n in os.listdir(folder)]
            run('umount', folder, ok=False)
        self.mounts = []
        self.fabric('down', ok=False)
        for folder in [self.ps_jobs] + ['/run/trib/' + self.instance(h)
                                        for h in self.hosts]:
            if folder and os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
        if os.path.exists(self.pin):
            os.unlink(self.pin)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def left(self):
        """Names what is still there after down()."""
        out = []
        for folder in ('/run/netns', '/run/trib', '/run/trib-fabric',
                       '/sys/fs/bpf', '/sys/fs/bpf/trib'):
            if os.path.isdir(folder):
                out += ['%s/%s' % (folder, n) for n in os.listdir(folder)
                        if re.search(r'(^|-)%s($|-)' % self.name, n)]
        out += self.litter
        out += [p for p in (self.scratch, self.ps_jobs)
                if p and os.path.exists(p)]
        with open('/proc/mounts') as f:
            out += ['mount ' + x.split()[1] for x in f
                    if x.split()[0] == self.name]
        inodes = {os.fstat(fd).st_ino for fd in self.namespaces}
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                if os.stat('/proc/%s/ns/net' % pid).st_ino in inodes:
                    with open('/proc/%s/comm' % pid) as f:
                        out.append('process %s %s' % (pid, f.read().strip()))
            except OSError:
                pass
        while self.namespaces:
            os.close(self.namespaces.pop())
        return out
