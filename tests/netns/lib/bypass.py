# SPDX-License-Identifier: BSD-2-Clause
"""Fabrics whose workers have a network of their own beside the relays, so that their
ranks can sum without them when one dies.

    w0 .. w2 --- wires --- r0          the tree
    w0 .. w2 --- veths --- x           a network of their own, which r0 is not on

A relay dies in two ways: its host is cut off; or tribd is killed and its programs are taken off.
"""
import json
import os
import shutil
import subprocess
import time

from ranks import moving
from worker import Fabric, run, until

NOTICED = 0.05  # seconds of silence before which no relay is taken for dead
# By kind: workers, and the relay that dies. A BCube's are its servers.
KINDS = {'star': (3, 'r0'), 'tree': (4, 'r0'), 'bcube': (4, 'w3')}
WAY = {'TRIB_DETOUR': '1', 'TRIB_PEERS': '10.99.1.2:7499'}


class Net:
    """A fabric, and the network x beside it."""

    def __init__(self, name, kind, *more, dies=None):
        world, relay = KINDS[kind]
        self.hosts = ['w%d' % i for i in range(world)]
        self.relay = dies or relay
        if kind == 'star':
            more = ('--workers', str(world)) + more
        self.f = Fabric(name, kind, *more)
        self.x = self.f.ns('x')
        self.links = [d['ifname'] for d in self.links_of(self.relay)]
        run('ip', 'netns', 'add', self.x)
        run('ip', 'netns', 'exec', self.x, 'sysctl', '-qw', 'net.ipv4.ip_forward=1')
        for i, h in enumerate(self.hosts, 1):
            self.join(i, h)

    def links_of(self, host):
        return [d for d in json.loads(self.f.host(host, 'ip', '-j', 'link').stdout)
                if d['ifname'] not in ('lo', 'trib0', 'trib1')]

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
        batch = ''.join('link set %s %s\n' % (d, state) for d in self.links)
        subprocess.run(['ip', '-n', self.f.ns(self.relay), '-batch', '-'], input=batch,
                       text=True, check=True)

    # --- ways to die, and back

    def cut(self):
        self.ports('down')

    def mend(self):
        """Returns when packets pass. Hosts ask for the relay's MAC address anew, and what
        waited for it, contributions of dead ranks, must not be taken for a job that runs."""
        self.ports('up')
        faces = json.loads(self.f.trib(self.relay, '-j', 'face', 'show'))
        ends = [f['addr'] for f in faces
                if f['ifname'] in self.links and not f['addr'].startswith('239.')]
        if not until(5, lambda: all(map(self.reaches, ends))):
            raise RuntimeError('no packets pass')

    def reaches(self, addr):
        return not self.f.host(self.relay, 'ping', '-qc1', '-W1', addr,
                               check=False).returncode

    def kill(self):
        self.f.kill_tribd(self.relay)
        shutil.rmtree('/sys/fs/bpf/trib/' + self.f.ns(self.relay))
        if not until(5, lambda: 'xdp' not in self.f.host(self.relay, 'ip', 'link').stdout):
            raise RuntimeError('programs are still there')

    def start(self):
        """It knows nothing: its maps went with the programs."""
        self.f.start_tribd(self.relay)
        self.f.trib(self.relay, 'batch',
                    '/run/trib-fabric/%s/%s.trib' % (self.f.name, self.relay))


class Job:
    """The ranks of a Pulse of racks.py."""
    wrap = []  # in front of the command

    def __init__(self, net):
        self.f = net.f
        self.hosts = net.hosts
        self.world = len(net.hosts)

    def spawn(self, r, *argv, **more):
        h = self.hosts[r]
        return subprocess.Popen(
            ['nsenter', '--net=/run/netns/' + self.f.ns(h), *self.wrap, *argv],
            env={**os.environ, **self.f.env(h), **WAY}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


def one_death(n, pulse, die, live):
    """The relay is dead until sums go on without it. Seconds without a sum on the rank that
    waited longest, or None: the job ended, or went on only at the relay."""
    begun = time.monotonic()
    die()

    def gaps():
        return [b - a for r in range(len(n.hosts)) for a, b in pulse.gaps(r)
                if b > begun and a < mended]

    # A rank may still get some results of before, one by one.
    mended = begun + 5
    if not until(5, lambda: max(gaps(), default=0) > NOTICED):
        return None
    time.sleep(0.3)
    mended = time.monotonic()
    live()
    # By now all gaps have ended.
    return max(gaps()) if moving(n.f, n.relay) and pulse.alive() else None
