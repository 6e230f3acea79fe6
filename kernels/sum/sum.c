// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Chooses the level for a CPU. */
#include "sum_levels.h"

static const struct trib_sum *const levels[TRIB_SUM__MAX] = {
	[TRIB_SUM_SCALAR] = &trib_sum_scalar,
#if defined(__x86_64__)
	[TRIB_SUM_SSE2] = &trib_sum_sse2,
	[TRIB_SUM_AVX2] = &trib_sum_avx2,
	[TRIB_SUM_AVX512] = &trib_sum_avx512,
#endif
};

const struct trib_sum *trib_sum_get(enum trib_sum_level level, __u32 caps)
{
	if ((unsigned int)level >= TRIB_SUM__MAX || !levels[level] || levels[level]->needs & ~caps)
		return (void *)0;
	return levels[level];
}

enum trib_sum_level trib_sum_level_best(__u32 caps)
{
	int level = TRIB_SUM__MAX - 1;

	while (level > TRIB_SUM_SCALAR && !trib_sum_get(level, caps))
		level--;
	return level;
}
