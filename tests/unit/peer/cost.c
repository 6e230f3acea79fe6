// SPDX-License-Identifier: BSD-2-Clause
/* The cost model: against formulas where there are any, and one rank against all. */
#include <errno.h>
#include <math.h>

#include "peer/choose/sim.h"
#include "tests/lib/tap.h"

#define MS 1e-3
#define GBIT (8 / 1e9)

/* NICs of 1 Gb/s, 1 ms away. */
static struct peer_costs nics(void)
{
	struct peer_costs c = {.local = {1e-6, 1e-6, 1e-10}, .gamma = 1e-10};
	int i;

	for (i = 0; i < PEER_NICS_MAX; i++)
		c.nic[i] = (struct peer_rate){MS, 0, GBIT};
	return c;
}

static struct peer_load load_of(enum peer_collective c, uint64_t bytes)
{
	return (struct peer_load){{c, bytes / 4, 0}, 4, 65536};
}

static double cost(const struct peer_shape *s, enum peer_collective c, uint64_t bytes)
{
	struct peer_costs costs = nics();
	struct peer_load load = load_of(c, bytes);

	return peer_cost(s, &load, &costs);
}

static bool near(double got, double want, double share)
{
	if (fabs(got - want) <= share * want)
		return true;
	printf("# %g is not %g\n", got, want);
	return false;
}

#define RING(w, n)                                                                                 \
	{                                                                                          \
		.alg = PEER_ALG_RING, .world = w, .nics = n                                        \
	}
#define TORUS(r, c)                                                                                \
	{                                                                                          \
		.alg = PEER_ALG_TORUS, .world = r * c, .nics = 1, .rows = r, .cols = c             \
	}
#define CUBE(w, a, b)                                                                              \
	{                                                                                          \
		.alg = PEER_ALG_BCUBE, .world = w, .nics = b, .n = a, .k = b                       \
	}

static void cost__steps_of_small_messages(void)
{
	struct peer_shape ring = RING(8, 1), torus = TORUS(4, 4), cube = CUBE(8, 2, 3);
	struct peer_shape direct = {.alg = PEER_ALG_DIRECT, .world = 9, .nics = 1};
	struct peer_shape halving = {.alg = PEER_ALG_HALVING, .world = 10, .nics = 1};

	expect(near(cost(&ring, PEER_ALLREDUCE, 32), 14 * MS, 0.01));
	expect(near(cost(&ring, PEER_REDUCE_SCATTER, 32), 7 * MS, 0.01));
	expect(near(cost(&ring, PEER_ALLGATHER, 32), 7 * MS, 0.01));
	expect(near(cost(&ring, PEER_BARRIER, 0), 7 * MS, 0.01));
	expect(near(cost(&torus, PEER_ALLREDUCE, 64), 12 * MS, 0.01));
	torus.halving_below = 1000;
	expect(near(cost(&torus, PEER_ALLREDUCE, 64), 10 * MS, 0.01));
	expect(near(cost(&cube, PEER_ALLREDUCE, 96), 6 * MS, 0.01));
	expect(near(cost(&direct, PEER_ALLREDUCE, 36), 2 * MS, 0.01));
	expect(near(cost(&halving, PEER_ALLREDUCE, 64), 8 * MS, 0.01));
	/* 2 leaders fold; they are heard of while others are at their first step. */
	expect(near(cost(&halving, PEER_BARRIER, 0), 4 * MS, 0.01));
}

static void cost__bytes_of_large_messages(void)
{
	struct peer_shape ring = RING(4, 1), two = RING(4, 2), torus = TORUS(2, 2);
	struct peer_shape cube = CUBE(4, 2, 2);
	uint64_t s = 64 << 20;

	expect(near(cost(&ring, PEER_ALLREDUCE, s), 1.5 * s * GBIT, 0.03));
	expect(near(cost(&two, PEER_ALLREDUCE, s), 0.75 * s * GBIT, 0.05));
	/* The row's allgather starts early and takes turns with the column's. */
	expect(near(cost(&torus, PEER_ALLREDUCE, s), 1.5 * s * GBIT, 0.1));
	expect(near(cost(&cube, PEER_ALLREDUCE, s), 0.75 * s * GBIT, 0.05));
	expect(near(cost(&ring, PEER_REDUCE_SCATTER, s), 0.75 * s * GBIT, 0.05));
	/* A chain is pipelined. */
	expect(near(cost(&ring, PEER_BROADCAST, s), s * GBIT, 0.15));
}

/* Rank 1 gets a vector from rank 2, and half of one from rank 0, at the same time. */
static void cost__receivers_are_busy_too(void)
{
	struct peer_shape s = {.alg = PEER_ALG_HALVING, .world = 3, .nics = 1};

	expect(near(cost(&s, PEER_ALLREDUCE, 64 << 20), 2.5 * (64 << 20) * GBIT, 0.05));
}

static void cost__additions_bound_fast_nics(void)
{
	struct peer_shape ring = RING(4, 1);
	struct peer_costs c = nics();
	struct peer_load load = load_of(PEER_REDUCE_SCATTER, 64 << 20);

	c.gamma = 10 * GBIT;
	expect(near(peer_cost(&ring, &load, &c), 0.75 * (64 << 20) * c.gamma, 0.1));
}

