/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Addition of floats in integers, on their bits, with the results that sum.h
 * promises: for code that must not touch the FPU.
 */
#ifndef TRIB_SUM_SOFT_H
#define TRIB_SUM_SOFT_H

#include <linux/types.h>

#define TRIB_F32_SIGN 0x80000000U
#define TRIB_F32_INF 0x7f800000U
#define TRIB_F32_QUIET 0x00400000U
#define TRIB_F32_NAN 0xffc00000U /* result of an invalid operation */

/* Bits kept below a sum's last place: more than a significand has. */
#define TRIB_F32_GUARD 30

static inline int trib_f32_is_nan(__u32 x)
{
	return (x & ~TRIB_F32_SIGN) > TRIB_F32_INF;
}

/* x >> shift, to the nearest even. @shift is 1 to 63. */
static inline __u64 trib_round_shift(__u64 x, unsigned int shift)
{
	__u64 half = 1ULL << (shift - 1);

	return (x + half - 1 + (x >> shift & 1)) >> shift;
}

/* Biased exponent (1 for denormals) and significand: m * 2^(e - 150). */
static inline int trib_f32_exp(__u32 x)
{
	int e = x >> 23 & 0xff;

	return e ? e : 1;
}

static inline __u64 trib_f32_mant(__u32 x)
{
	return (x & 0x7fffff) | (x & TRIB_F32_INF ? 0x800000 : 0);
}

/* The sum if at least one of @a and @b is Inf or NaN. */
static inline __u32 trib_f32_add_special(__u32 a, __u32 b)
{
	if (trib_f32_is_nan(a))
		return a | TRIB_F32_QUIET;
	if (trib_f32_is_nan(b))
		return b | TRIB_F32_QUIET;
	if ((b & ~TRIB_F32_SIGN) != TRIB_F32_INF)
		return a;
	if ((a & ~TRIB_F32_SIGN) == TRIB_F32_INF && a != b)
		return TRIB_F32_NAN;
	return b;
}

/* Few branches depend on the values: the CPU would mispredict them. */
static inline __u32 trib_f32_add(__u32 a, __u32 b)
{
	__u32 large, small, r;
	int e, d, up;
	__u64 m, n;

	if ((a & TRIB_F32_INF) == TRIB_F32_INF || (b & TRIB_F32_INF) == TRIB_F32_INF)
		return trib_f32_add_special(a, b);
	large = a << 1 < b << 1 ? b : a;
	small = a << 1 < b << 1 ? a : b;
	e = trib_f32_exp(large);
	d = e - trib_f32_exp(small);
	m = trib_f32_mant(large) << TRIB_F32_GUARD;
	n = trib_f32_mant(small) << TRIB_F32_GUARD;
	/* Exact, or too small to change the rounding of what is exact. */
	n >>= d < 63 ? d : 63;
	m += (a ^ b) & TRIB_F32_SIGN ? -n : n;
	if (!m)
		return a & b & TRIB_F32_SIGN;
	/* One more place from here on, for the carry. */
	e++;
	up = __builtin_clzll(m) - (62 - 23 - TRIB_F32_GUARD);
	if (up > e - 1)
		up = e - 1;
	m = trib_round_shift(m << up, TRIB_F32_GUARD + 1);
	/* A carry out of the significand increments the exponent, also for the
	 * largest denormal.
	 */
	r = ((__u32)(e - up - 1) << 23) + (__u32)m;
	return (large & TRIB_F32_SIGN) | (r < TRIB_F32_INF ? r : TRIB_F32_INF);
}

#endif /* TRIB_SUM_SOFT_H */
