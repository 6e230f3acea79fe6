// SPDX-License-Identifier: BSD-2-Clause
/*
 * All ranks live and wait, but for different chunks: no rank is late, and the
 * job must end. A rank that is late, pauses or makes progress must not be
 * blamed.
 */
#include "tests/lib/engine_script.h"

#include <endian.h>
#include <errno.h>

#include "tests/lib/tap.h"

#define LIMIT_MS 500
#define RANKS 3

static struct script sc;

static const struct sim_options star = {
	.seed = 77,
	.workers = RANKS,
	.window = 16,
	.nval = 32,
	.timeout_ms = LIMIT_MS,
	.wire = {.delay = 50000},
};

/* --- ALIVEs of the other ranks, one by one */

/* Drop all packets: the test itself delivers some. */
static bool deaf(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	(void)s;
	(void)w;
	(void)up;
	(void)pkt;
	(void)len;
	return true;
}

/**
 * struct words - ALIVEs that rank 0 hears, every 20 ms
 * @moves_ms: from then on rank 1 waits for another chunk; 0: never.
 * @pause_ms: rank 1 is silent this long, from 200 ms on.
 * @works_ms: from then on rank 1 says that it does not wait; 0: never.
 * @lost:     number of lost ones in 8.
 */
struct words {
	unsigned int moves_ms, pause_ms, works_ms;
	unsigned int lost;
};

static void say(struct trib *t, unsigned int rank, uint32_t chunk, bool waits)
{
	struct trib_rx rx = {.type = TRIB_T_ALIVE,
			     .flags = waits ? TRIB_F_RESEND : 0,
			     .epoch = 3,
			     .chunk = chunk,
			     .aux = (uint16_t)rank};

	trib_rx(t->eng.stream[0], &rx);
}

/*
 * Rank 0 waits for chunk 0, rank 1 for 1, rank 2 for 9.
 * Return: ms after which rank 0 gave up; 0: not within eight timeouts.
 */
static unsigned int gives_up_ms(const struct words *h)
{
	struct sim_options o = star;
	unsigned int ms, end = 0;
	struct trib_req *r;
	int32_t x[320] = {0};
	struct sim s;
	struct trib *t;

	sim_init(&s, &o);
	s.tap = deaf;
	t = s.worker[0].t;
	expect_eq(trib_iallreduce(t, x, x, 320, TRIB_I32, TRIB_SUM, &r), 0);
	for (ms = 20; ms <= 8 * LIMIT_MS && !end; ms += 20) {
		bool moved = h->moves_ms && ms >= h->moves_ms;
		bool works = h->works_ms && ms >= h->works_ms;
		bool silent = ms > 200 && ms < 200 + h->pause_ms;

		t->eng.now = s.now += 20 * TRIB_MS;
		if (ms / 20 % 8 >= h->lost) {
			say(t, 0, 0, true);
			say(t, 2, 9, true);
			if (!silent)
				say(t, 1, moved ? 2 : 1, !works);
		}
		trib_engine_run(&t->eng);
		if (r->done)
			end = ms;
	}
	if (end) {
		expect_eq(r->status, -EHOSTUNREACH);
		expect_eq(t->eng.error.code, TRIB_ERR_RELAY);
		expect_eq(t->eng.error.rank, 0);
	}
	sim_free(&s);
	return end;
}

/* A timeout after the last change, and a beat or two. */
#define SOON (LIMIT_MS / 8 + 40)

static void ranks__that_stand_still_give_up(void)
{
	struct words h = {0};
	unsigned int ms = gives_up_ms(&h);

	expect(ms > LIMIT_MS && ms <= LIMIT_MS + SOON);
	h.lost = 5;
	ms = gives_up_ms(&h);
	expect(ms > LIMIT_MS && ms <= LIMIT_MS + SOON + 8 * 20);
}

static void rank__that_gets_on_is_waited_for(void)
{
	struct words h = {.moves_ms = LIMIT_MS - 40};
	unsigned int ms = gives_up_ms(&h);

	expect(ms > h.moves_ms + LIMIT_MS);
	expect(ms <= h.moves_ms + LIMIT_MS + SOON);
}

/* Rank 1's earlier signs of life may be old: the timeout starts anew. */
static void rank__that_pauses_is_waited_for(void)
{
	struct words h = {.pause_ms = LIMIT_MS * 4 / 5};
	unsigned int ms = gives_up_ms(&h);

	expect(ms > 200 + h.pause_ms + LIMIT_MS);
	expect(ms <= 200 + h.pause_ms + LIMIT_MS + SOON);
}

