// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranks whose relay dies, with real sockets and threads on the loopback device: they go on
 * without it, and go back.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"
#include "tests/lib/rank_threads.h"
#include "lib/detour/inner.h"

#define COUNT 5000
#define ROUNDS 3

/* The relay that dies, and the point where its ranks wait for each other. */
static struct script {
	struct loop_relay *relay;
	pthread_barrier_t all;
} script;

static void mute(bool on)
{
	pthread_mutex_lock(&script.relay->lock);
	script.relay->mute = on;
	pthread_mutex_unlock(&script.relay->lock);
}

/* Rank 0 lets the relay die, or live, while all wait. */
static void together(const struct member *m, bool dead)
{
	pthread_barrier_wait(&script.all);
	if (!m->rank)
		mute(dead);
	pthread_barrier_wait(&script.all);
}

static struct trib_counters counters(const struct member *m)
{
	struct trib_counters c = {.size = sizeof(c)};

	trib_counters(m->t, &c);
	return c;
}

/* Wait until the rank's trees are all on a detour, or none is. */
static bool await(const struct member *m, bool away)
{
	char text[200];
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		trib_describe(m->t, text, sizeof(text));
		if ((strstr(text, "without its relay") != NULL) == away)
			return true;
		nap(10);
	}
	return false;
}

static int32_t value(unsigned int rank, unsigned int round, unsigned int i)
{
	return (int32_t)(rank * 1000003 + round * 977 + i * 31);
}

/* An integer sum in place, and a float one, of different sizes. */
static void sum(struct member *m, unsigned int round)
{
	static const unsigned int sizes[] = {1, 352, 2000, COUNT};
	unsigned int n = sizes[round % 4], world = RANKS, i, r;
	int32_t *x = calloc(n, sizeof(*x)), want;
	float *f = calloc(n, sizeof(*f)), fw;

	for (i = 0; i < n; i++) {
		x[i] = value(m->rank, round, i);
		f[i] = (float)(value(m->rank, round, i) % 4096);
	}
	m->wrong += trib_allreduce(m->t, x, x, n, TRIB_I32, TRIB_SUM) != 0;
	m->wrong += trib_allreduce(m->t, f, f, n, TRIB_F32, TRIB_SUM) != 0;
	for (i = 0; i < n; i++) {
		for (want = 0, fw = 0, r = 0; r < world; r++) {
			want = (int32_t)((uint32_t)want + (uint32_t)value(r, round, i));
			fw += (float)(value(r, round, i) % 4096);
		}
		m->wrong += x[i] != want || f[i] != fw;
	}
	free(x);
	free(f);
}

/* All other collectives. */
static void others(struct member *m)
{
	float x[3] = {(float)m->rank, -(float)m->rank, 7}, y[3] = {0};
	int32_t all[RANKS * 2] = {0}, one[2] = {5, 6}, part[2] = {0}, i;

	m->wrong += trib_allreduce(m->t, x, y, 3, TRIB_F32, TRIB_MAX) || y[0] != RANKS - 1;
	m->wrong += trib_allreduce(m->t, x, y, 3, TRIB_F32, TRIB_MIN) || y[1] != 1 - RANKS;
	all[0] = (int32_t)m->rank;
	one[0] = (int32_t)m->rank;
	m->wrong += trib_allgather(m->t, one, all, 2, TRIB_I32) != 0;
	for (i = 0; i < RANKS; i++)
		m->wrong += all[2 * i] != i || all[2 * i + 1] != 6;
	one[1] = m->rank == 2 ? 77 : 0;
	m->wrong += trib_broadcast(m->t, one + 1, 1, TRIB_I32, 2) || one[1] != 77;
	for (i = 0; i < RANKS * 2; i++)
		all[i] = i;
	m->wrong += trib_reduce_scatter(m->t, all, part, 2, TRIB_I32, TRIB_SUM) ||
		    part[1] != (int32_t)(RANKS * (2 * m->rank + 1));
	m->wrong += trib_barrier(m->t) != 0;
}

static void sums(struct member *m, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		sum(m, i);
	others(m);
}