static void cost__overhead_counts_every_message(void)
{
	struct peer_shape direct = {.alg = PEER_ALG_DIRECT, .world = 33, .nics = 1};
	struct peer_costs c = nics();
	struct peer_load load = load_of(PEER_ALLREDUCE, 33 * 4);

	c.nic[0].overhead = MS;
	expect(near(peer_cost(&direct, &load, &c), 2 * (32 * MS + MS), 0.05));
}

static double one_for_all(const struct peer_shape *s, uint64_t bytes)
{
	struct peer_costs costs = nics();
	struct peer_load load = load_of(PEER_ALLREDUCE, bytes);

	return peer_cost_quick(s, &load, &costs);
}

static void cost__one_rank_stands_for_all(void)
{
	struct peer_shape shapes[] = {
		RING(12, 1),
		RING(12, 3),
		TORUS(4, 5),
		CUBE(9, 3, 2),
		{.alg = PEER_ALG_HALVING, .world = 16, .nics = 1},
		{.alg = PEER_ALG_DIRECT, .world = 11, .nics = 2},
	};
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		expect(near(one_for_all(&shapes[i], 65536), cost(&shapes[i], PEER_ALLREDUCE, 65536),
			    0.03));
		expect(near(one_for_all(&shapes[i], 16 << 20),
			    cost(&shapes[i], PEER_ALLREDUCE, 16 << 20), 0.15));
	}
}

static void cost__machines_overlap_with_leaders(void)
{
	uint32_t machine[16], leader[4] = {0, 4, 8, 12}, i;
	struct peer_shape s = RING(16, 1), up = {.alg = PEER_ALG_RING, .world = 4, .nics = 1};
	struct peer_shape flat = RING(4, 1);
	struct peer_costs c = nics();
	struct peer_load load = load_of(PEER_ALLREDUCE, 16 << 20);
	uint32_t one[4] = {0};
	double whole, alone, leaders;

	for (i = 0; i < 16; i++)
		machine[i] = i / 4;
	s.intra = PEER_INTRA_REDUCE;
	s.machine = machine, s.leader = leader, s.machines = 4;
	up.intra = PEER_INTRA_REDUCE;
	up.machine = one, up.leader = one, up.machines = 1;
	c.local = (struct peer_rate){1e-6, 1e-6, GBIT / 8};
	whole = peer_cost(&s, &load, &c);
	alone = peer_cost(&up, &load, &c);
	leaders = peer_cost(&flat, &load, &c);
	expect(alone > 0.2 * leaders);
	expect(whole < 0.9 * (alone + leaders));
	expect(whole >= leaders);
}

/* More than is simulated at once: machines and leaders apart. */
static void cost__many_machines(void)
{
	static uint32_t machine[2048], leader[1024];
	struct peer_shape s = RING(2048, 1);
	struct peer_costs c = nics();
	struct peer_load load = load_of(PEER_ALLREDUCE, 1 << 20);
	uint32_t i;

	for (i = 0; i < 2048; i++)
		machine[i] = i / 2;
	for (i = 0; i < 1024; i++)
		leader[i] = 2 * i;
	s.intra = PEER_INTRA_REDUCE;
	s.machine = machine, s.leader = leader, s.machines = 1024;
	expect(near(peer_cost(&s, &load, &c), 2 * 1023 * MS, 0.05));
}

static void cost__large_tori(void)
{
	struct peer_shape s = TORUS(32, 34);
	double even = cost(&s, PEER_ALLREDUCE, 65536), folded;

	expect(near(even, 128 * MS, 0.02));
	/* Two steps more, which rank 0 takes no part in. */
	s.world++;
	folded = cost(&s, PEER_ALLREDUCE, 65536);
	expect(folded > even + 1 * MS && folded < even + 3 * MS);
}

static void cost__mistakes(void)
{
	struct peer_shape s = CUBE(5, 2, 2), ring = RING(4, 1);
	struct peer_costs c = nics();
	struct peer_load load = load_of(PEER_ALLREDUCE, 64);

	expect_eq(cost(&s, PEER_ALLREDUCE, 64), -EINVAL);
	expect_eq(cost(&ring, PEER_ALLGATHER, 20), -EINVAL);
	load.chunk = 0;
	expect_eq(peer_cost(&ring, &load, &c), -EINVAL);
	load = load_of(PEER_ALLREDUCE, 64), load.size = 0;
	expect_eq(peer_cost(&ring, &load, &c), -EINVAL);
	ring.world = 1;
	expect_eq(cost(&ring, PEER_ALLREDUCE, 64), 0);
}

int main(void)
{
	run(cost__steps_of_small_messages);
	run(cost__bytes_of_large_messages);
	run(cost__receivers_are_busy_too);
	run(cost__additions_bound_fast_nics);
	run(cost__overhead_counts_every_message);
	run(cost__one_rank_stands_for_all);
	run(cost__machines_overlap_with_leaders);
	run(cost__many_machines);
	run(cost__large_tori);
	run(cost__mistakes);
	return tap_done();
}
