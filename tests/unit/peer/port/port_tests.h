/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests that every kind of port passes; each program that includes it counts its own. */
#ifndef PORT_TESTS_H
#define PORT_TESTS_H

#include "tests/unit/peer/port/port_pair.h"

/* Check and give back all that came at one link. */
static bool take(uint32_t rank, uint32_t peer)
{
	uint32_t link = rig_link(rig, rank, peer);
	uint64_t *in = &rig->in[rank][peer];
	struct peer_chunk c;
	size_t i;

	while (rig->ops->next(rig->p[rank], link, &c)) {
		if (!expect(c.data != NULL) || !expect(c.len <= rig->chunk))
			return false;
		for (i = 0; i < c.len; i++)
			if (((const uint8_t *)c.data)[i] != rig_byte(peer, rank, *in + i))
				return expect(!"a byte is another");
		*in += c.len;
		rig->ops->done(rig->p[rank], link);
	}
	return true;
}

/* Send a chunk of random length to each peer that has credits, up to @total bytes. */
static bool give(uint32_t rank, uint32_t peer, struct peer_mem *m, uint64_t total)
{
	uint64_t *out = &rig->out[rank][peer];
	size_t len = rig_random(rig) % 3 ? rig->chunk : rig_random(rig) % (rig->chunk + 1), i;
	uint8_t *at;

	if (*out == total || rig->ops->unsent(rig->p[rank]) > 8)
		return true;
	if (len > total - *out)
		len = total - *out;
	at = area[rank] + (*out / rig->chunk * 2 * rig->chunk) % (AREA - rig->chunk);
	at = area[rank] + (at - area[rank]) / 64 * 64;
	/* The source is busy until it was sent. */
	while (rig->ops->unsent(rig->p[rank]))
		if (rig_poll(rig))
			return expect(!"poll");
	for (i = 0; i < len; i++)
		at[i] = rig_byte(rank, peer, *out + i);
	if (rig->ops->send(rig->p[rank], rig_link(rig, rank, peer), m, at, len) == 0)
		*out += len;
	return true;
}

/* All ports send @total bytes to all others. */
static bool exchange(uint64_t total)
{
	struct peer_mem *m[RIG_MAX];
	uint64_t end = clock_ms() + 60000;
	bool all = false, good = true;
	uint32_t i, j;

	for (i = 0; i < rig->n; i++)
		m[i] = mem(i, area[i], AREA);
	while (!all && good) {
		all = true;
		good = expect(!rig_poll(rig)) && expect(clock_ms() < end);
		for (i = 0; i < rig->n && good; i++) {
			for (j = 0; j < rig->n && good; j++) {
				if (i == j)
					continue;
				good = give(i, j, m[i], total) && take(i, j);
				all &= rig->in[i][j] == total;
			}
		}
	}
	for (i = 0; i < rig->n; i++)
		rig->ops->mem_put(rig->p[i], m[i]);
	return good;
}

static void stream__bytes_arrive_in_order(void)
{
	start(2, 4096, 8);
	exchange(8 << 20);
	rig_close(rig);
}

static void stream__chunks_of_one_cell_and_two_slots(void)
{
	start(2, 64, 2);
	exchange(100000);
	rig_close(rig);
}

static void stream__large_chunks(void)
{
	start(2, 1 << 18, 4);
	exchange(16 << 20);
	rig_close(rig);
}

static void stream__five_ranks_all_to_all(void)
{
	start(5, 8192, 4);
	exchange(1 << 20);
	rig_close(rig);
}

static void send__stops_where_credits_end(void)
{
	struct peer_chunk c;
	struct peer_mem *m;
	uint32_t sent = 0;

	start(2, 256, 8);
	m = mem(0, area[0], AREA);
	expect_eq(rig_send(rig, 0, 0, m, area[0], 256), 0);
	for (sent = 1; sent < 100; sent++) {
		rig_settle(rig, 2);
		if (rig->ops->send(rig->p[0], 0, m, area[0], 256) == -EAGAIN)
			break;
	}
	expect_eq(sent, 8);
	expect(rig_next(rig, 1, 0, &c));
	/* A quarter of the slots comes back at once. */
	rig->ops->done(rig->p[1], 0);
	rig_settle(rig, 5);
	expect_eq(rig->ops->send(rig->p[0], 0, m, area[0], 256), -EAGAIN);
	expect(rig_next(rig, 1, 0, &c));
	rig->ops->done(rig->p[1], 0);
	rig_settle(rig, 20);
	expect_eq(rig->ops->send(rig->p[0], 0, m, area[0], 256), 0);
	expect_eq(rig->ops->send(rig->p[0], 0, m, area[0], 256), 0);
	expect_eq(rig->ops->send(rig->p[0], 0, m, area[0], 256), -EAGAIN);
	rig->ops->mem_put(rig->p[0], m);
	rig_close(rig);
}

