#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribd keeps its programs on its ports: filters of the NDN forwarder, the LOCAL
pair, lost news, programs of others, devices that change; without a job."""
import json
import os
import signal
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403

need()
tap = Tap()
r, w = Netns('r'), Netns('w')
for i in range(2):
    veth(r, 'v%d' % i, '10.8.%d.1/24' % i, w, 'v%d' % i, '10.8.%d.2/24' % i)
inst = use_instance('net-%d' % r.inode())
pins = Pins(inst)
trib = Cli(r)
LOCAL = '169.254.77.2'


def face(name='a'):
    return next(f for f in trib.json('face show') if f['name'] == name)


def count(name='a'):
    return face(name).get('reattached', 0)


def detach(dev):
    run(BPFTOOL, 'link', 'detach', 'pinned',
        pins.path('link-%d' % r.link(dev)['ifindex']))


def name_of(dev):
    """The program on a device."""
    return (r.xdp(dev) or {}).get('prog', {}).get('name')


def occupy(dev):
    def once():
        r.run('sh', '-c', '%s link detach pinned %s; %s net attach xdpdrv pinned '
              '%s dev %s' % (BPFTOOL, pins.path(
                  'link-%d' % r.link(dev)['ifindex']), BPFTOOL,
                  pins.path('trib_pass'), dev), ok=False)
        return name_of(dev) == 'trib_pass'
    return wait_for(once, 5)


def free(dev):
    r.ip('link', 'set', dev, 'xdpdrv', 'off')


def names(daemon):
    """The filters of the forwarder are put back alone and together."""
    for text, what in (('pref 7418', 'ndn_grow'), ('pref 7417', 'trib_grow'),
                       ('', 'ndn_grow')):
        r.run('tc', 'filter', 'del', 'dev', 'v0', 'ingress', *text.split())
        tap.ok('ndn__filter_%s_is_put_back' % what, wait_for(
            lambda: 'trib_grow' in r.filters('v0') and
            'ndn_grow' in r.filters('v0'), 1), r.filters('v0'))
        tap.has('ndn__log_names_%s' % what, daemon.log().splitlines()[-1], what)
    tap.same('ndn__all_are_counted', count(), 3)


def local():
    before = count('here')
    detach('trib0')
    tap.ok('local__program_is_put_back', wait_for(
        lambda: name_of('trib0') == 'trib_xdp' and count('here') == before + 1,
        2), face('here'))
    for dev in ('trib0', 'trib1'):
        old = r.link('trib0')['ifindex']
        r.ip('link', 'del', dev)
        tap.ok('local__pair_is_made_again_without_%s' % dev, wait_for(
            lambda: (r.link('trib0') or {}).get('ifindex', old) != old and
            name_of('trib0') == 'trib_xdp', 3), r.link('trib0'))
        tap.ok('local__face_is_whole_again', wait_for(
            lambda: face('here')['xdp_mode'] == 'native' and
            r.link('trib0')['ifindex'] in pins.ports() and
            face('here').get('local_addr') == '169.254.77.1'), face('here'))


def lost_news(daemon):
    """More news than its socket holds while it does nothing: among them those
    that the filters are gone, one device went and came, another has a new name."""
    old = r.link('v1')['ifindex']
    daemon.proc.send_signal(signal.SIGSTOP)
    for i in range(6):
        r.run('ip', '-batch', '-', input=''.join(
            'link set lo alias a%d-%d\n' % (i, k) for k in range(1000)))
    r.run('tc', 'qdisc', 'del', 'dev', 'v0', 'clsact')
    r.ip('link', 'del', 'v1')
    veth(r, 'v1', '10.8.1.1/24', w, 'v1', '10.8.1.2/24')
    r.ip('link', 'set', 'v0', 'mtu', '1600')
    new = r.link('v1')['ifindex']
    daemon.proc.send_signal(signal.SIGCONT)
    tap.ok('lost_news__filters_are_put_back', wait_for(
        lambda: 'trib_grow' in r.filters('v0'), 1))
    tap.ok('lost_news__device_is_taken_back', wait_for(
        lambda: name_of('v1') == 'trib_xdp' and new in pins.ports() and
        old not in pins.ports(), 2), old, new, pins.ports())
    tap.ok('lost_news__mtu_is_followed', wait_for(
        lambda: face()['mtu'] == 1600, 2), face())


def renamed(daemon):
    r.ip('link', 'set', 'v0', 'down')
    r.ip('link', 'set', 'v0', 'name', 'x0')
    r.ip('link', 'set', 'x0', 'up')
    tap.ok('renamed__face_follows', wait_for(
        lambda: face()['ifname'] == 'x0'), face())
    detach('x0')
    tap.ok('renamed__program_is_put_back', wait_for(
        lambda: name_of('x0') == 'trib_xdp', 2))
    tap.has('renamed__log_has_the_new_name', daemon.log().splitlines()[-1],
            'x0: put back')
    r.ip('link', 'set', 'x0', 'down')
    r.ip('link', 'set', 'x0', 'name', 'v0')
    r.ip('link', 'set', 'v0', 'up')
    wait_for(lambda: face()['ifname'] == 'v0')


def held(daemon):
    """tribd asks less and less often, and does not touch the other program."""
    tap.ok('held__by_another_program', occupy('v1'))
    reason = wait_for(lambda: face('b')['xdp_mode'] == 'none' and
                      face('b').get('reason'), 2)
    tap.has('held__face_names_the_program', reason or '', 'trib_pass')
    tap.same('held__port_has_no_row', r.link('v1')['ifindex'] in pins.ports(),
             False)
    time.sleep(2.5)
    tap.same('held__other_program_stays', name_of('v1'), 'trib_pass')
    tap.same('held__log_says_it_once', daemon.log().count(
        'another program has the hook: trib_pass'), 1)
    status, text = trib.fails('face add c dev v1 addr 10.8.1.3')
    tap.ok('held__face_add_names_the_program', status and 'trib_pass' in text,
           text)
    # A new tribd finds the hook taken, too.
    daemon.end()
    daemon = Tribd(r, '--ndn', '64')
    tap.ok('held__new_tribd_waits', name_of('v1') == 'trib_pass' and
           face('b')['xdp_mode'] == 'none', face('b'))
    free('v1')
    tap.ok('held__comes_back_when_it_is_free', wait_for(
        lambda: name_of('v1') == 'trib_xdp' and 'ndn_grow' in r.filters('v1') and
        r.link('v1')['ifindex'] in pins.ports() and
        face('b')['xdp_mode'] == 'native', 1), face('b'))
    return daemon


def large(daemon):
    """A veth's end is generic while the other end's MTU is large. Native mode is
    tried again by the next tribd, and with each new MTU."""
    def make():
        r.ip('link', 'add', 'big', 'mtu', '9000', 'type', 'veth', 'peer',
             'name', 'big', 'netns', w.name, 'mtu', '9000')
        r.ip('addr', 'add', '10.8.2.1/24', 'dev', 'big')
        w.ip('link', 'set', 'big', 'up')
        r.ip('link', 'set', 'big', 'up')

    def is_native(want):
        f = face('large')
        return f['xdp_mode'] == ('native' if want else 'generic') and \
            (r.link('big')['ifindex'] in pins.ports()) == want and \
            ('MTU' in f.get('reason', '')) != want

    def doctor():
        """Its failures of the check of veths."""
        out = r.run(os.path.join(BUILD, 'trib'), '-j', 'doctor', ok=False)
        return [n for n in json.loads(out) if n['subject'] == 'large' and
                (n['check'], n['state']) == ('veth', 'fail')]

    make()
    trib('face add large dev big addr 10.8.2.2')
    tap.ok('large__is_generic', is_native(False), face('large'))
    tap.same('large__doctor_takes_one_generic_end', doctor(), [])
    w.run('ip', 'link', 'set', 'dev', 'big', 'xdpgeneric', 'pinned',
          pins.path('trib_pass'))
    found = doctor()
    tap.ok('large__doctor_refuses_two', len(found) == 1 and
           'big mtu 3400' in found[0]['remedy'], found)
    w.ip('link', 'set', 'dev', 'big', 'xdpgeneric', 'off')
    w.run('ethtool', '-K', 'big', 'gro', 'on')
    daemon.end()
    daemon = Tribd(r, '--ndn', '64')
    tap.ok('large__stays_generic', is_native(False), face('large'))
    w.ip('link', 'set', 'big', 'mtu', '3400')
    daemon.end()
    daemon = Tribd(r, '--ndn', '64')
    tap.ok('large__next_tribd_makes_it_native', is_native(True), face('large'))
    tap.same('large__doctor_is_content', doctor(), [])
    r.ip('link', 'del', 'big')
    make()
    tap.ok('large__is_generic_again', wait_for(
        lambda: r.link('big')['ifindex'] == face('large')['ifindex'] and
        is_native(False), 2), face('large'))
    w.ip('link', 'set', 'big', 'mtu', '3400')
    r.ip('link', 'set', 'big', 'mtu', '3400')
    tap.ok('large__smaller_mtu_makes_it_native', wait_for(
        lambda: is_native(True), 2), face('large'))
    tap.same('large__nobody_took_it_off', count('large'), 0)
    return daemon


def fight(daemon):
    """Who never stops gets pauses: tribd does not fight for ever."""
    end = time.monotonic() + 12
    while time.monotonic() < end and 'the next time waits' not in daemon.log():
        if name_of('v0') == 'trib_xdp':
            detach('v0')
    n = count()
    tap.ok('fight__pauses_begin', 'the next time waits' in daemon.log() and
           10 < n < 40, n, daemon.log())
    stop = time.monotonic() + 6
    while time.monotonic() < stop:
        if name_of('v0') == 'trib_xdp':
            detach('v0')
    tap.ok('fight__pauses_grow', 1 < count() - n < 8, n, count())
    tap.ok('fight__ends_with_the_program_attached', wait_for(
        lambda: name_of('v0') == 'trib_xdp', 20))


d = Tribd(r, '--ndn', '64')
trib('face add a dev v0 addr 10.8.0.2 ndn host')
trib('face add b dev v1 addr 10.8.1.2')
trib('face add here dev trib0 addr ' + LOCAL)
names(d)
local()
lost_news(d)
renamed(d)
d = held(d)
d = large(d)
fight(d)
tap.same('end__sigterm_is_a_clean_exit', d.end(), 0)
tap.done()
