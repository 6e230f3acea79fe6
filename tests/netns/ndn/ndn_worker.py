# SPDX-License-Identifier: BSD-2-Clause
"""A worker of a parameter server by libtrib, whose gradients are integers that
anybody can recompute. The argument is JSON: name, forwarder, job, key, rank;
`slow`: seconds of a step; `leave`: after so many versions; `tree`: ticket of the
aggregation job; `wrong`: by it a gradient of another version is given when so
many models were seen. What happens is said
as JSON, one line each:

	{"what": "model", "v": VERSION, "last": 0, "sum": SUM, "first": m[0]}
"""
import ctypes
import json
import os
import sys
import time
from array import array

BUILD = os.environ.get('TRIB_BUILD', 'build')


class Options(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t)] + [
        (n, ctypes.c_char_p) for n in ('name', 'forwarder', 'bind', 'job',
                                       'key', 'own_key')] + [
        ('rto_ms', ctypes.c_uint)] + [
        (n, ctypes.c_char_p) for n in ('insert', 'distribute', 'delete_', 'tree')]


class Task(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('job', ctypes.c_char * 1024),
                ('count', ctypes.c_size_t), ('is_async', ctypes.c_int)]


class Version(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('version', ctypes.c_uint64),
                ('last', ctypes.c_int)]


COUNTERS = ('sent_packets', 'sent_bytes', 'recv_packets', 'recv_bytes',
            'versions', 'skipped', 'gradients', 'segments', 'again', 'fetches',
            'probes', 'offers', 'busy', 'bad_packets', 'bad_signatures',
            'bad_content', 'rtt_us')


class Counters(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t)] + [(n, ctypes.c_uint64)
                                              for n in COUNTERS]


def gradient(rank, n, count):
    """The gradient on version number n (without incarnation); small values."""
    return [float((rank + 1) * 3 + (i + n) % 7) for i in range(count)]


def model(ranks, n, count):
    """Version n of a model that began with zeros and that all of @ranks gave
    their gradients for; lr is 1, a mean of 1, 2 or 4 is exact."""
    m = [0.0] * count
    for k in range(n):
        for r in ranks:
            m = [x - g / len(ranks) for x, g in zip(m, gradient(r, k, count))]
    return m


def say(what, **words):
    print(json.dumps({'what': what, 't': round(time.monotonic(), 2), **words}),
          flush=True)


class TribOptions(ctypes.Structure):
    _fields_ = [('size', ctypes.c_size_t), ('job', ctypes.c_char_p)] + [
        (n, ctypes.c_uint) for n in ('rank', 'transport', 'join_timeout_ms',
                                     'timeout_ms', 'spin_us')]


def guard(name, version):
    """The guard of a round, as in userspace/lib/ndn: job and version."""
    h = 2166136261
    for c in name.strip('/').split('/'):
        for b in bytes([8, len(c)]) + c.encode():
            h = (h ^ b) * 16777619 & 0xffffffff
    words = [h, version >> 32, version & 0xffffffff]
    return [x - (x >> 31 << 32) for w in words for x in (w, ~w & 0xffffffff)]


def give_wrong(lib, ticket, name, version, count):
    """Take part in a round with a gradient on another version, then leave."""
    o = TribOptions(size=ctypes.sizeof(TribOptions), job=ticket.encode())
    t = ctypes.c_void_p()
    g = (ctypes.c_int32 * 6)(*guard(name, version + 1))
    v = (ctypes.c_float * count)(*[1000.0] * count)
    rc = lib.trib_attach(ctypes.byref(t), ctypes.byref(o))
    if not rc:
        rc = lib.trib_allreduce(t, g, g, ctypes.c_size_t(6), 1, 2) or \
            lib.trib_allreduce(t, v, v, ctypes.c_size_t(count), 0, 0)
        lib.trib_detach(t)
    seen = [max(a, b) for a, b in zip(guard(name, version),
                                      guard(name, version + 1))]
    say('wrong', rc=rc, both=list(g) == seen)


def main():
    a = json.loads(sys.argv[1])
    lib = ctypes.CDLL(BUILD + '/libtrib.so', use_errno=True)
    lib.trib_ps_error_text.restype = ctypes.c_char_p
    o = Options(size=ctypes.sizeof(Options), rto_ms=a.get('rto', 50))
    for k in 'name', 'forwarder', 'job', 'key', 'own_key', 'tree':
        if k in a:
            setattr(o, k, a[k].encode())
    p, task = ctypes.c_void_p(), Task(size=ctypes.sizeof(Task))
    v = Version(size=ctypes.sizeof(Version))
    c = Counters(size=ctypes.sizeof(Counters))

    def count():
        lib.trib_ps_counters(p, ctypes.byref(c))
        return {n: getattr(c, n) for n in COUNTERS if getattr(c, n)}

    if lib.trib_ps_open(ctypes.byref(p), ctypes.byref(o)):
        sys.exit(lib.trib_ps_error_text(None).decode())
    while lib.trib_ps_join(p, ctypes.byref(task), 500):
        say('waits', **count())
    say('joined', job=task.job.decode(), count=task.count)
    m = (ctypes.c_float * task.count)()
    g = (ctypes.c_float * task.count)()
    seen = 0
    while True:
        err = lib.trib_ps_model(p, m, ctypes.c_size_t(task.count),
                                ctypes.byref(v), 500)
        if err == -110:
            say('waits', **count())
            continue
        if err:
            say('ends', err=err, text=lib.trib_ps_error_text(p).decode())
            break
        values = array('f', bytes(m))
        say('model', v=v.version, last=v.last, sum=sum(values),
            values=list(values[:a.get('show', 64)]))
        seen += 1
        if v.last or seen == a.get('leave'):
            break
        time.sleep(a.get('slow', 0))
        if a.get('wrong') == seen:
            give_wrong(lib, a['tree'], task.job.decode(), v.version,
                       task.count)
        g[:] = gradient(a['rank'], v.version & 0xffffffff, task.count)
        err = lib.trib_ps_gradient(p, ctypes.c_uint64(v.version), g,
                                   ctypes.c_size_t(task.count))
        say('gave', v=v.version, err=err,
            text=lib.trib_ps_error_text(p).decode() if err else '')
    if not a.get('die'):
        lib.trib_ps_close(p)
    say('done', **count())


if __name__ == '__main__':
    main()
