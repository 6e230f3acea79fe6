// SPDX-License-Identifier: BSD-2-Clause
/*
 * Packets from the relay: wrong ones change nothing, and the error names the
 * rank that makes all others wait.
 */
#include "tests/lib/engine_script.h"

#include <endian.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

static struct script sc;

static const struct trib_sock_error *error_of(struct sim *s, unsigned int rank)
{
	return &s->worker[rank].t->eng.error;
}

/* --- which rank is named */

static void rank__that_dies_is_named_by_all_in_time(void)
{
	struct sim_options o = sim_star(4);
	unsigned int i;
	struct sim s;
	uint64_t died;

	o.wire.loss = 20;
	sim_init(&s, &o);
	script_init(&sc, &s, 60, 3000, o.nval);
	script_start(&sc);
	sim_run(&s, script_done, s.now + 5 * TRIB_MS);
	died = s.now;
	s.worker[2].dead = true;
	expect(sim_run(&s, script_done, s.now + 10 * TRIB_SEC));
	expect(s.now - died < 800 * TRIB_MS);
	for (i = 0; i < 4; i++) {
		if (i == 2)
			continue;
		expect_eq(sc.rank[i].error, -EHOSTDOWN);
		expect_eq(error_of(&s, i)->code, TRIB_ERR_DEAD);
		expect_eq(error_of(&s, i)->rank, 2);
		expect_eq(sc.rank[i].wrong, 0);
	}
	script_free(&sc);
	sim_free(&s);
}

static void rank__that_dies_below_a_relay_is_named_by_all(void)
{
	struct sim_options o = sim_star(6);
	unsigned int i;
	struct sim s;

	o.racks = 2;
	sim_init(&s, &o);
	script_init(&sc, &s, 60, 3000, o.nval);
	script_start(&sc);
	sim_run(&s, script_done, s.now + 5 * TRIB_MS);
	s.worker[3].dead = true;
	expect(sim_run(&s, script_done, s.now + 10 * TRIB_SEC));
	for (i = 0; i < 6; i++) {
		if (i == 3)
			continue;
		expect_eq(error_of(&s, i)->code, TRIB_ERR_DEAD);
		expect_eq(error_of(&s, i)->rank, 3);
	}
	script_free(&sc);
	sim_free(&s);
}

/* Only its own relay's workers can learn whose contribution is missing there. */
static void rank__that_dies_alone_below_a_relay_is_named_by_all(void)
{
	struct sim_options o = sim_star(3);
	unsigned int i;
	struct sim s;
	uint64_t died;

	o.racks = 3;
	o.wire.loss = 20;
	sim_init(&s, &o);
	script_init(&sc, &s, 60, 3000, o.nval);
	script_start(&sc);
	sim_run(&s, script_done, s.now + 5 * TRIB_MS);
	died = s.now;
	s.worker[1].dead = true;
	expect(sim_run(&s, script_done, s.now + 10 * TRIB_SEC));
	expect(s.now - died < 800 * TRIB_MS);
	for (i = 0; i < 3; i += 2) {
		expect_eq(error_of(&s, i)->code, TRIB_ERR_DEAD);
		expect_eq(error_of(&s, i)->rank, 1);
	}
	script_free(&sc);
	sim_free(&s);
}

static void rank__that_is_late_and_alive_is_waited_for(void)
{
	struct sim_options o = sim_star(4);
	struct sim s;

	o.wire.loss = 20;
	for (o.racks = 0; o.racks <= 2; o.racks += 2) {
		sim_init(&s, &o);
		script_init(&sc, &s, 6, 500, o.nval);
		sc.think = 4 * TRIB_SEC; /* eight time-outs */
		sc.flight = 1;
		script_start(&sc);
		expect(sim_run(&s, script_done, s.now + 100 * TRIB_SEC));
		expect(script_good(&sc));
		script_free(&sc);
		sim_free(&s);
	}
}

static void relay__that_is_silent_is_noticed(void)
{
	struct sim_options o = sim_star(3);
	unsigned int i;
	struct sim s;
	uint64_t died;

	sim_init(&s, &o);
	script_init(&sc, &s, 60, 3000, o.nval);
	script_start(&sc);
	sim_run(&s, script_done, s.now + 5 * TRIB_MS);
	s.relay[0].dead = true;
	died = s.now;
	expect(sim_run(&s, script_done, s.now + 10 * TRIB_SEC));
	expect(s.now - died < 800 * TRIB_MS);
	for (i = 0; i < 3; i++) {
		expect_eq(sc.rank[i].error, -EHOSTUNREACH);
		expect_eq(error_of(&s, i)->code, TRIB_ERR_RELAY);
	}
	script_free(&sc);
	sim_free(&s);
}

