#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd: faces, jobs and trees of the configuration become rows in the maps.

    w0 eth0 --- v0 \\
    w1 eth0 --- v1 -- r   v2 carries two addresses, VLAN 7 and IPv6
    w2 eth0 --- v2 /      d0 has an MTU of 9000: no native XDP there

    config.t [vlan]        all tests, or those of VLANs
"""
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import keys  # noqa: E402
from tribd import *  # noqa: E402,F403

need()
KEY = '000102030405060708090a0bdeadbeef'
tap = Tap()
r, w = Netns('r'), [Netns('w%d' % i) for i in range(3)]
for i in range(3):
    extra4 = ['10.9.2.3/24', 'fd09::2/64'] if i == 2 else []
    veth(r, 'v%d' % i, ['10.9.%d.1/24' % i] + (['fd09::1/64'] if i == 2
                                              else []),
         w[i], 'eth0', ['10.9.%d.2/24' % i] + extra4)
has_vlan = 'Unknown' not in r.run('ip', 'link', 'add', 'link', 'v2', 'name',
                                  'tag7', 'type', 'vlan', 'id', '7', ok=False)
if has_vlan:
    w[2].ip('link', 'add', 'link', 'eth0', 'name', 'tag7', 'type', 'vlan',
            'id', '7')
    for ns, addr in ((r, '10.9.7.1/24'), (w[2], '10.9.7.2/24')):
        ns.ip('addr', 'add', addr, 'dev', 'tag7')
        ns.ip('link', 'set', 'tag7', 'up')
r.ip('link', 'add', 'd0', 'mtu', '9000', 'type', 'veth', 'peer', 'name', 'd1',
     'mtu', '9000')
r.ip('addr', 'add', '10.9.8.1/24', 'dev', 'd0')
r.ip('link', 'set', 'd0', 'up')
r.ip('link', 'add', 'narrow', 'mtu', '1400', 'type', 'veth', 'peer', 'name',
     'narrow2')
r.ip('addr', 'add', '10.9.9.1/24', 'dev', 'narrow')
r.ip('link', 'set', 'narrow', 'up')

inst = use_instance('net-%d' % r.inode())
pins = Pins(inst)
trib = Cli(r)
index = {d: r.link(d)['ifindex'] for d in ('v0', 'v1', 'v2', 'd0')}


def starts():
    d = Tribd(r, '--slots', '2048', '--trees', '64')
    s = trib.json('')
    tap.same('start__instance_is_named_by_the_namespace', s['instance'],
             PIN + inst)
    tap.ok('start__sizes_are_as_asked', s['slots'] == 2048 and
           s['nval'] == 352, s)
    c = pins.lookup('trib_config', 0)
    tap.ok('start__config_row_describes_the_maps',
           c['ntrees'] == 64 and c['nslots'] == 2048 and
           c['ngroups'] == 193 and c['abi'] == s['abi'], c)
    tap.ok('start__everything_is_pinned_with_btf',
           {'trees', 'slots', 'rewrites', 'members', 'trib_xdp', 'trib_pass',
            'stats', 'lag'} <= set(pins.names()) and
           'auth' in pins.tree(1), pins.names())
    return d


def faces(d):
    for i in range(3):
        trib('face add w%d dev v%d addr 10.9.%d.2' % (i, i, i))
    wait_for(lambda: all('mac' in f for f in trib.json('face show')))
    f = {x['name']: x for x in trib.json('face show')}
    tap.same('face__mac_is_found', f['w0'].get('mac'), w[0].mac('eth0'))
    tap.same('face__local_address_is_by_route', f['w1']['local_addr'],
             '10.9.1.1')
    tap.same('face__local_mac_is_the_ports', f['w1']['local_mac'],
             r.mac('v1'))
    tap.ok('face__port_runs_native_xdp', f['w2']['xdp_mode'] == 'native' and
           r.xdp('v2')['mode'] == 1, r.xdp('v2'))
    tap.has('face__port_has_the_clsact_filter', r.filters('v0'), 'trib_grow')
    tap.same('face__native_ports_are_in_the_ports_map', pins.ports(),
             sorted(index[x] for x in ('v0', 'v1', 'v2')))


def trees():
    trib('job add train world 8 window 64 key ' + KEY + ' id 5')
    trib('tree add train id 3 child w0:0 child w1:1')
    t = pins.tree(3)
    tap.ok('tree__row_is_in_the_map',
           t['job'] == 5 and t['flags'] == 3 and t['nchild'] == 2 and
           t['full'] == 3 and t['slot_mask'] == 127 and t['window'] == 64 and
           t['world'] == 8 and t['epoch'] == 0 and
           t['auth'] == int.from_bytes(keys.secret(keys.of_tree(
               keys.of_members(bytes.fromhex(KEY)), 3)), 'little'), t)
    c = t['child'][1]
    tap.ok('tree__peers_are_where_packets_come_from',
           c['ifindex'] == index['v1'] and v4_text(c['addr']) == '10.9.1.2'
           and be16(c['port']) == 7417 and c['rank'] == 1, c)
    g = group(3, 'down')
    tap.same('group__members_are_the_childrens_ports', pins.members(g),
             [index['v0'], index['v1']])
    tap.ok('group__has_a_devmap', pins.has_devmap(g))
    rw = pins.rewrites().get((g, index['v1']))
    tap.ok('group__rewrite_leads_to_the_child',
           rw and mac_text(rw['dmac']) == w[1].mac('eth0') and
           mac_text(rw['smac']) == r.mac('v1') and
           v4_text(rw['daddr']) == '10.9.1.2' and
           v4_text(rw['saddr']) == '10.9.1.1' and
           be16(rw['dport']) == 7417 and rw['up'] == 'TRIB_REWRITE_DOWN', rw)
    trib('face add up dev v2 addr 10.9.2.2 port 7500')
    trib('tree add train id 4 child w0 child w1 parent up index 6')
    rw = pins.rewrites().get((group(4, 'all'), index['v2']))
    tap.ok('group__copy_for_the_parent_goes_up_with_our_index',
           rw and rw['up'] == 'TRIB_REWRITE_UP' and rw['child'] == 6 and
           be16(rw['dport']) == 7500, rw)
    t = pins.tree(4)
    tap.ok('tree__pools_do_not_overlap', t['slot0'] == 128 and
           pins.tree(3)['slot0'] == 0, t['slot0'])
    trib('tree add train id 9 parent w0 local 2:3')
    t = pins.tree(9)
    tap.ok('tree__leaf_delivers_and_has_no_groups',
           t['flags'] == 5 and t['down'] == 0 and t['up'] == 0 and
           t['deliver'] == 9, t)
    trib('tree del 9')
    tap.ok('tree__removal_clears_the_row', pins.tree(9)['flags'] == 0 and
           pins.lookup('cells', 9 * 16) is None)


NTH_SHIFT = 24  # TRIB_NTH_SHIFT


def several_behind_one_port():
    trib('face add w2b dev v2 addr 10.9.2.3')
    trib('tree add train id 8 child w2:2 child w2b:3')
    g, rows = group(8, 'down'), pins.rewrites()
    rows = [rows.get((g + (nth << NTH_SHIFT), index['v2'])) for nth in (0, 1)]
    tap.ok('group__each_behind_one_port_gets_its_copy',
           pins.members(g) == [index['v2']] * 2 and
           [r and v4_text(r['daddr']) for r in rows] ==
           ['10.9.2.2', '10.9.2.3'], rows)
    trib('tree del 8')
    trib('face add mc dev v2 addr 239.7.7.7')
    trib('tree add train id 7 child w2:2 child w2b:3 child w0:0 down mc'
         ' down w0')
    rw = pins.rewrites().get((group(7, 'down'), index['v2']))
    tap.ok('group__one_multicast_copy_serves_both',
           rw and mac_text(rw['dmac']) == '01:00:5e:07:07:07' and
           pins.members(group(7, 'down')) == [index['v2'], index['v0']], rw)
    trib('tree del 7')


def vlan():
    rc, text = trib.fails('face add x dev v1 addr 10.9.1.9 vlan 9')
    tap.ok('vlan__without_a_vlan_device_is_refused', rc == 1 and
           'tag 9' in text, text)
    if not has_vlan:
        why = 'this kernel has no VLAN devices (8021q)'
        tap.skip('vlan__tag_and_addresses_of_the_vlan_device', why)
        tap.skip('vlan__packets_must_come_with_the_tag', why)
        return
    trib('face add tagged dev v2 addr 10.9.7.2 vlan 7')
    trib('tree add train id 8 child tagged:2')
    wait_for(lambda: pins.rewrites().get((group(8, 'down'), index['v2'])))
    rw = pins.rewrites().get((group(8, 'down'), index['v2']))
    tap.ok('vlan__tag_and_addresses_of_the_vlan_device',
           rw and be16(rw['vlan'][0]) == 7 and
           v4_text(rw['saddr']) == '10.9.7.1', rw)
    tap.same('vlan__packets_must_come_with_the_tag',
             be16(pins.tree(8)['child'][0]['vlan'][0]), 7)


def ipv6():
    trib('face add six dev v2 addr fd09::2')
    trib('tree add train id 10 child six:3')
    wait_for(lambda: pins.rewrites().get((group(10, 'down'), index['v2'])))
    rw = pins.rewrites().get((group(10, 'down'), index['v2']))
    tap.ok('ipv6__tree_and_rewrite_say_so', rw and rw['v6'] == 1 and
           pins.tree(10)['flags'] & 8 and
           mac_text(rw['dmac']) == w[2].mac('eth0'), rw)


def generic(d):
    trib('face add gen dev d0 addr 10.9.8.2 mac 02:00:00:00:00:09')
    f = trib.json('face show gen')
    tap.ok('generic__is_used_where_native_fails', f['xdp_mode'] == 'generic',
           f)
    tap.ok('generic__kernels_reason_is_announced',
           'd0: generic XDP' in d.log() and 'MTU' in f.get('reason', '') and
           f['reason'] in d.log(), f, d.log())
    trib('tree add train id 11 child gen:4 child w0:0')
    tap.ok('generic__has_members_but_no_devmap',
           len(pins.members(group(11, 'down'))) == 2 and
           not pins.has_devmap(group(11, 'down')))
    tap.ok('generic__port_is_not_in_the_ports_map',
           index['d0'] not in pins.ports())


BAD = '''
face add w0 dev v0 addr 10.9.0.2                | w0
face add x dev nope addr 10.9.0.9               | nope
face add x dev lo addr 127.0.0.2                | 127.0.0.2
face add x dev v0 addr 10.9.0.2 port 0          | 0
face add x dev v0 addr 10.9.0.2 local fd09::1   | fd09::1
face add x dev narrow addr 10.9.9.2             | MTU 1400
face del w0                                     | w0
face del nope                                   | nope
job add train world 2                           | train
job add x world 0                               | 0
job add x world 1025                            | 1025
job add x world 2 window 100                    | 100
job add x world 2 id 5                          | 5
job del nope                                    | nope
job ticket train rank 99                        | 99
job ticket nope rank 0                          | nope
tree add nope child w0                          | nope
tree add train child nope                       | nope
tree add train id 3 child w0                    | 3
tree add train id 64 child w0                   | 64
tree add train child w0:8                       | 8
tree add train child w0:1 child w1:1            | 1
tree add train child w0 parent w0 index 0       | w0
tree add train child w0:1 child six:2           | six
tree del 63                                     | 63
tree wipe 63                                    | 63
tree show 63                                    | 63
group show 63                                   | 63
'''


def errors():
    before, map_before = state(inst), pins.dump('rewrites')
    for line in BAD.strip().splitlines():
        cmd, word = (x.strip() for x in line.split('|'))
        rc, text = trib.fails(cmd)
        tap.ok('refused__' + cmd.replace(' ', '_'), rc in (1, 2) and
               word in text and len(text.splitlines()) == 1, rc, text)
    trib('job add big world 8 window 1024')
    rc, text = trib.fails('tree add big child w0')
    tap.ok('refused__pool_larger_than_what_is_free', rc == 1 and
           '2048' in text and 'slots' in text, text)
    trib('job del big')
    tap.ok('refused__changes_nothing', state(inst) == before and
           pins.dump('rewrites') == map_before)
    os.mkdir(RUN + inst + '/state.json.new')
    rc, text = trib.fails('tree add train id 20 child w0:7')
    os.rmdir(RUN + inst + '/state.json.new')
    tap.ok('refused__what_cannot_be_saved_is_undone', rc == 1 and
           pins.tree(20)['flags'] == 0 and
           not pins.has_devmap(group(20, 'down')) and
           trib.fails('tree show 20')[0] == 1, text)


def users():
    rc, text = trib.fails('job add evil world 2', user=65534)
    tap.ok('user__may_not_change_anything', rc == 1 and 'CAP_NET_ADMIN' in text, text)
    rc, text = trib.fails('-j job show train', user=65534)
    tap.ok('user__may_read_all_but_the_key', rc == 0 and
           'deadbeef' not in text and 'train' in text, text)
    rc, text = trib.fails('job ticket train rank 0', user=65534)
    tap.ok('user__gets_no_ticket', rc == 1 and 'keys=' not in text, text)
    trib('job add mine world 2 owner 65534 key 000102030405060708090a0bcafecafe')
    rc, text = trib.fails('-j job show mine', user=65534)
    tap.has('user__owner_may_read_the_key', text, 'cafecafe')
    trib('job del mine')


def changes():
    """Changes of the kernel's links and addresses reach the rows."""
    w[0].ip('link', 'set', 'eth0', 'address', '02:00:00:00:00:77')
    w[0].run('ping', '-c1', '-W5', '10.9.0.1')
    key = (group(3, 'down'), index['v0'])
    tap.ok('news__peers_new_mac_address_reaches_the_rewrites', wait_for(
        lambda: mac_text(pins.rewrites()[key]['dmac']) ==
        '02:00:00:00:00:77'), pins.rewrites()[key])
    for old, new in (('v0', 'other'), ('other', 'v0')):
        # Old kernels rename a link only while it is down, before other changes.
        r.ip('link', 'set', old, 'down')
        r.ip('link', 'set', old, 'name', new)
        r.ip('link', 'set', new, 'up')
        tap.ok('news__renamed_device_is_remembered_as_' + new, wait_for(
            lambda: trib.json('face show w0')['ifname'] == new and
            '"dev": "%s"' % new in state(inst)), state(inst))
    r.ip('link', 'del', 'v1')
    gone = wait_for(lambda: index['v1'] not in
                    pins.members(group(3, 'down')))
    tap.ok('news__device_that_goes_leaves_the_groups', gone and
           (group(3, 'down'), index['v1']) not in pins.rewrites())
    tap.ok('news__face_shows_that_its_device_is_gone',
           trib.json('face show w1')['ifindex'] == 0)
    veth(r, 'v1', '10.9.1.1/24', w[1], 'eth0', '10.9.1.2/24')
    new = r.link('v1')['ifindex']
    key = (group(3, 'down'), new)
    tap.ok('news__device_that_comes_back_is_used_again', wait_for(
        lambda: pins.rewrites().get(key)) and r.xdp('v1') and
        pins.tree(3)['child'][1]['ifindex'] == new and
        'trib_grow' in r.filters('v1') and new in pins.ports(),
        pins.tree(3)['child'][1], r.xdp('v1'), new)


