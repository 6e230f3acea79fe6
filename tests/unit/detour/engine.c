// SPDX-License-Identifier: BSD-2-Clause
/* The engine's half of a detour, step by step: judging silence, freezing, going back. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "tests/lib/engine_double.h"
#include "tests/lib/secrets.h"
#include "tests/lib/tap.h"

#define CHUNKS 4
#define N 16 /* cells */
#define STRIDE (sizeof(struct trib_cell) - 4 * TRIB_NVAL + 4 * NVAL)

static unsigned int lost, given;
static uint64_t given_chunk[64];
static int32_t given_value[64];

static void on_lost(struct trib_stream *s)
{
	lost++;
	trib_detour_begin(s);
}

static void on_grad(struct trib_stream *s, uint64_t chunk, const struct trib_hdr *h,
		    unsigned int len)
{
	(void)s;
	expect(h->type == TRIB_T_GRAD && len == trib_packet_len(h));
	memcpy(&given_value[given], h + 1, 4);
	given_chunk[given++] = chunk;
}

static int32_t data[CHUNKS * NVAL * 4];
static struct trib_host_ops host;
static struct trib_transport_ops transport;
static uint8_t memory[(N + 1) * STRIDE] __attribute__((aligned(64)));

static int give_cells(struct trib_engine *eng, struct trib_stream *s, struct trib_cells *out)
{
	(void)eng;
	(void)s;
	*out = (struct trib_cells){.base = memory, .n = N, .reflex = true};
	return 0;
}

/* An engine with one tree; with cells, if XDP is to share them. */
static struct trib_stream *begin(struct trib_engine *eng, struct trib_attach_rep *rep, bool cells)
{
	unsigned int i;

	*rep = place(1);
	rep->window = 4;
	rep->nval = NVAL;
	expect_eq(engine_init(eng, rep), 0);
	lost = given = 0;
	host = *eng->host;
	host.relay_lost = on_lost;
	host.detour = on_grad;
	eng->host = &host;
	transport = *eng->ops;
	memset(memory, 0, sizeof(memory));
	transport.cells = cells ? give_cells : NULL;
	eng->ops = &transport;
	trib_join_start(eng, NONCE);
	hear(eng, 40, TRIB_START_RUN, NONCE, 4);
	expect_eq(trib_join_turn(eng), 1);
	trib_engine_start(eng);
	for (i = 0; i < sizeof(data) / 4; i++)
		data[i] = (int32_t)i;
	return eng->stream[0];
}

/* A sum of @n chunks. */
static struct trib_req *sum(struct trib_engine *eng, unsigned int n)
{
	struct trib_call c = {
		.collective = TRIB_COLL_ALLREDUCE,
		.dtype = TRIB_SOCK_I32,
		.src = data,
		.dst = data,
		.count = n * NVAL,
	};
	struct trib_req *r = NULL;

	expect_eq(trib_call_issue(eng, &c, &r), 0);
	trib_engine_run(eng);
	return r;
}

static struct trib_hdr result(uint64_t chunk)
{
	struct trib_hdr h = header(TRIB_T_RESULT, 40);

	h.op = TRIB_WOP_ADD;
	h.fmt = TRIB_FMT_I32;
	h.nval = htobe16(NVAL);
	h.chunk = htobe32((uint32_t)chunk);
	return h;
}

static int take(struct trib_stream *s, uint64_t chunk, int32_t value)
{
	struct trib_hdr h = result(chunk);
	int32_t v[NVAL];
	unsigned int i;

	for (i = 0; i < NVAL; i++)
		v[i] = value;
	return trib_detour_take(s, chunk, &h, v, sizeof(v));
}

static const uint8_t rep_addr[16];

/* A packet of the relay. */
static void relay_says(struct trib_engine *eng, struct trib_hdr h, unsigned int len)
{
	struct {
		struct trib_hdr h;
		int32_t v[NVAL];
	} p = {.h = h};

	secrets_down(&p.h, p.v, len, rep_addr);
	trib_packet_rx(eng, &p, sizeof(p.h) + len, false);
}

static void relay_alive(struct trib_engine *eng, unsigned int rank)
{
	struct trib_hdr h = header(TRIB_T_ALIVE, 40);

	h.aux = htobe16((uint16_t)rank);
	relay_says(eng, h, 0);
}

