// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench-reduce: reductions of whole arrays by themselves, one core, in GB/s of
 * memory that the operands and the result occupy: 12 bytes for each element of four.
 *
 *	bench-reduce
 *
 * The first column of each table is for arrays of 64 KiB, which stay in L2, the
 * second for arrays of 32 MiB, which do not stay in a core's caches. The bars are
 * memcpy(), and the same array read and written in place by a plain loop. The result
 * takes the place of the first operand, as in peers. Each figure is the best of
 * several rounds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/reduce/reduce_levels.h"

#define SMALL (64 << 10)
#define LARGE (32 << 20)
#define ROUNDS 9
#define ROUND_BYTES (128 << 20)

static const char *const type_names[TRIB_REDUCE_TYPE__MAX] = {"f32", "i32", "f16", "bf16", "f64"};
static const char *const op_names[TRIB_REDUCE_OP__MAX + 1] = {"sum", "",     "max",
							      "min", "prod", "average"};

static unsigned char *a, *b;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void (*work_fn)(size_t len, const void *arg);

static double best_seconds(size_t len, work_fn work, const void *arg)
{
	size_t times = ROUND_BYTES / len, i;
	double best = 1e9, begun;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		begun = now();
		for (i = 0; i < times; i++)
			work(len, arg);
		begun = (now() - begun) / (double)times;
		best = begun < best ? begun : best;
	}
	return best;
}

static void copy(size_t len, const void *arg)
{
	(void)arg;
	memcpy(a, b, len);
	asm volatile("" ::: "memory");
}

/* Two arrays read and one written, with no arithmetic to wait for. */
static void xor_in_place(size_t len, const void *arg)
{
	uint64_t *x = (uint64_t *)a, *y = (uint64_t *)b;
	size_t i;

	(void)arg;
	for (i = 0; i < len / 8; i++)
		x[i] ^= y[i];
	asm volatile("" ::: "memory");
}

struct call {
	const struct trib_reduce_table *table;
	unsigned int type, op;
};

static void reduce(size_t len, const void *arg)
{
	const struct call *c = arg;
	size_t n = len / trib_reduce_size(c->type);

	if (c->op == TRIB_REDUCE_OP__MAX)
		c->table->average[c->type](a, a, b, n, 3);
	else
		c->table->reduce[c->type][c->op](a, a, b, n);
}

static void row(const char *what, const char *level, double arrays, work_fn work, const void *arg)
{
	double small = best_seconds(SMALL, work, arg), large = best_seconds(LARGE, work, arg);

	printf("%-14s %-8s %8.1f %8.1f\n", what, level, arrays * SMALL / small / 1e9,
	       arrays * LARGE / large / 1e9);
}

int main(void)
{
	char what[32];
	struct call c;
	int level;

	a = aligned_alloc(4096, LARGE);
	b = aligned_alloc(4096, LARGE);
	if (!a || !b)
		return 1;
	/* Ones in every type, nearly: no denormals, no overflow. */
	memset(a, 0x3c, LARGE);
	memset(b, 0x3c, LARGE);
	printf("%-14s %-8s %8s %8s  GB/s\n", "", "level", "64 KiB", "32 MiB");
	row("memcpy", "", 2, copy, NULL);
	row("a ^= b", "", 3, xor_in_place, NULL);
	for (c.type = 0; c.type < TRIB_REDUCE_TYPE__MAX; c.type++)
		for (c.op = 0; c.op <= TRIB_REDUCE_OP__MAX; c.op++)
			for (level = TRIB_REDUCE_LEVEL__MAX - 1; level >= 0; level--) {
				c.table = trib_reduce_table((enum trib_reduce_level)level);
				if (!c.table || !op_names[c.op][0] ||
				    (c.op == TRIB_REDUCE_OP__MAX && !c.table->average[c.type]))
					continue;
				snprintf(what, sizeof(what), "%s %s", type_names[c.type],
					 op_names[c.op]);
				row(what, c.table->name, 3, reduce, &c);
			}
	return 0;
}
