// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * SSE2, which every x86-64 has: 4 lanes. Integer operations convert f16, and
 * additions of constants shift bits into place.
 */
#define LANES 4
#define READS_OVER 1
#include "sum_simd.h"

typedef __u16 u16_u __attribute__((aligned(1), may_alias));
typedef __u32 u32_u __attribute__((aligned(1), may_alias));
typedef float vf __attribute__((vector_size(16), may_alias));

/* No memory operand: SSE wants those aligned. */
static inline vi vi_add_f32(vi a, vi b)
{
	asm("addps %1, %0" : "+x"(a) : "x"(b));
	return a;
}

/* Widen f16 values in the lower halves of lanes. */
static inline vi f16_widen(vi h)
{
	vi m = (h & 0x7fff) << 13, r = m + (112 << 23);
	vs inf = (vs)m >= 0x1f << 23, nan = (vs)m > 0x1f << 23;

	/* Inf and NaN need the exponent moved once more. */
	r += (vi)inf & (112 << 23);
	r |= (vi)nan & 0x400000;
	/* A denormal is n * 2^-24: put n below 2^-14 and take that away. */
	r = vi_select((vs)m < 1 << 23, (vi)((vf)(m + (113 << 23)) - 0x1p-14f), r);
	return r | (h & 0x8000) << 16;
}

static inline vi vi_of_f16(const void *p)
{
	return f16_widen(__builtin_convertvector(*(const vh_u *)p, vi));
}

/* Store lanes whose values fit 16 bits, signed. */
static inline void store_halves(void *p, vs v)
{
	typedef short halves __attribute__((vector_size(16)));
	halves h = __builtin_ia32_packssdw128(v, v);

	__builtin_memcpy(p, &h, sizeof(vh));
}

static inline void vi_to_bf16(void *p, vi v)
{
	store_halves(p, (vs)bf16_round(v) >> 16);
}

static inline void vi_to_f16(void *p, vi v)
{
	vi a = v & 0x7fffffff, r;

	r = (a + 0xfff + (a >> 13 & 1) - (112 << 23)) >> 13;
	/* Below 2^-14 the last place is 2^-24, as it is of 0.5. */
	r = vi_select((vs)a < 113 << 23, (vi)((vf)a + 0.5f) - (126 << 23), r);
	r = vi_select((vs)a >= 143 << 23, (vi){} + 0x7c00, r);
	r = vi_select((vs)a > 0x7f800000, 0x7e00 | (a >> 13 & 0x1ff), r);
	r |= v >> 16 & 0x8000;
	store_halves(p, (vs)(r << 16) >> 16);
}

static inline __u32 count(__u32 bits)
{
	return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1) + (bits >> 3);
}

static inline vi lanes(__u32 bits)
{
	vi one = {1, 2, 4, 8};

	return (vi)((one & bits) == one);
}

static inline vi vi_expand(enum trib_fmt fmt, const void *p, __u32 bits)
{
	__u32 at1 = bits & 1, at2 = at1 + (bits >> 1 & 1);
	__u32 at3 = at2 + (bits >> 2 & 1);
	const u16_u *h = p;
	const u32_u *w = p;
	vi v;

	if (trib_sum_size(fmt) == 4)
		v = (vi){w[0], w[at1], w[at2], w[at3]};
	else
		v = (vi){h[0], h[at1], h[at2], h[at3]};
	if (fmt == TRIB_FMT_F16)
		v = f16_widen(v);
	if (fmt == TRIB_FMT_BF16)
		v <<= 16;
	return v & lanes(bits);
}

static inline vi vi_add_some(enum trib_fmt fmt, vi acc, vi v, __u32 bits)
{
	if (fmt == TRIB_FMT_I32)
		return acc + v;
	return vi_select((vs)lanes(bits), vi_add_f32(acc, v), acc);
}

const struct trib_sum trib_sum_sse2 = {
	.name = "sse2",
	.needs = TRIB_CPU_SSE2,
	.ops = TRIB_SUM_FORMATS,
};
