# SPDX-License-Identifier: BSD-2-Clause
"""A synchronous parameter server of python-ndn. Says what happens, a line of
JSON each.

	stock_ps.py ROUTER JOB ELEMENTS VERSIONS LEASE_MS SECONDS WORKER...
"""
import asyncio
import sys

from stock_end import (GRADIENT, MODEL, NEWEST, NO_TREE, OFFER, SEGMENT, START,
                       VERSION, StockEnd, decode, enc, encode, name, number,
                       say)

EACH = 200  # values in a segment
INCARNATION = 1


class Server(StockEnd):
    def __init__(self, router, job, elements, versions, lease_ms, seconds,
                 workers):
        super().__init__(router, job, seconds)
        self.elements, self.versions, self.lease_ms = (elements, versions,
                                                       lease_ms)
        self.workers = [name('/' + w) for w in workers]
        self.distribute = name('/distribute') + self.job
        self.model, self.kept, self.v, self.segments = [0.0] * elements, {}, 0, 0
        self.inserted, self.deleted = asyncio.Event(), asyncio.Event()
        self.inserts = self.fetches = 0
        for prefix, handler in ((self.job, self.asked),
                                (self.distribute, self.fetch),
                                (name('/insert') + self.job, self.insert),
                                (name('/delete') + self.job, self.delete)):
            self.app.attach_handler(prefix, handler)

    def asked(self, n, _param, reply, _context):
        rest = n[len(self.job):]
        if rest == [enc.Component.from_bytes(b'newest', 32)]:
            if self.v:
                reply(self.data(n + [enc.Component.from_version(self.v)],
                                encode(NEWEST, self.segments, self.is_last())))
        elif rest in self.workers:
            reply(self.data(n, encode(START, 0, 1, 0, self.elements, 4 * EACH,
                                      self.lease_ms, 50, NO_TREE, self.v)))

    def insert(self, _n, _param, reply, _context):
        self.inserts += 1
        reply(self.data(self.distribute))
        self.inserted.set()

    def delete(self, n, _param, reply, _context):
        reply(self.data(n))
        self.deleted.set()

    def fetch(self, n, _param, reply, _context):
        rest = n[len(self.distribute):]
        if len(rest) == 2 and tuple(map(bytes, rest)) in self.kept:
            self.fetches += 1
            reply(self.kept[tuple(map(bytes, rest))])

    def is_last(self):
        return int(self.v & 0xffffffff == self.versions)

    async def publish(self, n):
        self.v = v = INCARNATION << 32 | n
        parts = [self.model[i:i + EACH] for i in
                 range(0, self.elements, EACH)]
        self.segments = len(parts)
        self.kept = {k: d for k, d in self.kept.items() if
                     enc.Component.to_number(k[0]) >= v - 1}
        for s, values in enumerate(parts):
            rest = [enc.Component.from_version(v),
                    enc.Component.from_segment(s)]
            data = self.data(self.distribute + rest,
                             encode(MODEL, len(parts), self.is_last(),
                                    values=values))
            self.kept[tuple(map(bytes, rest))] = data
            self.app.face.send(data)
            await asyncio.sleep(0.001)

    async def collect(self, worker, v):
        """Collect the gradient of one worker on v."""
        n = worker + self.job + [enc.Component.from_version(v)]
        first = await self.ask(n, 500, 40, can_be_prefix=True)
        count, ident, base, values = decode(GRADIENT, first[1])
        assert number(first[0][-1], SEGMENT) == 0 and base == v
        g = list(values)
        for s in range(1, count):
            more = await self.ask(n + [enc.Component.from_segment(s)], 500, 40)
            c, i, b, values = decode(GRADIENT, more[1])
            assert (c, i, b) == (count, ident, base)
            g += values
        assert len(g) == self.elements
        return g

    async def main(self):
        # The first version is fetched: nobody has subscribed yet.
        await self.publish(0)
        for w in self.workers:
            got = await self.ask(w + self.job, 300, 60, must_be_fresh=True)
            assert decode(OFFER, got[1])[0] == 1
        await self.inserted.wait()
        for n in range(self.versions + 1):
            if n:
                await self.publish(n)
            say('distributed', v=self.v, values=self.model[:64],
                sum=sum(self.model))
            if self.is_last():
                break
            all_of = await asyncio.gather(*[self.collect(w, self.v)
                                            for w in self.workers])
            self.model = [m - sum(g) / len(all_of) for m, *g in
                          zip(self.model, *all_of)]
        try:
            await asyncio.wait_for(self.deleted.wait(), 10)
        finally:
            say('ended', inserts=self.inserts, fetches=self.fetches,
                deleted=self.deleted.is_set())
        # Keep running, so that the last version can be fetched.


if __name__ == '__main__':
    Server(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]),
           float(sys.argv[6]), sys.argv[7:]).run()
