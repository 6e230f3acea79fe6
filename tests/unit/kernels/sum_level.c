// SPDX-License-Identifier: BSD-2-Clause
/* The choice of a level for a CPU. */
#include "tests/lib/sum_oracle.h"

#define AVX2 (TRIB_CPU_SSE2 | TRIB_CPU_AVX2 | TRIB_CPU_F16C | TRIB_CPU_POPCNT)
#define AVX512 (AVX2 | TRIB_CPU_AVX512F | TRIB_CPU_AVX512BW | TRIB_CPU_AVX512DQ | TRIB_CPU_AVX512VL)

static void level_best__by_capabilities(void)
{
	expect_eq(trib_sum_level_best(0), TRIB_SUM_SCALAR);
#if defined(__x86_64__)
	expect_eq(trib_sum_level_best(TRIB_CPU_SSE2), TRIB_SUM_SSE2);
	expect_eq(trib_sum_level_best(AVX2), TRIB_SUM_AVX2);
	expect_eq(trib_sum_level_best(AVX512), TRIB_SUM_AVX512);
	/* Unknown bits are ignored. */
	expect_eq(trib_sum_level_best(~0U), TRIB_SUM_AVX512);
#endif
}

#if defined(__x86_64__)
static void level_best__needs_all_capabilities(void)
{
	unsigned int bit;

	for (bit = 0; bit < 8; bit++) {
		if (1U << bit == TRIB_CPU_SSE2)
			continue;
		expect_eq(trib_sum_level_best(AVX512 & ~(1U << bit)),
			  AVX2 & 1U << bit ? TRIB_SUM_SSE2 : TRIB_SUM_AVX2);
	}
}
#endif

static void get__refuses_what_the_cpu_lacks(void)
{
	expect(trib_sum_get(TRIB_SUM_SCALAR, 0));
	expect(!trib_sum_get(TRIB_SUM_SSE2, 0));
	expect(!trib_sum_get(TRIB_SUM_AVX2, AVX2 & ~TRIB_CPU_F16C));
	expect(!trib_sum_get(TRIB_SUM__MAX, ~0U));
	expect(!trib_sum_get((enum trib_sum_level) - 1, ~0U));
}

static void ops__for_four_formats(void)
{
	const struct trib_sum *s;
	unsigned int f, fmt;

	each_level(s)
	{
		for (f = 0; f < NFORMATS; f++) {
			const struct trib_sum_ops *ops = trib_sum_ops(s, sum_formats[f].fmt);

			if (!expect(ops))
				return;
			expect_eq(ops->size, sum_formats[f].size);
			expect_eq(trib_sum_acc_len(ops, 1408), 1408 / ops->size * 4);
		}
		for (fmt = 0; fmt < 300; fmt++)
			expect_eq(!!trib_sum_ops(s, fmt),
				  fmt == TRIB_FMT_F32 || fmt == TRIB_FMT_F16 ||
					  fmt == TRIB_FMT_BF16 || fmt == TRIB_FMT_I32);
	}
}

int main(void)
{
	const struct trib_sum *s;

	each_level(s) printf("# this CPU has %s\n", s->name);
	run(level_best__by_capabilities);
#if defined(__x86_64__)
	run(level_best__needs_all_capabilities);
#endif
	run(get__refuses_what_the_cpu_lacks);
	run(ops__for_four_formats);
	return tap_done();
}
