# SPDX-License-Identifier: BSD-2-Clause
"""Shared by tests of tribd: TAP, namespaces joined by veths, a tribd to start, kill
and watch, and its pinned maps.

Names contain the test's process id. Everything is removed at exit.
"""
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '../../..'))
BUILD = os.path.realpath(os.environ.get('TRIB_BUILD', TOP + '/build'))
PIN = '/sys/fs/bpf/trib/'
RUN = '/run/trib/'
BPFTOOL = shutil.which('bpftool') or '/usr/sbin/bpftool'


# --- TAP

class Tap:
    count = failed = 0

    def ok(self, name, good, *notes):
        self.count += 1
        self.failed += not good
        if not good:
            for n in notes:
                for line in str(n).splitlines():
                    print('#', line)
        print('%sok %d - %s' % ('' if good else 'not ', self.count, name),
              flush=True)
        return good

    def same(self, name, got, want):
        return self.ok(name, got == want, 'got    %r' % (got,),
                       'wanted %r' % (want,))

    def has(self, name, text, word):
        return self.ok(name, word in text, 'no %r in:' % word, text)

    def skip(self, name, why):
        self.count += 1
        print('ok %d - %s # SKIP %s' % (self.count, name, why))

    def done(self):
        print('1..%d' % self.count)
        sys.exit(self.failed != 0)


def skip_all(why):
    print('1..0 # SKIP', why)
    sys.exit(4)


def need():
    """Skips the test unless its needs are met."""
    if os.geteuid():
        skip_all('needs root')
    for p in ('tribd', 'trib'):
        if not os.access(os.path.join(BUILD, p), os.X_OK):
            print('Bail out! no %s: make' % p)
            sys.exit(1)


# --- commands

def run(*argv, ok=True, **kw):
    """Output of a command. Its failure raises RuntimeError."""
    p = subprocess.run(argv, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, **kw)
    if ok and p.returncode:
        raise RuntimeError('%s: %d: %s' % (' '.join(argv), p.returncode,
                                           p.stdout))
    return p.stdout


def wait_for(fn, seconds=10):
    """The first true value of fn(), or the last one."""
    end = time.monotonic() + seconds
    while True:
        v = fn()
        if v or time.monotonic() > end:
            return v
        time.sleep(0.02)


class Netns:
    """A network namespace."""
    all = []

    def __init__(self, name):
        self.name = 'td%d-%s' % (os.getpid(), name)
        run('ip', 'netns', 'add', self.name)
        Netns.all.append(self)
        self.ip('link', 'set', 'lo', 'up')

    def argv(self, *argv):
        return ('nsenter', '--net=/run/netns/' + self.name) + argv

    def ip(self, *argv):
        return run('ip', '-n', self.name, *argv)

    def run(self, *argv, **kw):
        return run(*self.argv(*argv), **kw)

    def inode(self):
        return os.stat('/run/netns/' + self.name).st_ino

    def link(self, dev):
        """The kernel's attributes of a device, or None."""
        out = self.run('ip', '-j', '-d', 'link', 'show', dev, ok=False)
        return json.loads(out)[0] if out.startswith('[') else None

    def xdp(self, dev):
        return (self.link(dev) or {}).get('xdp')

    def mac(self, dev):
        return self.link(dev)['address']

    def filters(self, dev):
        return self.run('tc', 'filter', 'show', 'dev', dev, 'ingress',
                        ok=False)

    def delete(self):
        run('ip', 'netns', 'del', self.name, ok=False)
        Netns.all.remove(self)


def veth(a, dev_a, addr_a, b, dev_b, addr_b):
    """A veth pair between two namespaces, up, with addresses."""
    a.ip('link', 'add', dev_a, 'type', 'veth', 'peer', 'name', dev_b, 'netns',
         b.name)
    for ns, dev, addr in ((a, dev_a, addr_a), (b, dev_b, addr_b)):
        for x in [addr] if isinstance(addr, str) else addr:
            more = ['nodad'] if ':' in x else []
            ns.ip('addr', 'add', x, 'dev', dev, *more)
        ns.ip('link', 'set', dev, 'up')


# --- tribd and trib

