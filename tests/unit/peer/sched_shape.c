// SPDX-License-Identifier: BSD-2-Clause
/* Shapes: mistakes, proposals, names; edges against all schedules of a shape. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/peer/shapes.h"
#include "tests/lib/tap.h"

static uint64_t seed = 77;

/* --- mistakes */

static bool names(const struct peer_shape *s, const char *words)
{
	const char *text = peer_shape_wrong(s);

	return words ? text && strstr(text, words) : !text;
}

static void shape__mistakes_are_named(void)
{
	uint32_t machine[4] = {0, 0, 1, 1}, leader[2] = {0, 2};
	struct peer_shape good = {.alg = PEER_ALG_RING, .world = 4, .nics = 1}, s = good;

	expect(names(&s, NULL));
	s.world = 0;
	expect(names(&s, "world"));
	s.world = PEER_WORLD_MAX + 1;
	expect(names(&s, "world"));
	s = good, s.nics = PEER_NICS_MAX + 1;
	expect(names(&s, "nics"));
	s = good, s.alg = PEER_ALG_AUTO;
	expect(names(&s, "auto"));
	s = good, s.intra = PEER_INTRA_REDUCE;
	expect(names(&s, "intra needs machines"));
	s.machine = machine, s.leader = leader, s.machines = 2;
	expect(names(&s, NULL));
	leader[1] = 1;
	expect(names(&s, "leader is not on it"));
	leader[1] = 4;
	expect(names(&s, "leader is not on it"));
	leader[1] = 2, machine[3] = 2;
	expect(names(&s, "machine is not below"));
	s.leader = NULL;
	expect(names(&s, "all or none"));
}

static void shape__algorithms_need_their_number_of_leaders(void)
{
	struct peer_shape s = {.alg = PEER_ALG_BCUBE, .world = 8, .nics = 3, .n = 2, .k = 3};

	expect(names(&s, NULL));
	s.world = 9;
	expect(names(&s, "n^k"));
	s.world = 8, s.nics = 2;
	expect(names(&s, "NICs"));
	s.n = 1;
	expect(names(&s, "n is 2"));
	s = (struct peer_shape){.alg = PEER_ALG_TORUS, .world = 7, .nics = 1, .rows = 2, .cols = 3};
	expect(names(&s, NULL));
	s.world = 8;
	expect(names(&s, "rows * cols"));
	s.rows = 0;
	expect(names(&s, "1 or more"));
}

static void make__refuses_wrong_calls(void)
{
	struct peer_shape s = {.alg = PEER_ALG_RING, .world = 4, .nics = 1};
	struct peer_what what = {PEER_ALLGATHER, 7, 0};
	struct peer_sched sched;

	expect_eq(peer_sched_make(&sched, &s, &what, 0), -EINVAL);
	what = (struct peer_what){PEER_BROADCAST, 7, 4};
	expect_eq(peer_sched_make(&sched, &s, &what, 0), -EINVAL);
	what = (struct peer_what){PEER_BARRIER, 1, 0};
	expect_eq(peer_sched_make(&sched, &s, &what, 0), -EINVAL);
	what = (struct peer_what){PEER_ALLREDUCE, 7, 0};
	expect_eq(peer_sched_make(&sched, &s, &what, 4), -EINVAL);
	s.world = 0;
	expect_eq(peer_sched_make(&sched, &s, &what, 0), -EINVAL);
	what.collective = PEER_BARRIER + 1;
	s.world = 4;
	expect_eq(peer_sched_make(&sched, &s, &what, 0), -EINVAL);
}

/* --- proposals and names */

static bool torus_is(uint32_t leaders, uint32_t rows, uint32_t cols)
{
	uint32_t r = 0, c = 0;

	return peer_shape_torus(leaders, &r, &c) && r == rows && c == cols;
}

static void torus__square_power_of_two_rows_primes_fold(void)
{
	expect(torus_is(64, 8, 8));
	expect(torus_is(8, 2, 4));
	expect(torus_is(6, 2, 3));
	expect(torus_is(12, 4, 3));
	expect(torus_is(1088, 32, 34));
	expect(torus_is(2, 1, 2));
	expect(torus_is(3, 1, 3));
	expect(torus_is(5, 2, 2));
	expect(torus_is(7, 2, 3));
	expect(torus_is(13, 4, 3));
	expect(!torus_is(0, 0, 0));
}

static bool bcube_is(uint32_t leaders, uint32_t nics, uint32_t n, uint32_t k)
{
	uint32_t a = 0, b = 0;

	return peer_shape_bcube(leaders, nics, &a, &b) ? a == n && b == k : !n;
}

static void bcube__exact_powers_of_as_many_levels_as_nics(void)
{
	expect(bcube_is(4, 2, 2, 2));
	expect(bcube_is(9, 2, 3, 2));
	expect(bcube_is(8, 3, 2, 3));
	expect(bcube_is(8, 2, 0, 0));
	expect(bcube_is(64, 2, 8, 2));
	expect(bcube_is(64, 3, 4, 3));
	expect(bcube_is(4, 3, 2, 2));
	expect(bcube_is(4, 1, 0, 0));
	expect(bcube_is(6, 2, 0, 0));
	expect(bcube_is(1, 2, 0, 0));
}

