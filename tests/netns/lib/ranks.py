# SPDX-License-Identifier: BSD-2-Clause
"""trib-perf on the workers of a fabric, and its progress."""
import json
import subprocess
import time

from worker import until


class Ranks:
    """trib-perf on every worker: each result of each iteration is checked."""

    def __init__(self, f, hosts, size='1m', rounds=100, dtype='int32',
                 **more):
        self.watch({h: f.spawn(h, 'trib-perf', '-b', size, '-e', size, '-w',
                               '0', '-n', str(rounds), '-c', '2', '-d', dtype,
                               **more) for h in hosts})

    def watch(self, processes):
        """Takes over a process for each host."""
        self.p, self.out = processes, {}

    def running(self):
        return all(p.poll() is None for p in self.p.values())

    def wait(self, seconds=120):
        """True if the sums were right on all ranks."""
        end = time.monotonic() + seconds
        for h, p in self.p.items():
            try:
                out, _ = p.communicate(timeout=max(end - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                p.kill()
                out = p.communicate()[0] + '\nHANGS'
            self.out[h] = out
        return all(p.returncode == 0 for p in self.p.values())

    def __str__(self):
        return '\n'.join('%s: %s\n%s' % (h, p.returncode, self.out.get(h))
                         for h, p in self.p.items())


def moving(f, relay='r0'):
    """Waits until sums are under way."""
    def done():
        return stat(f, relay, 'done')
    before = done()
    return until(20, lambda: done() > before + 20)


def stat(f, host, name):
    return next(s['value'] for s in json.loads(
        f.trib(host, '-j', 'stats')) if s['name'] == name)
