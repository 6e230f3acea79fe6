# SPDX-License-Identifier: BSD-2-Clause
"""The kinds of faults, and the seeded generator of their schedule. Equal seeds,
lengths and kinds give equal schedules.
"""
import random
from dataclasses import dataclass

CALM = 3.0  # seconds before the first fault, and after the last one has healed
GAP = 1.0  # seconds between the beginnings of two faults, on average
SLACK = 4.0  # seconds that a host is left alone after a fault: its heal takes time


@dataclass
class Kind:
    """where: what it strikes. span: shortest and longest duration. weight: how
    often it comes."""
    what: str
    where: str
    span: tuple = (0.0, 0.0)
    weight: int = 2


KINDS = {
    'kill-tribd': Kind('kill -9 tribd; started again', 'tribd', (0.1, 3)),
    'stop-tribd': Kind('SIGSTOP tribd, later SIGCONT', 'tribd', (0.2, 4)),
    'restart-tribd': Kind('SIGTERM tribd; started at once', 'tribd', weight=3),
    'kill-ps': Kind('kill -9 trib-ps; started again', 'ps', (0.1, 3)),
    'stop-ps': Kind('SIGSTOP trib-ps, later SIGCONT', 'ps', (0.2, 4)),
    'kill-ndn-ps': Kind('kill -9 trib-ps ndn; started again', 'ndn-ps',
                        (0.1, 3)),
    'stop-ndn-ps': Kind('SIGSTOP trib-ps ndn, later SIGCONT', 'ndn-ps',
                        (0.2, 4)),
    'kill-worker': Kind('kill -9 a rank; started again', 'rank', (0, 2)),
    'stop-worker': Kind('SIGSTOP a rank, later SIGCONT', 'rank', (0.2, 5)),
    'kill-ndn-worker': Kind('kill -9 an NDN worker; started again',
                            'ndn-worker', (0, 2)),
    'stop-ndn-worker': Kind('SIGSTOP an NDN worker, later SIGCONT',
                            'ndn-worker', (0.2, 5)),
    'xdp-off': Kind('`ip link set DEV xdp off`', 'port', (1, 3), 1),
    'xdp-detach': Kind('the BPF link of XDP on a port detached', 'port', (1, 3)),
    'filter-off': Kind('clsact and its filter removed from a port', 'port',
                       (1, 3)),
    'link-down': Kind('a link without carrier', 'port', (0.2, 4)),
    'link-flap': Kind('carrier lost and found five times', 'port', (0.3, 1.5)),
    'device-down': Kind('a device set down; up again with its routes', 'port',
                        (0.2, 3)),
    'device-new': Kind('a device removed and made again by the same name',
                       'port', (0.1, 3)),
    'mtu': Kind('a device gets an MTU of 1000, later 1500 again', 'port',
                (0.5, 3)),
    'tree-wipe': Kind('`trib tree wipe` of all trees of a relay', 'relay'),
    'pool-wipe': Kind('the same, five times in a row', 'relay', (0.1, 0.5)),
    'cache-wipe': Kind('`trib cs wipe /` at a relay', 'relay', weight=1),
    'disk-full': Kind("no room in the folder of a daemon's state", 'disk',
                      (0.5, 5)),
    'clock-step': Kind("a host's clock a day ahead, then a day behind", 'host',
                       (0.2, 3), 1),
    'loss': Kind('5 % of packets lost, 2 % doubled, 2 % late on all wires',
                 'wires', (1, 5)),
    'reboot': Kind('all processes of a host killed, pins and state gone; '
                   'started and configured again', 'host', (0.2, 2), 1),
}


@dataclass
class Fault:
    at: float
    kind: str
    host: str
    target: str
    span: float
    before: object = None  # what its heal compares with

    def __str__(self):
        span = ' for %.1f s' % self.span if self.span else ''
        return '%s %s%s' % (self.kind, self.target, span)


def targets(where, shape):
    """[(host, what exactly)]; the host is left alone by others meanwhile."""
    return {
        'tribd': [(h, h) for h in shape.hosts],
        'relay': [(h, h) for h in shape.relays],
        'host': [(h, h) for h in shape.hosts],
        'ps': [('ps', 'ps')],
        'ndn-ps': [('ps', 'ps')],
        'rank': [(w, '%s:%s' % (j, w)) for j in shape.jobs
                 for w in shape.workers],
        'ndn-worker': [(w, w) for w in shape.workers],
        'port': [(h, '%s:%s' % (h, d)) for h, d in shape.ports],
        'disk': [(h, h) for h in shape.hosts] + [('ps', 'ps:trib-ps'),
                                                 ('ps', 'ps:ndn')],
        'wires': [('', 'all')],
    }[where]


def make(seed, seconds, kinds, shape, gap=GAP):
    """Faults in the order of their times; all have healed at the end."""
    rng = random.Random('%d' % seed)
    names = sorted(kinds)
    weights = [KINDS[k].weight for k in names]
    busy, out, t = {}, [], CALM
    while True:
        t += rng.expovariate(1 / gap)
        if t > seconds - CALM:
            return out
        kind = rng.choices(names, weights)[0]
        host, target = rng.choice(targets(KINDS[kind].where, shape))
        span = round(rng.uniform(*KINDS[kind].span), 2)
        if busy.get(host, 0) > t:
            continue
        busy[host] = t + span + SLACK
        out.append(Fault(round(t, 2), kind, host, target, span))