static void abort__from_outside_ends_everything(void)
{
	static const struct {
		enum trib_abort why;
		int code, err;
		uint16_t aux;
		int rank;
	} cases[] = {
		{TRIB_ABORT_GONE, TRIB_ERR_GONE, -EHOSTDOWN, 1, 1},
		{TRIB_ABORT_REJOIN, TRIB_ERR_REJOIN, -EHOSTDOWN, 1, 1},
		{TRIB_ABORT_REJOIN, TRIB_ERR_REJOIN, -EHOSTDOWN, 0xffff, -1},
		{TRIB_ABORT_ADMIN, TRIB_ERR_REMOVED, -ECONNABORTED, 1, -1},
	};
	struct sim_options o = sim_star(2);
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trib_rx rx = {.type = TRIB_T_ABORT,
				     .aux = cases[i].aux,
				     .chunk = cases[i].why,
				     .epoch = 2};
		float x[100] = {0};
		struct trib_req *r, *again;
		struct trib *t;
		struct sim s;

		sim_init(&s, &o);
		t = s.worker[0].t;
		expect_eq(trib_iallreduce(t, x, x, 100, TRIB_F32, TRIB_SUM, &r), 0);
		trib_rx(t->eng.stream[0], &rx);
		expect(!r->done); /* result of another epoch */
		rx.epoch = 3;
		trib_rx(t->eng.stream[0], &rx);
		expect(r->done);
		expect_eq(trib_wait(r), cases[i].err);
		expect_eq(t->eng.error.code, cases[i].code);
		expect_eq(t->eng.error.rank, cases[i].rank);
		expect_eq(trib_ibarrier(t, &again), cases[i].err);
		expect_eq(trib_engine_deadline(&t->eng), 0);
		sim_free(&s);
	}
}

/* Rank 1 issues another collective than the others; then it may die. */
static void disagreement(unsigned int racks, bool dies)
{
	struct sim_options o = sim_star(3);
	struct trib_req *r[3];
	float x[3][64] = {{0}};
	unsigned int i;
	struct sim s;

	o.racks = racks;
	sim_init(&s, &o);
	for (i = 1; i < 4; i++) {
		struct trib *t = s.worker[i % 3].t;

		if (i == 1)
			expect_eq(trib_ibarrier(t, &r[1]), 0);
		else
			expect_eq(trib_iallreduce(t, x[i % 3], x[i % 3], 64, TRIB_F32, TRIB_MAX,
						  &r[i % 3]),
				  0);
		sim_call_at(&s.worker[i % 3], s.now + 1);
		sim_run(&s, NULL, s.now + TRIB_MS);
		s.worker[1].dead = dies;
	}
	sim_run(&s, NULL, s.now + 2 * TRIB_SEC);
	for (i = 0; i < 3; i++) {
		if (dies && i == 1)
			continue;
		expect(r[i]->done);
		expect(r[i]->status != 0);
		if (dies) {
			expect_eq(error_of(&s, i)->code, TRIB_ERR_DEAD);
			expect_eq(error_of(&s, i)->rank, 1);
		} else {
			expect_eq(error_of(&s, i)->code, TRIB_ERR_ARGUMENT);
		}
	}
	sim_free(&s);
}

/* A dead handle reports its end again, whatever call is made. */
static void handle__that_died_keeps_its_error(void)
{
	struct sim_options o = sim_star(2);
	struct trib_req *r;
	float x[64] = {0};
	struct trib *t;
	struct sim s;

	sim_init(&s, &o);
	t = s.worker[0].t;
	s.worker[1].dead = true;
	expect_eq(trib_iallreduce(t, x, x, 64, TRIB_I32, TRIB_AVG, &r), -EINVAL);
	expect_eq(trib_iallreduce(t, x, x, 64, TRIB_F32, TRIB_SUM, &r), 0);
	sim_call_at(&s.worker[0], s.now + 1);
	sim_run(&s, NULL, s.now + 2 * TRIB_SEC);
	expect_eq(error_of(&s, 0)->code, TRIB_ERR_DEAD);
	trib_fail(t, TRIB_ERR_ARGUMENT, -EINVAL, "an older call's");
	expect_eq(trib_iallreduce(t, x, x, 64, TRIB_I32, TRIB_AVG, &r), -EHOSTDOWN);
	expect_eq(error_of(&s, 0)->code, TRIB_ERR_DEAD);
	expect_eq(error_of(&s, 0)->rank, 1);
	trib_fail(t, TRIB_ERR_ARGUMENT, -EINVAL, "an older call's");
	expect_eq(trib_iallreduce(t, x, x, 64, TRIB_F32, TRIB_SUM, &r), -EHOSTDOWN);
	expect_eq(error_of(&s, 0)->code, TRIB_ERR_DEAD);
	sim_free(&s);
}

