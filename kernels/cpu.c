// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Instruction sets of this CPU: the kernel's feature bits in the module, the
 * compiler's in user space.
 */
#include "cpu.h"

#if !defined(__x86_64__)
#define HAS(feature, name) 0
#define XFEATURES(mask) 0
#elif defined(__KERNEL__)
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/fpu/types.h>
#define HAS(feature, name) boot_cpu_has(X86_FEATURE_##feature)
#define XFEATURES(mask) cpu_has_xfeatures(mask, NULL)
#else
#define HAS(feature, name) __builtin_cpu_supports(name)
#define XFEATURES(mask) 1 /* the compiler's answer includes them */
#endif

__u32 trib_cpu_caps(void)
{
	__u32 caps = 0;

	if (HAS(XMM2, "sse2"))
		caps |= TRIB_CPU_SSE2;
	if (HAS(POPCNT, "popcnt"))
		caps |= TRIB_CPU_POPCNT;
	if (!XFEATURES(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM))
		return caps;
	if (HAS(AVX2, "avx2"))
		caps |= TRIB_CPU_AVX2;
	if (HAS(F16C, "f16c"))
		caps |= TRIB_CPU_F16C;
	if (!XFEATURES(XFEATURE_MASK_AVX512))
		return caps;
	if (HAS(AVX512F, "avx512f"))
		caps |= TRIB_CPU_AVX512F;
	if (HAS(AVX512BW, "avx512bw"))
		caps |= TRIB_CPU_AVX512BW;
	if (HAS(AVX512DQ, "avx512dq"))
		caps |= TRIB_CPU_AVX512DQ;
	if (HAS(AVX512VL, "avx512vl"))
		caps |= TRIB_CPU_AVX512VL;
	return caps;
}
