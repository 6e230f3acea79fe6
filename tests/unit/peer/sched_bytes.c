// SPDX-License-Identifier: BSD-2-Clause
/* Formulas of the algorithms: bytes per NIC, steps, NICs at a step, ranges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/peer/shapes.h"
#include "tests/lib/tap.h"

/* Elements and steps of a rank's schedule. */
struct sums {
	uint64_t sent[PEER_NICS_MAX];
	uint64_t got[PEER_NICS_MAX];
	uint64_t local;
	uint32_t steps;
};

static struct sums sums_of(const struct peer_shape *s, const struct peer_what *what, uint32_t rank)
{
	struct peer_sched sched;
	struct sums sum = {0};
	uint32_t i, j;

	expect_eq(peer_sched_make(&sched, s, what, rank), 0);
	for (i = 0; i < sched.nlane; i++)
		for (j = 0; j < sched.lane[i].nop; j++) {
			const struct peer_op *op = &sched.lane[i].op[j];

			if (op->nic == PEER_NIC_LOCAL)
				sum.local += peer_op_sends(op) ? op->len : 0;
			else
				*(peer_op_sends(op) ? &sum.sent[op->nic] : &sum.got[op->nic]) +=
					op->len;
			if (op->step + 1 > sum.steps)
				sum.steps = op->step + 1;
		}
	peer_sched_free(&sched);
	return sum;
}

/* All ranks send and receive @bytes on each of @nics, in @steps. */
static void all_move(const struct peer_shape *s, enum peer_collective c, uint64_t count,
		     const uint64_t *bytes, uint32_t nics, uint32_t steps)
{
	struct peer_what what = {c, count, 0};
	uint32_t r, i;

	for (r = 0; r < s->world; r++) {
		struct sums sum = sums_of(s, &what, r);

		for (i = 0; i < nics; i++) {
			expect_eq(sum.sent[i], bytes[i]);
			expect_eq(sum.got[i], bytes[i]);
		}
		for (; i < PEER_NICS_MAX; i++)
			expect_eq(sum.sent[i] + sum.got[i], 0);
		expect_eq(sum.steps, steps);
	}
}

/* 2 (W-1)/(W k) S on each of k NICs; half of it in half of the call. */
static void even(const struct peer_shape *s, uint32_t k, uint32_t steps)
{
	uint64_t count = 60 * (uint64_t)s->world * k, i, bytes[PEER_NICS_MAX] = {0};

	for (i = 0; i < k; i++)
		bytes[i] = 2 * (s->world - 1) * (count / s->world / k);
	all_move(s, PEER_ALLREDUCE, count, bytes, k, steps);
	for (i = 0; i < k; i++)
		bytes[i] /= 2;
	all_move(s, PEER_REDUCE_SCATTER, count, bytes, k, steps / 2);
	all_move(s, PEER_ALLGATHER, count, bytes, k, steps / 2);
}

static void ring__bytes_and_steps(void)
{
	struct peer_shape s = {.alg = PEER_ALG_RING, .world = 7, .nics = 1};

	even(&s, 1, 12);
	s.nics = 3;
	even(&s, 3, 12);
}

static void direct__bytes_and_steps(void)
{
	struct peer_shape s = {.alg = PEER_ALG_DIRECT, .world = 5, .nics = 2};

	even(&s, 2, 2);
}

static void halving__bytes_and_steps(void)
{
	struct peer_shape s = {.alg = PEER_ALG_HALVING, .world = 16, .nics = 1};

	even(&s, 1, 8);
	s.nics = 2;
	even(&s, 2, 8);
}

/* Each of k NICs carries log2 W times its lane's share of the vector, one way. */
static void doubling__bytes_and_steps(void)
{
	struct peer_shape s = {
		.alg = PEER_ALG_HALVING, .world = 16, .nics = 1, .doubling_below = 481};
	uint64_t bytes[2] = {4 * 480};

	all_move(&s, PEER_ALLREDUCE, 480, bytes, 1, 4);
	s.nics = 2;
	bytes[0] = bytes[1] = 4 * 240;
	all_move(&s, PEER_ALLREDUCE, 480, bytes, 2, 4);
	s.doubling_below = 480;
	bytes[0] = bytes[1] = 2 * 15 * 480 / 16 / 2;
	all_move(&s, PEER_ALLREDUCE, 480, bytes, 2, 8);
}

