// SPDX-License-Identifier: BSD-2-Clause
/*
 * Schedules of all algorithms, carried out in memory in random orders: results against
 * the oracle, the marks of operations, the rule of SETs, and the order of additions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/peer/shapes.h"
#include "tests/lib/tap.h"

static uint64_t seed = 20240611;

/* One call, in four orders of events. */
static bool call_right(const struct peer_shape *shape, const struct peer_what *what)
{
	struct sched_world w;
	bool good = sched_world_make(&w, shape, what) && sched_world_causal(&w);
	uint64_t digest = 0;

	good = good && sched_world_run(&w, sched_random(&seed), 1 + seed % 5, false, false);
	good = good && sched_world_run(&w, sched_random(&seed), 1 + seed % 50, true, false);
	good = good && sched_world_run(&w, sched_random(&seed), 3, false, true);
	if (good)
		digest = sched_world_digest(&w);
	good = good && sched_world_run(&w, sched_random(&seed), 1000, true, true);
	if (good && digest != sched_world_digest(&w))
		good = sched_world_fail(&w, "order of additions changes");
	if (!good)
		printf("# %s\n#  collective %d count %llu root %u: %s\n", shape_text(shape),
		       what->collective, (unsigned long long)what->count, what->root, w.fail);
	sched_world_free(&w);
	return good;
}

static bool shape_right(const struct peer_shape *shape)
{
	struct peer_what what;
	int i;

	for (i = PEER_ALLREDUCE; i <= PEER_BARRIER; i++) {
		what.collective = i;
		what.count = shape_count(shape, i, &seed);
		what.root = shape_below(&seed, shape->world);
		if (!call_right(shape, &what))
			return false;
	}
	return true;
}

static void many(enum peer_alg alg, enum peer_intra intra, int times, uint32_t most)
{
	struct shape_case c;

	while (times--) {
		shape_random(&c, alg, intra, &seed, most);
		if (!expect(shape_right(&c.shape)))
			return;
	}
}

static void direct__any_world(void)
{
	many(PEER_ALG_DIRECT, PEER_INTRA_NONE, 60, 16);
}

static void ring__any_world(void)
{
	many(PEER_ALG_RING, PEER_INTRA_NONE, 100, 24);
}

static void halving__any_world(void)
{
	many(PEER_ALG_HALVING, PEER_INTRA_NONE, 150, 24);
}

static void bcube__any_n_and_k(void)
{
	many(PEER_ALG_BCUBE, PEER_INTRA_NONE, 60, 32);
}

static void torus__any_matrix_and_one_more(void)
{
	many(PEER_ALG_TORUS, PEER_INTRA_NONE, 150, 30);
}

static void hierarchy__any_algorithm_between_leaders(void)
{
	int alg;

	for (alg = PEER_ALG_DIRECT; alg < PEER_ALG__MAX; alg++) {
		many(alg, PEER_INTRA_ALLREDUCE, 40, 20);
		many(alg, PEER_INTRA_REDUCE, 40, 20);
	}
}

static void hierarchy__one_machine(void)
{
	int intra, world;

	for (intra = PEER_INTRA_ALLREDUCE; intra <= PEER_INTRA_REDUCE; intra++)
		for (world = 1; world < 10; world++) {
			uint32_t machine[10] = {0}, leader = world / 2;
			struct peer_shape s = {
				.alg = PEER_ALG_TORUS,
				.world = world,
				.nics = 2,
				.intra = intra,
				.machine = machine,
				.leader = &leader,
				.machines = 1,
			};

			expect(shape_right(&s));
		}
}

static void all__one_rank_has_no_operations(void)
{
	int alg, i;

	for (alg = PEER_ALG_DIRECT; alg < PEER_ALG__MAX; alg++)
		for (i = PEER_ALLREDUCE; i <= PEER_BARRIER; i++) {
			struct peer_shape s = {.alg = alg, .world = 1, .nics = 1, .k = 1};
			struct peer_what what = {i, i == PEER_BARRIER ? 0 : 5, 0};
			struct peer_sched sched;

			if (expect(!peer_sched_make(&sched, &s, &what, 0)))
				expect_eq(sched.lane[0].nop, 0);
			peer_sched_free(&sched);
		}
}

/* Every root, of shapes that have folded ranks, locals, and several lanes. */
static void broadcast__every_root(void)
{
	static const uint64_t counts[] = {0, 1, 29, 200};
	int alg, intra, i;

	for (alg = PEER_ALG_DIRECT; alg < PEER_ALG__MAX; alg++)
		for (intra = PEER_INTRA_NONE; intra <= PEER_INTRA_REDUCE; intra++)
			for (i = 0; i < 8; i++) {
				struct peer_what what = {PEER_BROADCAST, counts[i % 4], 0};
				struct shape_case c;

				shape_random(&c, alg, intra, &seed, 18);
				for (; what.root < c.shape.world; what.root++)
					if (!expect(call_right(&c.shape, &what)))
						return;
			}
}

/* Large ones, with sums only. */
static void all__large_worlds(void)
{
	int alg, i;

	for (alg = PEER_ALG_RING; alg < PEER_ALG__MAX; alg++)
		for (i = PEER_ALLREDUCE; i <= PEER_BARRIER; i++) {
			struct peer_shape s = {
				.alg = alg,
				.world = alg == PEER_ALG_BCUBE ? 125 : 131,
				.nics = 3,
				.n = 5,
				.k = 3,
				.rows = 10,
				.cols = 13,
			};
			struct peer_what what = {i, 2 * s.world, 77};
			struct sched_world w;

			what.count *= i != PEER_BARRIER;
			if (!expect(sched_world_make(&w, &s, &what) &&
				    sched_world_run(&w, ++seed, 4, false, false)))
				printf("# %s: %s\n", shape_text(&s), w.fail);
			sched_world_free(&w);
		}
}

int main(void)
{
	run(direct__any_world);
	run(ring__any_world);
	run(halving__any_world);
	run(bcube__any_n_and_k);
	run(torus__any_matrix_and_one_more);
	run(hierarchy__any_algorithm_between_leaders);
	run(hierarchy__one_machine);
	run(all__one_rank_has_no_operations);
	run(broadcast__every_root);
	run(all__large_worlds);
	return tap_done();
}
