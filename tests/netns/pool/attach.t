#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Workers of shared trees attach to the tribd of their host. Relay a is between two
hosts of workers and the PS. Job "train" has a rank on each host and the relay; job
"bare" has two ranks on w0, one on w1, and no relay.

    w0 --+
         a (relay 1) -- p: trib-ps
    w1 --+
"""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import keys  # noqa: E402
from tribd import *  # noqa: E402,F403

KEY = '11223344556677881122334455667788'
PS = '10.9.2.2'
ROW = 'tree add train id 1 local 0 ps %s hop 1:tor' % PS
need()
tap = Tap()
dir_ = tempfile.TemporaryDirectory()
a, p, w0, w1 = (Netns(n) for n in ('a', 'p', 'w0', 'w1'))
for ns in (a, w0, w1):
    use_instance('net-%d' % ns.inode())


def network():
    for i, (ns, dev) in enumerate(((w0, 'v0'), (w1, 'v1'), (p, 'vp'))):
        veth(a, dev, '10.9.%d.1/24' % i, ns, 'eth0', '10.9.%d.2/24' % i)
        a.run('ethtool', '-K', dev, 'gro', 'on')
        ns.run('ethtool', '-K', 'eth0', 'gro', 'on')
        ns.ip('route', 'add', 'default', 'via', '10.9.%d.1' % i)
    for ns, dev in ((a, 'v1'), (w1, 'eth0')):
        ns.ip('link', 'set', dev, 'mtu', '3500')
    a.run('sysctl', '-qw', 'net.ipv4.ip_forward=1')


class Job:
    """The ranks of @hosts, in order; rank r has port base + r."""

    def __init__(self, name, number, hosts, base, nval=352):
        self.name, self.number = name, number
        self.hosts, self.base, self.nval = hosts, base, nval

    def file(self):
        path = '%s/%s.json' % (dir_.name, self.name)
        with open(path, 'w') as f:
            json.dump({'name': self.name, 'job': self.number, 'key': KEY,
                       'window': 64, 'nval': self.nval, 'timeout_ms': 5000,
                       'workers': ['%s:%d' % (addr(ns), self.base + r)
                                   for r, ns in enumerate(self.hosts)],
                       'trees': [{'tree': self.number, **self.group()}]}, f)
        return path

    def group(self):
        return {'group': ['10.9.2.1']} if self.name == 'train' else {}

    def start(self, *args, job=None):
        self.procs = [subprocess.Popen(
            ns.argv(BUILD + '/trib-perf', '-w', '0', '-c', '2', *args),
            env=dict(os.environ, TRIB_JOB=job(r) if job else self.name,
                     RANK=str(r)),
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for r, ns in enumerate(self.hosts)]

    def wait(self, seconds=60):
        """(all sums were right, what the ranks said)"""
        return finish(self.procs, seconds)

    def sums(self, name, *args, job=None):
        self.start(*args, job=job)
        good, text = self.wait()
        tap.ok('%s__%s_sums_right' % (name, self.name), good, text)


def addr(ns):
    return '10.9.%d.2' % (ns is w1)


def cli_of(r):
    return trib[(w0, w1)[r]]


def tree(ns, number):
    return trib[ns].json('tree show %d' % number)


def local(ns, number, rank):
    return next(x for x in tree(ns, number)['local'] if x['rank'] == rank)


def stat(ns, name):
    return next((s['value'] for s in trib[ns].json('stats')
                 if s['name'] == name), 0)


def relay_rows():
    cli = trib[a]
    for i in range(2):
        cli('face add w%d dev v%d addr 10.9.%d.2 port %d' % (i, i, i, 7418 + i))
    cli('face add ps dev vp addr %s port 7415' % PS)
    wait_for(lambda: all('mac' in f for f in cli.json('face show')))
    cli('job add train id 1 world 2 window 64 key ' + KEY)
    cli('tree add train id 1 child w0:0 w1:1 parent ps relay 1 next 65535')


def worker_rows():
    for i, ns in enumerate((w0, w1)):
        cli = trib[ns]
        cli('face add tor dev eth0 addr 10.9.%d.1' % i)
        wait_for(lambda: 'local_addr' in cli.json('face show tor'))
        cli('job add train id 1 world 2 window 64 key ' + KEY)
        cli('job add bare id 2 world 3 window 64 key ' + KEY)
        cli('tree add train id 1 local %d ps %s hop 1:tor' % (i, PS))
    trib[w0]('tree add bare id 2 local 0:7500 1:7501 ps %s:7415' % PS)
    trib[w1]('tree add bare id 2 local 2:7502 ps %s' % PS)


def refuses(name, line, word):
    tap.has('refused__' + name, trib[w0].fails(line)[1], word)


def rows():
    t = tree(w0, 1)
    tap.same('row__says_where_the_ps_and_relays_are',
             (t['ps'], t['ps_port'], t['hops'], local(w0, 1, 0)['port'],
              t['slots']),
             (PS, 7415, [{'face': 'tor', 'relay': 1}], 7418, 0))
    text = trib[w0]('tree show 1')
    tap.has('row__is_shown_to_people', text, 'relays 1 (tor)')
    tap.has('row__role_is_worker', text, 'worker')
    refuses('face_of_a_hop_is_kept', 'face del tor', 'tor')
    refuses('relay_with_workers', ROW.replace('id 1', 'id 5') +
            ' relay 3 next 4', 'not both')
    refuses('tree_that_is_there', ROW, 'exists')
    refuses('port_of_another_job', 'tree add bare id 5 local 0 ps ' + PS,
            "7418 is rank 0's of job train")
    refuses('more_relays_than_hops', 'tree add train id 5 local 0 ps %s hop '
            '1:tor 2:tor 3:tor 4:tor' % PS, 'more than 3')
    refuses('node_that_a_worker_is', 'tree add train id 1 child tor:0',
            'not both')


def restart(ns):
    daemon[ns].end()
    daemon[ns] = Tribd(ns)


def gone(name, job, ns, rank, number):
    """Kills rank @rank's process: all other ranks fail and name it."""
    job.start('-b', '1m', '-e', '1m', '-n', '100000')
    wait_for(lambda: all(tree(x, number)['epoch'] for x in (w0, w1)), 20)
    yield
    job.procs[rank].kill()
    t = time.monotonic()
    job.wait(20)
    took = time.monotonic() - t
    rest = [q for r, q in enumerate(job.procs) if r != rank]
    tap.ok('%s__others_are_told' % name,
           all(q.returncode for q in rest) and took < 3,
           '%.1f s' % took, [q.returncode for q in rest])
    wait_for(lambda: not local(ns, number, rank)['pid'])


