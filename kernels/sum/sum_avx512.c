// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* AVX-512 with BW and VL: 16 lanes; masks select some of them. */
#define LANES 16
#define READS_OVER 0
#include "sum_simd.h"

static inline vi vi_add_f32(vi a, vi b)
{
	vi r;

	asm("vaddps %2, %1, %0" : "=v"(r) : "v"(a), "vm"(b));
	return r;
}

static inline vi vi_of_f16(const void *p)
{
	vi r;

	asm("vcvtph2ps %1, %0" : "=v"(r) : "vm"(*(const vh_u *)p));
	return r;
}

static inline void vi_to_f16(void *p, vi v)
{
	asm("vcvtps2ph $0, %1, %0" : "=vm"(*(vh_u *)p) : "v"(v));
}

static inline void vi_to_bf16(void *p, vi v)
{
	typedef __u16 halves __attribute__((vector_size(64)));
	const halves odd = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
	vi r = v + 0x7fff + (v >> 16 & 1), quiet = (vi){} + 0x400000;
	__u16 nan;

	asm("vcmpunordps %1, %1, %0" : "=Yk"(nan) : "v"(v));
	asm("vpord %3, %2, %0 %{%1%}" : "+v"(r) : "Yk"(nan), "v"(v), "v"(quiet));
	asm("vpermw %2, %1, %0" : "=v"(r) : "v"(odd), "v"(r));
	asm("vmovdqu32 %t1, %0" : "=m"(*(vh_u *)p) : "v"(r));
}

static inline __u32 count(__u32 bits)
{
	return __builtin_popcount(bits);
}

/* A masked memory operand touches only the bytes that the mask names. */
static inline vi vi_expand(enum trib_fmt fmt, const void *p, __u32 bits)
{
	__u16 k = bits, n = (1U << count(bits)) - 1;
	vi r;
	vh h;

	if (trib_sum_size(fmt) == 4) {
		asm("vpexpandd %1, %0 %{%2%}%{z%}" : "=v"(r) : "m"(*(const vi_u *)p), "Yk"(k));
		return r;
	}
	asm("vmovdqu16 %1, %0 %{%2%}%{z%}" : "=v"(h) : "m"(*(const vh_u *)p), "Yk"(n));
	r = widen(fmt, &h);
	asm("vpexpandd %1, %0 %{%2%}%{z%}" : "=v"(r) : "v"(r), "Yk"(k));
	return r;
}

static inline vi vi_add_some(enum trib_fmt fmt, vi acc, vi v, __u32 bits)
{
	__u16 k = bits;

	/* The other lanes of @v are zero, which changes no integer. */
	if (fmt == TRIB_FMT_I32)
		return acc + v;
	asm("vaddps %2, %0, %0 %{%1%}" : "+v"(acc) : "Yk"(k), "v"(v));
	return acc;
}

const struct trib_sum trib_sum_avx512 = {
	.name = "avx512",
	.needs = TRIB_CPU_POPCNT | TRIB_CPU_AVX2 | TRIB_CPU_F16C | TRIB_CPU_AVX512F |
		 TRIB_CPU_AVX512BW | TRIB_CPU_AVX512DQ | TRIB_CPU_AVX512VL,
	.ops = TRIB_SUM_FORMATS,
};
