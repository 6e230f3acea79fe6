/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The codecs' floating-point environment: round to nearest even, keep denormals,
 * no traps. The caller may run in any other. Entering costs one register read if
 * the caller's is the default.
 */
#ifndef TRIB_CODEC_FP_H
#define TRIB_CODEC_FP_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdint.h>
#include <string.h>
#endif

#if defined(__x86_64__)
#include <xmmintrin.h>

#define TRIB_MXCSR_DEFAULT 0x1f80
#define TRIB_MXCSR_STICKY 0x3f

static inline unsigned int trib_fp_enter(void)
{
	unsigned int csr = _mm_getcsr();

	if ((csr & ~TRIB_MXCSR_STICKY) != TRIB_MXCSR_DEFAULT)
		_mm_setcsr(TRIB_MXCSR_DEFAULT);
	asm volatile("" ::: "memory"); /* no arithmetic moves across */
	return csr;
}

static inline void trib_fp_leave(unsigned int csr)
{
	asm volatile("" ::: "memory");
	if ((csr & ~TRIB_MXCSR_STICKY) != TRIB_MXCSR_DEFAULT)
		_mm_setcsr(csr);
}
#else
#include <fenv.h>

static inline fenv_t trib_fp_enter(void)
{
	fenv_t env;

	fegetenv(&env);
	fesetenv(FE_DFL_ENV);
	asm volatile("" ::: "memory");
	return env;
}

static inline void trib_fp_leave(fenv_t env)
{
	asm volatile("" ::: "memory");
	fesetenv(&env);
}
#endif

/* 2^k for -126 <= k <= 127. */
static inline float trib_pow2f(int k)
{
	uint32_t b = (uint32_t)(k + 127) << 23;
	float f;

	memcpy(&f, &b, sizeof(f));
	return f;
}

/* 2^k for -1022 <= k <= 1023. */
static inline double trib_pow2(int k)
{
	uint64_t b = (uint64_t)(k + 1023) << 52;
	double d;

	memcpy(&d, &b, sizeof(d));
	return d;
}

#endif /* TRIB_CODEC_FP_H */
