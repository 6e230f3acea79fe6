# SPDX-License-Identifier: BSD-2-Clause
"""A worker of python-ndn, by the documented way for stock clients: it waits by
/distribute/P with CanBePrefix, only then subscribes, waits again after every
Data, and fetches by exact names what came in between. Says what happens, a line
of JSON each.

	stock_worker.py ROUTER NAME JOB RANK SECONDS [late]

late: it neither accepts an offer nor subscribes; it asks for the newest version
that there is, and fetches that.
"""
import asyncio
import random
import sys

from ndn_worker import gradient
from stock_end import (GRADIENT, MODEL, NEWEST, OFFER, SEGMENT, START, VERSION,
                       StockEnd, anything, decode, enc, encode, name, now, number, say)

LONG = 60000


class Worker(StockEnd):
    def __init__(self, router, gpu, job, rank, seconds):
        super().__init__(router, job, seconds)
        self.rank, self.mine = rank, 0
        self.gpu = name('/' + gpu)
        self.distribute = name('/distribute') + self.job
        self.parts, self.answers, self.held = {}, {}, {}
        self.acked = asyncio.Event()
        self.joined = self.waits = False
        self.came = self.fetched = self.caught = 0
        self.heard = now()
        self.app.attach_handler(self.gpu + self.job, self.asked)

    # --- Interests of the PS

    def asked(self, n, _param, reply, context):
        rest = n[len(self.gpu) + len(self.job):]
        if not rest:
            reply(self.data(n, encode(OFFER, 1)))
            if not self.joined:
                self.joined = True
                self.start(self.join())
            return
        v = number(rest[0], VERSION)
        s = number(rest[1], SEGMENT) if len(rest) > 1 else 0
        if v in self.answers:
            self.answer(v, s, reply)
        elif v is not None and v >= self.mine:
            self.held.setdefault(v, []).append((s, reply))

    def answer(self, v, s, reply):
        parts = self.answers[v]
        if s is not None and s < len(parts):
            reply(self.data(self.gpu + self.job + [
                enc.Component.from_version(v), enc.Component.from_segment(s)],
                encode(GRADIENT, len(parts), v ^ self.rank, v,
                       values=parts[s])))

    # --- subscription

    async def join(self):
        got = await self.ask(self.job + self.gpu, tries=20, must_be_fresh=True,
                             lifetime=300)
        (_mode, _dtype, _, self.elements, segment, lease_ms, _rto, tree,
         _newest, _) = decode(START, got[1])
        self.each, self.lease = segment // 4, lease_ms / 1000
        assert tree == 0xffffffff
        self.start(self.listen())
        while not self.waits:
            await asyncio.sleep(0)
        self.start(self.renew())
        await self.acked.wait()
        say('subscribed', elements=self.elements)
        await self.newest()
        self.start(self.probe())

    async def listen(self):
        """The Interest is always there, but for the time that python-ndn needs
        to come back here."""
        while True:
            waiting = self.ask(self.distribute, LONG, can_be_prefix=True)
            self.waits = True
            got = await waiting
            if got:
                self.arrived(*got)

    async def renew(self):
        while True:
            self.acked.clear()
            try:  # nobody answers that name
                self.app.express(name('/insert') + self.job, None,
                                 lifetime=1000, no_response=True)
                await asyncio.wait_for(self.acked.wait(), self.lease / 16)
                await asyncio.sleep(self.lease * random.uniform(.2, .25))
            except asyncio.TimeoutError:
                pass

    def arrived(self, n, content):
        rest = n[len(self.distribute):]
        self.heard = now()
        if not rest:
            self.acked.set()
            return
        self.came += 1
        self.segment(number(rest[0], VERSION), number(rest[1], SEGMENT),
                     content)

    # --- versions

    def segment(self, v, s, content):
        if v <= self.mine:
            return
        count, last, values = decode(MODEL, content)
        if not self.parts or v > max(self.parts):
            self.parts = {v: {}}
            self.start(self.fetch_rest(v, count))
        if v not in self.parts:
            return
        self.parts[v].setdefault(s, values)
        if len(self.parts[v]) == count:
            self.have(v, last)

    async def fetch_rest(self, v, count):
        """Fetch by exact names the Data that python-ndn ignored."""
        await asyncio.sleep(0.1)
        while v in self.parts and v > self.mine:
            for s in range(count):
                if v not in self.parts or s in self.parts[v]:
                    continue
                got = await self.ask(self.distribute + [
                    enc.Component.from_version(v),
                    enc.Component.from_segment(s)], lifetime=200)
                if got:
                    self.fetched += 1
                    self.segment(v, s, got[1])

    def have(self, v, last):
        m = [x for s in sorted(self.parts[v]) for x in self.parts[v][s]]
        self.mine, self.parts = v, {}
        say('model', v=v, last=last, sum=sum(m), values=m[:64],
            size=len(m), came=self.came, fetched=self.fetched)
        if last:
            self.start(self.leave())
            return
        g = gradient(self.rank, v & 0xffffffff, len(m))
        self.answers = {v: [g[i:i + self.each] for i in
                            range(0, len(g), self.each)]}
        for s, reply in self.held.pop(v, []):
            self.answer(v, s, reply)
        self.held = {k: q for k, q in self.held.items() if k > v}

    async def newest(self):
        got = await self.ask(self.job + [enc.Component.from_bytes(
            b'newest', 32)], tries=5, lifetime=300, can_be_prefix=True,
            must_be_fresh=True)
        if got:
            v = number(got[0][-1], VERSION)
            count, _last, _ = decode(NEWEST, got[1])
            if v > self.mine and v not in self.parts:
                self.parts = {v: {}}
                await self.fetch_rest(v, count)

    async def probe(self):
        while True:
            await asyncio.sleep(self.lease / 4)
            if now() - self.heard > self.lease / 2:
                await self.newest()

    async def leave(self):
        got = await self.ask(name('/delete') + self.job, tries=6, lifetime=500,
                             validator=anything)
        say('left', acknowledged=bool(got), came=self.came,
            fetched=self.fetched)
        self.over.set()

    async def main(self):
        if 'late' in sys.argv:
            self.leave = lambda: asyncio.sleep(0)
            await self.newest()
            self.over.set()


if __name__ == '__main__':
    Worker(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]),
           float(sys.argv[5])).run()