/* Both ranks of a pair add in the same order, so they get the same bits of any values. */
static void doubling__pairs_agree_on_the_order(void)
{
	struct peer_shape s = {
		.alg = PEER_ALG_HALVING, .world = 8, .nics = 1, .doubling_below = UINT64_MAX};
	struct peer_what what = {PEER_ALLREDUCE, 64, 0};
	struct peer_sched sched;
	uint32_t r, j;

	for (r = 0; r < s.world; r++) {
		expect_eq(peer_sched_make(&sched, &s, &what, r), 0);
		for (j = 0; j < sched.lane[0].nop; j++) {
			const struct peer_op *o = &sched.lane[0].op[j];

			expect_eq(o->swap, o->kind == PEER_ADD && o->peer < r);
		}
		peer_sched_free(&sched);
	}
}

static void halving__lanes_talk_to_different_ranks_at_every_step(void)
{
	struct peer_shape s = {.alg = PEER_ALG_HALVING, .world = 8, .nics = 3};
	struct peer_what what = {PEER_ALLREDUCE, 480, 0};
	struct peer_sched sched;
	uint32_t j;

	expect_eq(peer_sched_make(&sched, &s, &what, 5), 0);
	for (j = 0; j < sched.lane[0].nop; j++) {
		expect(sched.lane[0].op[j].peer != sched.lane[1].op[j].peer);
		expect(sched.lane[0].op[j].peer != sched.lane[2].op[j].peer);
		expect(sched.lane[1].op[j].peer != sched.lane[2].op[j].peer);
	}
	peer_sched_free(&sched);
}

static void halving__folded_ranks_send_a_vector_more(void)
{
	struct peer_shape s = {.alg = PEER_ALG_HALVING, .world = 5, .nics = 1};
	struct peer_what what = {PEER_ALLREDUCE, 400, 0};
	struct sums alone = sums_of(&s, &what, 0), with = sums_of(&s, &what, 3);
	struct sums folded = sums_of(&s, &what, 4);

	expect_eq(alone.sent[0], 600);
	expect_eq(with.sent[0], 1000);
	expect_eq(folded.sent[0], 400);
	expect_eq(folded.got[0], 400);
	expect_eq(folded.steps, 6);
}

static void bcube__bytes_and_steps(void)
{
	static const uint32_t nk[][2] = {{2, 2}, {3, 2}, {2, 3}, {4, 1}, {3, 3}};
	unsigned int i;

	for (i = 0; i < 5; i++) {
		struct peer_shape s = {
			.alg = PEER_ALG_BCUBE,
			.n = nk[i][0],
			.k = nk[i][1],
			.nics = nk[i][1],
			.world = 1,
		};
		uint32_t l;

		for (l = 0; l < s.k; l++)
			s.world *= s.n;
		even(&s, s.k, 2 * s.k);
	}
}

/* By step and lane: the NIC, of a schedule in which a lane has one a step. */
static bool steps_use_all_nics(const struct peer_sched *s, uint32_t k)
{
	uint32_t step, i, j;

	for (step = 0; step < 2 * k; step++) {
		uint32_t used = 0;

		for (i = 0; i < s->nlane; i++) {
			uint32_t mine = 0;

			for (j = 0; j < s->lane[i].nop; j++)
				if (s->lane[i].op[j].step == step)
					mine |= 1u << s->lane[i].op[j].nic;
			if (!mine || (mine & (mine - 1)) || (used & mine))
				return false;
			used |= mine;
		}
		if (used != (1u << k) - 1)
			return false;
	}
	return true;
}

static void bcube__lanes_use_different_nics_at_every_step(void)
{
	struct peer_shape s = {.alg = PEER_ALG_BCUBE, .world = 27, .nics = 3, .n = 3, .k = 3};
	struct peer_what what = {PEER_ALLREDUCE, 1000, 0};
	struct peer_sched sched;
	uint32_t r;

	for (r = 0; r < s.world; r++) {
		expect_eq(peer_sched_make(&sched, &s, &what, r), 0);
		expect(steps_use_all_nics(&sched, s.k));
		peer_sched_free(&sched);
	}
}

/* Start of the range that a rank owns before step @i, by DESIGN 2.1, without e * S/k. */
static uint64_t owned_at(uint32_t rank, uint32_t e, uint32_t i, uint32_t n, uint32_t k, uint64_t s)
{
	uint64_t at = 0, part = s / k;
	uint32_t t, l, level, a;

	for (t = 0; t < i; t++) {
		level = (e + t) % k;
		for (l = 0, a = rank; l < level; l++)
			a /= n;
		part /= n;
		at += a % n * part;
	}
	return at;
}