def readable():
    """Maps are readable without tribd: by bpftool, as plain text."""
    def dump(name):
        return run(BPFTOOL, 'map', 'dump', 'pinned', pins.path(name))

    for name, words in (
            ('stats', ['"rx_grad": ', '"tx_partial": ', '"drop_auth": ',
                       '"drop_wiped": ']),
            ('slots', ['"state": "TRIB_SLOT_COLLECT"',
                       '"fmt": "TRIB_FMT_NONE"']),
            ('pool_slots', ['"state": "TRIB_POOL_FREE"']),
            ('rewrites', ['"up": "TRIB_REWRITE_DOWN"',
                          '"up": "TRIB_REWRITE_UP"']),
            ('trees', ['"root": 0x1', '"shared": 0x0', '"slot_mask": ']),
            ('lag', ['"samples": ', '"lag_ns": '])):
        text = dump(name)
        tap.ok('bpftool__shows_names_in_' + name,
               all(x in text for x in words),
               [x for x in words if x not in text], text[:400])


def removal():
    trib('tree wipe 3')
    tap.ok('tree__wipe_leaves_the_row', pins.tree(3)['flags'] == 3)
    trib('job del train')
    tap.ok('job__removal_takes_its_trees_along', not pins.rewrites() and
           all(not v['flags'] for _, v in pins.dump('trees')) and
           all(not v['n'] for _, v in pins.dump('members')))
    for f in trib.json('face show'):
        trib('face del ' + f['name'])
    tap.ok('face__last_one_of_a_port_takes_xdp_off', not r.xdp('v0') and
           not pins.ports() and
           not [n for n in pins.names() if n.startswith('link-')])
    tap.ok('face__last_one_of_a_port_takes_the_filter_off',
           'clsact' not in r.run('tc', 'qdisc', 'show', 'dev', 'v0'))


def reset():
    s = {x['name']: x for x in trib.json('stats show')}
    tap.ok('stats__every_counter_has_a_name_and_a_text',
           all(x['text'] for x in s.values()) and 'drop-auth' in s, s)
    trib('stats reset')
    tap.ok('stats__reset_leaves_zeros', not any(
        x['value'] for x in trib.json('stats show')
        if x['name'] != 'rx-control'))


daemon = starts()
if sys.argv[1:] == ['vlan']:
    trib('job add train world 8 window 64 id 5')
    vlan()
else:
    faces(daemon)
    trees()
    several_behind_one_port()
    vlan()
    ipv6()
    generic(daemon)
    errors()
    users()
    changes()
    readable()
    removal()
    reset()
tap.same('end__sigterm_is_a_clean_exit', daemon.end(), 0)
tap.done()