static void ranks__that_disagree_get_an_error_and_no_sum(void)
{
	unsigned int racks;

	for (racks = 0; racks < 4; racks++)
		disagreement(racks, false);
}

static void rank__that_disagrees_and_dies_is_named(void)
{
	unsigned int racks;

	for (racks = 0; racks < 4; racks++)
		disagreement(racks, true);
}

static void value__that_is_not_finite_is_named_and_harms_nobody(void)
{
	struct sim_options o = sim_star(4);
	struct trib_req *r[4], *again[4];
	static float x[4][5000], y[4][100];
	unsigned int i, k, round;

	for (round = 0; round < 2; round++) {
		enum trib_op op = round ? TRIB_MIN : TRIB_SUM;
		struct sim s;

		sim_init(&s, &o);
		memset(x, 0, sizeof(x));
		for (i = 0; i < 4; i++)
			for (k = 0; k < 100; k++)
				y[i][k] = (float)(i * k);
		x[1][4321] = x[2][4000] = x[2][1234] = NAN;
		x[0][7] = round ? INFINITY : -INFINITY;
		for (i = 0; i < 4; i++) {
			struct trib *t = s.worker[i].t;

			expect_eq(trib_iallreduce(t, x[i], x[i], 5000, TRIB_F32, op, &r[i]), 0);
			expect_eq(
				trib_iallreduce(t, y[i], y[i], 100, TRIB_F32, TRIB_SUM, &again[i]),
				0);
			sim_call_at(&s.worker[i], s.now + 1);
		}
		sim_run(&s, NULL, s.now + TRIB_SEC);
		for (i = 0; i < 4; i++) {
			expect(r[i]->done && again[i]->done);
			expect_eq(r[i]->status, -EDOM);
			expect_eq(error_of(&s, i)->code, TRIB_ERR_NONFINITE);
			expect_eq(error_of(&s, i)->rank, 2);
			expect_eq(error_of(&s, i)->index, 1234);
			expect_eq(again[i]->status, 0);
			expect(y[i][50] == 300);
		}
		sim_free(&s);
	}
}

/* Each call's error is its own, whatever failed in between. */
static void error__is_that_of_the_call_that_returns_it(void)
{
	static float x[3][4][2000];
	struct sim_options o = sim_star(4);
	struct trib_req *r[3][4], *late[4];
	const struct trib_sock_error *e;
	unsigned int i, k;
	struct sim s;

	sim_init(&s, &o);
	memset(x, 0, sizeof(x));
	x[0][1][1234] = x[1][3][77] = NAN;
	x[2][0][5] = x[2][2][5] = FLT_MAX;
	for (k = 0; k < 3; k++)
		for (i = 0; i < 4; i++) {
			expect_eq(trib_iallreduce(s.worker[i].t, x[k][i], x[k][i], 2000, TRIB_F32,
						  TRIB_SUM, &r[k][i]),
				  0);
			sim_call_at(&s.worker[i], s.now + 1);
		}
	sim_run(&s, NULL, s.now + TRIB_SEC);
	s.worker[3].dead = true;
	for (i = 0; i < 3; i++) {
		struct trib *t = s.worker[i].t;

		e = error_of(&s, i);
		expect_eq(trib_iallreduce(t, x[0][i], x[0][i], 64, TRIB_I32, TRIB_AVG, &late[i]),
			  -EINVAL);
		expect_eq(trib_wait(r[0][i]), -EDOM);
		expect(e->code == TRIB_ERR_NONFINITE && e->rank == 1 && e->index == 1234);
		expect_eq(trib_ibarrier(t, &late[i]), 0);
		sim_call_at(&s.worker[i], s.now + 1);
	}
	sim_run(&s, NULL, s.now + 2 * TRIB_SEC);
	for (i = 0; i < 3; i++) {
		struct trib *t = s.worker[i].t;
		int done;

		e = error_of(&s, i);
		expect(e->code == TRIB_ERR_DEAD && e->rank == 3);
		expect_eq(trib_wait(r[1][i]), -EDOM);
		expect(e->code == TRIB_ERR_NONFINITE && e->rank == 3 && e->index == 77);
		expect_eq(trib_test(r[2][i], &done), -ERANGE);
		expect(e->code == TRIB_ERR_OVERFLOW && e->rank == -1 && e->index == 5);
		expect_eq(trib_wait(late[i]), -EHOSTDOWN);
		expect(e->code == TRIB_ERR_DEAD && e->rank == 3);
		expect_eq(trib_allgather(t, x[0][i], x[1][i], 64, TRIB_F32), -EHOSTDOWN);
		expect(e->code == TRIB_ERR_DEAD && strstr(trib_error_text(t), "rank 3"));
	}
	sim_free(&s);
}