def told(*args):
    for _ in gone(*args):
        pass


def killed_after_restart():
    for _ in gone('resumed', train, w0, 0, 1):
        restart(w0)
        wait_for(lambda: local(w0, 1, 0)['pid'] and tree(w0, 1)['epoch'], 20)


def restarted():
    train.start('-b', '1m', '-e', '1m', '-n', '150')
    wait_for(lambda: tree(w0, 1)['epoch'], 20)
    before = tree(w0, 1)
    restart(w0)
    wait_for(lambda: local(w0, 1, 0)['pid'] == before['local'][0]['pid'])
    wait_for(lambda: tree(w0, 1)['epoch'])
    tap.same('restart__row_is_as_before', tree(w0, 1), before)
    good, text = train.wait()
    tap.ok('restart__sums_right', good, text)


def tickets():
    tap.same('ticket__of_a_workers_host', trib[w1]('job ticket train rank 1'),
             'trib://10.9.1.1:7417/train?job=1&rank=1&world=2&%s'
             '&shared=1:1:%s:7415,7419\n' % (keys.of_ticket(KEY, 1), PS))
    train.sums('ticket', '-b', '64k', '-e', '64k', '-n', '5',
               job=lambda r: cli_of(r)('job ticket train rank %d' % r).strip())
    train.sums('ticket_of_the_relay', '-b', '64k', '-e', '64k', '-n', '5',
               job=lambda r: trib[a]('job ticket train rank %d' % r).strip())
    bare.sums('ticket', '-b', '64k', '-e', '64k', '-n', '5',
              job=lambda r: trib[bare.hosts[r]](
                  'job ticket bare rank %d' % r).strip())


def held():
    """Adds a generation: new processes get it, running ones go on."""
    trib[w0]('tree add train id 3 local 0 ps %s hop 1:tor held' % PS)
    train.start('-b', '1m', '-e', '1m', '-n', '300')
    wait_for(lambda: tree(w0, 1)['epoch'], 20)
    trib[w0]('tree switch train live 3')
    tap.has('held__old_one_drains', trib[w0]('tree show 1'), 'draining')
    restart(w0)
    wait_for(lambda: tree(w0, 1)['epoch'])
    resumed = daemon[w0].log().count('rank 0 again')
    tap.ok('held__who_resumes_is_in_its_own_tree_only',
           not local(w0, 3, 0)['pid'], tree(w0, 3))
    # Removes the other generation while the job runs.
    trib[w0]('tree switch train live 1')
    trib[w0]('tree del 3')
    time.sleep(0.3)  # as long as a process that is sent away takes to return
    tap.ok('held__that_goes_bothers_nobody_else', local(w0, 1, 0)['pid'] and
           daemon[w0].log().count('rank 0 again') == resumed == 1,
           daemon[w0].log())
    good, text = train.wait()
    tap.ok('held__sums_right', good, text)


def removed():
    """Removes the row: its processes must not hang."""
    train.start('-b', '1m', '-e', '1m', '-n', '100000')
    wait_for(lambda: tree(w0, 1)['epoch'], 20)
    trib[w0]('tree del 1')
    good, text = train.wait(20)
    tap.ok('removed__all_are_told', not good and 'HANGS' not in text, text)
    trib[w0](ROW)


