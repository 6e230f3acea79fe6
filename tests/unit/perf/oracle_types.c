// SPDX-License-Identifier: BSD-2-Clause
/*
 * The oracle of types and operations that only peers have: whatever the arithmetic of
 * peers makes in any order passes, and anything off by more than the bound does not.
 */
#include <math.h>
#include <string.h>

#include "kernels/reduce/reduce.h"
#include "perf/oracle.h"
#include "tests/lib/tap.h"

/* Some blocks of each power of two, and part of a block. */
#define N 20011
#define RANKS 16

static double memory[RANKS + 2][N]; /* aligned for every type */
static void *const got = memory[RANKS], *const other = memory[RANKS + 1];

static uint64_t state = 3;

static uint64_t chance(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static struct oracle make(unsigned int world, enum trib_dtype d, enum trib_op op)
{
	return (struct oracle){.seed = 11, .world = world, .dtype = d, .op = op, .total = N};
}

static struct oracle_report check(const struct oracle *o, const void *result)
{
	struct oracle_report rep = {0};

	oracle_check(o, 0, N, result, &rep);
	return rep;
}

static bool is_real(const struct oracle *o)
{
	return o->dtype != TRIB_I32 || o->op != TRIB_AVG;
}

/* All combinations that oracle_types.c answers for, and some others. */
static void each(void (*try)(const struct oracle *o))
{
	static const unsigned int worlds[] = {1, 2, 3, 4, 5, 7, RANKS};

	for (int d = TRIB_F32; d <= TRIB_F64; d++)
		for (int op = TRIB_SUM; op <= TRIB_PROD; op++)
			for (unsigned int w = 0; w < sizeof(worlds) / sizeof(worlds[0]); w++) {
				struct oracle o =
					make(worlds[w], (enum trib_dtype)d, (enum trib_op)op);

				/* Orders of floats have a bound of their own. */
				o.bound = ORACLE_F32_SUMS;
				if (is_real(&o))
					try(&o);
			}
}

/* Reduce ranks @from to @to, cut in two anywhere, into the first one's memory. */
static void reduce(const struct oracle *o, unsigned int from, unsigned int to)
{
	unsigned int op = o->op == TRIB_AVG ? (unsigned int)TRIB_REDUCE_SUM : (unsigned int)o->op;
	unsigned int mid;

	if (to - from == 1)
		return;
	mid = from + 1 + (unsigned int)(chance() % (to - from - 1));
	reduce(o, from, mid);
	reduce(o, mid, to);
	if (to - from == o->world && o->op == TRIB_AVG)
		trib_average(o->dtype)(memory[0], memory[0], memory[mid], N, o->world);
	else if (chance() % 2)
		trib_reduce(o->dtype, op)(memory[from], memory[from], memory[mid], N);
	else
		trib_reduce(o->dtype, op)(memory[from], memory[mid], memory[from], N);
}

/* @without: a rank that is left out, or -1. */
static void combine(const struct oracle *o, int without)
{
	struct oracle all = *o;
	unsigned int n = 0;

	for (unsigned int r = 0; r < o->world; r++)
		if ((int)r != without)
			oracle_fill(o, r, 0, N, memory[n++]);
	all.world = n;
	reduce(&all, 0, n);
	memcpy(got, memory[0], N * oracle_size(o->dtype));
}

static void in_any_order(const struct oracle *o)
{
	struct oracle_report rep;

	combine(o, -1);
	rep = check(o, got);
	if (!expect(!rep.wrong))
		printf("# type %d, op %d, world %u: element %zu is %g, not %g +-%g\n", o->dtype,
		       o->op, o->world, rep.first[0].index, rep.first[0].got, rep.first[0].want,
		       rep.first[0].bound);
}

static void results__of_any_order_pass(void)
{
	for (int i = 0; i < 3; i++)
		each(in_any_order);
}

/* A rank less: sums are wrong nearly everywhere; some factors are 1. */
static void with_one_missing(const struct oracle *o)
{
	size_t wrong;

	if (o->world < 2 || o->op == TRIB_AVG || (o->world > 5 && o->dtype == TRIB_BF16))
		return;
	combine(o, (int)(chance() % o->world));
	wrong = check(o, got).wrong;
	if (!expect(o->op == TRIB_SUM ? wrong > N / 10 * 9 : wrong > N / 20))
		printf("# type %d, op %d, world %u: %zu wrong\n", o->dtype, o->op, o->world, wrong);
}

static void results__without_a_rank_fail(void)
{
	each(with_one_missing);
}

/* Change an element by its last bits, more and more, until the oracle objects. */
static void beside_the_bound(const struct oracle *o)
{
	size_t size = oracle_size(o->dtype), i = (size_t)(chance() % 4000);
	struct oracle_report rep = {0};
	uint64_t w = 0, step;
	double least = 0;

	combine(o, -1);
	memcpy(&w, (char *)got + i * size, size);
	for (step = 1; step < 1u << 20 && !rep.wrong; step *= 2) {
		uint64_t moved = w + step;

		memcpy((char *)got + i * size, &moved, size);
		oracle_check(o, i, 1, (char *)got + i * size, &rep);
	}
	least = fabs(rep.first[0].got - rep.first[0].want);
	if (!expect(rep.wrong == 1) || !expect(least > rep.first[0].bound))
		printf("# type %d, op %d, world %u, element %zu\n", o->dtype, o->op, o->world, i);
	/* Exact results tell of a single bit, and bounds are a few roundings. */
	if (o->op == TRIB_MAX || o->op == TRIB_MIN || (o->dtype == TRIB_I32) || o->world == 1)
		expect_eq(step, 2);
	else if (o->op == TRIB_PROD)
		expect(step <= 16);
}

static void bounds__are_narrow(void)
{
	each(beside_the_bound);
}

static void spoiled(const struct oracle *o)
{
	size_t size = oracle_size(o->dtype);
	struct oracle_report rep = {0};

	oracle_poison(got, N * size);
	expect(o->dtype == TRIB_I32 || check(o, got).wrong == N);
	oracle_fill(o, 0, 0, N, got);
	oracle_check_copy(o, 0, 0, N, got, &rep);
	expect_eq(rep.wrong, 0);
	((char *)got)[777 * size] ^= 1;
	oracle_check_copy(o, 0, 0, N, got, &rep);
	expect_eq(rep.wrong, 1);
	expect_eq(rep.first[0].index, 777);
}

static void poison__and_flipped_bits_of_copies_fail(void)
{
	each(spoiled);
}

/* Inputs of a part are those of the whole, and ranks differ. */
static void cut(const struct oracle *o)
{
	size_t size = oracle_size(o->dtype);

	oracle_fill(o, 0, 0, N, got);
	oracle_fill(o, 0, 999, 5000, other);
	expect(!memcmp((char *)got + 999 * size, other, 5000 * size));
	oracle_fill(o, 1, 999, 5000, other);
	expect(memcmp((char *)got + 999 * size, other, 5000 * size));
}

static void inputs__follow_from_rank_and_place(void)
{
	each(cut);
}

int main(void)
{
	run(results__of_any_order_pass);
	run(results__without_a_rank_fail);
	run(bounds__are_narrow);
	run(poison__and_flipped_bits_of_copies_fail);
	run(inputs__follow_from_rank_and_place);
	return tap_done();
}
