#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs are taken off the ports of a relay, and of a worker's host, while two
ranks sum without end. tribd puts them back: no sum is wrong, none fails.

    w0 (p0) --- r0 --- w1 (p1)
"""
import json
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import racks  # noqa: E402
from worker import *  # noqa: E402,F403

LIMIT = 1.0  # seconds from the fault until all is back
tap = Tap()


class Job:
    """What Pulse wants."""
    world = 2

    def __init__(self, f):
        self.f = f

    def spawn(self, r, *argv, **more):
        h = 'w%d' % r
        return subprocess.Popen(
            ['nsenter', '--net=/run/netns/' + self.f.ns(h), *argv],
            env={**os.environ, **self.f.env(h)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


class Port:
    """A port of a fabric, and the ways to take programs off it."""

    def __init__(self, f, host, dev, face):
        self.f, self.host, self.dev, self.face_name = f, host, dev, face
        self.dir = '/sys/fs/bpf/trib/' + f.ns(host)
        self.mode = self.face()['xdp_mode']

    def run(self, *argv, check=True):
        return self.f.host(self.host, *argv, check=check).stdout

    def face(self):
        return json_of(self.f.trib(self.host, '-j', 'face', 'show',
                                   self.face_name))

    def count(self):
        return self.face().get('reattached', 0)

    def link(self):
        return json.loads(self.run('ip', '-j', '-d', 'link', 'show',
                                   self.dev))[0]

    def index(self):
        return self.link()['ifindex']

    def pin(self):
        return '%s/link-%d' % (self.dir, self.index())

    def key(self):
        return [str(b) for b in self.index().to_bytes(4, 'little')]

    def prog(self):
        return self.link().get('xdp', {}).get('prog', {}).get('id')

    def pinned_prog(self, name):
        return json.loads(self.run(racks.BPFTOOL, '-j', 'prog', 'show', 'pinned',
                                   '%s/%s' % (self.dir, name)))['id']

    def is_whole(self):
        return self.prog() == self.pinned_prog('trib_xdp') and \
            'trib_grow' in self.run('tc', 'filter', 'show', 'dev', self.dev,
                                    'ingress') and \
            os.path.exists(self.pin()) and (self.mode != 'native' or 'value' in
                                            self.row())

    def row(self):
        return self.run(racks.BPFTOOL, '-j', 'map', 'lookup', 'pinned',
                        self.dir + '/ports', 'key', *self.key(), check=False)

    def detach(self):
        self.run(racks.BPFTOOL, 'link', 'detach', 'pinned', self.pin())

    def ways(self):
        ways = [('link_detach', self.detach),
                ('qdisc_del', lambda: self.run('tc', 'qdisc', 'del', 'dev',
                                               self.dev, 'clsact')),
                ('filter_del', lambda: self.run('tc', 'filter', 'del', 'dev',
                                                self.dev, 'ingress')),
                ('all_of_it', self.take_all),
                ('unpinned', lambda: os.unlink(self.pin()))]
        if self.mode == 'native':
            ways.append(('row', lambda: self.run(
                racks.BPFTOOL, 'map', 'delete', 'pinned', self.dir + '/ports',
                'key', *self.key())))
        return ways

    def take_all(self):
        self.detach()
        self.run('tc', 'qdisc', 'del', 'dev', self.dev, 'clsact')

    def occupy(self):
        """Attaches a program of somebody else; tribd may be faster a few times."""
        kind = 'xdpdrv' if self.mode == 'native' else 'xdpgeneric'

        def once():
            self.run('sh', '-c', '%s link detach pinned %s; %s net attach %s '
                     'pinned %s/trib_pass dev %s' % (
                         racks.BPFTOOL, self.pin(), racks.BPFTOOL, kind,
                         self.dir, self.dev), check=False)
            return self.prog() == self.pinned_prog('trib_pass')
        return until(5, once)

    def free(self):
        self.run('ip', 'link', 'set', self.dev, 'xdpgeneric' if
                 self.mode != 'native' else 'xdpdrv', 'off')


def log(f, host):
    return open('/run/trib-fabric/%s/%s.log' % (f.name, host)).read()


def sums_come(pulse, f):
    """A hundred sums more."""
    def done():
        return next(s['value'] for s in json.loads(f.trib('r0', '-j', 'stats'))
                    if s['name'] == 'done')
    before = done()
    return until(5, lambda: done() > before + 100) and pulse.alive()


def taken_off(name, f, pulse, port):
    for way, take in port.ways():
        before = port.count()
        lines = log(f, port.host).count('put back')
        take()
        begun = time.monotonic()
        # tribd may be at work between the two commands of all_of_it.
        most = 2 if way == 'all_of_it' else 1
        back = until(5, lambda: before < port.count() <= before + most and
                     port.is_whole())
        took = time.monotonic() - begun
        good = sums_come(pulse, f)
        tap.test('%s__%s_is_put_back_within_a_second' % (name, way),
                 back and took < LIMIT, took, before, port.face(),
                 log(f, port.host))
        tap.test('%s__%s_sums_go_on' % (name, way), good, pulse.lines)
        text = log(f, port.host)
        tap.test('%s__%s_one_line_names_the_device' % (name, way),
                 text.count('put back') - lines == port.count() - before and
                 '%s: put back' % port.dev in text, text)


def held(name, f, pulse, port):
    """The hook is somebody else's for a while."""
    tap.test(name + '__held_by_another_program', port.occupy())
    seen = until(2, lambda: port.face()['xdp_mode'] == 'none')
    face = port.face()
    tap.test(name + '__held_face_names_the_program',
             seen and 'trib_pass' in face.get('reason', ''), face)
    text = log(f, port.host)
    tap.test(name + '__held_log_names_the_program', 'cannot attach XDP to %s: '
             'another program has the hook: trib_pass' % port.dev in text, text)
    text = port.run(BUILD + '/trib', 'doctor', check=False)
    tap.test(name + '__held_doctor_names_the_program_and_the_cure',
             'trib_pass' in text and 'bpftool net detach' in text, text)
    prog = port.prog()
    tap.test(name + '__held_program_stays',
             prog == port.pinned_prog('trib_pass'), prog)
    before = port.count()
    port.free()
    begun = time.monotonic()
    back = until(5, lambda: port.count() == before + 1 and port.is_whole())
    took = time.monotonic() - begun
    tap.test(name + '__held_comes_back_when_it_is_free',
             back and took < LIMIT and port.face()['xdp_mode'] == port.mode,
             took, port.face())
    tap.test(name + '__held_sums_go_on', sums_come(pulse, f), pulse.lines)


