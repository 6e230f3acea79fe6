# SPDX-License-Identifier: BSD-2-Clause
"""Makes and heals each kind of fault of schedule.py. Healing does what an operator's
machine does by itself: a supervisor starts a daemon that died, a network manager
gives a device its addresses back. Only after a reboot somebody applies the plan.
Each fault shows by a state or counter of the kernel or of a daemon that it struck;
else it is a mistake of this folder (Blunt).
"""
import errno
import json
import os
import signal
import time

from world import BUILD, Failed, until
from wires import run
from tribd import BPFTOOL

UP = 60  # seconds that a starting tribd may take on a busy machine
REATTACH = 8  # seconds in which tribd must attach again what others detach
MTU = 1500
SOON = 5  # seconds in which the effect of a fault must be seen
DAY = 86400


class Blunt(Exception):
    """A fault without effect."""


def effect(there, text):
    """Waits until there() is true."""
    if not until(SOON, there):
        raise Blunt(text)


class Striker:
    """Knows the world and the processes in it."""

    def __init__(self, world, ranks, model):
        self.world, self.ranks, self.model = world, ranks, model
        self.ballast = {}

    def process(self, kind, target):
        if kind.endswith('tribd'):
            return self.world.of(target)
        if kind.endswith('ndn-ps'):
            return self.world.of('ps', 'ndn')
        if kind.endswith('ndn-worker'):
            return self.model.workers[target]
        if kind.endswith('-ps'):
            return self.world.of('ps', 'trib-ps')
        job, host = target.split(':')
        return self.ranks[job, host]

    def strike(self, fault):
        word = fault.kind.split('-')[0]
        if word in ('kill', 'stop', 'restart'):
            getattr(self, word)(self.process(fault.kind, fault.target))
        else:
            getattr(self, fault.kind.replace('-', '_'))(fault)

    def heal(self, fault):
        word = fault.kind.split('-')[0]
        if word in ('kill', 'restart'):
            self.begin(self.process(fault.kind, fault.target))
        elif word == 'stop':
            self.process(fault.kind, fault.target).cont()
        else:
            heal = getattr(self, 'heal_' + fault.kind.replace('-', '_'), None)
            if heal:
                heal(fault)

    # --- processes

    def kill(self, p):
        if not p.end():
            raise Blunt('%s of %s lives' % (p.name, p.host))

    def stop(self, p):
        p.stop()
        # An NDN worker may have given up; it is started again, and not stopped.
        effect(lambda: p.state() in 'TZ', '%s of %s runs' % (p.name, p.host))

    def restart(self, p):
        if not p.end(signal.SIGTERM):
            raise Failed('%s of %s does not end' % (p.name, p.host))

    def begin(self, p):
        p.start()
        if p.name == 'tribd' and not until(
                UP, lambda: self.world.serves(p.host) or not p.runs()) or \
                not p.runs():
            raise Failed('%s of %s does not start: %s' % (p.name, p.host,
                                                          p.last_words()))

    # --- ports

    def port(self, fault):
        return fault.target.split(':')

    def link(self, host, dev):
        """What the kernel says about the device."""
        out = self.world.on(host, 'ip', '-j', '-d', 'link', 'show', dev,
                            ok=False)
        return json.loads(out)[0] if out.startswith('[') else {}

    def is_up(self, host, dev, flag='LOWER_UP'):
        return flag in self.link(host, dev).get('flags', ())

    def programs(self, host, dev):
        """Which ones the port has: (XDP, clsact)."""
        filters = self.world.on(host, 'tc', 'filter', 'show', 'dev', dev,
                                'ingress', ok=False)
        return bool(self.link(host, dev).get('xdp')), 'bpf' in filters

    def attached(self, host, dev):
        if not until(REATTACH, lambda: self.programs(host, dev) == (True, True)):
            raise Failed('%s %s: after %d s its programs are not back' %
                         (host, dev, REATTACH))

    def reattached(self, host, dev):
        """How often tribd has put something back."""
        out = self.world.trib(host, '-j', 'face', 'show', ok=False)
        faces = json.loads(out) if out.startswith('[') else []
        return max((f.get('reattached', 0) for f in faces if f.get('ifname') == dev),
                   default=0)

    def whole(self, fault):
        """The port, which has its programs now."""
        host, dev = self.port(fault)
        if self.programs(host, dev) != (True, True):
            raise Blunt('%s %s has no programs to take off' % (host, dev))
        fault.before = self.reattached(host, dev)
        return host, dev

    def xdp_off(self, fault):
        host, dev = self.whole(fault)
        said = self.world.on(host, 'ip', 'link', 'set', dev, 'xdp', 'off', ok=False)
        if 'BPF XDP link' not in said:
            raise Blunt('xdp off is not refused: ' + said)

    def xdp_detach(self, fault):
        host, dev = self.whole(fault)
        # Pinned links are in the instance's folder by the index of the device.
        run(BPFTOOL, 'link', 'detach', 'pinned', '/sys/fs/bpf/trib/%s/link-%d' % (
            self.world.instance(host), self.link(host, dev)['ifindex']))

    def filter_off(self, fault):
        host, dev = self.whole(fault)
        self.world.on(host, 'tc', 'qdisc', 'del', 'dev', dev, 'clsact')

    def heal_xdp_off(self, fault):
        self.attached(*self.port(fault))

    def put_back(self, fault):
        host, dev = self.port(fault)
        self.attached(host, dev)
        if self.reattached(host, dev) <= fault.before:
            raise Failed('%s %s: tribd has put nothing back' % (host, dev))

    heal_xdp_detach = heal_filter_off = put_back

    def carrier(self, host, dev, on):
        self.world.wires.carrier(host, dev, on)
        effect(lambda: self.is_up(host, dev) == on, '%s %s: carrier stays' % (host, dev))

    def link_down(self, fault):
        self.carrier(*self.port(fault), False)

    def heal_link_down(self, fault):
        self.carrier(*self.port(fault), True)

    def link_flap(self, fault):
        for _ in range(5):
            self.carrier(*self.port(fault), False)
            time.sleep(fault.span / 10)
            self.carrier(*self.port(fault), True)
            time.sleep(fault.span / 10)

    def device_down(self, fault):
        host, dev = self.port(fault)
        self.world.on(host, 'ip', 'link', 'set', dev, 'down')
        effect(lambda: not self.is_up(host, dev, 'UP'), '%s %s is up' % (host, dev))

    def heal_device_down(self, fault):
        self.world.wires.addresses(fault.host)

    def device_new(self, fault):
        fault.before = self.link(*self.port(fault))['ifindex']
        self.world.wires.remove(*self.port(fault))

    def heal_device_new(self, fault):
        host, dev = self.port(fault)
        self.world.wires.make(host, dev)
        if self.link(host, dev)['ifindex'] == fault.before:
            raise Blunt('%s %s is the same device' % (host, dev))
        self.attached(host, dev)

    def mtu(self, fault, mtu=1000):
        host, dev = self.port(fault)
        self.world.on(host, 'ip', 'link', 'set', dev, 'mtu', str(mtu))
        effect(lambda: self.link(host, dev)['mtu'] == mtu, 'the MTU stays')

    def heal_mtu(self, fault):
        self.mtu(fault, MTU)

    def loss(self, fault):
        fault.before = self.world.wires.spoil(0.05, 0.02, 0.02)

    def heal_loss(self, fault):
        after = self.world.wires.spoil(0, 0, 0)
        packets, *spoilt = (b - a for a, b in zip(fault.before, after))
        if packets > 10000 and not all(spoilt):
            raise Blunt('of %d packets %d lost, %d doubled, %d late' %
                        (packets, *spoilt))

    # --- clocks

    def clock_step(self, fault, seconds=DAY):
        for p in self.world.processes(fault.host):
            if not p.stepped():
                raise Blunt('%s of %s does not have the clock' % (p.name, p.host))
        self.world.clock(fault.host, seconds)
        seen = int(self.world.on(fault.host, 'date', '+%s', env=self.world.env()))
        if abs(seen - time.time() - seconds) > SOON:
            raise Blunt('the clock of %s is ahead by %d s' % (
                fault.host, seen - time.time()))

    def heal_clock_step(self, fault):
        self.clock_step(fault, -DAY)

    # --- maps

    def tree_wipe(self, fault):
        host = fault.target
        # A plan that is being applied may leave no tree, or remove one meanwhile.
        out = self.world.trib(host, '-j', 'tree', 'show', ok=False)
        for t in json.loads(out) if out.startswith('[') else []:
            said = self.world.trib(host, 'tree', 'wipe', str(t['id']), ok=False)
            if said and 'no tree' not in said:
                raise Blunt('tree wipe %d: %s' % (t['id'], said))

    def pool_wipe(self, fault):
        for _ in range(5):
            self.tree_wipe(fault)
            time.sleep(fault.span / 5)

    def cache_wipe(self, fault):
        said = self.world.trib(fault.target, 'cs', 'wipe', '/', ok=False)
        if said:
            raise Blunt('cs wipe: ' + said)

    # --- disks

    def disk(self, target):
        return {'ps:trib-ps': self.world.ps_jobs,
                'ps:ndn': self.world.scratch + '/ndn-state'}.get(
                    target, '/run/trib/' + self.world.instance(target))

    def disk_full(self, fault):
        path = self.disk(fault.target) + '/ballast'
        with open(path, 'wb', buffering=0) as f:
            try:
                while f.write(bytes(4096)):
                    pass
            except OSError as e:
                if e.errno != errno.ENOSPC:
                    raise
        if os.statvfs(path).f_bavail:
            raise Blunt('%s has room' % path)

    def heal_disk_full(self, fault):
        os.unlink(self.disk(fault.target) + '/ballast')

    # --- hosts

    def reboot(self, fault):
        host, w = fault.target, self.world
        for p in w.processes(host):
            p.end()
        w.on(host, BUILD + '/tribd', '--purge', '--instance', w.instance(host),
             ok=False)
        for h, dev in w.ports:
            if h == host:
                w.on(host, 'ip', 'link', 'set', dev, 'down')
        if os.path.exists('/sys/fs/bpf/trib/' + w.instance(host)):
            raise Blunt('the pins of %s stay' % host)

    def heal_reboot(self, fault):
        host, w = fault.target, self.world
        w.wires.addresses(host)
        ours = w.processes(host)
        for p in sorted(ours, key=lambda p: p.name != 'tribd'):
            self.begin(p)
        w.configure(host)
        if not until(UP, lambda: w.applied('plan')):
            raise Failed('after a reboot of %s the plan cannot be applied: %s' %
                         (host, w.refusal))