static void send__more_than_a_chunk_is_refused(void)
{
	struct peer_mem *m;

	start(2, 256, 2);
	m = mem(0, area[0], AREA);
	expect_eq(rig->ops->send(rig->p[0], 0, m, area[0], 257), -EINVAL);
	expect_eq(rig->ops->write(rig->p[0], 0, m, area[0], 257, 0), -EINVAL);
	rig->ops->mem_put(rig->p[0], m);
	rig_close(rig);
}

static void write__waits_for_an_announcement(void)
{
	struct peer_mem *m;

	start(2, 4096, 4);
	m = mem(0, area[0], AREA);
	rig_settle(rig, 20);
	expect(!rig->ops->ready(rig->p[0], 0, 0));
	expect_eq(rig->ops->write(rig->p[0], 0, m, area[0], 64, 0), -EAGAIN);
	rig->ops->mem_put(rig->p[0], m);
	rig_close(rig);
}

/* One announcement, written in pieces of random length, with staged chunks between. */
static void round_of_writes(uint32_t nth, struct peer_mem *src, struct peer_mem *dst)
{
	size_t at = 0, len, total = 300000, got = 0, shift = 1 + nth * 7;
	struct peer_chunk c;
	uint32_t n = 0;

	expect_eq(rig_announce(rig, 1, 0, dst, place[1] + shift, total), 0);
	if (!expect(rig_ready(rig, 0, 0, nth)))
		return;
	memset(place[1], 0, AREA);
	while (got < total) {
		if (at < total) {
			len = n % 4 == 3 ? rig->chunk : 1 + rig_random(rig) % rig->chunk;
			len = len > total - at ? total - at : len;
			if (!rig->ops->write(rig->p[0], 0, src, area[0] + at, len, at)) {
				at += len;
				n++;
			}
		}
		if (!expect(!rig_poll(rig)))
			return;
		while (rig->ops->next(rig->p[1], 0, &c)) {
			expect(!c.data);
			expect(!memcmp(place[1] + shift + got, area[0] + got, c.len));
			got += c.len;
			rig->ops->done(rig->p[1], 0);
		}
	}
	expect(!memcmp(place[1] + shift, area[0], total));
	expect(!place[1][shift - 1] && !place[1][shift + total]);
}

static void write__lands_in_its_place(void)
{
	struct peer_mem *src, *dst;
	uint32_t nth;
	size_t i;

	start(2, 4096, 4);
	for (i = 0; i < AREA; i++)
		area[0][i] = (uint8_t)(1 + rig_random(rig) % 255);
	src = mem(0, area[0], AREA);
	dst = mem(1, place[1], AREA);
	for (nth = 0; nth < 9; nth++)
		round_of_writes(nth, src, dst);
	rig->ops->mem_put(rig->p[0], src);
	rig->ops->mem_put(rig->p[1], dst);
	rig_close(rig);
}

static void write__keeps_its_order_among_sends(void)
{
	struct peer_mem *src, *dst;
	struct peer_chunk c;
	int i;

	start(2, 1024, 4);
	src = mem(0, area[0], AREA);
	dst = mem(1, place[1], AREA);
	memset(area[0], 5, AREA);
	expect_eq(rig_announce(rig, 1, 0, dst, place[1], AREA), 0);
	expect(rig_ready(rig, 0, 0, 0));
	for (i = 0; i < 200; i++) {
		if (i % 3)
			expect_eq(rig_send(rig, 0, 0, src, area[0], 1 + i), 0);
		else
			expect_eq(rig_write(rig, 0, 0, src, area[0], 1 + i, 1024 * i), 0);
		if (i < 3)
			continue;
		/* Keep three in flight. */
		expect(rig_next(rig, 1, 0, &c));
		expect_eq(c.len, 1 + i - 3);
		expect_eq(c.data == NULL, (i - 3) % 3 == 0);
		rig->ops->done(rig->p[1], 0);
	}
	rig->ops->mem_put(rig->p[0], src);
	rig->ops->mem_put(rig->p[1], dst);
	rig_close(rig);
}

