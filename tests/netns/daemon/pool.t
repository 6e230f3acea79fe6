#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd: shared trees become rows in the maps, or are refused.

    w0 --- v0 \\
    w1 --- v1 -- r   the next hop is behind v2
    up --- v2 /
"""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403

need()
tap = Tap()
r, w = Netns('r'), [Netns('w%d' % i) for i in range(3)]
for i in range(3):
    veth(r, 'v%d' % i, '10.9.%d.1/24' % i, w[i], 'eth0', '10.9.%d.2/24' % i)
inst = use_instance('net-%d' % r.inode())
pins = Pins(inst)
trib = Cli(r)
ADD = 'tree add train id 3 child w0:0 w1:70 parent up relay 7 next 9 '


def objects():
    for name, i in (('w0', 0), ('w1', 1), ('up', 2)):
        trib('face add %s dev v%d addr 10.9.%d.2' % (name, i, i))
    wait_for(lambda: all('mac' in f for f in trib.json('face show')))
    trib('job add train world 100 window 64 id 5')
    trib('job add other world 8 window 4')


def faces(tree):
    """(ifindex, address) of permitted senders."""
    return sorted((k['ifindex'], v4_text(k['addr']))
                  for k, _ in pins.dump('pool_faces') if k['tree'] == tree)


def expected_faces():
    index = [r.link('v%d' % i)['ifindex'] for i in range(2)]
    return sorted([(0, '10.9.%d.1' % i) for i in range(3)] +
                  [(index[i], '10.9.%d.2' % i) for i in range(2)])


def bits(row):
    """Ranks in a mask of big-endian words."""
    return [64 * i + b for i, word in enumerate(row['mask'])
            for b in range(64)
            if int.from_bytes(word.to_bytes(8, 'little'), 'big') >> b & 1]


def table():
    return [v for _, v in pins.dump('pool_table')]


def maps():
    trib(ADD + 'cap 20 age 250')
    t, p = pins.tree(3), pins.lookup('pools', 3)
    tap.ok('tree__row_is_a_shared_one',
           t['flags'] == 17 and t['job'] == 5 and t['world'] == 100 and
           t['down'] and t['up'] and not t['all'], t)
    tap.ok('pool__row_is_as_asked',
           p['relay'] == 7 and p['next'] == 9 and p['bmwords'] == 2 and
           p['cap'] == 20 and p['age_ns'] == 250000000 and
           p['mark_mask'] == 127 and p['table_mask'] == 16383, p)
    tap.same('pool__workers_are_the_children', bits(p), [0, 70])
    tap.same('pool__neighbours_and_our_addresses_are_known', faces(3),
             expected_faces())
    rw = pins.rewrites()
    up = [v['up'] for (g, i), v in rw.items() if g == t['up']]
    tap.same('pool__ranks_survive_the_way_up', up,
             ['TRIB_REWRITE_NEXT'])
    trib('tree add other id 4 child w0 w1 parent up relay 8 next 65535 '
         'workers 1-3,6')
    p = pins.lookup('pools', 4)
    tap.ok('pool__marks_do_not_overlap', p['mark0'] == 128 and
           p['mark_mask'] == 7, p)
    tap.same('pool__workers_are_as_given', bits(p), [1, 2, 3, 6])
    s = trib.json('tree show 4')
    s = s[0] if isinstance(s, list) else s
    tap.ok('show__says_it', s['relay'] == 8 and s['next'] == 65535 and
           s['workers'] == '1-3,6' and s['age_ms'] == 100, s)
    tap.has('show__in_words', trib('tree show 3'),
            'relay 7, next 9, workers 0,70, cap 20, age 250 ms')


def refusals():
    """Whole, and with the value that is wrong."""
    before = pins.dump('pools'), trib.json('tree show')

    def refuses(name, line, word):
        status, text = trib.fails(line)
        tap.ok('refuse__' + name, status and word in text and
               len(text.splitlines()) == 1, status, text)

    add = 'tree add train child w0:0 w1:1 parent up relay 7 next 9 '
    refuses('next_hop_with_our_number', add.replace('next 9', 'next 7'),
            'next 7')
    refuses('no_parent', 'tree add train child w0:0 relay 7 next 9',
            'relay 7')
    refuses('index', add + 'index 3', 'index 3')
    refuses('local_ranks', add + 'local 0', 'local rank 0')
    refuses('worker_beyond_the_world', add + 'workers 0-100', 'worker 100')
    refuses('worker_no_bitmap_holds', add + 'workers 0-1024', '0-1024')
    refuses('child_that_is_no_worker', add + 'workers 0', 'rank 1')
    refuses('nobodys_values',
            'tree add train child w0 parent up relay 7 next 9', 'workers')
    refuses('cap_beyond_the_pool', add + 'cap 2000', 'cap 2000')
    refuses('marks_used_up', 'tree add big child w0:0 parent up relay 7 '
            'next 9', '32768 marks')
    refuses('words_of_shared_trees_alone',
            'tree add train child w0:0 w1:1 parent up index 1 cap 4',
            'need relay')
    tap.same('refuse__changes_nothing',
             (pins.dump('pools'), trib.json('tree show')), before)


def restart(d):
    mark = (0x1234).to_bytes(8, 'little')
    pins.write('pool_marks', 5, mark)
    rows = pins.dump('pools'), faces(3), faces(4)
    old = table()
    d.end(signal.SIGKILL)
    d = Tribd(r)
    tap.same('adopt__rows_and_faces_are_as_before',
             (pins.dump('pools'), faces(3), faces(4)), rows)
    tap.same('adopt__marks_stay', pins.raw('pool_marks', 5), mark)
    tap.same('adopt__table_stays', table(), old)
    tap.has('adopt__trees_are_shared', trib('tree show 3'), 'relay 7')
    d.end()
    status, log = tribd_fails(r, '--pool', '2000')
    tap.ok('adopt__more_slots_than_there_are_is_refused', status == 1 and
           '--pool 2000' in log, log)
    d = Tribd(r, '--pool', '768')
    new = table()
    moved = sum(a != b for a, b in zip(old, new))
    tap.ok('resize__moves_the_share_of_the_slots_that_went',
           max(new) == 767 and all(a == b for a, b in zip(old, new)
                                   if a < 768) and
           len(old) / 5 < moved < len(old) / 3, max(new), moved)
    d.end()
    d = Tribd(r)
    tap.ok('resize__is_remembered', table() == new and
           trib.json('')['pool'] == 768)
    return d


def removal():
    # Tree 3 holds one slot, tree 4 another.
    size = len(pins.raw('pool_slots', 0))
    for i, tree in ((1, 3), (2, 4)):
        slot = bytearray(size)
        slot[6] = tree
        slot[26] = 1
        pins.write('pool_slots', i, slot)
    trib('tree wipe 3')
    tap.ok('wipe__empties_slots_and_marks_of_that_tree',
           not any(pins.raw('pool_slots', 1)) and
           any(pins.raw('pool_slots', 2)) and
           not any(pins.raw('pool_marks', 5)))
    tap.ok('wipe__rows_are_back', pins.tree(3)['flags'] == 17 and
           pins.tree(4)['flags'] == 17)
    r.ip('addr', 'add', '10.9.0.9/24', 'dev', 'v0')
    trib('tree del 4')
    tap.ok('del__leaves_nothing', not faces(4) and
           not any(pins.raw('pools', 4)) and not pins.tree(4)['flags'] and
           not any(pins.raw('pool_slots', 2)))
    tap.same('del__leaves_others', faces(3), expected_faces())
    trib('job del train')
    tap.ok('del__of_the_job_takes_the_tree', not faces(3) and
           not any(pins.raw('pools', 3)))


d = Tribd(r, '--slots', '2048', '--trees', '64')
objects()
maps()
trib('job add big world 8 window 16384')
for _ in range(3):
    trib('tree add big child w0:0 parent up relay 7 next 9')
refusals()
d = restart(d)
removal()
d.end()
tap.done()
