/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Floating point by integers alone, on the bits of the numbers: what sum.h says
 * of adding, widening and narrowing. For code that must not touch the FPU.
 */
#ifndef TRIB_SUM_SOFT_H
#define TRIB_SUM_SOFT_H

#include <linux/types.h>

#define TRIB_F32_SIGN 0x80000000U
#define TRIB_F32_INF 0x7f800000U
#define TRIB_F32_QUIET 0x00400000U
#define TRIB_F32_NAN 0xffc00000U /* what an invalid operation gives */

/* Bits that a sum has below its last place: more than a significand. */
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

/* One of the two is Inf or NaN. */
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

/* With few branches on what the numbers are: they would be guessed wrong. */
static inline __u32 trib_f32_add(__u32 a, __u32 b)
{
	__u32 large, small, r;
	int e, d, up;
	__u64 m, n;

	if ((a & TRIB_F32_INF) == TRIB_F32_INF ||
	    (b & TRIB_F32_INF) == TRIB_F32_INF)
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
	/* From here on with one place more, for the carry. */
	e++;
	up = __builtin_clzll(m) - (62 - 23 - TRIB_F32_GUARD);
	if (up > e - 1)
		up = e - 1;
	m = trib_round_shift(m << up, TRIB_F32_GUARD + 1);
	/* A carry out of the significand is one into the exponent, also that of
	 * the largest denormal.
	 */
	r = ((__u32)(e - up - 1) << 23) + (__u32)m;
	return (large & TRIB_F32_SIGN) | (r < TRIB_F32_INF ? r : TRIB_F32_INF);
}

static inline __u32 trib_f32_of_bf16(__u16 h)
{
	return (__u32)h << 16;
}

static inline __u16 trib_bf16_of_f32(__u32 x)
{
	if (trib_f32_is_nan(x))
		return (x | TRIB_F32_QUIET) >> 16;
	return trib_round_shift(x, 16);
}

static inline __u32 trib_f32_of_f16(__u16 h)
{
	__u32 sign = (__u32)(h & 0x8000) << 16, m = h & 0x3ff;
	int e = h >> 10 & 0x1f, up;

	if (e == 0x1f)
		return sign | TRIB_F32_INF | m << 13 | (m ? TRIB_F32_QUIET : 0);
	if (!e) {
		if (!m)
			return sign;
		up = __builtin_clz(m) - 21;
		m = (m << up) & 0x3ff;
		e = 1 - up;
	}
	return sign | (__u32)(e + 112) << 23 | m << 13;
}

static inline __u16 trib_f16_of_f32(__u32 x)
{
	__u32 sign = x >> 16 & 0x8000, r;
	int e = trib_f32_exp(x), down;

	if (trib_f32_is_nan(x))
		return sign | 0x7e00 | (x >> 13 & 0x1ff);
	if (e > 142)
		return sign | 0x7c00;
	if (e < 102) /* less than half of the smallest denormal */
		return sign;
	down = e < 113 ? 126 - e : 13;
	r = trib_round_shift(trib_f32_mant(x), down);
	if (e > 113)
		r += (__u32)(e - 113) << 10;
	return sign | r;
}

#endif /* TRIB_SUM_SOFT_H */
