// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests whose elements come later than they are issued: on a simulated network,
 * each rank computes the elements of one request from the result of another.
 */
#include "tests/lib/engine_world.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

#define STAGES 6
#define WORDS 300

/*
 * One rank: a sum of integers, which is there at once, and sums of words; each
 * stage's words are made of the result of the one before.
 */
struct rank {
	uint32_t first[2 * WORDS];
	uint64_t stage[STAGES][WORDS];
	struct trib_req *req[1 + STAGES];
	struct trib_req *barrier;
	unsigned int released;
	unsigned int wrong;
	bool barrier_early;
};

static struct rank rank[SIM_WORKERS];
static uint64_t release_before; /* a rank waits until then before each release */

static uint64_t word(unsigned int r, unsigned int stage, unsigned int i)
{
	return (uint64_t)(r + 1) * 0x9e3779b97f4a7c15ULL * (i + 1) + stage;
}

static void issue(struct sim_worker *w)
{
	struct trib_engine *eng = &w->t->eng;
	struct rank *me = w->ctx;
	struct trib_call first = {
		.dtype = TRIB_SOCK_I32, .src = me->first, .dst = me->first, .count = 2 * WORDS};
	struct trib_call barrier = {.collective = TRIB_COLL_BARRIER};
	unsigned int i;
	int rc;

	for (i = 0; i < 2 * WORDS; i++)
		me->first[i] = eng->rank + i;
	rc = trib_call_issue(eng, &first, &me->req[0]);
	for (i = 0; i < STAGES; i++) {
		struct trib_call c = {.words = true,
				      .held = true,
				      .src = me->stage[i],
				      .dst = me->stage[i],
				      .count = WORDS};

		rc |= trib_call_issue(eng, &c, &me->req[1 + i]);
	}
	rc |= trib_call_issue(eng, &barrier, &me->barrier);
	me->wrong += rc != 0;
}

/* Is the result of stage @s - 1, which stage @s is made of, right? */
static void check(struct sim_worker *w, unsigned int s)
{
	unsigned int n = w->sim->nworker, i, r;
	struct rank *me = w->ctx;
	uint64_t want;

	for (i = 0; i < WORDS; i++) {
		if (!s) {
			me->wrong += me->first[i] != n * i + n * (n - 1) / 2;
			continue;
		}
		for (want = 0, r = 0; r < n; r++)
			want += word(r, s - 1, i);
		me->wrong += me->stage[s - 1][i] != want;
	}
}

static void app(struct sim_worker *w)
{
	struct rank *me = w->ctx;
	unsigned int i;

	if (!me->req[0])
		issue(w);
	me->barrier_early |= me->barrier->done && me->released < STAGES;
	while (me->released < STAGES && me->req[me->released]->done && !w->t->eng.dead) {
		if (w->sim->now < release_before && w->t->eng.rank == 1)
			return;
		check(w, me->released);
		for (i = 0; i < WORDS; i++)
			me->stage[me->released][i] = word(w->t->eng.rank, me->released, i);
		trib_req_release(me->req[++me->released]);
	}
}

static bool all_done(struct sim *s)
{
	unsigned int i, k;

	for (i = 0; i < s->nworker; i++)
		for (k = 0; !s->worker[i].dead && k <= STAGES; k++)
			if (!rank[i].req[k] || !rank[i].req[k]->done || !rank[i].barrier->done)
				return false;
	return true;
}

static void start(struct sim *s, const struct sim_options *o)
{
	unsigned int i;

	memset(rank, 0, sizeof(rank));
	release_before = 0;
	sim_init(s, o);
	for (i = 0; i < o->workers; i++) {
		s->worker[i].ctx = &rank[i];
		s->worker[i].app = app;
		sim_call_at(&s->worker[i], s->now + sim_rnd(s) % TRIB_MS);
	}
}

static void held__requests_chain_through_any_network(void)
{
	static const unsigned int windows[] = {1, 2, 4, 16, 64};
	unsigned int seed, i;
	struct sim s;

	for (seed = 0; seed < 60; seed++) {
		struct sim_options o = sim_star(2 + seed % 5);

		o.seed = seed;
		o.window = windows[seed % 5];
		o.racks = seed % 3 == 1 ? 2 : 0;
		o.trees = seed % 3 == 2 ? 3 : 0;
		o.wire.loss = seed % 2 ? 30 : 0;
		o.wire.dup = 20;
		o.wire.late = 50;
		start(&s, &o);
		if (!expect(sim_run(&s, all_done, s.now + 100 * TRIB_SEC)))
			printf("# seed %u\n", seed);
		for (i = 0; i < o.workers; i++) {
			check(&s.worker[i], STAGES);
			expect_eq(rank[i].wrong, 0);
			expect_eq(s.worker[i].t->eng.dead, 0);
		}
		sim_free(&s);
	}
}

/* Later requests do not wait for held ones, as far as the window reaches. */
static void held__requests_let_later_ones_pass(void)
{
	struct sim_options o = sim_star(3);
	struct sim s;

	o.window = 256;
	start(&s, &o);
	release_before = s.now + 20 * TRIB_MS;
	expect(sim_run(&s, all_done, s.now + TRIB_SEC));
	expect(rank[0].barrier_early && rank[2].barrier_early);
	expect_eq(rank[0].wrong + rank[1].wrong + rank[2].wrong, 0);
	sim_free(&s);
}

/* A rank may hold longer than the timeout of silence, as it may compute. */
static void held__for_long_is_no_death(void)
{
	struct sim_options o = sim_star(3);
	struct sim s;

	start(&s, &o);
	release_before = s.now + 4 * o.timeout_ms * TRIB_MS;
	sim_call_at(&s.worker[1], release_before + 1);
	expect(sim_run(&s, all_done, s.now + 10 * TRIB_SEC));
	expect_eq(s.worker[0].t->eng.dead, 0);
	expect_eq(rank[0].wrong + rank[1].wrong + rank[2].wrong, 0);
	sim_free(&s);
}

static void held__requests_end_when_a_rank_dies(void)
{
	struct sim_options o = sim_star(4);
	unsigned int i, k, undone = 0;
	struct sim s;

	start(&s, &o);
	release_before = s.now + TRIB_SEC;
	sim_run(&s, all_done, s.now + 3 * TRIB_MS);
	s.worker[1].dead = true;
	expect(sim_run(&s, all_done, s.now + 10 * TRIB_SEC));
	for (i = 0; i < 4; i++) {
		for (k = 0; i != 1 && k <= STAGES; k++)
			undone += rank[i].req[k]->status == -EHOSTDOWN;
		expect(i == 1 || s.worker[i].t->eng.error.rank == 1);
	}
	expect(undone >= 3 * (STAGES - 1));
	sim_free(&s);
}

int main(void)
{
	run(held__requests_chain_through_any_network);
	run(held__requests_let_later_ones_pass);
	run(held__for_long_is_no_death);
	run(held__requests_end_when_a_rank_dies);
	return tap_done();
}
