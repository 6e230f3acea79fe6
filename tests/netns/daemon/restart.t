#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd ends, dies, restarts, adopts or refuses pinned maps, and purges."""
import os
import random
import signal
import subprocess
import sys
import threading

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403
from worker import Attached  # noqa: E402

need()
tap = Tap()
r, w = Netns('r'), [Netns('w%d' % i) for i in range(3)]
for i in range(3):
    veth(r, 'v%d' % i, '10.8.%d.1/24' % i, w[i], 'eth0', '10.8.%d.2/24' % i)
inst = use_instance('net-%d' % r.inode())
pins = Pins(inst)
trib = Cli(r)
SMALL = ('--slots', '2048', '--trees', '64')


def configure():
    for i in range(3):
        trib('face add w%d dev v%d addr 10.8.%d.2' % (i, i, i))
    trib('job add train world 4 window 64')
    trib('tree add train child w0:0 child w1:1 child w2:2')
    trib('tree add train child w0 child w1 parent w2 index 3')
    wait_for(lambda: all('mac' in f for f in trib.json('face show')))


def picture():
    """The state that a restart must keep."""
    shown = (trib.json('face show'), trib.json('job show'),
             trib.json('group show'),
             [{k: v for k, v in t.items() if k not in ('child',)}
              for t in trib.json('tree show')])
    return shown, pins.dump('trees')[:4], pins.rewrites()


def ids():
    return {n: pins.map_id(n) for n in ('trees', 'slots', 'groups', 'cells')}


def killed_and_adopted(d):
    before, maps = picture(), ids()
    prog = r.xdp('v0')['prog']['id']
    # The kernel forgets neighbours that only XDP sends to.
    for i in range(3):
        r.ip('neigh', 'flush', 'all')
        w[i].ip('link', 'set', 'eth0', 'arp', 'off')
    # The state of a running epoch in the row must survive.
    row = bytearray(pins.raw('trees', 1))
    row[8:12] = (41).to_bytes(4, 'little')
    pins.write('trees', 1, row)
    d.end(signal.SIGKILL)
    tap.same('killed__programs_stay_attached', r.xdp('v0')['prog']['id'],
             prog)
    tap.ok('killed__filters_stay', 'trib_grow' in r.filters('v1'))
    d = Tribd(r)
    tap.same('adopt__rewrites_stay_when_nobody_answers_arp', pins.rewrites(),
             before[2])
    for i in range(3):
        w[i].ip('link', 'set', 'eth0', 'arp', 'on')
    wait_for(lambda: all('mac' in f for f in trib.json('face show')))
    tap.ok('adopt__status_says_so', trib.json('')['adopted'])
    tap.same('adopt__maps_are_the_same', ids(), maps)
    tap.same('adopt__epoch_goes_on', pins.tree(1)['epoch'], 41)
    row[8:12] = bytes(4)
    after = picture()
    after[1][1][1]['epoch'] = 0
    for t in after[0][3]:
        if t['id'] == 1:
            t.update(epoch=0, state=before[0][3][0].get('state'))
    tap.ok('adopt__objects_and_rows_are_the_same',
           after[0][:3] == before[0][:3] and after[1:] == before[1:],
           before, after)
    trib('tree add train id 9 parent w0 local 3:3')
    rank = Attached(r.name)
    err = rank.hello(rank=3)
    cells = pins.lookup('cells', 9 * 16)
    rank.close()
    trib('tree del 9')
    tap.ok('adopt__new_cells_fit_the_old_map', cells is not None and err == 0, rank.text)
    tap.ok('adopt__cells_go_with_their_tree', pins.lookup('cells', 9 * 16) is None)
    tap.ok('adopt__programs_are_updated',
           r.xdp('v0')['prog']['id'] not in (prog, None) and
           'trib_grow' in r.filters('v0'))
    tap.ok('adopt__devmaps_name_the_new_program',
           pins.has_devmap(group(1, 'down')) and len(pins.ports()) == 3)
    return d


def only_one():
    status, log = tribd_fails(r)
    tap.ok('second__of_an_instance_is_refused', status == 1 and
           'already run by process' in log, status, log)
    status, log = tribd_fails(r, '--instance',
                              use_instance('other%d' % os.getpid()))
    tap.ok('second__of_a_namespace_is_refused', status == 1 and
           'netlink port' in log, status, log)
    status, log = tribd_fails(r, '--purge')
    tap.ok('purge__of_a_running_tribd_is_refused', status == 1 and
           'already run by process' in log and r.xdp('v0'), log)