#define OVER 1500 /* elements; reduce_scatter of 4 ranks: 6000 */

/* All ranks of a sum beyond fp32 get one error, with the first such element. */
static void overflow(bool scatter, unsigned int trees)
{
	static float x[4][4 * OVER], y[4][4 * OVER];
	const unsigned int n = scatter ? OVER : 4 * OVER;
	struct sim_options o = sim_star(4);
	struct trib_req *r[4];
	unsigned int i, k;
	struct sim s;

	o.trees = trees;
	sim_init(&s, &o);
	for (i = 0; i < 4; i++) {
		struct trib *t = s.worker[i].t;

		for (k = 0; k < 4 * OVER; k++)
			x[i][k] = (float)k;
		x[i][7] = FLT_MAX / 4; /* their sum is the largest float */
		x[i][4321] = x[i][5000] = -FLT_MAX / 3;
		x[i][2345] = i < 2 ? FLT_MAX : 0;
		x[i][1234] = i % 2 ? FLT_MAX : -FLT_MAX;
		expect_eq(
			scatter ? trib_ireduce_scatter(t, x[i], y[i], n, TRIB_F32, TRIB_SUM, &r[i])
				: trib_iallreduce(t, x[i], y[i], n, TRIB_F32, TRIB_SUM, &r[i]),
			0);
		sim_call_at(&s.worker[i], s.now + 1);
	}
	sim_run(&s, NULL, s.now + TRIB_SEC);
	for (i = 0; i < 4; i++) {
		unsigned int first = scatter ? i * OVER : 0;

		expect(r[i]->done);
		expect_eq(trib_wait(r[i]), -ERANGE);
		expect_eq(error_of(&s, i)->code, TRIB_ERR_OVERFLOW);
		expect_eq(error_of(&s, i)->rank, -1);
		expect_eq(error_of(&s, i)->index, 2345);
		for (k = first; k < first + n; k++) {
			float v = y[i][k - first];

			if (k == 2345)
				expect(isinf(v) && v > 0);
			else if (k == 4321 || k == 5000)
				expect(isinf(v) && v < 0);
			else if (k == 7)
				expect(v == FLT_MAX);
			else
				expect(isfinite(v));
		}
	}
	sim_free(&s);
}

static void sum__beyond_fp32_is_everybodys_error(void)
{
	overflow(false, 1);
	overflow(false, 3);
	overflow(true, 1);
	overflow(true, 3);
}

/* Averages, largest and smallest values stay inside; so do sums at the edge. */
static void sum__at_the_edge_of_fp32_is_no_error(void)
{
	static const enum trib_op ops[] = {TRIB_AVG, TRIB_MAX, TRIB_MIN, TRIB_SUM};
	unsigned int workers, k, i;

	for (workers = 1; workers <= 5; workers++)
		for (k = 0; k < 4; k++) {
			struct sim_options o = sim_star(workers);
			struct trib_req *r[5];
			float x[5][2];
			struct sim s;

			sim_init(&s, &o);
			for (i = 0; i < workers; i++) {
				x[i][0] = ops[k] == TRIB_SUM && i ? 0 : FLT_MAX;
				x[i][1] = -x[i][0];
				expect_eq(trib_iallreduce(s.worker[i].t, x[i], x[i], 2, TRIB_F32,
							  ops[k], &r[i]),
					  0);
				sim_call_at(&s.worker[i], s.now + 1);
			}
			sim_run(&s, NULL, s.now + TRIB_SEC);
			for (i = 0; i < workers; i++) {
				expect(r[i]->done && !r[i]->status);
				expect(x[i][0] == FLT_MAX && x[i][1] == -FLT_MAX);
			}
			sim_free(&s);
		}
}