static void bcube__ranges_by_the_formula(void)
{
	struct peer_shape s = {.alg = PEER_ALG_BCUBE, .world = 9, .nics = 2, .n = 3, .k = 2};
	struct peer_what what = {PEER_ALLREDUCE, 18 * 9, 0};
	struct peer_sched sched;
	uint32_t r, e, j;

	for (r = 0; r < 9; r++) {
		expect_eq(peer_sched_make(&sched, &s, &what, r), 0);
		for (e = 0; e < 2; e++) {
			expect_eq(sched.lane[e].piece[0].at, e * what.count / 2);
			for (j = 0; j < sched.lane[e].nop; j++) {
				const struct peer_op *op = &sched.lane[e].op[j];
				uint64_t at = owned_at(r, e, op->step + 1, 3, 2, what.count);

				if (op->kind == PEER_ADD)
					expect_eq(op->at, at);
			}
		}
		peer_sched_free(&sched);
	}
}

static void torus__bytes_and_steps(void)
{
	struct peer_shape s = {.alg = PEER_ALG_TORUS, .world = 12, .nics = 1, .rows = 4, .cols = 3};
	uint64_t bytes[2] = {2 * 11 * 10};

	all_move(&s, PEER_ALLREDUCE, 120, bytes, 1, 2 * 2 + 2 * 3);
	s.halving_below = 41;
	all_move(&s, PEER_ALLREDUCE, 120, bytes, 1, 2 * 2 + 2 * 2);
	s.halving_below = 40;
	all_move(&s, PEER_ALLREDUCE, 120, bytes, 1, 2 * 2 + 2 * 3);
	/* (c-1)/c (1 + 1/r) S and (r-1)/r (1 + 1/c) S of 240. */
	s.nics = 2;
	bytes[0] = 240 * 2 / 3 * 5 / 4;
	bytes[1] = 240 * 3 / 4 * 4 / 3;
	all_move(&s, PEER_ALLREDUCE, 240, bytes, 2, 2 * 2 + 2 * 3);
}

static void torus__columns_hold_the_next_subset_after_rows(void)
{
	struct peer_shape s = {.alg = PEER_ALG_TORUS, .world = 12, .nics = 1, .rows = 3, .cols = 4};
	struct peer_what what = {PEER_ALLREDUCE, 120, 0};
	struct peer_sched sched;
	uint32_t r, j;

	for (r = 0; r < 12; r++) {
		const struct peer_op *last = NULL;

		expect_eq(peer_sched_make(&sched, &s, &what, r), 0);
		for (j = 0; j < sched.lane[0].nop; j++)
			if (sched.lane[0].op[j].kind == PEER_ADD && sched.lane[0].op[j].step == 2)
				last = &sched.lane[0].op[j];
		if (expect(last != NULL)) {
			expect_eq(last->at, (r % 4 + 1) % 4 * 30);
			expect_eq(last->len, 30);
		}
		peer_sched_free(&sched);
	}
}

static void torus__two_lanes_start_on_different_nics(void)
{
	struct peer_shape s = {.alg = PEER_ALG_TORUS, .world = 4, .nics = 2, .rows = 2, .cols = 2};
	struct peer_what what = {PEER_ALLREDUCE, 120, 0};
	struct peer_sched sched;

	expect_eq(peer_sched_make(&sched, &s, &what, 0), 0);
	expect(steps_use_all_nics(&sched, 2));
	peer_sched_free(&sched);
}

static void hierarchy__only_leaders_use_nics(void)
{
	uint32_t machine[8] = {0, 0, 0, 0, 1, 1, 1, 1}, leader[2] = {1, 6}, r;
	struct peer_shape s = {
		.alg = PEER_ALG_RING,
		.world = 8,
		.nics = 1,
		.intra = PEER_INTRA_REDUCE,
		.machine = machine,
		.leader = leader,
		.machines = 2,
	};
	struct peer_what what = {PEER_ALLREDUCE, 400, 0};

	for (r = 0; r < 8; r++) {
		struct sums sum = sums_of(&s, &what, r);
		bool leads = r == 1 || r == 6;

		expect_eq(sum.sent[0], leads ? 400 : 0);
		expect_eq(sum.local, leads ? 3 * 400 : 400);
		expect_eq(sum.steps, 4);
	}
	s.intra = PEER_INTRA_ALLREDUCE;
	for (r = 0; r < 8; r++) {
		struct sums sum = sums_of(&s, &what, r);
		bool leads = r == 1 || r == 6;

		expect_eq(sum.sent[0], leads ? 400 : 0);
		expect_eq(sum.local, leads ? 300 + 3 * 400 : 400);
		expect_eq(sum.steps, 5);
	}
}

