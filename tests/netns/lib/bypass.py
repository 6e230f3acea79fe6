# SPDX-License-Identifier: BSD-2-Clause
"""A star whose workers have a network of their own beside the relay, so that their
ranks can sum without it when it dies.

    w0 .. w2 --- wires --- r0          the tree
    w0 .. w2 --- veths --- x           a network of their own, which r0 is not on

r0 dies in two ways: its host is cut off; or tribd is killed and its programs are taken off.
"""
import os
import shutil
import subprocess
import time

from ranks import moving
from worker import Fabric, run, until

HOSTS = ['w0', 'w1', 'w2']
NOTICED = 0.05  # seconds of silence before which no relay is taken for dead
WAY = {'TRIB_DETOUR': '1', 'TRIB_PEERS': '10.99.1.2:7499'}


class Net:
    """A fabric, and the network x beside it."""

    def __init__(self, name, transport, *more):
        self.f = Fabric(name, 'star', '--workers', '3', '--transport',
                        transport, *more)
        self.x = self.f.ns('x')
        run('ip', 'netns', 'add', self.x)
        run('ip', 'netns', 'exec', self.x, 'sysctl', '-qw', 'net.ipv4.ip_forward=1')
        for i, h in enumerate(HOSTS, 1):
            self.join(i, h)

    def join(self, i, h):
        run('ip', '-n', self.x, 'link', 'add', 'p%d' % i, 'type', 'veth', 'peer',
            'name', 'direct', 'netns', self.f.ns(h))
        run('ip', '-n', self.x, 'addr', 'add', '10.99.%d.1/24' % i, 'dev', 'p%d' % i)
        run('ip', '-n', self.x, 'link', 'set', 'p%d' % i, 'up')
        self.f.host(h, 'ip', 'addr', 'add', '10.99.%d.2/24' % i, 'dev', 'direct')
        self.f.host(h, 'ip', 'link', 'set', 'direct', 'up')
        self.f.host(h, 'ip', 'route', 'add', '10.99.0.0/16', 'via', '10.99.%d.1' % i)

    def down(self):
        run('ip', 'netns', 'del', self.x, check=False)
        self.f.down()

    def ports(self, state):
        batch = ''.join('link set p%d %s\n' % (i, state) for i in range(3))
        subprocess.run(['ip', '-n', self.f.ns('r0'), '-batch', '-'], input=batch,
                       text=True, check=True)

    # --- ways to die, and back

    def cut(self):
        self.ports('down')

    def mend(self):
        """Returns when packets pass. Hosts ask for the relay's MAC address anew, and what
        waited for it, contributions of dead ranks, must not be taken for a job that runs."""
        self.ports('up')
        if not until(5, lambda: all(self.reaches(i) for i in range(len(HOSTS)))):
            raise RuntimeError('no packets pass')

    def reaches(self, i):
        return not self.f.host(HOSTS[i], 'ping', '-qc1', '-W1', '10.77.%d.1' % i,
                               check=False).returncode

    def kill(self):
        self.f.kill_tribd('r0')
        shutil.rmtree('/sys/fs/bpf/trib/' + self.f.ns('r0'))
        if not until(5, lambda: 'xdp' not in self.f.host('r0', 'ip', 'link').stdout):
            raise RuntimeError('programs are still there')

    def start(self):
        """It knows nothing: its maps went with the programs."""
        self.f.start_tribd('r0')
        self.f.trib('r0', 'batch', '/run/trib-fabric/%s/r0.trib' % self.f.name)


class Job:
    """The ranks of a Pulse of racks.py."""
    world = len(HOSTS)
    wrap = []  # in front of the command

    def __init__(self, f):
        self.f = f

    def spawn(self, r, *argv, **more):
        return subprocess.Popen(
            ['nsenter', '--net=/run/netns/' + self.f.ns(HOSTS[r]), *self.wrap, *argv],
            env={**os.environ, **self.f.env(HOSTS[r]), **WAY}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def one_death(n, pulse, die, live):
    """The relay is dead until sums go on without it. Seconds without a sum on the rank that
    waited longest, or None: the job ended, or went on only at the relay."""
    begun = time.monotonic()
    die()

    def gaps(r):
        return [b - a for a, b in pulse.gaps(r) if b > begun and b - a > NOTICED]

    if not until(5, lambda: all(gaps(r) for r in range(len(HOSTS)))):
        return None
    took = max(max(gaps(r)) for r in range(len(HOSTS)))
    time.sleep(0.2)
    live()
    return took if moving(n.f) and pulse.alive() else None