def refusals():
    """Each refusal says what to do; nothing changes."""
    prog = r.xdp('v0')['prog']['id']
    text = state(inst)
    path = RUN + inst + '/state.json'

    def refuses(name, word, *args):
        status, log = tribd_fails(r, *args)
        tap.ok(name, status == 1 and word in log and 'tribd --purge' in log
               and r.xdp('v0')['prog']['id'] == prog and
               (not os.path.exists(path) or state(inst)), status, log)

    refuses('adopt__other_slots_are_refused', '--slots 4096', '--slots',
            '4096')
    refuses('adopt__other_trees_are_refused', '--trees 128', '--trees', '128')
    refuses('adopt__other_values_are_refused', '--values 832', '--values',
            '832')
    config = pins.raw('trib_config', 0)
    pins.write('trib_config', 0, b'\x63\0\0\0' + config[4:])
    refuses('adopt__other_abi_is_refused', 'ABI 99')
    # Rows that do not exist: the size of every map is checked.
    pins.write('trib_config', 0, config[:8] + (65).to_bytes(4, 'little') +
               config[12:])
    refuses('adopt__map_of_another_size_is_refused', 'entries')
    pins.write('trib_config', 0, config)
    os.rename(path, path + '.away')
    refuses('adopt__without_state_file_is_refused', 'missing')
    with open(path, 'w') as f:
        f.write(text[:len(text) // 2])
    refuses('adopt__broken_state_file_is_refused', 'state.json')
    with open(path, 'w') as f:
        f.write(text.replace('"instance": "', '"instance": "f'))
    refuses('adopt__state_of_other_maps_is_refused', 'describes others')
    with open(path, 'w') as f:
        f.write(text.replace('"world": 4', '"world": 0'))
    refuses('adopt__nonsense_in_the_state_is_refused', 'world 0')
    os.rename(path + '.away', path)


def while_away():
    """Devices that were removed and added while tribd was down."""
    old = r.link('v1')['ifindex']
    r.ip('link', 'del', 'v1')
    r.ip('link', 'del', 'v2')
    veth(r, 'v1', '10.8.1.1/24', w[1], 'eth0', '10.8.1.2/24')
    d = Tribd(r)
    new = r.link('v1')['ifindex']
    tap.ok('adopt__device_that_came_back_is_attached', r.xdp('v1') and
           'trib_grow' in r.filters('v1') and new != old and
           wait_for(lambda: (group(1, 'down'), new) in pins.rewrites()) and
           pins.tree(1)['child'][1]['ifindex'] == new)
    tap.ok('adopt__link_of_the_lost_device_is_gone',
           'link-%d' % old not in pins.names(), pins.names())
    tap.same('adopt__device_that_is_missing_leaves_the_groups',
             pins.members(group(1, 'down')), [r.link('v0')['ifindex'], new])
    veth(r, 'v2', '10.8.2.1/24', w[2], 'eth0', '10.8.2.2/24')
    tap.ok('adopt__and_is_taken_back_when_it_comes', wait_for(
        lambda: r.link('v2')['ifindex'] in pins.members(group(1, 'down')) and
        r.xdp('v2')))
    return d


def consistent():
    """Differences between pinned maps and configuration."""
    out = []
    trees = {t['id']: t for t in trib.json('tree show')}
    rows = {int(k): v for k, v in pins.dump('trees') if v['flags']}
    if set(rows) != set(trees):
        out.append('trees %s, rows %s' % (sorted(trees), sorted(rows)))
    spans = sorted((v['slot0'], v['slot_mask'] + 1) for v in rows.values())
    out += ['slots overlap: %s' % spans for a, b in zip(spans, spans[1:])
            if a[0] + a[1] > b[0]]
    groups = {g['id'] for g in trib.json('group show')}
    members = {int(k) for k, v in pins.dump('members') if v['n']}
    devmaps = pins.devmaps()
    if not groups == members == devmaps:
        out.append('groups %s members %s devmaps %s' % (groups, members,
                                                        devmaps))
    if {g for g, _ in pins.rewrites()} != groups:
        out.append('rewrites %s' % sorted(pins.rewrites()))
    return out


def any_moment(d):
    """kill -9 while a client changes things as fast as it can."""
    rng, problems = random.Random(7417), []
    for turn in range(12):
        stop, client = threading.Event(), [None]

        def change(k=0):
            while not stop.is_set():
                k += 1
                for line in ('job add j%d world 4 window 16' % k,
                             'tree add j%d child w0:0 child w1:1' % k,
                             'tree add j%d child w0 parent w1 index 0' % k,
                             'job del j%d' % (k - 2)):
                    if not stop.is_set():
                        client[0] = trib.start(line)
                        client[0].wait()
        t = threading.Thread(target=change)
        t.start()
        stop.wait(0.05 + rng.random() * 0.25)
        d.end(signal.SIGKILL)
        stop.set()
        while t.is_alive():  # it would wait for its answer
            if client[0]:
                client[0].kill()
            t.join(0.05)
        d = Tribd(r)
        # A MAC address may take a moment.
        wait_for(lambda: not consistent(), 3)
        problems += ['turn %d: %s' % (turn, p) for p in consistent()]
        for j in trib.json('job show'):
            if j['name'] != 'train':
                trib('job del ' + j['name'])
        problems += ['turn %d, cleared: %s' % (turn, p) for p in consistent()]
    tap.ok('killed__at_any_moment_leaves_rows_and_state_agreeing',
           not problems, *problems)
    return d


def unfinished(d):
    """A first start that died half-way."""
    d.end(signal.SIGKILL)
    status, log = tribd_fails(r, '--purge')
    os.mkdir(pins.dir)
    run(BPFTOOL, 'map', 'create', pins.path('trees'), 'type', 'array', 'key',
        '4', 'value', '4', 'entries', '1', 'name', 'trees')
    d = Tribd(r, *SMALL)
    tap.ok('start__clears_what_an_unfinished_one_left',
           not trib.json('')['adopted'] and 'unfinished' in d.log() and
           pins.tree(1) is not None, d.log())
    return d


def purged(d):
    configure()
    tap.same('end__sigterm_is_a_clean_exit', d.end(), 0)
    tap.ok('end__data_plane_goes_on', r.xdp('v0') and
           'trib_grow' in r.filters('v0') and pins.names())
    status, log = tribd_fails(r, '--purge')
    tap.same('purge__succeeds', status, 0)
    tap.ok('purge__removes_programs_filters_pins_and_files',
           not any(r.xdp('v%d' % i) for i in range(3)) and
           'clsact' not in r.run('tc', 'qdisc') and not pins.names() and
           not os.path.exists(pins.dir) and
           not os.path.exists(RUN + inst), pins.names())
    status, log = tribd_fails(r, '--purge')
    tap.same('purge__of_nothing_succeeds', status, 0)


def namespaces():
    """An instance of a dead namespace, and one of a living namespace."""
    name = use_instance('shared%d' % os.getpid())
    a, b = Netns('a'), Netns('b')
    veth(a, 'v0', '10.7.0.1/24', b, 'v0', '10.7.0.2/24')
    d = Tribd(a, '--instance', name, *SMALL)
    Cli(a)('face add x dev v0 addr 10.7.0.2')
    d.end(signal.SIGKILL)
    status, log = tribd_fails(b, '--instance', name)
    tap.ok('namespace__living_one_keeps_its_instance', status == 1 and
           'another network namespace' in log and a.xdp('v0'), log)
    a.delete()
    # The kernel removes namespaces asynchronously.
    d = None

    def start():
        t = Tribd(b, '--instance', name, *SMALL, wait=False)
        if wait_for(lambda: not t.alive() or 'tribd: instance ' in t.log()) \
                and t.alive():
            return t
        t.wait()
        return None
    d = wait_for(start, 20)
    tap.ok('namespace__dead_ones_instance_starts_afresh', d and
           not Cli(b).json('')['adopted'] and
           'namespace that is gone' in d.log(), d and d.log())
    if d:
        d.end()


def mount_namespace():
    """Started by `ip netns exec`, which mounts another /sys."""
    name = use_instance('mnt%d' % os.getpid())
    d = Tribd(w[0], '--instance', name, *SMALL,
              wrap=lambda argv: ('ip', 'netns', 'exec', w[0].name) + argv)
    tap.ok('mount__pins_are_in_the_initial_namespaces_bpffs',
           'trib_config' in Pins(name).names(), d.log())
    d.end()


def usage():
    for args, word in ((('--slots', 'x'), '--slots x'),
                       (('--slots', '1'), '--slots 1'),
                       (('--trees', '70000'), '70000'),
                       (('--values', '353'), '--values 353'),
                       (('--instance', 'a/b'), 'a/b'),
                       (('--log', 'loud'), 'loud'),
                       (('extra',), 'extra'), (('--nope',), 'nope')):
        status, log = tribd_fails(r, *args)
        tap.ok('usage__' + '_'.join(args), status == 2 and word in log and
               'usage:' in log, status, log)
    p = subprocess.run(('setpriv', '--reuid', '65534', '--clear-groups',
                        '--inh-caps=-all', os.path.join(BUILD, 'tribd')),
                       text=True, stderr=subprocess.PIPE)
    tap.ok('usage__missing_capability_is_named', p.returncode == 1 and
           'CAP_NET_ADMIN' in p.stderr and
           len(p.stderr.splitlines()) == 1, p.stderr)


usage()
daemon = Tribd(r, *SMALL)
configure()
daemon = killed_and_adopted(daemon)
only_one()
daemon.end()
refusals()
daemon = while_away()
daemon = any_moment(daemon)
daemon = unfinished(daemon)
purged(daemon)
namespaces()
mount_namespace()
tap.done()