def made_again(name, f, pulse):
    """The wire between r0 and w0 goes and comes, with both of its ends."""
    port, peer = Port(f, 'r0', 'p0', 'w0'), Port(f, 'w0', 'eth0', 'up')
    before = port.count(), peer.count()
    done = json.loads(f.trib('r0', '-j', 'stats'))
    addr = {p: [a for a in json.loads(p.run('ip', '-j', 'addr', 'show', p.dev))[0]
                ['addr_info'] if a['family'] == 'inet'][0] for p in (port, peer)}
    port.run('ip', 'link', 'del', 'p0')
    tap.test(name + '__device_gone_is_seen', until(2, lambda: not
             port.face().get('ifindex')), port.face())
    port.run('ip', 'link', 'add', 'p0', 'type', 'veth', 'peer', 'name', 'eth0',
             'netns', f.ns('w0'))
    for p in (port, peer):
        p.run('ethtool', '-K', p.dev, 'gro', 'on')
        p.run('ip', 'addr', 'add', '%s/%d' % (addr[p]['local'],
                                              addr[p]['prefixlen']), 'dev', p.dev)
        p.run('ip', 'link', 'set', p.dev, 'up')
    begun = time.monotonic()
    tap.test(name + '__device_made_again_is_attached', until(
        2, lambda: port.is_whole() and peer.is_whole()), port.face(), peer.face())
    good = sums_come(pulse, f)
    tap.test(name + '__device_made_again_sums_go_on', good,
             time.monotonic() - begun, pulse.lines, log(f, 'r0'), log(f, 'w0'))
    after = json.loads(f.trib('r0', '-j', 'stats'))
    tap.test(name + '__counters_stay', (port.count(), peer.count()) == before and
             all(next(b['value'] for b in after if b['name'] == a['name']) >=
                 a['value'] for a in done), before, after)


def network(name, *options):
    f = Fabric('reattach', 'star', '--workers', '2', *options)
    try:
        pulse = racks.Pulse(Job(f), '-g', '100')
        relay, leaf = Port(f, 'r0', 'p0', 'w0'), Port(f, 'w0', 'eth0', 'up')
        tap.test(name + '__mode', relay.mode == leaf.mode == name, relay.mode)
        taken_off(name + '_relay', f, pulse, relay)
        taken_off(name + '_leaf', f, pulse, leaf)
        print('# most milliseconds without a sum: %.0f' % (1000 * max(
            (b - a for r in range(2) for a, b in pulse.gaps(r)), default=0)))
        held(name + '_relay', f, pulse, relay)
        if name == 'native':
            made_again(name, f, pulse)
        text = relay.run(BUILD + '/trib', 'doctor', check=False)
        tap.test(name + '__doctor_counts', 'taken off p0 %d times' % relay.count()
                 in text, text)
        text = relay.run(BUILD + '/trib', 'watch', '--once')
        tap.test(name + '__watch_counts', 'REATTACHED' in text, text)
        good, text = pulse.end()
        tap.test(name + '__all_sums_were_right', good, text)
    finally:
        f.down()


need_root()
network('native')
network('generic', '--generic')
sys.exit(tap.done())