/* --- wrong packets */

/* Before some results, a wrong form of them arrives. */
static bool spoil(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	struct trib_hdr *h = pkt;
	uint8_t bad[RELAY_PACKET_MAX];
	struct trib_hdr *b = (void *)bad;

	if (up || h->type != TRIB_T_RESULT || sim_rnd(s) % 2)
		return false;
	memcpy(bad, pkt, len);
	switch (sim_rnd(s) % 8) {
	case 0:
		b->epoch = htobe32(2);
		break;
	case 1:
		b->chunk = htobe32((uint32_t)sim_rnd(s));
		break;
	case 2:
		b->nval = htobe16((uint16_t)(be16toh(b->nval) ^ 16));
		break;
	case 3:
		b->scale = htobe32(be32toh(b->scale) + 1);
		break;
	case 4:
		b->op ^= 1;
		break;
	case 5:
		b->fmt = (uint8_t)(b->fmt % 3 + 1);
		break;
	case 6:
		b->flags |= TRIB_F_UP;
		break;
	case 7:
		b->type = TRIB_T_GRAD;
		break;
	}
	sim_inject(w, bad, len);
	return false;
}

static void packets__that_are_wrong_change_no_sum(void)
{
	unsigned long bad = 0;
	uint64_t seed;
	unsigned int i;

	for (seed = 1; seed < 40; seed++) {
		struct sim_options o = sim_star(2 + seed % 3);
		struct sim s;

		o.seed = seed;
		o.wire.loss = 20;
		sim_init(&s, &o);
		script_init(&sc, &s, 12, 2000, o.nval);
		script_start(&sc);
		s.tap = spoil;
		expect(sim_run(&s, script_done, s.now + 100 * TRIB_SEC));
		expect(script_good(&sc));
		for (i = 0; i < s.nworker; i++)
			bad += s.worker[i].t->eng.count.bad_packets;
		script_free(&sc);
		sim_free(&s);
	}
	expect(bad > 1000);
}

static void exponents__below_our_own_are_refused(void)
{
	struct sim_options o = sim_star(2);
	struct trib_req *r;
	float x[10] = {1.5f};
	int64_t w[8] = {0};
	struct trib_rx rx = {
		.type = TRIB_T_RESULT,
		.op = TRIB_WOP_MAX,
		.fmt = TRIB_FMT_W64,
		.nval = 2,
		.epoch = 3,
		.v = w,
		.len = 64,
	};
	struct trib_stream *st;
	struct sim s;

	sim_init(&s, &o);
	st = s.worker[0].t->eng.stream[0];
	expect_eq(trib_iallreduce(s.worker[0].t, x, x, 10, TRIB_F32, TRIB_SUM, &r), 0);
	w[0] = 0; /* this rank's exponent is 1 */
	trib_rx(st, &rx);
	expect_eq(st->una, 0);
	w[0] = 129; /* larger than any float's exponent */
	trib_rx(st, &rx);
	expect_eq(st->una, 0);
	expect_eq(s.worker[0].t->eng.count.bad_packets, 2);
	w[0] = 1;
	trib_rx(st, &rx);
	expect_eq(st->una, 1);
	sim_free(&s);
}

int main(void)
{
	run(rank__that_dies_is_named_by_all_in_time);
	run(rank__that_dies_below_a_relay_is_named_by_all);
	run(rank__that_dies_alone_below_a_relay_is_named_by_all);
	run(rank__that_is_late_and_alive_is_waited_for);
	run(relay__that_is_silent_is_noticed);
	run(abort__from_outside_ends_everything);
	run(handle__that_died_keeps_its_error);
	run(ranks__that_disagree_get_an_error_and_no_sum);
	run(rank__that_disagrees_and_dies_is_named);
	run(value__that_is_not_finite_is_named_and_harms_nobody);
	run(error__is_that_of_the_call_that_returns_it);
	run(sum__beyond_fp32_is_everybodys_error);
	run(sum__at_the_edge_of_fp32_is_no_error);
	run(packets__that_are_wrong_change_no_sum);
	run(exponents__below_our_own_are_refused);
	return tap_done();
}