static void name__every_algorithm_there_and_back(void)
{
	int alg;

	for (alg = 0; alg < PEER_ALG__MAX; alg++)
		expect_eq(peer_alg_parse(peer_alg_name(alg)), alg);
	expect_eq(peer_alg_parse("cube"), PEER_ALG__MAX);
	expect(!strcmp(peer_alg_name(PEER_ALG__MAX), "unknown"));
}

/* --- edges */

/* By lane, peer and NIC: whether any schedule has it. NIC 8 is local memory. */
struct seen {
	bool used[PEER_LANES_MAX][64][PEER_NICS_MAX + 1];
};

static void add_call(struct seen *seen, const struct peer_shape *s, const struct peer_what *what,
		     uint32_t rank)
{
	struct peer_sched sched;
	uint32_t i, j;

	expect_eq(peer_sched_make(&sched, s, what, rank), 0);
	for (i = 0; i < sched.nlane; i++)
		for (j = 0; j < sched.lane[i].nop; j++) {
			const struct peer_op *op = &sched.lane[i].op[j];

			seen->used[i][op->peer]
				  [op->nic == PEER_NIC_LOCAL ? PEER_NICS_MAX : op->nic] = true;
		}
	peer_sched_free(&sched);
}

static void add_calls(struct seen *seen, const struct peer_shape *s, uint32_t rank)
{
	static const uint64_t counts[] = {0, 1, 3, 40, 1000, 100000};
	struct peer_what what;
	int c, i;

	for (c = PEER_ALLREDUCE; c <= PEER_BARRIER; c++)
		for (i = 0; i < 6; i++) {
			what = (struct peer_what){c, counts[i], 0};
			if (c == PEER_REDUCE_SCATTER || c == PEER_ALLGATHER)
				what.count *= s->world;
			if (c == PEER_BARRIER)
				what.count = 0;
			add_call(seen, s, &what, rank);
			while (c == PEER_BROADCAST && ++what.root < s->world)
				add_call(seen, s, &what, rank);
		}
}

static bool edges_exact(const struct peer_shape *s, uint32_t rank, struct seen *seen)
{
	struct peer_edge *edge;
	int i, n = peer_shape_edges(s, rank, &edge);
	uint32_t lane, peer, nic, left = 0;

	if (!expect(n >= 0))
		return false;
	for (i = 0; i < n; i++) {
		const struct peer_edge *e = &edge[i], *p = e - 1;
		bool *used = &seen->used[e->lane][e->peer]
					[e->nic == PEER_NIC_LOCAL ? PEER_NICS_MAX : e->nic];

		left += !*used;
		*used = false;
		if (i && (p->lane > e->lane ||
			  (p->lane == e->lane &&
			   (p->peer > e->peer || (p->peer == e->peer && p->nic >= e->nic)))))
			left++;
	}
	for (lane = 0; lane < PEER_LANES_MAX; lane++)
		for (peer = 0; peer < 64; peer++)
			for (nic = 0; nic <= PEER_NICS_MAX; nic++)
				left += seen->used[lane][peer][nic];
	free(edge);
	return expect(!left);
}

static bool has(const struct peer_shape *s, uint32_t rank, const struct peer_edge *want)
{
	struct peer_edge *edge;
	int i, n = peer_shape_edges(s, rank, &edge);
	bool found = false;

	for (i = 0; i < n; i++)
		found = found || (edge[i].lane == want->lane && edge[i].peer == want->peer &&
				  edge[i].nic == want->nic);
	free(edge);
	return found;
}

static bool edges_symmetric(const struct peer_shape *s, uint32_t rank)
{
	struct peer_edge *edge;
	int i, n = peer_shape_edges(s, rank, &edge);
	bool good = true;

	for (i = 0; i < n; i++) {
		struct peer_edge back = {rank, edge[i].nic, edge[i].lane};

		good = good && has(s, edge[i].peer, &back);
	}
	free(edge);
	return expect(good);
}

static void edges__exactly_those_of_all_calls(void)
{
	struct seen *seen = malloc(sizeof(*seen));
	int alg, intra, i;

	for (alg = PEER_ALG_DIRECT; alg < PEER_ALG__MAX; alg++)
		for (intra = PEER_INTRA_NONE; intra <= PEER_INTRA_REDUCE; intra++)
			for (i = 0; i < 6; i++) {
				struct shape_case c;
				uint32_t rank;

				shape_random(&c, alg, intra, &seed, 20);
				rank = shape_below(&seed, c.shape.world);
				memset(seen, 0, sizeof(*seen));
				add_calls(seen, &c.shape, rank);
				if (!edges_exact(&c.shape, rank, seen) ||
				    !edges_symmetric(&c.shape, rank)) {
					printf("# %s rank %u\n", shape_text(&c.shape), rank);
					goto out;
				}
			}
out:
	free(seen);
}

