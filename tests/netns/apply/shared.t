#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Jobs on shared pools from `trib plan` to sums: relays a, b and d, workers with
tribd, and a trib-ps that reads jobs from its folder, behind the tribd of its host.

    w0 w1 -- a --+
                 +-- d --- p: trib-ps
    w2 w3 -- b --+
"""
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
from tribd import *  # noqa: E402,F403

need()
if not os.access(BUILD + '/trib-ps', os.X_OK):
    print('Bail out! no trib-ps: make')
    sys.exit(1)
tap = Tap()
tmp = tempfile.TemporaryDirectory()
hosts = {n: Netns(n) for n in ('a', 'b', 'd', 'p', 'w0', 'w1', 'w2', 'w3')}
via = 'nsenter --net=/run/netns/%s{} --' % hosts['a'].name[:-1]
jobs_dir = '/run/trib/ps/net-%d' % hosts['p'].inode()
atexit.register(shutil.rmtree, jobs_dir, True)
links = []


def join(up, dev_up, low, dev_low, subnet):
    """Makes a link. The upper end has .1, the lower .2; both accept packets from
    XDP."""
    net = '10.9.%d.' % subnet
    veth(hosts[up], dev_up, net + '1/24', hosts[low], dev_low, net + '2/24')
    for n, dev in ((up, dev_up), (low, dev_low)):
        hosts[n].run('ethtool', '-K', dev, 'gro', 'on')
    links.append({'a': up, 'a_dev': dev_up, 'a_addr': net + '1',
                  'b': low, 'b_dev': dev_low, 'b_addr': net + '2'})


def network():
    for i in range(4):
        join('ab'[i // 2], 'v%d' % i, 'w%d' % i, 'eth0', i)
        hosts['w%d' % i].ip('route', 'add', 'default', 'via', '10.9.%d.1' % i)
    join('d', 'va', 'a', 'core', 10)
    join('d', 'vb', 'b', 'core', 11)
    join('d', 'vp', 'p', 'eth0', 12)
    for n, up in (('a', 10), ('b', 11), ('p', 12)):
        hosts[n].ip('route', 'add', 'default', 'via', '10.9.%d.1' % up)
    for i in range(4):
        hosts['d'].ip('route', 'add', '10.9.%d.0/24' % i, 'via',
                      '10.9.%d.2' % (10 + i // 2))
    for n in 'abd':
        hosts[n].run('sysctl', '-qw', 'net.ipv4.ip_forward=1')


def path(name):
    return os.path.join(tmp.name, name)


def plan(name, relays, **more):
    """Makes the plan NAME."""
    job = {'name': 'train', 'workers': ['w0', 'w1', 'w2', 'w3'], 'ps': 'p',
           'mode': 'shared', 'max_relays': len(relays), 'window': 64, **more}
    if relays:
        job['relays'] = relays
    with open(path('jobs'), 'w') as f:
        json.dump({'jobs': [job]}, f)
    with open(path('topo'), 'w') as f:
        json.dump({'switches': ['a', 'b', 'd'],
                   'hosts': ['p', 'w0', 'w1', 'w2', 'w3'],
                   'links': links, 'capacity': '1G'}, f)
    run(BUILD + '/trib', 'plan', path('topo'), path('jobs'), '-o', path(name))
    with open(path(name)) as f:
        return json.load(f)


def apply(name, *args):
    """(exit status, output)"""
    p = subprocess.run([BUILD + '/trib', 'apply', path(name), '--via', via,
                        *args], text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT,
                       env=dict(os.environ, PATH=os.path.realpath(BUILD) +
                                ':' + os.environ['PATH']))
    return p.returncode, p.stdout


def world():
    """The configuration of all hosts, without values that change by themselves."""
    out = {}
    for n, cli in tribs.items():
        out[n] = [cli.json(w + ' show') for w in ('face', 'job', 'tree')]
        for t in out[n][2]:
            t.pop('epoch', None)
            t.pop('samples', None)
            for c in t.get('children', []) + t.get('local', []):
                for k in ('samples', 'lag_ns', 'last', 'chunk', 'seen_ms',
                          'pid'):
                    c.pop(k, None)
        for f in out[n][0]:
            f.pop('mac', None)
    out['files'] = {n: open(os.path.join(jobs_dir, n)).read()
                for n in os.listdir(jobs_dir) if n.endswith('.json')}
    return json.dumps(out, sort_keys=True)


class Server:
    def __init__(self):
        self.log = open(path('ps.log'), 'a')
        self.proc = subprocess.Popen(
            hosts['p'].argv(BUILD + '/trib-ps', '--listen', '0.0.0.0',
                            '--stats', path('stats'), '--interval', '50'),
            stdout=self.log, stderr=self.log)
        atexit.register(self.end)
        wait_for(lambda: os.path.exists(jobs_dir + '/.status'))

    def end(self):
        self.proc.kill()
        self.proc.wait()

    def said(self):
        with open(path('ps.log')) as f:
            return f.read()

    def trees(self):
        """{number of a tree: its counters}"""
        time.sleep(0.15)  # its counters' interval
        with open(path('stats')) as f:
            return {t['tree']: t for t in json.load(f)['trees']}


def start(*args):
    out = []
    for r in range(4):
        env = dict(os.environ, TRIB_JOB='train', RANK=str(r), TRIB_RANK=str(r),
                   TRIB_WORLD='4', WORLD_SIZE='4')
        out.append(subprocess.Popen(
            hosts['w%d' % r].argv(BUILD + '/trib-perf', '-w', '0', '-c', '2',
                                  *args), env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    return out


def sums(name):
    good, text = finish(start('-b', '64k', '-e', '64k', '-n', '10'))
    tap.ok(name, good, text, server.said())


def merged(n):
    return next((s['value'] for s in tribs[n].json('stats')
                 if s['name'] == 'pool-merged'), 0)


def change(name, to, fn):
    """Writes the plan NAME, changed, as TO."""
    with open(path(name)) as f:
        p = json.load(f)
    fn({h['host']: h for h in p['hosts']})
    with open(path(to), 'w') as f:
        json.dump(p, f)


def refused(name, want):
    before = world()
    rc, text = apply('bad')
    tap.ok(name, rc and want in text, rc, text, want)
    after = world()
    tap.ok(name + '__changes_nothing', before == after, before, after)


def refusals():
    def set_face(h):
        h['a']['shared'][0]['children'][0]['face'] = 'w9'
    change('one', 'bad', set_face)
    refused('face__unknown_is_refused', 'a: tree 1: child 0: no face "w9"')

    def crowd(h):
        c = h['a']['shared'][0]['children']
        c += [dict(c[0], rank=i) for i in range(4, 70)]
    change('one', 'bad', crowd)
    refused('children__too_many_are_refused', 'but a bitmap holds 64')

    def world_of(h):
        h['p']['shared'][0]['workers'] *= 300
    change('one', 'bad', world_of)
    refused('workers__too_many_are_refused',
            '1200 of them, but a bitmap holds 1 to 1024')

    def number(h):
        h['b']['shared'][0]['relay'] = h['a']['shared'][0]['relay']
    change('one', 'bad', number)
    refused('relays__with_one_number_are_refused', 'their pools overlap')

    def port(h):
        h['p']['shared'][0]['listen'] = '0.0.0.0:7500'
    change('one', 'bad', port)
    refused('ps__at_another_port_is_refused',
            'p: job train: trib-ps listens on 0.0.0.0:7415')

    def group(h):
        h['p']['shared'][0]['trees'][0]['group'] = ['224.0.0.1']
    change('one', 'bad', group)
    refused('ps__what_it_refuses_is_undone_everywhere', 'is not the address')

    def rank(h):
        h['d']['shared'][0]['workers'] = '0-9'
    change('one', 'bad', rank)
    refused('relay__what_it_refuses_is_undone_at_the_ps', 'ranks 0 to 3')


def generations():
    """Another plan while a job runs: the job goes on; new processes get the new
    plan."""
    plan('two', ['d'], ps_relay=False)
    procs = start('-b', '64k', '-e', '64k', '-n', '100000')
    running = wait_for(lambda: any(t['running'] for t in
                                   server.trees().values()), 20)
    tap.ok('next__a_job_runs', running, server.said())
    old = set(server.trees())
    rc, text = apply('two', '--diff')
    tap.ok('next__diff_shows_relays', rc == 0 and
           '+ d tree' in text and '+ p ps tree' in text and
           '- a tree' in text, text)
    rc, text = apply('two')
    tap.ok('next__old_trees_go_on', rc == 0 and 'former trees go on' in text,
           rc, text)
    now = server.trees()
    tap.ok('next__ps_serves_both_generations', old < set(now), old, now)
    done = {t: now[t]['done'] for t in old}
    later = wait_for(lambda: all(server.trees()[t]['done'] > done[t] + 100
                                 for t in old))
    tap.ok('next__chunks_in_flight_go_on', later, done, server.trees())
    tap.ok('next__workers_see_no_error',
           all(q.poll() is None for q in procs), server.said())
    for q in procs:
        q.kill()
    finish(procs)
    sums('next__new_workers_sum')
    now = server.trees()
    tap.ok('next__by_the_new_trees', all(now[t]['done'] for t in now
                                         if t not in old), now)
    rc, text = wait_for(lambda: (lambda r: r if 'go on' not in r[1] else None)(
        apply('two')), 20) or (1, 'former trees stay')
    tap.ok('next__then_the_old_ones_go', rc == 0, text)
    tap.ok('next__ps_has_forgotten_them', not old & set(server.trees()),
           server.trees())
    tap.ok('next__former_relays_have_no_tree',
           not tribs['a'].json('tree show') and
           not tribs['p'].json('tree show'), tribs['a']('tree show'))
    sums('next__still_sums')


def bad_files():
    """Overwrites the file of a running job by hand."""
    name = jobs_dir + '/train.json'
    with open(name) as f:
        good = f.read()
    doc = json.loads(good)
    trees = set(server.trees())
    for what, text, why in (
            ('no_json', '{', 'not JSON'),
            ('another_window', json.dumps(dict(doc, window=128)),
             'window: a job keeps it for life'),
            ('another_group', json.dumps(dict(doc, trees=[
                dict(doc['trees'][0], group=['10.9.10.1'])])),
             'group: a tree keeps it for life'),
            ('unknown_field', json.dumps(dict(doc, mood='bad')), 'mood')):
        with open(path('next'), 'w') as f:
            f.write(text)
        shutil.copy(path('next'), jobs_dir + '/.next')
        os.rename(jobs_dir + '/.next', name)

        def said():
            with open(jobs_dir + '/.status') as f:
                return why in json.load(f)['files']['train.json']['error']
        tap.ok('file__%s_is_refused' % what, wait_for(said), server.said())
        tap.ok('file__%s_changes_nothing' % what,
               set(server.trees()) == trees, server.trees())
    sums('file__what_ran_goes_on')
    with open(name, 'w') as f:
        f.write(good)
    os.rename(name, jobs_dir + '/.gone')
    tap.ok('file__that_goes_takes_its_job_along',
           wait_for(lambda: not server.trees()), server.said())
    os.rename(jobs_dir + '/.gone', name)
    tap.ok('file__that_comes_brings_it_back',
           wait_for(lambda: set(server.trees()) == trees), server.said())


network()
for n, ns in hosts.items():
    use_instance('net-%d' % ns.inode())
daemons = {n: Tribd(ns) for n, ns in hosts.items()}
tribs = {n: Cli(hosts[n]) for n in daemons}
try:
    plan('one', ['a', 'b', 'd'])
    rc, text = apply('one')
    tap.ok('ps__must_be_there', rc and
           'p: job train: no trib-ps has its jobs from ' + jobs_dir in text,
           rc, text)
    server = Server()
    rc, text = apply('one', '--diff')
    tap.ok('diff__shows_rows', rc == 0 and '+ p ps job train world 4' in text
           and '+ w0 tree 1 of train local 0:7418 ps 10.9.12.2:7415 hop ' in
           text and 'relay' in text, text)
    refusals()
    rc, text = apply('one')
    tap.ok('apply__all_roles', rc == 0, text, server.said())
    rc, text = apply('one', '--diff')
    tap.ok('apply__again_shows_no_difference', rc == 0 and text == '', text)
    before = {n: merged(n) for n in 'abdp'}
    sums('apply__sums')
    tap.ok('apply__relays_add_up', any(merged(n) > before[n] for n in 'abd'),
           before)
    chunks = [(t['done'], t['partial'], t['grad'])
              for t in server.trees().values()]
    tap.ok('apply__the_host_of_the_ps_adds_up', merged('p') > before['p'] and
           all(p >= d * 9 // 10 and g < d * 12 // 10 for d, p, g in chunks),
           chunks)
    generations()
    plan('none', [])
    rc, text = apply('none')
    tap.ok('no_relays__apply', rc == 0, text)
    sums('no_relays__sums')
    # After a restart it serves the jobs of the folder.
    server.end()
    server = Server()
    sums('restart__ps_has_its_jobs')
    rc, text = apply('none')
    tap.ok('restart__nothing_to_do', rc == 0 and 'nothing to do' in text, text)
    bad_files()
except Exception as e:  # noqa: BLE001 all else would hide what was said
    import traceback
    tap.ok('apply_shared__no_exception', False, traceback.format_exc())
tap.done()