static void run_ranks(struct loop_relay *l, struct member *m, void (*work)(struct member *m))
{
	script.relay = l;
	pthread_barrier_init(&script.all, NULL, RANKS);
	loop_start(l);
	all_ranks(l, m, work);
	pthread_barrier_destroy(&script.all);
	loop_stop(l);
}

static void work_without_relay(struct member *m)
{
	sums(m, 8);
	together(m, true);
	sums(m, 20);
	m->wrong += counters(m).detours != 1 || !counters(m).detour_chunks;
}

static void detour__ranks_sum_for_a_dead_relay(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	run_ranks(&l, m, work_without_relay);
	expect_good(&l, m);
}

static unsigned int deaf;

/* The relay dies for one rank first, while sums are under way: it lacks results of others. */
static void work_deaf(struct member *m)
{
	unsigned int i;

	for (i = 0; i < 40; i++) {
		if (!m->rank && i == 10) {
			pthread_mutex_lock(&script.relay->lock);
			script.relay->deaf = 1ULL << deaf;
			pthread_mutex_unlock(&script.relay->lock);
		}
		sum(m, i);
	}
	m->wrong += counters(m).detours != 1;
}

static void deaf_rank(unsigned int rank)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	deaf = rank;
	run_ranks(&l, m, work_deaf);
	expect_good(&l, m);
}

static void detour__results_go_to_ranks_that_lack_them(void)
{
	unsigned int i;

	for (i = 0; i < RANKS; i++)
		deaf_rank(i);
}

static void work_back(struct member *m)
{
	unsigned int i;

	for (i = 1; i <= ROUNDS; i++) {
		together(m, true);
		sums(m, 6);
		m->wrong += !await(m, true) || counters(m).detours != i;
		together(m, false);
		m->wrong += !await(m, false);
		pthread_barrier_wait(&script.all);
		sums(m, 6);
		m->wrong += !await(m, false) || counters(m).detours != i;
	}
}

static void detour__goes_back_and_away_again(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	run_ranks(&l, m, work_back);
	expect_good(&l, m);
	expect(l.grads > 0);
}

static void work_while_it_returns(struct member *m)
{
	together(m, true);
	sums(m, 2);
	together(m, false);
	/* No pause: it comes back while sums are under way. */
	sums(m, 400);
	m->wrong += !await(m, false) || counters(m).detours != 1;
}

static void detour__goes_back_while_sums_are_under_way(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	l.loss = 10;
	run_ranks(&l, m, work_while_it_returns);
	expect_good(&l, m);
}

static void work_late(struct member *m)
{
	sums(m, 1);
	if (m->rank == 2)
		nap(700);
	sums(m, 1);
	m->wrong += counters(m).detours != 0;
}

static void detour__late_ranks_are_no_dead_relay(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	run_ranks(&l, m, work_late);
	expect_good(&l, m);
}

static void work_late_meanwhile(struct member *m)
{
	uint64_t begun = now();

	together(m, true);
	if (m->rank == 2)
		nap(500);
	sums(m, 2);
	/* Its thread answered for it. */
	m->wrong += m->rank == 2 && now() - begun > 900 * MS;
	m->wrong += counters(m).detours != 1;
}

static void detour__a_rank_that_computes_answers(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	run_ranks(&l, m, work_late_meanwhile);
	expect_good(&l, m);
}

static struct trib_req *left; /* of the rank that leaves */

static void work_leaver(struct member *m)
{
	struct trib_error e = {0};
	static int32_t x = 1;

	together(m, true);
	sums(m, 2);
	/* A rank that ends takes with it what others have not received yet. */
	pthread_barrier_wait(&script.all);
	if (m->rank == 1) {
		/* It detaches with a sum that the others never join. */
		m->wrong += trib_iallreduce(m->t, &x, &x, 1, TRIB_I32, TRIB_SUM, &left) != 0;
		return;
	}
	nap(20);
	m->wrong += trib_barrier(m->t) == 0 || trib_barrier(m->t) == 0;
	trib_error(m->t, &e);
	if (e.rank != 1)
		printf("# rank %u: %d, rank %d: %s\n", m->rank, e.code, e.rank, e.text);
	m->wrong += e.rank != 1;
}

