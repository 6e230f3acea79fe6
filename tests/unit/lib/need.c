// SPDX-License-Identifier: BSD-2-Clause
/*
 * NEED: answers follow the rules and carry the bits that were sent first, so
 * relays may forget at any time.
 */
#include <endian.h>
#include <stdlib.h>

#include "tests/lib/tap.h"
#include "tests/lib/engine_script.h"

static struct script sc;

static struct {
	unsigned int n;
	uint8_t type[64];
	uint8_t flags[64];
	uint8_t pkt[64][RELAY_PACKET_MAX];
	size_t len[64];
} seen;

static bool record(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	const struct trib_hdr *h = pkt;

	(void)s;
	if (!up || w->t->eng.rank || seen.n == 64)
		return false;
	seen.type[seen.n] = h->type;
	seen.flags[seen.n] = h->flags;
	memcpy(seen.pkt[seen.n], pkt, len);
	seen.len[seen.n++] = len;
	return false;
}

static void ask(struct sim_worker *w, uint32_t chunk, uint64_t have)
{
	struct trib_rx rx = {.type = TRIB_T_NEED, .epoch = 3, .chunk = chunk, .seen = have};

	seen.n = 0;
	w->t->eng.now = w->sim->now;
	trib_rx(w->t->eng.stream[0], &rx);
}

static void need__is_answered_by_what_is_there(void)
{
	struct sim_options o = sim_star(2);
	struct trib_req *r[2];
	float x[2][64] = {{3}, {4}};
	struct trib_stream *st;
	struct sim s;
	unsigned int i;
	uint8_t first[RELAY_PACKET_MAX];

	sim_init(&s, &o);
	s.tap = record;
	st = s.worker[0].t->eng.stream[0];
	/* The chunk is not reached: answer ALIVE, but not too often. */
	ask(&s.worker[0], 5, 2);
	expect_eq(seen.n, 1);
	expect_eq(seen.type[0], TRIB_T_ALIVE);
	s.now += 10 * TRIB_MS;
	ask(&s.worker[0], 5, 2);
	expect_eq(seen.n, 0);
	s.now += 50 * TRIB_MS;
	ask(&s.worker[0], 5, 2);
	expect_eq(seen.n, 1);

	/*
	 * The chunk is sent: answer with the same bits, without the flag that
	 * asks.
	 */
	seen.n = 0;
	expect_eq(trib_iallreduce(s.worker[0].t, x[0], x[0], 64, TRIB_I32, TRIB_SUM, &r[0]), 0);
	expect_eq(seen.n, 2);
	memcpy(first, seen.pkt[0], seen.len[0]);
	s.now += 20 * TRIB_MS;
	ask(&s.worker[0], 0, 2);
	expect_eq(seen.n, 1);
	expect(!memcmp(first, seen.pkt[0], seen.len[0]));
	ask(&s.worker[0], 0, 2); /* too soon */
	expect_eq(seen.n, 0);
	s.now += 20 * TRIB_MS;
	ask(&s.worker[0], 0, 1); /* it has ours */
	expect_eq(seen.n, 0);

	/*
	 * The chunk is finished, and the call has returned: the result goes up.
	 */
	expect_eq(trib_iallreduce(s.worker[1].t, x[1], x[1], 64, TRIB_I32, TRIB_SUM, &r[1]), 0);
	sim_run(&s, NULL, s.now + 100 * TRIB_MS);
	expect_eq(st->una, 2);
	for (i = 0; i < 2; i++)
		expect_eq(trib_wait(r[i]), 0);
	s.now += 20 * TRIB_MS;
	ask(&s.worker[0], 1, 1);
	expect_eq(seen.n, 1);
	expect_eq(seen.type[0], TRIB_T_RESULT);
	expect(seen.flags[0] & TRIB_F_UP);
	expect(!(seen.flags[0] & TRIB_F_RESEND));
	expect_eq(seen.len[0], sizeof(struct trib_hdr) + 128);
	expect(!memcmp(seen.pkt[0] + sizeof(struct trib_hdr), x[0] + 32, 128));
	/* The chunk is long past: no rank can lack it. */
	ask(&s.worker[0], 0xf0000000, 0);
	expect_eq(seen.n, 0);
	sim_free(&s);
}

/* All transmissions of a chunk by one rank, in a lossy network. */
static uint8_t frozen[4][8192][sizeof(struct trib_hdr) + 128];
static unsigned int thawed, copies;

static bool compare(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	uint8_t copy[RELAY_PACKET_MAX];
	struct trib_hdr *h = (void *)copy;
	uint8_t *was;

	(void)s;
	memcpy(copy, pkt, len);
	if (!up || h->type != TRIB_T_GRAD || be32toh(h->chunk) >= 8192)
		return false;
	h->flags &= (uint8_t)~TRIB_F_RESEND;
	was = frozen[w->t->eng.rank][be32toh(h->chunk)];
	if (!*was) {
		memcpy(was, copy, len);
		return false;
	}
	copies++;
	thawed += memcmp(was, copy, len) != 0;
	return false;
}

static void grad__never_changes_once_it_was_sent(void)
{
	struct sim_options o = sim_star(4);
	struct sim s;

	o.wire.loss = 100;
	sim_init(&s, &o);
	s.tap = compare;
	script_init(&sc, &s, 30, 3000, o.nval);
	script_start(&sc);
	sim_wipe_at(&s, 0, s.now + 20 * TRIB_MS);
	expect(sim_run(&s, script_done, s.now + 100 * TRIB_SEC));
	expect(script_good(&sc));
	expect(copies > 500);
	expect_eq(thawed, 0);
	script_free(&sc);
	sim_free(&s);
}

/*
 * The relay loses all slots while one rank lacks a result that the others have
 * consumed.
 */
static uint32_t target;
static bool caught;

static bool withhold(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	const struct trib_hdr *h = pkt;

	(void)len;
	if (up || h->type != TRIB_T_RESULT || be32toh(h->chunk) != target)
		return false;
	if (w->t->eng.rank == 1 && !caught) {
		caught = true;
		sim_wipe_at(s, 0, s->now + TRIB_MS);
		return true;
	}
	return false;
}

static void result__that_one_lacks_comes_from_those_who_consumed_it(void)
{
	struct sim_options o = sim_star(3);
	struct sim s;

	for (target = 0; target < 60; target += 7) {
		o.seed = 1 + target;
		o.wire.loss = target % 2 ? 20 : 0;
		caught = false;
		sim_init(&s, &o);
		s.tap = withhold;
		script_init(&sc, &s, 12, 2000, o.nval);
		script_start(&sc);
		expect(sim_run(&s, script_done, s.now + 100 * TRIB_SEC));
		expect(script_good(&sc));
		expect(caught);
		script_free(&sc);
		sim_free(&s);
	}
}

int main(void)
{
	run(need__is_answered_by_what_is_there);
	run(grad__never_changes_once_it_was_sent);
	run(result__that_one_lacks_comes_from_those_who_consumed_it);
	return tap_done();
}
