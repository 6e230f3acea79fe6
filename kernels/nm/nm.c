// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Code of all levels: the choice for this CPU, and finding non-finite values. */
#include "nm.h"

#include "kernels/codec/codec_fp.h"
#include "kernels/cpu.h"
#include "nm_value.h"

static const struct {
	const struct trib_nm_ops *ops;
	uint32_t needs;
} levels[TRIB_NM__MAX] = {
	[TRIB_NM_SCALAR] = {.ops = &trib_nm_scalar},
#if defined(__x86_64__)
	[TRIB_NM_AVX2] = {&trib_nm_avx2, TRIB_CPU_AVX2 | TRIB_CPU_F16C | TRIB_CPU_POPCNT},
	[TRIB_NM_AVX512] = {&trib_nm_avx512, TRIB_CPU_AVX2 | TRIB_CPU_F16C | TRIB_CPU_POPCNT |
						     TRIB_CPU_AVX512F | TRIB_CPU_AVX512BW |
						     TRIB_CPU_AVX512DQ | TRIB_CPU_AVX512VL},
#endif
};

const struct trib_nm_ops *trib_nm_get(enum trib_nm_level level)
{
	if ((unsigned int)level >= TRIB_NM__MAX || levels[level].needs & ~trib_cpu_caps())
		return NULL;
	return levels[level].ops;
}

const struct trib_nm_ops *trib_nm_best(void)
{
	const struct trib_nm_ops *ops = NULL;
	int level;

	for (level = TRIB_NM__MAX - 1; !ops; level--)
		ops = trib_nm_get((enum trib_nm_level)level);
	return ops;
}

size_t trib_nm_first_bad(const struct trib_nm_range *range)
{
	__auto_type fp = trib_fp_enter();
	size_t i;

	for (i = 0; i < range->count; i++)
		if ((nm_bits(nm_acc(range, range->fmt, i)) & 0x7fffffff) >= TRIB_NM_BAD)
			break;
	trib_fp_leave(fp);
	return i;
}
