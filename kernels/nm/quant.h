/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Quantising, one value at a time and the constants that vector code shares. CPU
 * and GPU include it. Every float operation is exact or rounds once, in the order
 * written here; nothing may be contracted.
 */
#ifndef TRIB_NM_QUANT_H
#define TRIB_NM_QUANT_H

#include "nm.h"
#include "rand.h"

#if defined(__CUDA_ARCH__)
#define TRIB_NM_RINT(t) __float2int_rn(t)
#elif defined(__SSE__)
#include <xmmintrin.h>
#define TRIB_NM_RINT(t) _mm_cvtss_si32(_mm_set_ss(t))
#else
#include <math.h>
#define TRIB_NM_RINT(t) ((int32_t)lrintf(t))
#endif

/**
 * struct trib_nm_unit - the factors of one chunk
 * @up:    acc * up[0] * up[1] is acc / 2^s in units of 2^-fraction. Two steps,
 *         because the factor can exceed the largest float.
 * @down:  q * down[0] * down[1] is q * 2^s: the first product is exact, the second
 *         rounds once, to a denormal.
 * @fraction: 31 - bits.
 * @limit: trib_nm_limit().
 */
struct trib_nm_unit {
	float up[2];
	float down[2];
	int32_t fraction;
	int32_t limit;
};

/* Below 2^31, so that t plus a fraction fits an int32. */
#define TRIB_NM_T_MAX 1073741824.f

/* 2^k for -126 <= k <= 127. */
TRIB_NM_FN float trib_nm_pow2(int k)
{
	union {
		uint32_t bits;
		float f;
	} u;

	u.bits = (uint32_t)(k + 127) << 23;
	return u.f;
}

TRIB_NM_FN struct trib_nm_unit trib_nm_unit(int scale, unsigned int bits)
{
	struct trib_nm_unit u;
	int up, down = scale < -100 ? -100 : scale;

	u.fraction = 31 - (int)bits;
	u.limit = (1 << (bits - 1)) - 1;
	up = u.fraction - scale;
	u.up[0] = trib_nm_pow2(up < 127 ? up : 127);
	u.up[1] = trib_nm_pow2(up < 127 ? 0 : up - 127);
	u.down[0] = trib_nm_pow2(down);
	u.down[1] = trib_nm_pow2(scale - down);
	return u;
}

/* @random: trib_nm_random() of the value's index. */
TRIB_NM_FN int32_t trib_nm_quantise(float acc, const struct trib_nm_unit *u, uint32_t random)
{
	float t = acc * u->up[0] * u->up[1];
	int32_t q;

	t = t > TRIB_NM_T_MAX ? TRIB_NM_T_MAX : t;
	t = t < -TRIB_NM_T_MAX ? -TRIB_NM_T_MAX : t;
	q = (TRIB_NM_RINT(t) + (int32_t)(random >> (32 - u->fraction))) >> u->fraction;
	q = q > u->limit ? u->limit : q;
	return q < -u->limit ? -u->limit : q;
}

TRIB_NM_FN float trib_nm_restore(int32_t q, const struct trib_nm_unit *u)
{
	return (float)q * u->down[0] * u->down[1];
}

/* 2^(R - 1) in each lane. */
TRIB_NM_FN uint64_t trib_nm_bias(unsigned int lane_bits)
{
	uint64_t bias = 0;
	unsigned int k;

	for (k = 0; (k + 1) * lane_bits <= 64; k++)
		bias |= 1ULL << (lane_bits - 1) << (lane_bits * k);
	return bias;
}

/* Lane @k of a sum of words. */
TRIB_NM_FN int32_t trib_nm_lane(uint64_t word, unsigned int k, unsigned int lane_bits)
{
	uint64_t field = (word + trib_nm_bias(lane_bits)) >> (lane_bits * k);

	return (int32_t)(field & ((1ULL << lane_bits) - 1)) - (int32_t)(1U << (lane_bits - 1));
}

#endif /* TRIB_NM_QUANT_H */
