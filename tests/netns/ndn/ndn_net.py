# SPDX-License-Identifier: BSD-2-Clause
"""A network of NDN routers from a list of links: tribd --ndn in the routers, their
faces and routes by netlink, and the ends: trib-ps ndn, and workers by libtrib.

	net = Net({'r1': ['ps', 'r2'], 'r2': ['w0', 'w1']})
	net.route('/ps', 'r2', 'r1', 'ps')

The k-th link is 10.8.k.0/24: .1 is the end that is named first. In both
namespaces its device is ek, and a face has the name of the neighbour.
"""
import atexit
import json
import os
import signal
import struct
import subprocess
import sys

from tribd import (BPFTOOL, BUILD, PIN, TOP, Netns, Tribd, run, use_instance,
                   veth, wait_for)
from ndn_nl import Nl, Refused, addr

NONE, ROUTER, HOST = 0, 1, 2
ARGS = ('--ndn', '256', '--ndn-cache', '256', '--slots', '64', '--trees',
        '8')


class Wires:
    """The wires between the ends of the links: scripts/wire/wire, whose faults
    can be changed while it runs."""
    PIN = '/sys/fs/bpf/ndn-wires-%d' % os.getpid()

    def __init__(self):
        self.ns, self.proc, self.ifindex = Netns('wires'), None, {}

    def join(self, k, ends):
        for end, (ns, ip) in zip('ab', ends):
            dev = '%s%d' % (end, k)
            veth(ns, 'e%d' % k, ip, self.ns, dev, [])
            self.ns.run('ethtool', '-K', dev, 'gro', 'on')
            self.ifindex[k, end] = self.ns.link(dev)['ifindex']

    def start(self, links):
        self.proc = subprocess.Popen(
            self.ns.argv(BUILD + '/scripts/wire/wire', '-p', self.PIN,
                         *['a%d:b%d' % (k, k) for k in range(links)]),
            stdout=subprocess.PIPE, text=True)
        atexit.register(self.end)
        if self.proc.stdout.readline().strip() != 'ready':
            raise RuntimeError('wire does not start')

    def end(self):
        self.proc.terminate()
        self.proc.wait(timeout=10)

    def spoil(self, k, end, loss, dup, reorder):
        """Faults of packets that arrive at that end, as fractions of 1."""
        key = ['0x%02x' % b for b in struct.pack('=I', self.ifindex[k, end])]
        row = json.loads(run(BPFTOOL, '-j', 'map', 'lookup', 'pinned',
                             self.PIN, 'key', *key))
        row = bytearray(int(x, 16) for x in row['value'])
        row[4:16] = struct.pack('=III', *[min(int(x * 2 ** 32), 2 ** 32 - 1)
                                          for x in (loss, dup, reorder)])
        run(BPFTOOL, 'map', 'update', 'pinned', self.PIN, 'key', *key, 'value',
            *['0x%02x' % b for b in row])


