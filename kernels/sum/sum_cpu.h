/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What this CPU has and the system lets be used, as sum.h counts it: in the
 * kernel by its own feature bits, in user space by the compiler's.
 */
#ifndef TRIB_SUM_CPU_H
#define TRIB_SUM_CPU_H

#include "sum.h"

#if !defined(__x86_64__)
#define TRIB_SUM_HAS(feature, name) 0
#elif defined(__KERNEL__)
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#define TRIB_SUM_HAS(feature, name) boot_cpu_has(X86_FEATURE_##feature)
#else
#define TRIB_SUM_HAS(feature, name) __builtin_cpu_supports(name)
#endif

/** trib_sum_caps() - enum trib_sum_cap bits of this machine */
static inline __u32 trib_sum_caps(void)
{
	__u32 caps = 0;

	if (TRIB_SUM_HAS(XMM2, "sse2"))
		caps |= TRIB_SUM_CAP_SSE2;
	if (TRIB_SUM_HAS(POPCNT, "popcnt"))
		caps |= TRIB_SUM_CAP_POPCNT;
#if defined(__KERNEL__) && defined(__x86_64__)
	if (!cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL))
		return caps;
#endif
	if (TRIB_SUM_HAS(AVX2, "avx2"))
		caps |= TRIB_SUM_CAP_AVX2;
	if (TRIB_SUM_HAS(F16C, "f16c"))
		caps |= TRIB_SUM_CAP_F16C;
#if defined(__KERNEL__) && defined(__x86_64__)
	if (!cpu_has_xfeatures(XFEATURE_MASK_AVX512, NULL))
		return caps;
#endif
	if (TRIB_SUM_HAS(AVX512F, "avx512f"))
		caps |= TRIB_SUM_CAP_AVX512F;
	if (TRIB_SUM_HAS(AVX512BW, "avx512bw"))
		caps |= TRIB_SUM_CAP_AVX512BW;
	if (TRIB_SUM_HAS(AVX512DQ, "avx512dq"))
		caps |= TRIB_SUM_CAP_AVX512DQ;
	if (TRIB_SUM_HAS(AVX512VL, "avx512vl"))
		caps |= TRIB_SUM_CAP_AVX512VL;
	return caps;
}

#endif /* TRIB_SUM_CPU_H */