static void detour__a_rank_that_ends_is_named(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	run_ranks(&l, m, work_leaver);
	expect(trib_wait(left) < 0);
	expect_good(&l, m);
}

static void work_others(struct member *m)
{
	int32_t x[9] = {1};
	int rc;

	together(m, true);
	sums(m, 2);
	/* One rank issues another collective. */
	rc = m->rank == 3 ? trib_allreduce(m->t, x, x, 9, TRIB_I32, TRIB_SUM)
			  : trib_allreduce(m->t, x, x, 8, TRIB_I32, TRIB_SUM);
	m->wrong += !rc;
}

static void detour__ranks_that_disagree_are_told(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	run_ranks(&l, m, work_others);
	expect_good(&l, m);
}

/* --- a member that holds the key, and says what no honest one says */

static uint32_t rng;

static uint32_t draw(uint32_t n)
{
	rng = rng * 1664525 + 1013904223;
	return (rng >> 8) % n;
}

/* A message whose parts are right more often than not. */
static void say_garbage(struct trib *t)
{
	static const uint32_t lens[] = {0, 8, 40, 44, 48, 1448, 3000};
	struct detour_head h = {
		.say = (uint8_t)draw(7),
		.tree = (uint16_t)(draw(4) ? 0 : draw(3)),
		.generation = draw(4),
		.chunk = draw(3) ? t->eng.stream[0]->una + draw(9) : draw(1 << 20),
		.value = draw(2) ? 64 : draw(100),
	};
	uint32_t len = lens[draw(7)], i;
	struct boot_body *b = boot_body_new(sizeof(h) + len);

	memcpy(b->data, &h, sizeof(h));
	for (i = 0; i < len; i++)
		b->data[sizeof(h) + i] = (uint8_t)(draw(3) ? 0 : draw(256));
	if (len > sizeof(struct trib_hdr) && draw(2)) {
		struct trib_hdr p = {.version = TRIB_WIRE_VERSION,
				     .type = TRIB_T_GRAD,
				     .flags = (uint8_t)draw(128),
				     .op = (uint8_t)draw(3),
				     .fmt = (uint8_t)draw(9),
				     .nm = (uint8_t)(draw(2) ? 0 : draw(256)),
				     .nval = htobe16((uint16_t)draw(400))};

		memcpy(b->data + sizeof(h), &p, sizeof(p));
	}
	trib_mesh_say(&t->detours->mesh, draw(RANKS) & ~1u, b);
	boot_body_put(b);
}

/* Sums may be wrong, if one of those who add lies; nothing else may happen than an error. */
static void work_liar(struct member *m)
{
	int32_t *x = calloc(COUNT, sizeof(*x));
	unsigned int i, n;

	together(m, true);
	for (n = 0; n < 5 && !trib_allreduce(m->t, x, x, COUNT, TRIB_I32, TRIB_SUM); n++) {
		pthread_mutex_lock(&m->t->lock);
		for (i = 0; m->rank == 1 && i < 20; i++)
			say_garbage(m->t);
		pthread_mutex_unlock(&m->t->lock);
	}
	free(x);
}

static void detour__a_member_that_lies_ends_the_job_at_most(void)
{
	struct loop_relay l;
	struct member m[RANKS];

	for (rng = 1; rng < 400000000; rng += 10000019) {
		uint32_t seed = rng;

		l = relay(RANKS);
		run_ranks(&l, m, work_liar);
		expect_eq(m[0].rc, 0);
		rng = seed;
	}
}

int main(void)
{
	if (!loop_netns())
		tap_skip_all("cannot make a network namespace");
	setenv("TRIB_DETOUR", "1", 1);
	setenv("TRIB_PEERS", "127.0.0.1:7499", 1);
	run(detour__ranks_sum_for_a_dead_relay);
	run(detour__results_go_to_ranks_that_lack_them);
	run(detour__goes_back_and_away_again);
	run(detour__goes_back_while_sums_are_under_way);
	run(detour__late_ranks_are_no_dead_relay);
	run(detour__a_rank_that_computes_answers);
	run(detour__a_rank_that_ends_is_named);
	run(detour__ranks_that_disagree_are_told);
	run(detour__a_member_that_lies_ends_the_job_at_most);
	return tap_done();
}