/* The leader of a ring gets first what it sends first, and hands down its own first. */
static void hierarchy__segments_in_the_order_of_need(void)
{
	uint32_t machine[6] = {0, 0, 1, 1, 2, 2}, leader[3] = {0, 2, 4};
	struct peer_shape s = {
		.alg = PEER_ALG_RING,
		.world = 6,
		.nics = 1,
		.segment = 10,
		.intra = PEER_INTRA_REDUCE,
		.machine = machine,
		.leader = leader,
		.machines = 3,
	};
	struct peer_what what = {PEER_ALLREDUCE, 90, 0};
	struct peer_sched sched;
	const struct peer_op *op;

	expect_eq(peer_sched_make(&sched, &s, &what, 3), 0);
	op = sched.lane[0].op;
	expect_eq(sched.lane[0].nop, 6);
	expect(op[0].at == 0 && op[1].at == 60 && op[2].at == 30);
	expect(op[3].at == 30 && op[4].at == 0 && op[5].at == 60);
	peer_sched_free(&sched);
	what.count = 29;
	expect_eq(peer_sched_make(&sched, &s, &what, 3), 0);
	expect_eq(sched.lane[0].nop, 2);
	peer_sched_free(&sched);
}

static void barrier__half_the_steps_and_no_bytes(void)
{
	struct peer_shape s = {.alg = PEER_ALG_HALVING, .world = 16, .nics = 2};
	uint64_t none[2] = {0};

	all_move(&s, PEER_BARRIER, 0, none, 2, 4);
	s.alg = PEER_ALG_RING;
	all_move(&s, PEER_BARRIER, 0, none, 2, 15);
}

static void broadcast__steps(void)
{
	struct peer_shape s = {.alg = PEER_ALG_HALVING, .world = 16, .nics = 1, .tree_below = 100};
	struct peer_what what = {PEER_BROADCAST, 99, 3};

	expect_eq(sums_of(&s, &what, 3).steps, 4);
	what.count = 160;
	expect_eq(sums_of(&s, &what, 3).steps, 8);
	/* Dealt out, and what it has it does not get back. */
	expect_eq(sums_of(&s, &what, 3).sent[0], 300);
	expect_eq(sums_of(&s, &what, 3).got[0], 0);
	/* A root that is folded gives its vector away once. */
	s.world = 5, what.root = 4;
	expect_eq(sums_of(&s, &what, 4).sent[0], 160);
	expect_eq(sums_of(&s, &what, 4).got[0], 0);
	s.world = 16, what.root = 3;
	s.alg = PEER_ALG_RING;
	expect_eq(sums_of(&s, &what, 3).sent[0], 160);
	expect_eq(sums_of(&s, &what, 2).sent[0], 0);
	expect_eq(sums_of(&s, &what, 2).steps, 15);
}

/* Each element is complete on one rank at one addition, which is marked. */
static void allreduce__one_last_addition_of_each_element(void)
{
	int alg, intra, i;
	uint64_t seed = 5;

	for (alg = PEER_ALG_DIRECT; alg < PEER_ALG__MAX; alg++)
		for (intra = 0; intra <= PEER_INTRA_REDUCE; intra++)
			for (i = 0; i < 5; i++) {
				struct shape_case c;
				struct peer_what what = {PEER_ALLREDUCE, 211, 0};
				uint64_t last = 0;
				uint32_t r, l, j;

				shape_random(&c, alg, intra, &seed, 24);
				/* With whole vectors it is complete on all ranks. */
				c.shape.doubling_below = 0;
				for (r = 0; r < c.shape.world; r++) {
					struct peer_sched s;

					peer_sched_make(&s, &c.shape, &what, r);
					for (l = 0; l < s.nlane; l++)
						for (j = 0; j < s.lane[l].nop; j++)
							last += s.lane[l].op[j].last
									? s.lane[l].op[j].len
									: 0;
					peer_sched_free(&s);
				}
				expect_eq(last, c.shape.world > 1 ? 211 : 0);
			}
}

int main(void)
{
	run(ring__bytes_and_steps);
	run(direct__bytes_and_steps);
	run(halving__bytes_and_steps);
	run(doubling__bytes_and_steps);
	run(doubling__pairs_agree_on_the_order);
	run(halving__lanes_talk_to_different_ranks_at_every_step);
	run(halving__folded_ranks_send_a_vector_more);
	run(bcube__bytes_and_steps);
	run(bcube__lanes_use_different_nics_at_every_step);
	run(bcube__ranges_by_the_formula);
	run(torus__bytes_and_steps);
	run(torus__columns_hold_the_next_subset_after_rows);
	run(torus__two_lanes_start_on_different_nics);
	run(hierarchy__only_leaders_use_nics);
	run(hierarchy__segments_in_the_order_of_need);
	run(barrier__half_the_steps_and_no_bytes);
	run(broadcast__steps);
	run(allreduce__one_last_addition_of_each_element);
	return tap_done();
}
