#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tribds of other versions take over from each other while two ranks sum without
end, or refuse and leave everything as it was.

    w0 (p0) --- r0 --- w1        tribd-next: another version, the same maps
                                 tribd-layout: a version with maps of its own
"""
import json
import random
import re
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import racks  # noqa: E402
from worker import *  # noqa: E402,F403

THIS = BUILD + '/tribd'
NEXT, LAYOUT = (BUILD + '/tests/netns/daemon/tribd-' + n for n in ('next', 'layout'))
HINT = 'nothing was changed and its jobs go on'
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


class Host:
    """A host of the fabric, and what must not change under a refusal."""

    def __init__(self, f, name, pulse=None):
        self.f, self.name, self.pulse = f, name, pulse
        self.pins = '/sys/fs/bpf/trib/' + f.ns(name)
        self.state = '/run/trib/%s/state.json' % f.ns(name)
        self.proc = None

    def status(self):
        return json_of(self.f.trib(self.name, '-j'))

    def ids(self):
        """{pin: number that the kernel gave it}"""
        out = {}
        for name in sorted(os.listdir(self.pins)):
            fd = bpf_get(self.pins + '/' + name)
            with open('/proc/self/fdinfo/%d' % fd) as info:
                out[name] = re.search(r'(?:map|prog|link)_id:\s*(\d+)', info.read())[1]
            os.close(fd)
        return out

    def picture(self):
        links = json.loads(self.f.host(self.name, 'ip', '-j', '-d', 'link').stdout)
        xdp = {i['ifname']: i.get('xdp', {}).get('prog', {}).get('id') for i in links}
        filters = {i: self.f.host(self.name, 'tc', 'filter', 'show', 'dev', i, 'ingress',
                                  check=False).stdout for i in xdp}
        fd = bpf_get(self.pins + '/grow_next')
        grow = bytes(bpf_lookup(fd, 0, 4))
        os.close(fd)
        with open(self.state) as file:
            return {'pins': self.ids(), 'xdp': xdp, 'filters': filters, 'grow_next': grow,
                    'state': file.read()}

    def start(self, program, *args):
        self.proc = self.f.start_tribd(self.name, program=program, args=args)

    def stop(self, sig=signal.SIGTERM):
        self.f.kill_tribd(self.name, sig)
        if self.proc:
            self.proc.wait()

    def once(self, program, *args):
        """(exit status, log) of a tribd that must end by itself."""
        p = self.f.host(self.name, program, '--instance', self.f.ns(self.name), *args,
                        check=False, timeout=60)
        return p.returncode, p.stdout

    def done(self):
        """Chunks that the relay completed. No tribd is asked: none may run."""
        out = self.f.host('r0', racks.BPFTOOL, '-j', 'map', 'lookup', 'pinned',
                          '/sys/fs/bpf/trib/%s/stats' % self.f.ns('r0'), 'key',
                          '0', '0', '0', '0').stdout
        cpus = json.loads(out)['formatted']['values']
        return sum(c['value']['done'] for c in cpus)

    def sums_come(self):
        before = self.done()
        return until(5, lambda: self.done() > before + 100) and self.pulse.alive()

    def log(self):
        return open('/run/trib-fabric/%s/%s.log' % (self.f.name, self.name)).read()


def replaced(h):
    """Another version, and back, by SIGTERM and by SIGKILL."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        for name, program, version in (('next', NEXT, '9.9.9'), ('back', THIS, None)):
            before, epoch = h.picture(), h.f.tree(h.name).get('epoch')
            status, text = h.once(program, '--check')
            tap.test('%s_%s_%s__check_says_yes_beside_the_running_one' %
                     (h.name, sig.name, name), status == 0 and 'can take over from tribd '
                     in text and ' 1 trees' in text and h.picture() == before, text)
            h.stop(sig)
            h.start(program)
            status, after = h.status(), h.picture()
            tap.test('%s_%s_%s__takes_over' % (h.name, sig.name, name),
                     status['adopted'] and version in (None, status['version']) and
                     h.f.tree(h.name).get('epoch') == epoch, status, h.log()[-2000:])
            programs = {'trib_xdp', 'trib_egress', 'trib_grow', 'trib_moved', 'trib_pass',
                        'grow_next'}
            tap.test('%s_%s_%s__programs_are_new_and_maps_are_not' %
                     (h.name, sig.name, name),
                     {p for p in after['pins'] if after['pins'][p] !=
                      before['pins'].get(p)} == programs and
                     all(after['xdp'][i] != before['xdp'][i] for i in before['xdp']
                         if before['xdp'][i]) and
                     after['filters'] != before['filters'] and
                     after['grow_next'] != before['grow_next'],
                     before['pins'], after['pins'])
            tap.test('%s_%s_%s__sums_go_on' % (h.name, sig.name, name), h.sums_come(),
                     h.pulse.lines, h.log()[-2000:])


