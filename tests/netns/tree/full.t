#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The disk of a root's state file is full, or gives back an older file. No
epoch comes again: the slots still hold its sums.

    w0 w1 --- r0: state file on a tmpfs of 256 KiB
"""
import os
import shutil
import signal
import sys
import time

sys.path.insert(0, sys.path[0] + '/../lib')
from worker import *  # noqa: E402,F403

tap = Tap()


class Disk:
    """A small tmpfs in place of the folder of r0's tribd."""

    def __init__(self, f):
        self.f = f
        self.dir = '/run/trib/' + f.ns('r0')
        old = {n: open('%s/%s' % (self.dir, n), 'rb').read()
               for n in os.listdir(self.dir)}
        f.kill_tribd('r0')
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k,mode=0755', 'tmpfs',
                        self.dir], check=True)
        for name, data in old.items():
            with open('%s/%s' % (self.dir, name), 'wb') as to:
                to.write(data)
        f.start_tribd('r0')

    def fill(self):
        with open(self.dir + '/ballast', 'wb', buffering=0) as b:
            with contextlib.suppress(OSError):
                while b.write(bytes(4096)):
                    pass

    def free(self):
        os.unlink(self.dir + '/ballast')

    def end(self):
        subprocess.run(['umount', '-l', self.dir], check=True)


def restart(f, w):
    for x in w:
        x.leave()
    until(2, lambda: f.tree('r0')['epoch'] == 0)
    f.kill_tribd('r0')
    f.start_tribd('r0')
    for x in w:
        x.drain()


def runs(w, seconds):
    """All join, and repeat it as the library does: the epoch, or None."""
    for x in w:
        x.join()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if all([x.hear_run() for x in w]):
            return w[0].epoch
        time.sleep(0.1)
        for x in w:
            if not x.epoch:
                x.session(JOIN, x.nonce)
    for x in w:
        x.leave()
    return None


def sums(w, values):
    """True if chunks 0 to 9 come back as the sums of these values."""
    for x in w:
        x.drain()
    for chunk in range(10):
        for x, v in zip(w, values):
            x.grad(chunk, [v + chunk] * 16)
        for x in w:
            p = x.recv(2, RESULT)
            if not p or p.values() != (sum(values) + len(w) * chunk,) * 16:
                return False
    return True


def log(f):
    with open('/run/trib-fabric/%s/r0.log' % f.name) as text:
        return text.read()


def full(f, w, disk):
    e = runs(w, 5)
    tap.test('first_job__is_summed', e and sums(w, (1, 2)), e)
    for x in w:
        x.leave()
    until(2, lambda: f.tree('r0')['epoch'] == 0)
    disk.fill()
    again = runs(w, 1.5)
    tap.test('full__job_waits', again is None, again)
    if again:
        sums(w, (30, 40))
    else:
        for x in w:
            x.drain()
            x.join()
        got = [x.recv(1, START) for x in w]
        tap.test('full__workers_are_told_to_wait',
                 all(p and p.state == WAIT for p in got), got)
    shown = f.host('r0', BUILD + '/trib', 'job', 'show', 'train').stdout
    tap.test('full__job_show_says_why', 'No space left' in shown, shown)
    shown = f.host('r0', BUILD + '/trib', 'doctor', check=False).stdout
    tap.test('full__doctor_says_what_to_do', 'make room' in shown, shown)
    said = log(f).count('No space left on device: no job starts')
    tap.test('full__log_says_it_once', said == 1, log(f))
    restart(f, w)
    tap.test('full__restart_takes_over', not runs(w, 0.5))
    disk.free()
    last = runs(w, 3)
    tap.test('room__job_starts_by_itself', last, log(f))
    tap.test('room__epoch_is_another_one', last and last > max(e, again or 0),
             e, again, last)
    tap.test('room__sums_are_those_of_this_job', sums(w, (500, 600)))
    shown = f.host('r0', BUILD + '/trib', 'doctor', check=False).stdout
    tap.test('room__doctor_is_content', 'make room' not in shown, shown)


def older_file(f, w, disk):
    """A power failure or a backup may bring an older state file."""
    state = disk.dir + '/state.json'
    shutil.copy(state, disk.dir + '/older')
    for turn in range(2):
        for x in w:
            x.leave()
        until(2, lambda: f.tree('r0')['epoch'] == 0)
        last = runs(w, 5)
        sums(w, (7, 8 + turn))
    for x in w:
        x.leave()
    until(2, lambda: f.tree('r0')['epoch'] == 0)
    f.kill_tribd('r0', signal.SIGTERM)
    shutil.copy(disk.dir + '/older', state)
    f.start_tribd('r0')
    e = runs(w, 5)
    tap.test('older_file__epoch_is_another_one', e and e > last, last, e)
    tap.test('older_file__sums_are_those_of_this_job', sums(w, (70, 80)))


def main():
    f = Fabric('full', 'star', '--workers', '2', '--transport', 'udp')
    disk = None
    try:
        w = [Worker(f.ns('w%d' % k), '10.77.%d.1' % k, k, k,
                    key=f.key(), port=7418 + k) for k in range(2)]
        disk = Disk(f)
        full(f, w, disk)
        older_file(f, w, disk)
    finally:
        if disk:
            disk.end()
        f.down()


need_root()
main()
sys.exit(tap.done())