static bool has_edge(const struct peer_edge *all, int n, const struct peer_edge *e)
{
	while (n-- > 0)
		if (all[n].peer == e->peer && all[n].nic == e->nic && all[n].lane == e->lane)
			return true;
	return false;
}

/* Leaders apart use links that the shape has in any case, and the others none. */
static void apart__only_leaders_exchange_by_edges_of_the_whole(void)
{
	static const uint32_t machine[] = {0, 0, 1, 1, 1, 2, 3, 4, 4}, leader[] = {1, 2, 5, 6, 8};
	static const enum peer_alg algs[] = {PEER_ALG_RING, PEER_ALG_HALVING, PEER_ALG_DIRECT,
					     PEER_ALG_TORUS};
	struct peer_shape s = {.world = 9,
			       .nics = 2,
			       .rows = 2,
			       .cols = 2,
			       .machine = machine,
			       .leader = leader,
			       .machines = 5};
	struct peer_edge *whole, *apart;
	unsigned int a, intra;
	int nwhole, napart, i;
	uint32_t r;

	s.apart = true;
	s.alg = PEER_ALG_RING;
	expect(names(&s, "leaders apart"));
	for (a = 0; a < 4; a++)
		for (intra = PEER_INTRA_ALLREDUCE; intra <= PEER_INTRA_REDUCE; intra++)
			for (r = 0; r < s.world; r++) {
				s.alg = algs[a];
				s.intra = (enum peer_intra)intra;
				s.apart = false;
				nwhole = peer_shape_edges(&s, r, &whole);
				s.apart = true;
				napart = peer_shape_edges(&s, r, &apart);
				expect(nwhole > 0 && (napart > 0) == (leader[machine[r]] == r));
				for (i = 0; i < napart; i++)
					expect(has_edge(whole, nwhole, &apart[i]) &&
					       leader[machine[apart[i].peer]] == apart[i].peer);
				free(whole);
				free(apart);
			}
}

static void edges__wrong_shapes_have_none(void)
{
	struct peer_shape s = {.alg = PEER_ALG_RING};
	struct peer_edge *edge;

	expect_eq(peer_shape_edges(&s, 0, &edge), -EINVAL);
	s.world = 1, s.nics = 1;
	expect_eq(peer_shape_edges(&s, 0, &edge), 0);
	free(edge);
}

/* --- order */

/* The operation of a lane that sends, or receives, first in a step after @after. */
static const struct peer_op *first_of(const struct peer_lane *l, int64_t after, bool sends)
{
	uint32_t i;

	for (i = 0; i < l->nop; i++)
		if (l->op[i].step > after && peer_op_sends(&l->op[i]) == sends)
			return &l->op[i];
	return NULL;
}

static bool passes_on_at_once(const struct peer_shape *s)
{
	struct peer_what what = {.collective = PEER_ALLREDUCE, .count = 1 << 20};
	uint32_t rank, lane;
	struct peer_sched sched;
	bool good = true;

	for (rank = 0; rank < s->world; rank++) {
		expect_eq(peer_sched_make(&sched, s, &what, rank), 0);
		for (lane = 0; lane < sched.nlane; lane++) {
			const struct peer_op *in = first_of(&sched.lane[lane], -1, false);
			const struct peer_op *out = first_of(&sched.lane[lane], in->step, true);

			good &= out->at <= in->at && in->at + in->len <= out->at + out->len;
		}
		peer_sched_free(&sched);
	}
	return good;
}

static void order__what_comes_first_is_passed_on_first(void)
{
	struct peer_shape s = {.alg = PEER_ALG_BCUBE, .world = 4, .nics = 2, .n = 2, .k = 2};

	expect(passes_on_at_once(&s));
	s.world = 9, s.n = 3;
	expect(passes_on_at_once(&s));
	s.world = 8, s.nics = 3, s.n = 2, s.k = 3;
	expect(passes_on_at_once(&s));
	s = (struct peer_shape){.alg = PEER_ALG_TORUS, .world = 4, .nics = 2, .rows = 2, .cols = 2};
	expect(passes_on_at_once(&s));
	s = (struct peer_shape){.alg = PEER_ALG_HALVING, .world = 8, .nics = 1};
	expect(passes_on_at_once(&s));
}

int main(void)
{
	run(shape__mistakes_are_named);
	run(shape__algorithms_need_their_number_of_leaders);
	run(make__refuses_wrong_calls);
	run(torus__square_power_of_two_rows_primes_fold);
	run(bcube__exact_powers_of_as_many_levels_as_nics);
	run(name__every_algorithm_there_and_back);
	run(edges__exactly_those_of_all_calls);
	run(apart__only_leaders_exchange_by_edges_of_the_whole);
	run(edges__wrong_shapes_have_none);
	run(order__what_comes_first_is_passed_on_first);
	return tap_done();
}
