# SPDX-License-Identifier: BSD-2-Clause
"""Makes and heals each kind of fault of schedule.py. Healing does what an operator's
machine does by itself: a supervisor starts a daemon that died, a network manager
gives a device its addresses back. Only after a reboot somebody applies the plan.
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
MTU = '1500'


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
        p.end()

    def stop(self, p):
        p.stop()

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

    def attached(self, host, dev, before):
        def there():
            return bool(self.link(host, dev).get('xdp')) >= bool(before[0]) and \
                ('bpf' in self.filters(host, dev)) >= before[1]
        if not until(REATTACH, there):
            raise Failed('%s %s: after %d s its programs are not back' %
                         (host, dev, REATTACH))

    def filters(self, host, dev):
        return self.world.on(host, 'tc', 'filter', 'show', 'dev', dev,
                             'ingress', ok=False)

    def note(self, fault):
        """Notes which programs the port has."""
        host, dev = self.port(fault)
        fault.before = (self.link(host, dev).get('xdp'),
                        'bpf' in self.filters(host, dev))
        return host, dev

    def xdp_off(self, fault):
        host, dev = self.note(fault)
        self.world.on(host, 'ip', 'link', 'set', dev, 'xdp', 'off', ok=False)

    def xdp_detach(self, fault):
        host, dev = self.note(fault)
        index = self.link(host, dev)['ifindex']
        # Pinned links are in the instance's folder by the index of the device.
        pin = '/sys/fs/bpf/trib/%s/link-%d' % (self.world.instance(host), index)
        if os.path.exists(pin):
            run(BPFTOOL, 'link', 'detach', 'pinned', pin, ok=False)

    def filter_off(self, fault):
        host, dev = self.note(fault)
        self.world.on(host, 'tc', 'qdisc', 'del', 'dev', dev, 'clsact',
                      ok=False)

    def back(self, fault):
        self.attached(*self.port(fault), fault.before)

    heal_xdp_off = heal_xdp_detach = heal_filter_off = back

    def link_down(self, fault):
        self.world.wires.carrier(*self.port(fault), False)

    def heal_link_down(self, fault):
        self.world.wires.carrier(*self.port(fault), True)

    def link_flap(self, fault):
        for _ in range(5):
            self.world.wires.carrier(*self.port(fault), False)
            time.sleep(fault.span / 10)
            self.world.wires.carrier(*self.port(fault), True)
            time.sleep(fault.span / 10)

    def device_down(self, fault):
        host, dev = self.port(fault)
        self.world.on(host, 'ip', 'link', 'set', dev, 'down')

    def heal_device_down(self, fault):
        self.world.wires.addresses(fault.host)

    def device_new(self, fault):
        self.note(fault)
        self.world.wires.remove(*self.port(fault))

    def heal_device_new(self, fault):
        self.world.wires.make(*self.port(fault))
        self.back(fault)

    def mtu(self, fault, mtu='1000'):
        host, dev = self.port(fault)
        self.world.on(host, 'ip', 'link', 'set', dev, 'mtu', mtu)

    def heal_mtu(self, fault):
        self.mtu(fault, MTU)

    def loss(self, _):
        self.world.wires.spoil(0.05, 0.02, 0.02)

    def heal_loss(self, _):
        self.world.wires.spoil(0, 0, 0)

    # --- maps

    def tree_wipe(self, fault):
        host = fault.target
        out = self.world.trib(host, '-j', 'tree', 'show', ok=False)
        if not out.startswith('['):
            return
        for t in json.loads(out):
            self.world.trib(host, 'tree', 'wipe', str(t['id']), ok=False)

    def pool_wipe(self, fault):
        for _ in range(5):
            self.tree_wipe(fault)
            time.sleep(fault.span / 5)

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