def too_long():
    """Values and bitmap must fit the MTU, at the PS and at the ranks."""
    big = Job('big', 4, [w0] * 193, 9000)
    argv = p.argv(BUILD + '/trib-ps', '--listen', PS + ':7500', '--state',
                  dir_.name + '/big', '--job', big.file())
    q = subprocess.run(argv, text=True, capture_output=True)
    tap.ok('mtu__ps_says_how_many_values_fit', q.returncode == 1 and
           'bitmap of 32 bytes make packets of 1508' in q.stderr and
           'use nval 336 or less' in q.stderr, q.returncode, q.stderr)
    big.hosts = big.hosts[1:]
    big.file()
    q = subprocess.Popen(argv, stderr=subprocess.DEVNULL)
    tap.ok('mtu__a_bitmap_less_and_it_starts', wait_for(
        lambda: ':7500 ' in p.run('ss', '-lun')) and q.poll() is None)
    q.kill()
    q.wait()
    w0.ip('link', 'set', 'eth0', 'mtu', '1400')
    # Not killed: the PS would go on waiting with it for the next ranks.
    os.environ['TRIB_JOIN_TIMEOUT_MS'] = '2000'
    train.start('-b', '64k', '-e', '64k', '-n', '5')
    del os.environ['TRIB_JOIN_TIMEOUT_MS']
    text = train.wait(20)[1]
    w0.ip('link', 'set', 'eth0', 'mtu', '1500')
    tap.has('mtu__rank_says_that_its_network_is_too_narrow', text,
            'does not take packets of 1484 bytes')


def narrow_for_a_while():
    """A router's link takes only short packets for a while. The kernels of the ranks'
    hosts remember its ICMP errors for ten minutes."""
    a.ip('link', 'set', 'vp', 'mtu', '1400')
    os.environ['TRIB_JOIN_TIMEOUT_MS'] = '2000'
    train.start('-b', '64k', '-e', '64k', '-n', '5')
    del os.environ['TRIB_JOIN_TIMEOUT_MS']
    text = train.wait(20)[1]
    a.ip('link', 'set', 'vp', 'mtu', '1500')
    tap.has('narrow__ranks_say_which_packets_get_no_answer', text,
            'answers short packets, but none of 1484 bytes')
    for ns in w0, w1:
        route = ns.run('ip', 'route', 'get', PS)
        tap.ok('narrow__kernels_remember', 'mtu 1400' in route, route)
    train.sums('wide_again', '-b', '4', '-e', '64k', '-f', '16', '-n', '5')
    a.ip('link', 'set', 'v0', 'mtu', '1400')
    p.run('ping', '-c', '1', '-W', '1', '-M', 'do', '-s', '1440', '10.9.0.2',
          ok=False)
    a.ip('link', 'set', 'v0', 'mtu', '1500')
    route = p.run('ip', 'route', 'get', '10.9.0.2')
    tap.ok('narrow__kernel_of_the_ps_remembers', 'mtu 1400' in route, route)
    q = subprocess.Popen(p.argv(
        BUILD + '/trib-ps', '--listen', PS + ':7500', '--state',
        dir_.name + '/wide', '--job', bare.file()), stderr=subprocess.DEVNULL)
    tap.ok('wide_again__another_ps_starts', wait_for(
        lambda: ':7500 ' in p.run('ss', '-lun')) and q.poll() is None)
    q.kill()
    q.wait()


network()
train = Job('train', 1, [w0, w1], 7418)
bare = Job('bare', 2, [w0, w0, w1], 7500, nval=336)
# The PS sets the length of chunks, not a worker's tribd.
daemon = {a: Tribd(a), w0: Tribd(w0), w1: Tribd(w1, '--values', '832')}
trib = {ns: Cli(ns) for ns in (a, w0, w1)}
relay_rows()
worker_rows()
server = TribPs(p, PS, [j.file() for j in (train, bare)], dir_.name)
try:
    rows()
    train.sums('relay', '-b', '4', '-e', '1m', '-f', '16', '-n', '5')
    tap.ok('relay__adds_up', stat(a, 'pool-merged') > 500, trib[a]('stats'))
    bare.sums('no_relay', '-b', '4', '-e', '1m', '-f', '16', '-n', '5')
    tickets()
    restarted()
    told('killed', train, w0, 0, 1)
    told('killed_without_relay', bare, w0, 1, 2)
    killed_after_restart()
    held()
    removed()
    too_long()
    narrow_for_a_while()
    train.sums('after_all', '-b', '64k', '-e', '64k', '-n', '5')
except Exception as e:  # noqa: BLE001 all else would hide what was said
    tap.ok('attach_shared__no_exception', False, repr(e))
server.end()
tap.done()
