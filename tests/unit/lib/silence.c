// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranks that all live and wait, and for different chunks: nobody is late then,
 * and it must end. Whoever is only late, pauses, or gets on must not be blamed.
 */
#include "tests/lib/lib_script.h"

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

/* --- what others say, word by word */

/* Nothing arrives but what the test says itself. */
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
 * struct words - what rank 0 hears, every 20 ms
 * @moves_ms: rank 1 waits for another chunk from then on; 0: never does.
 * @pause_ms: rank 1 says nothing so long, from 200 ms on.
 * @works_ms: rank 1 says that it does not wait, from then on; 0: never.
 * @lost:     of 8 words so many are lost.
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
 * Return: when rank 0 gave up, in ms; 0: it had not after eight time-outs.
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

/* A time-out after the last thing that changed, and a beat or two. */
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

/* Its earlier signs of life may be old: it counts anew. */
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

/* --- how it comes to that */

/* Rank 1 gets small packets only. */
static bool hole(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	(void)s;
	(void)pkt;
	return !up && w->t->eng.rank == 1 && len > sizeof(struct trib_hdr) + 64;
}

/*
 * Chunk 40 comes to rank 0 alone, and a second time as chunk 41, so that it
 * runs ahead of a window.
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

/* All end, in time, and the rank that lacks most is named. */
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

/* --- how it does not */

/* Deaf and dumb for half a time-out, one after the other, again and again. */
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
