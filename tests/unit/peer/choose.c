// SPDX-License-Identifier: BSD-2-Clause
/* The choice of arrangements: known rankings, reasons, sizes, the table. */
#include <errno.h>
#include <string.h>

#include "peer/choose/choose.h"
#include "tests/lib/tap.h"

#define GBIT (8 / 1e9)

static struct peer_costs nics(double alpha, double gbit)
{
	struct peer_costs c = {.local = {1e-6, 1e-6, 1e-10}, .gamma = 1e-10};
	int i;

	for (i = 0; i < PEER_NICS_MAX; i++)
		c.nic[i] = (struct peer_rate){alpha, 1e-6, GBIT / gbit};
	return c;
}

static struct peer_load load_of(enum peer_collective c, uint64_t bytes)
{
	return (struct peer_load){{c, bytes / 4, 0}, 4, 65536};
}

static double cost(struct peer_shape s, uint64_t bytes, double alpha)
{
	struct peer_costs c = nics(alpha, 1);
	struct peer_load load = load_of(PEER_ALLREDUCE, bytes);

	return peer_cost(&s, &load, &c);
}

static struct peer_shape ring(uint32_t world, uint32_t nics)
{
	return (struct peer_shape){.alg = PEER_ALG_RING, .world = world, .nics = nics};
}

static struct peer_shape torus(uint32_t rows, uint32_t cols)
{
	return (struct peer_shape){
		.alg = PEER_ALG_TORUS,
		.world = rows * cols,
		.nics = 1,
		.rows = rows,
		.cols = cols,
	};
}

static struct peer_shape bcube(uint32_t world, uint32_t n, uint32_t k)
{
	return (struct peer_shape){
		.alg = PEER_ALG_BCUBE, .world = world, .nics = k, .n = n, .k = k};
}

/* --- rankings */

static void small__matrices_and_cubes_beat_rings(void)
{
	expect(cost(ring(64, 1), 65536, 1e-3) >= 3 * cost(torus(8, 8), 65536, 1e-3));
	expect(cost(ring(8, 1), 65536, 1e-3) >= 1.3 * cost(torus(2, 4), 65536, 1e-3));
	expect(cost(ring(4, 2), 65536, 1e-3) >= 1.3 * cost(bcube(4, 2, 2), 65536, 1e-3));
}

static void large__bytes_decide(void)
{
	double one = cost(ring(4, 1), 64 << 20, 5e-5), ratio;

	ratio = cost(torus(2, 2), 64 << 20, 5e-5) / one;
	expect(ratio > 0.95 && ratio < 1.1);
	ratio = one / cost(bcube(4, 2, 2), 64 << 20, 5e-5);
	expect(ratio > 1.8 && ratio <= 2.05);
	ratio = one / cost(ring(4, 2), 64 << 20, 5e-5);
	expect(ratio > 1.8 && ratio <= 2.05);
}

/* --- choices */

static bool holds(const struct peer_choice *c, enum peer_alg alg, uint32_t a, uint32_t b)
{
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		const struct peer_shape *s = &c->option[i].shape;

		if (s->alg == alg && (!a || (alg == PEER_ALG_TORUS ? s->rows == a && s->cols == b
								   : s->n == a && s->k == b)))
			return true;
	}
	return false;
}

static bool sorted(const struct peer_choice *c)
{
	uint32_t i;

	for (i = 1; i < c->n; i++)
		if (c->option[i].seconds >= 0 && c->option[i - 1].seconds > c->option[i].seconds)
			return false;
	return c->n && c->option[0].seconds >= 0;
}

static void choose__tries_every_arrangement(void)
{
	struct peer_place place = {.world = 64, .nics = 3};
	struct peer_costs c = nics(1e-3, 1);
	struct peer_load load = load_of(PEER_ALLREDUCE, 65536);
	struct peer_choice out;

	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect(sorted(&out));
	expect(holds(&out, PEER_ALG_RING, 0, 0));
	expect(holds(&out, PEER_ALG_DIRECT, 0, 0));
	expect(holds(&out, PEER_ALG_HALVING, 0, 0));
	expect(holds(&out, PEER_ALG_BCUBE, 4, 3));
	expect(holds(&out, PEER_ALG_BCUBE, 8, 2));
	expect(holds(&out, PEER_ALG_TORUS, 8, 8));
	expect(holds(&out, PEER_ALG_TORUS, 4, 16));
	expect(holds(&out, PEER_ALG_TORUS, 16, 4));
	expect(strstr(out.why, "bcube ") && strstr(out.why, "ring: ") && strstr(out.why, "torus "));
}

static void choose__says_what_is_missing(void)
{
	struct peer_place place = {.world = 7, .nics = 1};
	struct peer_costs c = nics(1e-3, 1);
	struct peer_load load = load_of(PEER_ALLREDUCE, 1 << 20);
	struct peer_choice out;

	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect(holds(&out, PEER_ALG_TORUS, 2, 3));
	expect(strstr(out.why, "bcube: needs 2 NICs") != NULL);
	place.nics = 2;
	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect(strstr(out.why, "bcube: needs n^k leaders") != NULL);
	place.world = 3;
	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect(strstr(out.why, "torus: needs 4 leaders") != NULL);
	place.world = 0;
	expect_eq(peer_choose(&out, &place, &load, &c), -EINVAL);
}

