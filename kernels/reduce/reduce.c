// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Chooses the level for this CPU. */
#include "kernels/cpu.h"
#include "reduce_levels.h"

#define AVX2 (TRIB_CPU_AVX2 | TRIB_CPU_F16C)
#define AVX512 (AVX2 | TRIB_CPU_AVX512F | TRIB_CPU_AVX512BW | TRIB_CPU_AVX512DQ | TRIB_CPU_AVX512VL)

static const struct {
	const struct trib_reduce_table *table;
	uint32_t needs;
} levels[TRIB_REDUCE_LEVEL__MAX] = {
	[TRIB_REDUCE_SCALAR] = {.table = &trib_reduce_table_scalar},
#if defined(__x86_64__)
	[TRIB_REDUCE_AVX2] = {&trib_reduce_table_avx2, AVX2},
	[TRIB_REDUCE_AVX512] = {&trib_reduce_table_avx512, AVX512},
#endif
};

const struct trib_reduce_table *trib_reduce_table(enum trib_reduce_level level)
{
	if ((unsigned int)level >= TRIB_REDUCE_LEVEL__MAX || levels[level].needs & ~trib_cpu_caps())
		return NULL;
	return levels[level].table;
}

static const struct trib_reduce_table *best(void)
{
	const struct trib_reduce_table *table = NULL;
	int level;

	for (level = TRIB_REDUCE_LEVEL__MAX - 1; !table; level--)
		table = trib_reduce_table((enum trib_reduce_level)level);
	return table;
}

static trib_reduce_fn find_reduce(const struct trib_reduce_table *table, unsigned int type,
				  unsigned int op)
{
	if (type >= TRIB_REDUCE_TYPE__MAX || op >= TRIB_REDUCE_OP__MAX)
		return NULL;
	return table->reduce[type][op];
}

static trib_average_fn find_average(const struct trib_reduce_table *table, unsigned int type)
{
	return type < TRIB_REDUCE_TYPE__MAX ? table->average[type] : NULL;
}

size_t trib_reduce_size(unsigned int type)
{
	return type < TRIB_REDUCE_TYPE__MAX ? reduce_size((enum trib_reduce_type)type) : 0;
}

trib_reduce_fn trib_reduce(unsigned int type, unsigned int op)
{
	return find_reduce(best(), type, op);
}

trib_reduce_fn trib_reduce_scalar(unsigned int type, unsigned int op)
{
	return find_reduce(&trib_reduce_table_scalar, type, op);
}

trib_average_fn trib_average(unsigned int type)
{
	return find_average(best(), type);
}

trib_average_fn trib_average_scalar(unsigned int type)
{
	return find_average(&trib_reduce_table_scalar, type);
}