static void rank__that_computes_is_waited_for(void)
{
	struct words h = {.works_ms = LIMIT_MS - 40};

	expect_eq(gives_up_ms(&h), 0);
	h.works_ms = 20;
	expect_eq(gives_up_ms(&h), 0);
}

/* --- networks that lead to it */

/* Drop large packets to rank 1. */
static bool hole(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	(void)s;
	(void)pkt;
	return !up && w->t->eng.rank == 1 && len > sizeof(struct trib_hdr) + 64;
}

/*
 * Chunk 40 reaches rank 0 only, and again as chunk 41, so that rank 0 runs more
 * than a window ahead.
 */
static bool renumber(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	uint8_t copy[RELAY_PACKET_MAX];
	struct trib_hdr *h = pkt;
	uint32_t c = be32toh(h->chunk);

	(void)s;
	if (up || h->type != TRIB_T_RESULT || c != 40)
		return false;
	if (w->t->eng.rank)
		return true;
	memcpy(copy, pkt, len);
	sim_inject(w, copy, len);
	((struct trib_hdr *)copy)->chunk = htobe32(c + 1);
	sim_inject(w, copy, len);
	return true;
}

/* All ranks end in time, and the error names the rank that lacks most. */
static void ends(bool (*tap)(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len),
		 unsigned int window, unsigned int racks)
{
	struct sim_options o = star;
	unsigned int i;
	struct sim s;

	o.window = window;
	o.racks = racks;
	sim_init(&s, &o);
	s.tap = tap;
	script_init(&sc, &s, 60, 3000, o.nval);
	script_start(&sc);
	expect(sim_run(&s, script_done, s.now + 2 * LIMIT_MS * TRIB_MS));
	for (i = 0; i < RANKS; i++) {
		expect_eq(sc.rank[i].error, -EHOSTUNREACH);
		expect_eq(s.worker[i].t->eng.error.code, TRIB_ERR_RELAY);
		expect_eq(s.worker[i].t->eng.error.rank, 1);
	}
	script_free(&sc);
	sim_free(&s);
}

static void rank__that_large_packets_do_not_reach_is_named(void)
{
	unsigned int racks;

	for (racks = 0; racks <= RANKS; racks++)
		ends(hole, 16, racks);
}

static void result__that_lets_a_rank_run_ahead_ends_the_job(void)
{
	ends(renumber, 1, 0);
}

/* --- networks that do not lead to it */

/*
 * A rank neither sends nor receives for half a timeout; all ranks in turn,
 * repeatedly.
 */
static void stun(struct sim *s, unsigned int i, uint64_t ns)
{
	s->worker[i].dead = true;
	sim_run(s, NULL, s->now + ns);
	s->worker[i].dead = false;
	s->worker[i].wake = 0;
	sim_call_at(&s->worker[i], s->now + 1);
}

static void ranks__that_pause_and_are_late_on_bad_wires_finish(void)
{
	struct sim_options o = star;
	unsigned int n;
	struct sim s;

	o.wire.loss = 100;
	for (o.racks = 0; o.racks <= 2; o.racks += 2) {
		sim_init(&s, &o);
		script_init(&sc, &s, 40, 2000, o.nval);
		sc.think = 2 * TRIB_SEC; /* four time-outs */
		script_start(&sc);
		for (n = 0; n < 60 && !script_done(&s); n++) {
			stun(&s, n % RANKS, LIMIT_MS / 2 * TRIB_MS);
			sim_run(&s, script_done, s.now + LIMIT_MS * TRIB_MS);
		}
		expect(sim_run(&s, script_done, s.now + 200 * TRIB_SEC));
		expect(script_good(&sc));
		script_free(&sc);
		sim_free(&s);
	}
}

int main(void)
{
	run(ranks__that_stand_still_give_up);
	run(rank__that_gets_on_is_waited_for);
	run(rank__that_pauses_is_waited_for);
	run(rank__that_computes_is_waited_for);
	run(rank__that_large_packets_do_not_reach_is_named);
	run(result__that_lets_a_rank_run_ahead_ends_the_job);
	run(ranks__that_pause_and_are_late_on_bad_wires_finish);
	return tap_done();
}
