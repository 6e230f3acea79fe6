# SPDX-License-Identifier: BSD-2-Clause
"""Shared by stock_worker.py and stock_ps.py: unmodified python-ndn, one UDP
face, and the contents of userspace/ndn/app/content.h, written from that page
alone. Run by tests/ndn/python."""
import asyncio
import json
import struct
import time
from array import array

from ndn import encoding as enc
from ndn import security as sec
from ndn import types
from ndn.appv2 import NDNApp, ValidResult
from ndn.security.validator.digest_validator import sha256_digest_checker
from ndn.transport.udp_face import UdpFace

OFFER, START, NEWEST, GRADIENT, MODEL = 1, 2, 3, 4, 5
HEAD = struct.Struct('>HBB')
FORMATS = {OFFER: struct.Struct('>B3x'), START: struct.Struct('>BBHQIIIIQ'),
           NEWEST: struct.Struct('>IB3x'), GRADIENT: struct.Struct('>IQQ'),
           MODEL: struct.Struct('>IB3x')}
NO_TREE = 0xffffffff
VERSION, SEGMENT = enc.Component.TYPE_VERSION, enc.Component.TYPE_SEGMENT
name = enc.Name.from_str


def say(what, **words):
    print(json.dumps({'what': what, **words}), flush=True)


def encode(kind, *fields, values=None):
    return HEAD.pack(0x544e, 1, kind) + FORMATS[kind].pack(*fields) + \
        (array('f', values).tobytes() if values is not None else b'')


def decode(kind, content):
    """(fields..., values)"""
    content = bytes(content)
    assert HEAD.unpack_from(content) == (0x544e, 1, kind), content[:8]
    f = FORMATS[kind]
    return f.unpack_from(content, 4) + (array('f', content[4 + f.size:]),)


def number(component, kind):
    """The number in a version or segment component, or None."""
    return enc.Component.to_number(component) if \
        enc.Component.get_type(component) == kind else None


async def digest_is_right(data_name, sig, _context):
    right = sig.signature_info.signature_type == 0 and \
        await sha256_digest_checker(data_name, sig)
    return ValidResult.PASS if right else ValidResult.FAIL


async def anything(_name, _sig, _context):
    """Accept Data without signature, as routers send."""
    return ValidResult.PASS


class StockEnd:
    """@job: P as text. @seconds: time limit of the program."""

    def __init__(self, router, job, seconds):
        self.app = NDNApp(face=UdpFace(router, 6363))
        self.job, self.seconds = name(job), seconds
        self.signer = sec.DigestSha256Signer()
        self.tasks = set()
        self.over = asyncio.Event()

    def start(self, coroutine):
        t = asyncio.ensure_future(coroutine)
        self.tasks.add(t)

        def ended(t):
            self.tasks.discard(t)
            if not t.cancelled() and t.exception():
                say('error', text=repr(t.exception()))
                self.over.set()
        t.add_done_callback(ended)
        return t

    async def ask(self, n, lifetime=1000, tries=1, validator=digest_is_right,
                  **param):
        """(name, content), or None."""
        for _ in range(tries):
            try:
                got, content, _ctx = await self.app.express(
                    n, validator, lifetime=lifetime, **param)
                return got, bytes(content or b'')
            except types.InterestTimeout:
                pass
            except types.ValidationFailure:
                say('unsigned', name=enc.Name.to_str(n))
            except types.InterestCanceled:
                raise asyncio.CancelledError from None
        return None

    def data(self, n, content=b''):
        return self.app.make_data(n, content, self.signer)

    def tell(self, n, content=b''):
        """Send Data without an Interest."""
        self.app.face.send(self.data(n, content))

    async def main(self):
        raise NotImplementedError

    def run(self):
        async def body():
            say('runs')
            self.start(self.main())
            try:
                await asyncio.wait_for(self.over.wait(), self.seconds)
            except asyncio.TimeoutError:
                say('timeout')
            rest = list(self.tasks)
            for t in rest:
                t.cancel()
            await asyncio.gather(*rest, return_exceptions=True)
            self.app.shutdown()
        self.app.run_forever(after_start=body())


def now():
    return time.monotonic()
