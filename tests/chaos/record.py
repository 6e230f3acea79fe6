# SPDX-License-Identifier: BSD-2-Clause
"""The record of runs: record.json, a line for each seed, and its sums in README.md.
All runs are of one commit: the first run of another one begins the record anew.

    tests/chaos/record.py           check: exit status 1 if README.md differs
    tests/chaos/record.py --write   write it
"""
import collections
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
RECORD = HERE + '/record.json'
PAGE = HERE + '/README.md'
BEGIN = '<!-- record: begin (tests/chaos/record.py --write) -->\n'
END = '<!-- record: end -->\n'
OURS = ('tests/chaos/record.json', 'tests/chaos/README.md')
NUMBERS = ('sums_i32', 'sums_f32', 'models', 'joinings', 'wrong', 'hangs', 'seconds')


def git(*argv):
    return subprocess.run(
        ['git', '-c', 'safe.directory=*', *argv], cwd=HERE, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout


def commit():
    """Of the sources; with a + if they were changed since."""
    other = [x for x in git('status', '--porcelain').splitlines()
             if x[3:] not in OURS and not x.startswith('??')]
    return git('rev-parse', '--short=12', 'HEAD').strip() + '+' * bool(other)


def read():
    if not os.path.exists(RECORD):
        return {'commit': '', 'kernel': '', 'runs': []}
    with open(RECORD, encoding='utf-8') as f:
        return json.load(f)


def add(result):
    """Takes in the result of one run."""
    r, now = read(), commit()
    if (r['commit'], r['kernel']) != (now, os.uname().release):
        r = {'commit': now, 'kernel': os.uname().release, 'runs': []}
    row = {k: v for k, v in result.items() if k != 'texts'}
    runs = [x for x in r['runs'] if x['seed'] != row['seed']] + [row]
    runs.sort(key=lambda x: x['seed'])
    with open(RECORD + '.tmp', 'w', encoding='utf-8') as f:
        f.write('{"commit": "%s", "kernel": "%s", "runs": [\n%s\n]}\n' % (
            r['commit'], r['kernel'], ',\n'.join(json.dumps(x) for x in runs)))
    os.replace(RECORD + '.tmp', RECORD)
    check(write=True)


def total(runs):
    """The sum of results."""
    t = {k: sum(x[k] for x in runs) for k in NUMBERS}
    for k in ('faults', 'errors', 'failures'):
        t[k] = sum((collections.Counter(x[k]) for x in runs), collections.Counter())
    t['seeds'] = len(runs)
    t['failed'] = sorted(x['seed'] for x in runs if x['failures'])
    return t


def listed(counts, none='none'):
    return ', '.join('%s %s' % (k, format(n, ','))
                     for k, n in sorted(counts.items())) or none


def rows(t):
    """What a total says: [(name, text)]."""
    return [
        ('seeds', '%d, %d minutes' % (t['seeds'], t['seconds'] / 60)),
        ('faults', '{:,}'.format(sum(t['faults'].values()))),
        ('by kind', listed(t['faults'])),
        ('sums checked', '{:,} of integers, {:,} of floats, {:,} models'.format(
            t['sums_i32'], t['sums_f32'], t['models'])),
        ('wrong sums', str(t['wrong'])),
        ('hangs', str(t['hangs'])),
        ('other failures', listed({k: n for k, n in t['failures'].items() if k not in (
            'wrong sum', 'hang')}, '0')),
        ('joinings', '{:,}'.format(t['joinings'])),
        ('calls that ended by an error', listed(t['errors'])),
    ]


def table():
    r = read()
    lines = ['| commit | %s, Linux %s |\n' % (r['commit'] or 'none', r['kernel']),
             '| --- | --- |\n']
    if r['runs']:
        lines += ['| %s | %s |\n' % x for x in rows(total(r['runs']))]
    return ''.join(lines)


def check(write=False):
    """(whether README.md has the table, a note)."""
    with open(PAGE, encoding='utf-8') as f:
        page = f.read()
    head, rest = page.split(BEGIN)
    old, tail = rest.split(END)
    new = table()
    if write and new != old:
        with open(PAGE, 'w', encoding='utf-8') as f:
            f.write(head + BEGIN + new + END + tail)
    return new == old, 'differs: run tests/chaos/record.py --write'


if __name__ == '__main__':
    good, note = check(sys.argv[1:] == ['--write'])
    if not good and sys.argv[1:] != ['--write']:
        sys.exit(note)