class Net:
    def __init__(self, links, rights=None, lease=3.0, args=ARGS, wires=False,
                 mtu=1500):
        """@links: {router: [neighbour, ...]}. @rights: {host: {'write': [...],
        'subscribe': [...]}}; by default w* may what a worker must, for /ps.
        @wires: packets can be lost."""
        self.wires = Wires() if wires else None
        self.args, self.ns, self.link, self.rights = args, {}, {}, rights or {}
        self.routers = list(links)
        for a in links:
            for b in links[a]:
                k = len(self.link) // 2
                for n in a, b:
                    if n not in self.ns:
                        self.ns[n] = Netns(n)
                ends = [(self.ns[n], '10.8.%d.%d/24' % (k, i + 1))
                        for i, n in enumerate((a, b))]
                if wires:
                    self.wires.join(k, ends)
                else:
                    veth(ends[0][0], 'e%d' % k, ends[0][1],
                         ends[1][0], 'e%d' % k, ends[1][1])
                if mtu != 1500:
                    for n in a, b:
                        self.ns[n].ip('link', 'set', 'e%d' % k, 'mtu',
                                      str(mtu))
                self.link[a, b] = ('e%d' % k, '10.8.%d.2' % k)
                self.link[b, a] = ('e%d' % k, '10.8.%d.1' % k)
                for n in {a, b} - set(self.routers):
                    # Without GRO or XDP of its own a veth loses what XDP
                    # sends it.
                    self.ns[n].run('ethtool', '-K', 'e%d' % k, 'gro', 'on')
        if wires:
            self.wires.start(len(self.link) // 2)
        self.inst = {r: use_instance('net-%d' % self.ns[r].inode())
                     for r in self.routers}
        self.daemon = {r: Tribd(self.ns[r], *args) for r in self.routers}
        self.nl = {r: Nl(self.ns[r]) for r in self.routers}
        for r in self.routers:
            self.nl[r].do('ndn-set', ndn={'lease-ms': int(lease * 1000)})
            for a, b in self.link:
                if a == r:
                    self.face(r, b)
        self.resolved()

    def resolved(self):
        """Do all faces have a MAC address?"""
        if not wait_for(lambda: all('mac' in f for r in self.routers
                                    for f in self.nl[r].dump('face-get'))):
            raise RuntimeError('a face finds no MAC address')

    def face(self, r, to):
        dev, ip = self.link[r, to]
        ndn = {'ndn': ROUTER if to in self.routers else HOST}
        if ndn['ndn'] == HOST:
            for k, v in self.rights_of(to).items():
                ndn['ndn-' + k] = v
        self.nl[r].do('face-new', face={'name': to, 'ifname': dev,
                                        'addr': addr(ip), **ndn})

    def rights_of(self, host):
        return self.rights.get(host, {'write': ['/' + host]} if
                               host[0] != 'w' else
                               {'write': ['/' + host], 'subscribe': ['/ps']})

    def route(self, prefix, *way):
        """Route @prefix from each router of @way to the next."""
        for r, to in zip(way, way[1:]):
            try:
                self.nl[r].do('route-del', route={'prefix': prefix})
            except Refused:
                pass
            self.nl[r].do('route-new', route={'prefix': prefix, 'face': to})

    def stat(self, r, name):
        return self.stats(r)['ndn-' + name]

    def stats(self, r):
        return {s['name']: s['value'] for s in self.nl[r].dump('stats-get')}

    def seen(self):
        """All counters that are not 0, for diagnostics."""
        return '\n'.join('%s %s %d' % (r, k, v) for r in self.routers
                         for k, v in self.stats(r).items()
                         if v and 'ndn' in k)

    def entry(self, r, name):
        return next((e for e in self.nl[r].dump('pit-get', pit={'name': name})
                     if e['name'] == name), {})

    def subscribers(self, r, name):
        return sorted(self.entry(r, name).get('face', []))

    def router_of(self, host):
        """(router's address, its name)"""
        for a, b in self.link:
            if a == host:
                return self.link[a, b][1], b
        raise KeyError(host)

    def spoil(self, a, b, loss=0.0, dup=0.0, reorder=0.0):
        """Set the faults of packets from @a to @b."""
        dev, ip = self.link[a, b]
        self.wires.spoil(int(dev[1:]), 'b' if ip.endswith('.1') else 'a', loss,
                         dup, reorder)

    def end(self):
        """Remove everything, before another network is built."""
        for d in self.daemon.values():
            d.end()
        for n in self.ns.values():
            n.delete()

    def restart(self, r, wipe=False):
        """Kill and restart a router: with its maps, or with its state file only."""
        self.daemon[r].end(signal.SIGKILL)
        if wipe:
            folder = PIN + self.inst[r]
            for f in os.listdir(folder):
                os.unlink(os.path.join(folder, f))
            os.rmdir(folder)
        self.daemon[r] = Tribd(self.ns[r], *self.args)
        self.resolved()


class End:
    """A program in a namespace that prints a JSON object per line."""

    def __init__(self, ns, *argv, **env):
        self.out = open('/tmp/ndn-end-%d-%d' % (os.getpid(), id(self)), 'w+')
        os.unlink(self.out.name)
        self.proc = subprocess.Popen(ns.argv(*argv), stdout=self.out,
                                     stderr=self.out, cwd=TOP,
                                     stdin=subprocess.DEVNULL,
                                     env={**os.environ, **env})
        atexit.register(self.end)

    def end(self, sig=signal.SIGKILL):
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.proc.wait(timeout=30)

    def text(self):
        with open('/proc/self/fd/%d' % self.out.fileno()) as f:
            return f.read()

    def said(self, what=None):
        """Its lines, or those that have the key 'what'."""
        out = []
        for line in self.text().splitlines():
            try:
                out.append(json.loads(line))
            except ValueError:
                pass
        return [x for x in out if isinstance(x, dict) and
                (what is None or x.get('what') == what)]

    def says(self, what, count=1, seconds=20):
        """Wait for a number of these lines."""
        return wait_for(lambda: len(self.said(what)) >= count or
                        self.proc.poll() is not None and
                        len(self.said(what)) >= count, seconds)


def worker(net, host, rank, job='/ps/job', key=None, **more):
    """A worker on libtrib; see ndn_worker.py."""
    args = dict(name='/' + host, forwarder=net.router_of(host)[0], job=job,
                rank=rank, **more)
    if key:
        args['key'] = key
    return End(net.ns[host], sys.executable, TOP +
               '/tests/netns/ndn/ndn_worker.py', json.dumps(args))


class Ps(End):
    """trib-ps ndn with one job; @job: fields of its file."""

    def __init__(self, net, folder, workers, host='ps', interval=50, **job):
        self.folder, self.net = folder, net
        job = {'name': 'job', 'prefix': '/ps/job', 'mode': 'sync',
               'elements': 64, 'versions': 8, 'sgd': {'lr': 1.0},
               'rate_mbps': 0, 'lease_ms': 3000, 'rto_ms': 50, 'every': 1,
               'state': folder + '/state',
               'workers': [{'name': w} for w in workers],
               'min_workers': len(workers), **job}
        os.makedirs(folder, exist_ok=True)
        with open(folder + '/job.json', 'w') as f:
            json.dump(job, f)
        super().__init__(net.ns[host], BUILD + '/trib-ps', 'ndn',
                         '--forwarder', net.router_of(host)[0], '--job',
                         folder + '/job.json', '--stats', folder + '/stats',
                         '--interval', str(interval))

    def job(self):
        try:
            with open(self.folder + '/stats') as f:
                return json.load(f)['jobs'][0]
        except (OSError, ValueError):
            return {}