class Tribd:
    """One tribd in a namespace; keeps its log."""
    all = []

    def __init__(self, ns, *args, wait=True, wrap=None):
        self.ns = ns
        self.out = tempfile.TemporaryFile('w+')
        argv = (os.path.join(BUILD, 'tribd'), '--log', 'debug') + args
        argv = wrap(argv) if wrap else ns.argv(*argv)
        self.proc = subprocess.Popen(argv, stdout=self.out, stderr=self.out,
                                     stdin=subprocess.DEVNULL)
        Tribd.all.append(self)
        if wait and not wait_for(self.serves, 60):
            raise RuntimeError('tribd does not start: ' + self.log())

    def serves(self):
        if self.proc.poll() is not None:
            raise RuntimeError('tribd ended: ' + self.log())
        return 'tribd: instance ' in self.log()

    def log(self):
        self.out.flush()
        with open('/proc/self/fd/%d' % self.out.fileno()) as f:
            return f.read()

    def end(self, sig=signal.SIGTERM):
        """Exit status, or minus the signal."""
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        if self in Tribd.all:
            Tribd.all.remove(self)
        return self.proc.wait(timeout=60)

    def wait(self):
        """Waits for a tribd that must fail by itself."""
        Tribd.all.remove(self)
        return self.proc.wait(timeout=60)

    def alive(self):
        return self.proc.poll() is None

    def rss(self):
        with open('/proc/%d/status' % self.proc.pid) as f:
            return int(f.read().split('VmRSS:')[1].split()[0])


def finish(procs, seconds=60):
    """Waits for all: (True if all succeeded, their output)"""
    end, out = time.monotonic() + seconds, []
    for q in procs:
        try:
            text = q.communicate(timeout=max(end - time.monotonic(), 1))[0]
        except subprocess.TimeoutExpired:
            q.kill()
            text = q.communicate()[0] + '\nHANGS'
        out.append('%s\n%s' % (q.returncode, text))
    return all(q.returncode == 0 for q in procs), '\n'.join(out)


class TribPs:
    """trib-ps of some jobs' files; state, counters and log are in @folder."""

    def __init__(self, ns, listen, files, folder, *args, wrap=()):
        self.folder = folder
        self.argv = ns.argv(*wrap, BUILD + '/trib-ps', '--listen', listen,
                            '--state', folder + '/state', '--stats',
                            folder + '/stats', '--interval', '50', *args)
        for f in files:
            self.argv += ('--job', f)
        self.log = open(folder + '/ps.log', 'a+')
        atexit.register(self.end)
        self.start()

    def start(self):
        self.proc = subprocess.Popen(self.argv, stdout=self.log,
                                     stderr=self.log)

    def end(self):
        self.proc.kill()
        self.proc.wait()

    def stats(self):
        """Waits for counters that are newer than this call."""
        time.sleep(0.15)  # a few of its intervals
        with open(self.folder + '/stats') as f:
            return json.load(f)

    def tree(self, number=1):
        return next(t for t in self.stats()['trees'] if t['tree'] == number)


def tribd_fails(ns, *args, **kw):
    """Runs a tribd that must refuse: (status, its log)."""
    t = Tribd(ns, *args, wait=False, **kw)
    try:
        status = t.wait()
    except subprocess.TimeoutExpired:
        t.proc.kill()
        return None, t.log()
    return status, t.log()


