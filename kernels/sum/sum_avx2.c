// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* AVX2 with F16C: 8 lanes. */
#define LANES 8
#define READS_OVER 1
#include "sum_simd.h"

static inline vi vi_add_f32(vi a, vi b)
{
	vi r;

	asm("vaddps %2, %1, %0" : "=x"(r) : "x"(a), "xm"(b));
	return r;
}

static inline vi vi_of_f16(const void *p)
{
	vi r;

	asm("vcvtph2ps %1, %0" : "=x"(r) : "xm"(*(const vh_u *)p));
	return r;
}

static inline void vi_to_f16(void *p, vi v)
{
	asm("vcvtps2ph $0, %1, %0" : "=xm"(*(vh_u *)p) : "x"(v));
}

static inline void vi_to_bf16(void *p, vi v)
{
	typedef short halves __attribute__((vector_size(32)));
	typedef long long quarters __attribute__((vector_size(32)));
	vs r = (vs)bf16_round(v) >> 16;
	/* Packs within each 128 bits: quarters 0 and 2 hold the result. */
	halves h = __builtin_ia32_packssdw256(r, r);
	quarters q = __builtin_ia32_permdi256((quarters)h, 0x08);

	asm("vmovdqu %x1, %0" : "=m"(*(vh_u *)p) : "x"(q));
}

static inline __u32 count(__u32 bits)
{
	return __builtin_popcount(bits);
}

static inline vi lanes(__u32 bits)
{
	vi one = {1, 2, 4, 8, 16, 32, 64, 128};

	return (vi)((one & bits) == one);
}

/* Per lane with a set bit, the number of set bits below it. */
static inline vi ranks(__u32 bits)
{
	typedef __u64 pair __attribute__((vector_size(16)));
	__u64 x;
	vi r;

	x = bits * 0x0101010101010101ULL & 0x8040201008040201ULL;
	x = (x + 0x7f7f7f7f7f7f7f7fULL) >> 7 & 0x0101010101010101ULL;
	/* Each set byte holds 1; now sum the bytes below each. */
	x *= 0x0101010101010100ULL;
	asm("vpmovzxbd %1, %0" : "=x"(r) : "x"((pair){x}));
	return r;
}

static inline vi vi_expand(enum trib_fmt fmt, const void *p, __u32 bits)
{
	vi r;

	asm("vpermd %1, %2, %0" : "=x"(r) : "x"(widen(fmt, p)), "x"(ranks(bits)));
	return r & lanes(bits);
}

static inline vi vi_add_some(enum trib_fmt fmt, vi acc, vi v, __u32 bits)
{
	if (fmt == TRIB_FMT_I32)
		return acc + v;
	return vi_select((vs)lanes(bits), vi_add_f32(acc, v), acc);
}

const struct trib_sum trib_sum_avx2 = {
	.name = "avx2",
	.needs = TRIB_CPU_POPCNT | TRIB_CPU_AVX2 | TRIB_CPU_F16C,
	.ops = TRIB_SUM_FORMATS,
};