/* Overhead of messages makes direct exchange of many ranks dear, bytes do not care. */
static void choose__size_and_rates_decide(void)
{
	struct peer_place place = {.world = 16, .nics = 1};
	struct peer_costs c = nics(1e-3, 1);
	struct peer_load load = load_of(PEER_ALLREDUCE, 1024);
	struct peer_choice out;

	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect_eq(out.option[0].shape.alg, PEER_ALG_DIRECT);
	c.nic[0].overhead = 1e-3;
	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect_eq(out.option[0].shape.alg, PEER_ALG_HALVING);
	place = (struct peer_place){.world = 9, .nics = 2};
	c = nics(1e-5, 1);
	load = load_of(PEER_ALLREDUCE, 64 << 20);
	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect(out.option[0].shape.alg != PEER_ALG_HALVING);
}

static void choose__leaders_of_machines(void)
{
	uint32_t machine[16], leader[4] = {0, 4, 8, 12}, i;
	struct peer_place place = {
		.world = 16,
		.nics = 2,
		.intra = PEER_INTRA_ALLREDUCE,
		.machine = machine,
		.leader = leader,
		.machines = 4,
	};
	struct peer_costs c = nics(1e-4, 1);
	struct peer_load load = load_of(PEER_ALLREDUCE, 16 << 20);
	struct peer_choice out;

	for (i = 0; i < 16; i++)
		machine[i] = i / 4;
	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect(holds(&out, PEER_ALG_BCUBE, 2, 2));
	expect_eq(out.option[0].shape.machines, 4);
	expect(strstr(out.why, "hierarchy of ") != NULL);
	/* One rank a machine is no hierarchy. */
	for (i = 0; i < 4; i++)
		machine[i] = leader[i] = i;
	place.world = 4;
	expect_eq(peer_choose(&out, &place, &load, &c), 0);
	expect_eq(out.option[0].shape.intra, PEER_INTRA_NONE);
}

/* --- sizes */

static void tune__ways_change_at_some_size(void)
{
	struct peer_costs c = nics(1e-4, 1);
	struct peer_shape s = torus(8, 8), h = {.alg = PEER_ALG_HALVING, .world = 16, .nics = 1};

	expect_eq(peer_shape_tune(&s, 4, 65536, &c), 0);
	expect(s.halving_below > 100 && s.halving_below < 10000000);
	expect_eq(peer_shape_tune(&h, 4, 65536, &c), 0);
	expect(h.tree_below > 100 && h.tree_below < 10000000);
	/* Farther away, larger. */
	c = nics(1e-2, 1);
	h.tree_below = 0;
	expect_eq(peer_shape_tune(&h, 4, 65536, &c), 0);
	expect(h.tree_below > 100000);
	s = torus(3, 3);
	s.halving_below = 7;
	expect_eq(peer_shape_tune(&s, 4, 65536, &c), 0);
	expect_eq(s.halving_below, 0);
	s.world = 30;
	expect_eq(peer_shape_tune(&s, 4, 65536, &c), -EINVAL);
}

static void table__picks_by_size(void)
{
	struct peer_shape shapes[] = {ring(8, 1), torus(2, 4)};
	struct peer_costs c = nics(1e-4, 1);
	struct peer_table t;

	/* Two NICs are a help for rings here, and only these have them. */
	shapes[0].nics = 2;
	peer_table_init(&t, shapes, 2, 65536, &c);
	expect_eq(peer_table_pick(&t, PEER_ALLREDUCE, 1000), 1);
	expect_eq(peer_table_pick(&t, PEER_ALLREDUCE, 16 << 20), 0);
	expect_eq(peer_table_pick(&t, PEER_ALLREDUCE, 0), 1);
	expect_eq(peer_table_pick(&t, PEER_BARRIER, 0), 1);
	expect_eq(peer_table_pick(&t, PEER_ALLGATHER, 16 << 20), 0);
	expect_eq(peer_table_pick(&t, PEER_BROADCAST, 16 << 20), 0);
	/* Known by now, whatever the rates. */
	memset(&t.costs, 0, sizeof(t.costs));
	expect_eq(peer_table_pick(&t, PEER_ALLREDUCE, 1001), 1);
	expect_eq(peer_table_pick(&t, PEER_ALLREDUCE, 17 << 20), 0);
}

static void text__names_shapes(void)
{
	struct peer_shape s = torus(2, 4);
	char buf[64];

	peer_shape_text(&s, buf, sizeof(buf));
	expect(!strcmp(buf, "torus 2x4"));
	s = bcube(9, 3, 2);
	s.intra = PEER_INTRA_REDUCE;
	peer_shape_text(&s, buf, sizeof(buf));
	expect(!strcmp(buf, "hierarchy of bcube 3^2"));
	s.intra = PEER_INTRA_ALLREDUCE;
	s.machines = 1;
	peer_shape_text(&s, buf, sizeof(buf));
	expect(!strcmp(buf, "one machine"));
}

int main(void)
{
	run(small__matrices_and_cubes_beat_rings);
	run(large__bytes_decide);
	run(choose__tries_every_arrangement);
	run(choose__says_what_is_missing);
	run(choose__size_and_rates_decide);
	run(choose__leaders_of_machines);
	run(tune__ways_change_at_some_size);
	run(table__picks_by_size);
	run(text__names_shapes);
	return tap_done();
}