class Cli:
    """trib in a namespace."""

    def __init__(self, ns):
        self.ns = ns

    def __call__(self, line):
        """Runs `trib LINE`; RuntimeError if it fails."""
        argv = (os.path.join(BUILD, 'trib'),) + tuple(line.split())
        try:
            return self.ns.run(*argv)
        except RuntimeError as e:
            # Slow on a busy, emulated CPU.
            if 'did not answer' not in str(e):
                raise
        wait_for(lambda: not self.fails('')[0], 60)
        out = self.ns.run(*argv, ok=False)
        if out.startswith('trib: ') and 'exists' not in out and \
                not out.startswith('trib: no '):
            raise RuntimeError(line + ': ' + out)
        return out

    def json(self, line):
        return json.loads(self('-j ' + line))

    def start(self, line):
        """Runs it, successful or not."""
        return subprocess.Popen(
            self.ns.argv(os.path.join(BUILD, 'trib'), *line.split()),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def fails(self, line, user=None):
        """(exit status, output)."""
        argv = self.ns.argv(os.path.join(BUILD, 'trib'), *line.split())
        if user is not None:
            argv = self.ns.argv('setpriv', '--reuid', str(user), '--regid',
                                str(user), '--clear-groups', *argv[2:])
        p = subprocess.run(argv, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        return p.returncode, p.stdout.strip()


# --- maps

def flat(v):
    """A value with the members of its anonymous unions among its own."""
    if isinstance(v, dict) and '' in v:
        v.update(v.pop(''))
    return v


class Pins:
    """The pinned maps of an instance."""

    def __init__(self, instance):
        self.dir = PIN + instance

    def path(self, name):
        return os.path.join(self.dir, name)

    def names(self):
        return sorted(os.listdir(self.dir)) if os.path.isdir(self.dir) else []

    def lookup(self, name, key):
        """One value, formatted by BTF if there is some; or None."""
        key = ['0x%02x' % b for b in key.to_bytes(4, 'little')]
        out = run(BPFTOOL, '-j', 'map', 'lookup', 'pinned', self.path(name),
                  'key', *key, ok=False)
        try:
            v = json.loads(out)
        except ValueError:
            return None
        if not v or 'error' in v:
            return None
        return flat(v.get('formatted', v).get('value'))

    def dump(self, name):
        """[(key, value)] of a map with BTF."""
        out = json.loads(run(BPFTOOL, '-j', 'map', 'dump', 'pinned',
                             self.path(name)))
        out = [e.get('formatted', e) for e in out]
        return [(e['key'], flat(e['value'])) for e in out if 'key' in e]

    def write(self, name, key, data):
        run(BPFTOOL, 'map', 'update', 'pinned', self.path(name), 'key',
            *['0x%02x' % b for b in key.to_bytes(4, 'little')], 'value',
            *['0x%02x' % b for b in data])

    def raw(self, name, key):
        """The bytes of one value."""
        key = ['0x%02x' % b for b in key.to_bytes(4, 'little')]
        v = json.loads(run(BPFTOOL, '-j', 'map', 'lookup', 'pinned',
                           self.path(name), 'key', *key))
        return bytes(int(x, 16) for x in v['value'])

    def map_id(self, name):
        return json.loads(run(BPFTOOL, '-j', 'map', 'show', 'pinned',
                              self.path(name)))['id']

    def tree(self, tree):
        return self.lookup('trees', tree)

    def members(self, group):
        m = self.lookup('members', group)
        return m['ifindex'][:m['n']]

    def devmaps(self):
        """Groups that have one."""
        out = json.loads(run(BPFTOOL, '-j', 'map', 'dump', 'pinned',
                             self.path('groups')))
        return {int.from_bytes(bytes(int(x, 16) for x in e['key']), 'little')
                for e in out if 'value' in e or 'inner_map_id' in e}

    def has_devmap(self, group):
        return self.lookup('groups', group) is not None

    def rewrites(self):
        """{(group, ifindex): row}"""
        return {(k['group'], k['ifindex']): v
                for k, v in self.dump('rewrites')}

    def ports(self):
        out = json.loads(run(BPFTOOL, '-j', 'map', 'dump', 'pinned',
                             self.path('ports')))
        return sorted(int.from_bytes(bytes(int(x, 16) for x in e['key']),
                                     'little') for e in out if 'value' in e)


def mac_text(row):
    return ':'.join('%02x' % b for b in row)


def be16(v):
    return int.from_bytes(v.to_bytes(2, 'little'), 'big')


def v4_text(words):
    """Text of an IPv4-mapped address of four big-endian words."""
    return '.'.join(str(b) for b in words[3].to_bytes(4, 'little'))


def state(instance):
    with open(RUN + instance + '/state.json') as f:
        return f.read()


def group(tree, kind):
    return tree * 3 + 1 + ('down', 'all', 'up').index(kind)


instances = set()


def use_instance(name):
    """Purges the instance at exit."""
    instances.add(name)
    return name


def cleanup():
    for t in list(Tribd.all):
        t.proc.kill()
        t.proc.wait()
    for i in instances:
        subprocess.run([os.path.join(BUILD, 'tribd'), '--purge', '--instance',
                        i], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    for n in list(Netns.all):
        n.delete()


atexit.register(cleanup)
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(s, lambda *a: sys.exit(130))