def many(h):
    """Killed at random moments of taking over."""
    rng = random.Random(7417)
    for turn in range(8):
        h.stop(signal.SIGKILL)
        p = subprocess.Popen(['nsenter', '--net=/run/netns/' + h.f.ns(h.name),
                              rng.choice((NEXT, THIS)), '--instance', h.f.ns(h.name)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            p.wait(0.02 + rng.random() * 0.4)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
        h.start(rng.choice((NEXT, THIS)))
    tap.test('%s__killed_while_taking_over_sums_go_on' % h.name, h.sums_come(),
             h.pulse.lines, h.log()[-2000:])


def refuses(h, name, program, *words):
    """Nothing runs on the host but the data plane: it stays, and says how to go on."""
    before = h.picture()
    for args in ((), ('--check',)):
        status, text = h.once(program, *args)
        after = h.picture()
        tap.test('%s__%s_is_refused%s' % (h.name, name, '_by_check' if args else ''),
                 status == 1 and HINT in text and 'start it again' in text and
                 'tribd --purge --instance ' + h.f.ns(h.name) in text and
                 all(w in text for w in words) and len(text.splitlines()) == 1, text)
        tap.test('%s__%s_nothing_is_touched%s' % (h.name, name, '_by_check' if args
                                                  else ''), after == before,
                 *['%s: %s, %s' % (k, before[k], after[k]) for k in before
                   if before[k] != after[k]])
    tap.test('%s__%s_sums_go_on' % (h.name, name), h.sums_come(), h.pulse.lines)


def while_running(h):
    """The other version is started while this one runs."""
    before, pid = h.picture(), h.f.pid(h.name)
    for program in (NEXT, LAYOUT):
        status, text = h.once(program)
        tap.test('%s__running_one_is_named' % h.name, status == 1 and
                 'already run by process %d' % pid in text and h.picture() == before and
                 alive(pid), text)
    status, text = h.once(LAYOUT, '--check')
    tap.test('%s__check_says_no_beside_the_running_one' % h.name, status == 1 and
             HINT in text and h.picture() == before and alive(pid), text)


def refused(h):
    while_running(h)
    h.stop()
    refuses(h, 'other_maps', LAYOUT, 'from tribd ', 'ABI', '9.9.9 have ABI 999')
    with open(h.state) as file:
        text = file.read()
    doc = json.loads(text)

    def edited(change):
        d = json.loads(text)
        change(d)
        with open(h.state + '.test', 'w') as file:
            json.dump(d, file)
        os.rename(h.state + '.test', h.state)

    edited(lambda d: d.update(version=doc['version'] + 1, by='7.7.7'))
    refuses(h, 'newer_state_file', THIS, 'from tribd 7.7.7', 'has version %d' %
            (doc['version'] + 1))
    edited(lambda d: d['jobs'][0].update(quota=3))
    refuses(h, 'unknown_member', NEXT, 'tribd 9.9.9 does not know its member jobs[%s].quota'
            % doc['jobs'][0]['name'])
    edited(lambda d: d.update(wire=99))
    refuses(h, 'other_wire', THIS, 'version 99 of trib_wire.h')
    edited(lambda d: d.update(attach=99))
    refuses(h, 'other_attach', THIS, 'version 99 of trib_attach.h')
    # A file of a version that did not say who wrote it is taken over.
    edited(lambda d: [d.pop(k) for k in ('by', 'wire', 'attach')])
    status, log = h.once(NEXT, '--check')
    tap.test('%s__file_without_names_is_taken' % h.name, status == 0 and
             'can take over from the tribd before' in log, log)
    edited(lambda d: None)
    pin = h.pins + '/quotas'
    h.f.host(h.name, racks.BPFTOOL, 'map', 'create', pin, 'type', 'array', 'key', '4',
             'value', '4', 'entries', '1', 'name', 'quotas')
    refuses(h, 'unknown_map', THIS, 'has no ' + pin)
    os.unlink(pin)
    h.start(THIS)
    tap.test('%s__after_refusals_the_maker_takes_over' % h.name, h.status()['adopted'] and
             h.sums_come(), h.log()[-2000:])


def made_by_other_maps(h):
    """The way back, and the advice of the refusal."""
    status, text = h.once(THIS, '--purge')
    tap.test('%s__purge_of_a_running_one_is_refused' % h.name, status == 1, text)
    h.stop()
    h.once(THIS, '--purge')
    h.start(LAYOUT)
    tap.test('%s__after_a_purge_the_other_starts' % h.name,
             h.status()['version'] == '9.9.9' and not h.status()['adopted'])
    h.f.trib(h.name, 'face', 'add', 'x', 'dev', 'lo', 'addr', '127.0.0.9', check=False)
    h.stop()
    before = h.ids()
    status, text = h.once(THIS)
    tap.test('%s__older_refuses_what_the_newer_made' % h.name, status == 1 and
             'from tribd 9.9.9: its maps have ABI 999' in text and h.ids() == before, text)
    h.start(LAYOUT)
    tap.test('%s__newer_takes_back_what_it_made' % h.name, h.status()['adopted'])
    status, text = h.once(NEXT, '--check', '--slots', '64')
    tap.test('%s__check_knows_options' % h.name, status == 1 and 'ABI' in text, text)


def fabric():
    f = Fabric('upgrade', 'star', '--workers', '2')
    try:
        pulse = racks.Pulse(Job(f), '-g', '100')
        relay, leaf = Host(f, 'r0', pulse), Host(f, 'w0', pulse)
        for h in (relay, leaf):
            replaced(h)
            many(h)
        refused(relay)
        refused(leaf)
        print('# most milliseconds without a sum: %.0f' % (1000 * max(
            (b - a for r in range(2) for a, b in pulse.gaps(r)), default=0)))
        good, text = pulse.end()
        tap.test('all_sums_were_right_and_none_failed', good, text)
        made_by_other_maps(leaf)
    finally:
        f.down()


need_root()
fabric()
sys.exit(tap.done())