static void silence__is_judged_after_some_questions(void)
{
	struct trib_attach_rep rep;
	struct trib_engine eng;
	uint64_t start;

	begin(&eng, &rep, false);
	sum(&eng, CHUNKS);
	start = eng.now;
	while (!lost && eng.now < start + TRIB_SEC) {
		eng.now += 5 * TRIB_MS;
		trib_engine_run(&eng);
	}
	expect_eq(lost, 1);
	expect(eng.now - start >= 120 * TRIB_MS && eng.now - start <= 150 * TRIB_MS);
	expect_eq(note.sent[TRIB_T_ALIVE], TRIB_TUNE_LOST_ASKS);
	expect_eq(eng.count.detours, 1);
	expect_eq(note.died, 0);
	trib_engine_free(&eng);
}

static void silence__is_none_while_the_relay_echoes(void)
{
	struct trib_attach_rep rep;
	struct trib_engine eng;
	unsigned int i, told = 0;

	begin(&eng, &rep, false);
	sum(&eng, CHUNKS);
	for (i = 0; i < 200; i++) {
		eng.now += 5 * TRIB_MS;
		trib_engine_run(&eng);
		if (note.sent[TRIB_T_ALIVE] != told)
			relay_alive(&eng, i % WORLD);
		told = note.sent[TRIB_T_ALIVE];
	}
	expect(told > 10);
	expect_eq(lost, 0);
	trib_engine_free(&eng);
}

static void silence__of_a_rank_that_slept_is_its_own(void)
{
	struct trib_attach_rep rep;
	struct trib_engine eng;

	begin(&eng, &rep, false);
	sum(&eng, CHUNKS);
	eng.now += 400 * TRIB_MS;
	trib_engine_run(&eng);
	eng.now += 400 * TRIB_MS;
	trib_engine_run(&eng);
	expect_eq(lost, 0);
	trib_engine_free(&eng);
}

static void begin__lets_nothing_of_the_relay_count(void)
{
	struct trib_attach_rep rep;
	struct trib_engine eng;
	struct trib_stream *s = begin(&eng, &rep, false);
	struct trib_req *r = sum(&eng, CHUNKS);
	unsigned long bad;
	unsigned int i;

	relay_says(&eng, result(1), 4 * NVAL);
	trib_detour_begin(s);
	expect(trib_detour_has(s, 1) && !trib_detour_has(s, 0));
	bad = eng.count.bad_packets;
	relay_says(&eng, result(0), 4 * NVAL);
	expect_eq(eng.count.bad_packets, bad + 1);
	expect(!trib_detour_has(s, 0));
	eng.now += 10 * TRIB_SEC;
	trib_engine_run(&eng);
	expect_eq(given, 0);
	expect(!trib_engine_deadline(&eng));
	trib_detour_go(s);
	expect_eq(given, 3);
	for (i = 0; i < given; i++)
		expect_eq(given_value[i], given_chunk[i] * NVAL);
	expect_eq(take(s, 0, 7) | take(s, 2, 7) | take(s, 3, 7), 0);
	expect(r->done && !r->status);
	expect_eq(data[3 * NVAL + 5], 7);
	expect_eq(note.died, 0);
	trib_engine_free(&eng);
}

static void take__refuses_what_no_rank_sends(void)
{
	struct trib_attach_rep rep;
	struct trib_engine eng;
	struct trib_stream *s = begin(&eng, &rep, false);
	struct trib_hdr h = result(0);
	unsigned int len = 0;

	sum(&eng, 2);
	trib_detour_begin(s);
	trib_detour_go(s);
	expect_eq(take(s, 2, 1), -EPROTO); /* not sent */
	expect_eq(trib_detour_take(s, 0, &h, data, 4 * NVAL - 4), -EPROTO);
	h.op = TRIB_WOP_MAX;
	expect_eq(trib_detour_take(s, 0, &h, data, 4 * NVAL), -EPROTO);
	h = result(0);
	h.nval = htobe16(TRIB_NVAL_LARGE + 1);
	expect_eq(trib_detour_take(s, 0, &h, data, 4 * NVAL), -EPROTO);
	expect_eq(take(s, 0, 1), 0);
	expect_eq(take(s, 0, 2), 0); /* there already */
	expect_eq(eng.count.dups, 1);
	expect_eq(data[0], 1);
	expect(trib_detour_result(s, 0, &len) && len == sizeof(h) + 4 * NVAL);
	expect(!trib_detour_result(s, 1, &len));
	trib_engine_free(&eng);
}

