/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loops over vectors of any width. The including file owns an instruction set:
 * it defines LANES, READS_OVER, and the primitives below. Vectors are the
 * compiler's own, because the kernel has no intrinsics, and inline assembly does
 * the rest.
 *
 * Additions of floats are assembly, too: the first operand must stay first,
 * because its NaN survives, but a compiler may swap the operands.
 *
 * vi	LANES 32-bit lanes, vh as many 16-bit ones; the _u types have no
 *	alignment
 *
 *	vi  vi_add_f32(vi a, vi b)
 *	vi  vi_of_f16(const void *p)		widening
 *	void vi_to_f16(void *p, vi v)		narrowing
 *	void vi_to_bf16(void *p, vi v)		the same
 *	vi  vi_expand(enum trib_fmt fmt, const void *p, __u32 bits)
 *		successive values at @p, widened, in the lanes of set bits; the
 *		others are zero. May read LANES values if READS_OVER is set.
 *	vi  vi_add_some(enum trib_fmt fmt, vi acc, vi v, __u32 bits)
 *		acc + v in the lanes of set bits, acc in the others
 *	__u32 count(__u32 bits)
 */
#ifndef TRIB_SUM_SIMD_H
#define TRIB_SUM_SIMD_H

#include "sum_levels.h"
#include "sum_mask.h"

typedef __u32 vi __attribute__((vector_size(LANES * 4), may_alias));
typedef __u16 vh __attribute__((vector_size(LANES * 2), may_alias));
typedef vi vi_u __attribute__((aligned(1)));
typedef vh vh_u __attribute__((aligned(1)));
/* Signed lanes; a comparison gives ~0 or 0 in each. */
typedef __s32 vs __attribute__((vector_size(LANES * 4), may_alias));

TRIB_EACH vi vi_load(const void *p)
{
	return *(const vi_u *)p;
}

TRIB_EACH void vi_store(void *p, vi v)
{
	*(vi_u *)p = v;
}

TRIB_EACH vi vi_select(vs mask, vi yes, vi no)
{
	return ((vi)mask & yes) | (~(vi)mask & no);
}

static inline vi vi_add_f32(vi a, vi b);
static inline vi vi_of_f16(const void *p);
static inline void vi_to_f16(void *p, vi v);
static inline void vi_to_bf16(void *p, vi v);
static inline vi vi_expand(enum trib_fmt fmt, const void *p, __u32 bits);
static inline vi vi_add_some(enum trib_fmt fmt, vi acc, vi v, __u32 bits);
static inline __u32 count(__u32 bits);

TRIB_EACH vi vi_of_bf16(const void *p)
{
	return __builtin_convertvector(*(const vh_u *)p, vi) << 16;
}

/* Round to bf16: the result is the upper half of each lane. */
TRIB_EACH vi bf16_round(vi v)
{
	vi nan = (vi)((vs)(v & 0x7fffffff) > 0x7f800000);
	vi up = 0x7fff + (v >> 16 & 1);

	return (v + (up & ~nan)) | (nan & 0x400000);
}

TRIB_EACH vi widen(enum trib_fmt fmt, const void *p)
{
	if (fmt == TRIB_FMT_F16)
		return vi_of_f16(p);
	if (fmt == TRIB_FMT_BF16)
		return vi_of_bf16(p);
	return vi_load(p);
}

TRIB_EACH void narrow(enum trib_fmt fmt, void *p, vi v)
{
	if (fmt == TRIB_FMT_F16)
		vi_to_f16(p, v);
	else if (fmt == TRIB_FMT_BF16)
		vi_to_bf16(p, v);
	else
		vi_store(p, v);
}

TRIB_EACH vi sum(enum trib_fmt fmt, vi acc, vi v)
{
	if (fmt == TRIB_FMT_I32)
		return acc + v;
	return vi_add_f32(acc, v);
}

/* Bytes of @len that fill whole vectors. */
TRIB_EACH __u32 whole(enum trib_fmt fmt, __u32 len)
{
	return len / (LANES * trib_sum_size(fmt)) * (LANES * trib_sum_size(fmt));
}

TRIB_EACH void do_add(enum trib_fmt fmt, char *acc, const char *in, __u32 len)
{
	__u32 step = LANES * trib_sum_size(fmt), i;

	for (i = 0; i < whole(fmt, len); i += step, acc += LANES * 4)
		vi_store(acc, sum(fmt, vi_load(acc), widen(fmt, in + i)));
	if (i < len)
		trib_sum_scalar.ops[fmt].add(acc, in + i, len - i);
}

TRIB_EACH void do_store(enum trib_fmt fmt, char *acc, const char *in, __u32 len)
{
	__u32 step = LANES * trib_sum_size(fmt), i;

	for (i = 0; i < whole(fmt, len); i += step, acc += LANES * 4)
		vi_store(acc, widen(fmt, in + i));
	if (i < len)
		trib_sum_scalar.ops[fmt].store(acc, in + i, len - i);
}

TRIB_EACH void do_final(enum trib_fmt fmt, char *out, char *acc, const char *in, __u32 len)
{
	__u32 step = LANES * trib_sum_size(fmt), i;
	vi v;

	for (i = 0; i < whole(fmt, len); i += step, acc += LANES * 4) {
		v = sum(fmt, vi_load(acc), widen(fmt, in + i));
		vi_store(acc, v);
		narrow(fmt, out + i, v);
	}
	if (i < len)
		trib_sum_scalar.ops[fmt].final(out + i, acc, in + i, len - i);
}

TRIB_EACH void do_emit(enum trib_fmt fmt, char *out, const char *acc, __u32 len)
{
	__u32 step = LANES * trib_sum_size(fmt), i;

	for (i = 0; i < whole(fmt, len); i += step, acc += LANES * 4)
		narrow(fmt, out + i, vi_load(acc));
	if (i < len)
		trib_sum_scalar.ops[fmt].emit(out + i, acc, len - i);
}

TRIB_EACH int do_expand(enum trib_fmt fmt, char *acc, __u32 acc_len, const char *in, __u32 len,
			__u8 nm, int add)
{
	int each = trib_mask_check(&trib_sum_scalar.ops[fmt], acc_len, in, len, nm);
	__u32 words = acc_len / 128, size = trib_sum_size(fmt), i, j, w, bits;
	const char *next = in + words * 4, *p;
	char end[(32 + LANES) * 4];
	vi v;

	if (each < 0)
		return each;
	for (i = 0; i < words; i++, next += each * size) {
		__builtin_memcpy(&w, in + i * 4, sizeof(w));
		p = next;
		if (READS_OVER && in + len - next < (each + LANES) * (int)size) {
			__builtin_memcpy(end, next, each * size);
			p = end;
		}
		for (j = 0; j < 32; j += LANES, acc += LANES * 4) {
			bits = w >> j & ((1U << LANES) - 1);
			v = vi_expand(fmt, p, bits);
			if (add)
				v = vi_add_some(fmt, vi_load(acc), v, bits);
			vi_store(acc, v);
			p += count(bits) * size;
		}
	}
	return 0;
}

TRIB_SUM_FUNCTIONS(f32, TRIB_FMT_F32)
TRIB_SUM_FUNCTIONS(f16, TRIB_FMT_F16)
TRIB_SUM_FUNCTIONS(bf16, TRIB_FMT_BF16)
TRIB_SUM_FUNCTIONS(i32, TRIB_FMT_I32)

#endif /* TRIB_SUM_SIMD_H */