static void write__beyond_the_announced_is_refused(void)
{
	struct peer_mem *src, *dst;
	struct peer_fault f;

	start(2, 1024, 4);
	src = mem(0, area[0], AREA);
	dst = mem(1, place[1], AREA);
	expect_eq(rig_announce(rig, 1, 0, dst, place[1], 1000), 0);
	expect(rig_ready(rig, 0, 0, 0));
	expect_eq(rig->ops->write(rig->p[0], 0, src, area[0], 1000, 1), -EAGAIN);
	expect_eq(rig->ops->poll(rig->p[0]), -EPROTO);
	rig->ops->fault(rig->p[0], &f);
	expect_eq(f.peer, 1);
	rig_close(rig);
}

static void close__gives_peers_a_fault(void)
{
	uint64_t end = clock_ms() + 5000;
	struct peer_fault f;
	int err;

	start(3, 1024, 4);
	rig_settle(rig, 500);
	expect_eq(rig_poll(rig), 0);
	rig->ops->close(rig->p[1]);
	rig->p[1] = NULL;
	while (!(err = rig->ops->poll(rig->p[2])) && clock_ms() < end)
		;
	expect(err < 0);
	rig->ops->fault(rig->p[2], &f);
	expect_eq(f.peer, 1);
	rig_close(rig);
}

/* Blobs that are not of our peer: each is an error, and none a crash. */
static void blob__mistakes_are_refused(void)
{
	static uint8_t blob[PEER_BLOB_MAX], bad[PEER_BLOB_MAX];
	struct peer_fault f;
	size_t len, cut;

	rig->chunk = 1024;
	rig->slots = 4;
	rig->n = 2;
	memset(rig->p, 0, sizeof(rig->p));
	expect_eq(rig_open_one(rig, 1, &f), 0);
	len = rig->ops->blob(rig->p[1], blob, sizeof(blob));
	expect(len > 0 && len <= PEER_BLOB_MAX);
	expect_eq(rig->ops->blob(rig->p[1], bad, len - 1), 0);
	for (cut = 0; cut < len + 2; cut += cut + 5 < len ? 1 + cut / 8 : 1) {
		if (cut == len)
			continue;
		expect_eq(rig_open_one(rig, 0, &f), 0);
		expect(rig->ops->connect(rig->p[0], 0, blob, cut) < 0);
		rig->ops->fault(rig->p[0], &f);
		expect_eq(f.peer, 1);
		rig->ops->close(rig->p[0]);
	}
	rig->rng = 7;
	for (cut = 0; cut < 40; cut++) {
		memcpy(bad, blob, len);
		bad[rig_random(rig) % (cut < 20 ? 40 : len)] ^= 1 << rig_random(rig) % 8;
		expect_eq(rig_open_one(rig, 0, &f), 0);
		rig->ops->connect(rig->p[0], 0, bad, len);
		rig->ops->poll(rig->p[0]);
		rig->ops->close(rig->p[0]);
	}
	rig->p[0] = NULL;
	rig_close(rig);
}

static void open__mistakes_are_refused(void)
{
	struct peer_fault f;

	rig->n = 2;
	rig->slots = 4;
	rig->chunk = 100;
	expect_eq(rig_open_one(rig, 0, &f), -EINVAL);
	expect(strlen(f.text) > 0);
	rig->chunk = 128;
	rig->slots = 1;
	expect_eq(rig_open_one(rig, 0, &f), -EINVAL);
	rig->slots = 65;
	expect_eq(rig_open_one(rig, 0, &f), -EINVAL);
}

/* @r has ops, and nic and provider where they are needed. */
static void port_tests(struct rig *r)
{
	rig = r;
	run(open__mistakes_are_refused);
	run(stream__bytes_arrive_in_order);
	run(stream__chunks_of_one_cell_and_two_slots);
	run(stream__large_chunks);
	run(stream__five_ranks_all_to_all);
	run(send__stops_where_credits_end);
	run(send__more_than_a_chunk_is_refused);
	run(write__waits_for_an_announcement);
	run(write__lands_in_its_place);
	run(write__keeps_its_order_among_sends);
	run(write__beyond_the_announced_is_refused);
	run(close__gives_peers_a_fault);
	run(wait__a_descriptor_wakes_either_end);
	run(peer__that_is_killed_is_named);
	run(blob__mistakes_are_refused);
}

#endif /* PORT_TESTS_H */