static void detour__keeps_to_the_window_and_holds(void)
{
	struct trib_attach_rep rep;
	struct trib_engine eng;
	struct trib_stream *s = begin(&eng, &rep, false);
	unsigned int i;

	sum(&eng, 12);
	trib_detour_begin(s);
	trib_detour_go(s);
	expect_eq(given, 4); /* W */
	expect_eq(take(s, 1, 7), 0);
	trib_engine_run(&eng);
	expect_eq(given, 4); /* chunk 4 needs result 0 */
	expect_eq(take(s, 0, 7), 0);
	trib_engine_run(&eng);
	expect_eq(given, 6);
	trib_detour_hold(s, s->high);
	for (i = 2; i < 6; i++)
		expect_eq(take(s, i, 7), 0);
	trib_engine_run(&eng);
	expect_eq(given, 6);
	expect_eq(s->una, 6);
	note.sent[TRIB_T_GRAD] = 0;
	trib_detour_end(s, 9);
	expect_eq(given, 6);
	expect_eq(note.sent[TRIB_T_GRAD], 4);
	expect_eq(be32toh(note.last.epoch), 9);
	expect_eq(be32toh(note.last.chunk), 6); /* the burst's first */
	trib_engine_free(&eng);
}

/* --- cells that XDP shares */

static __u64 *state(uint64_t c)
{
	return &((struct trib_cell *)(memory + c % N * STRIDE))->state;
}

static void xdp_result(uint64_t c)
{
	struct trib_cell *cell = (struct trib_cell *)(memory + c % N * STRIDE);
	struct trib_hdr h = result(c);
	unsigned int i;

	memcpy(&cell->h, &h, 8);
	cell->h.nval = h.nval;
	cell->h.scale = 0;
	for (i = 0; i < NVAL; i++)
		((int32_t *)cell->v)[i] = 5;
	__atomic_exchange_n(state(c), TRIB_CELL(EPOCH, c, TRIB_CELL_RESULT), __ATOMIC_SEQ_CST);
}

static void *finish_writing(void *arg)
{
	struct timespec ts = {.tv_nsec = 20000000};

	(void)arg;
	nanosleep(&ts, NULL);
	xdp_result(2);
	return NULL;
}

static void begin__takes_cells_from_xdp(void)
{
	struct trib_attach_rep rep;
	struct trib_engine eng;
	struct trib_stream *s = begin(&eng, &rep, true);
	struct trib_req *r;
	pthread_t xdp;
	uint64_t c;

	/* XDP sends, as after a while. */
	s->lanes.reflex = true;
	s->lanes.dist = s->lanes.step = 4;
	r = sum(&eng, 8);
	expect_eq(s->high, 8);
	/* XDP has sent some, finished one, and is about to finish another. */
	for (c = 0; c < 3; c++)
		*state(c) = TRIB_CELL(EPOCH, c, TRIB_CELL_SENT);
	xdp_result(1);
	*state(2) = TRIB_CELL(EPOCH, 2, TRIB_CELL_WRITING);
	pthread_create(&xdp, NULL, finish_writing, NULL);
	trib_detour_begin(s);
	pthread_join(xdp, NULL);
	expect(trib_detour_has(s, 1) && trib_detour_has(s, 2) && !trib_detour_has(s, 0));
	expect_eq(((struct trib_desk *)(memory + N * STRIDE))->dist, 0);
	for (c = 0; c < 8; c++)
		expect(*state(c) != TRIB_CELL(EPOCH, c, TRIB_CELL_SENT) &&
		       *state(c) != TRIB_CELL(EPOCH, c, TRIB_CELL_READY));
	trib_detour_go(s);
	/* 0 and 3, and those whose window results 1 and 2 have opened: 5 and 6 wait behind 4. */
	expect_eq(given, 2);
	expect_eq(take(s, 0, 5) | take(s, 3, 5), 0);
	trib_engine_run(&eng);
	expect_eq(given, 6);
	for (c = 4; c < 8; c++)
		expect_eq(take(s, c, 5), 0);
	expect(r->done && !r->status);
	/* Back: XDP delivers, in the new epoch. */
	trib_detour_end(s, 9);
	r = sum(&eng, 2);
	expect_eq(given, 6);
	expect_eq(*state(8), TRIB_CELL(9, 8, TRIB_CELL_SENT));
	trib_engine_free(&eng);
}

int main(void)
{
	run(silence__is_judged_after_some_questions);
	run(silence__is_none_while_the_relay_echoes);
	run(silence__of_a_rank_that_slept_is_its_own);
	run(begin__lets_nothing_of_the_relay_count);
	run(take__refuses_what_no_rank_sends);
	run(detour__keeps_to_the_window_and_holds);
	run(begin__takes_cells_from_xdp);
	return tap_done();
}
