# SPDX-License-Identifier: BSD-2-Clause
"""A worker for bench_ndn.py: adds nothing, prints when it has a model. The argument is
JSON: name, forwarder, job."""
import ctypes
import json
import os
import sys
import time
import zlib

NETNS = os.path.realpath(os.path.dirname(__file__) + "/../../netns")
sys.path.insert(0, NETNS + "/ndn")
# pylint: disable=wrong-import-position
from ndn_worker import (BUILD, Counters, Options, Task,  # noqa: E402
                         Version, say)


def main():
    args = json.loads(sys.argv[1])
    lib = ctypes.CDLL(BUILD + "/libtrib.so")
    lib.trib_ps_error_text.restype = ctypes.c_char_p
    o = Options(size=ctypes.sizeof(Options),
                **{k: args[k].encode() for k in ("name", "forwarder", "job")})
    p, task = ctypes.c_void_p(), Task(size=ctypes.sizeof(Task))
    c = Counters(size=ctypes.sizeof(Counters))
    v = Version(size=ctypes.sizeof(Version))
    if lib.trib_ps_open(ctypes.byref(p), ctypes.byref(o)) or \
            lib.trib_ps_join(p, ctypes.byref(task), -1):
        sys.exit(lib.trib_ps_error_text(p).decode())
    count = ctypes.c_size_t(task.count)
    model = (ctypes.c_float * task.count)()
    zeros = (ctypes.c_float * task.count)()
    while not v.last:
        if lib.trib_ps_model(p, model, count, ctypes.byref(v), -1):
            sys.exit(lib.trib_ps_error_text(p).decode())
        say("model", n=v.version & 0xffffffff, at=time.monotonic())
        if not v.last:
            lib.trib_ps_gradient(p, ctypes.c_uint64(v.version), zeros, count)
    lib.trib_ps_counters(p, ctypes.byref(c))
    lib.trib_ps_close(p)
    # Not before: others may still be waiting for theirs.
    say("done", crc=zlib.crc32(model), fetches=c.fetches, probes=c.probes)


if __name__ == "__main__":
    main()
