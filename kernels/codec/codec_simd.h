/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The codec's loops over vectors of any width. The including file owns an
 * instruction set: it defines SIMD(name), LANES, and the types vf (LANES floats)
 * and vi (LANES int32), includes this file, and then defines the primitives that
 * need an instruction of its own:
 *
 *	vi_set, vf_set				the same value in all lanes
 *	vi_load_part, vi_store_part		touch only the first n lanes of
 *						memory; read the others as zero
 *	vi_max, vi_min, vi_hmax			signed; hmax is over all lanes
 *	vf_round				to int32, nearest even
 *	vi_scale_wide				a * unit in double, rounded once
 *	vi_load_words, vi_store_words		int64 in memory; negated if neg
 *	vf_load_half, vf_store_half		f16 in memory
 *
 * A tail costs one more step, with *_part, and no scalar loop.
 *
 * Paired lanes: two neighbouring int32 lo, hi become (hi << 32) + lo. In
 * memory that is lo, then hi plus the sign of lo: one shift, one add.
 */
#ifndef TRIB_CODEC_SIMD_H
#define TRIB_CODEC_SIMD_H

#include "codec_fp.h"
#include "codec.h"
#include "kernels/half.h"

#define PRIM static inline __attribute__((always_inline))

PRIM vi vi_set(int32_t a);
PRIM vf vf_set(float a);
PRIM vi vi_load_part(const void *p, size_t n);
PRIM void vi_store_part(void *p, size_t n, vi a);
PRIM vi vi_max(vi a, vi b);
PRIM vi vi_min(vi a, vi b);
PRIM uint32_t vi_hmax(vi a);
PRIM vi vf_round(vf a);
PRIM vf vi_scale_wide(vi a, double unit);
PRIM vi vi_load_words(const char *p, int neg);
PRIM void vi_store_words(char *p, vi a, int neg);
PRIM vf vf_load_half(const void *p);
PRIM void vf_store_half(void *p, vf a);

/* The lanes of vi as unsigned, which may overflow, as signed, and in pairs. */
typedef uint32_t vu __attribute__((vector_size(LANES * 4)));
typedef int32_t vs __attribute__((vector_size(LANES * 4)));
typedef uint64_t vp __attribute__((vector_size(LANES * 4)));
/* In memory, at any address. */
typedef vi vi_mem __attribute__((aligned(1), may_alias));

PRIM vi vi_zero(void)
{
	return (vi){0};
}

PRIM vi vi_load(const void *p)
{
	return *(const vi_mem *)p;
}

PRIM void vi_store(void *p, vi a)
{
	*(vi_mem *)p = a;
}

PRIM vf vf_load(const float *p)
{
	return (vf)vi_load(p);
}

PRIM void vf_store(float *p, vf a)
{
	vi_store(p, (vi)a);
}

PRIM vf vf_load_part(const float *p, size_t n)
{
	return (vf)vi_load_part(p, n);
}

PRIM void vf_store_part(float *p, size_t n, vf a)
{
	vi_store_part(p, n, (vi)a);
}

PRIM vi vi_add(vi a, vi b)
{
	return (vi)((vu)a + (vu)b);
}

PRIM vi vi_sub(vi a, vi b)
{
	return (vi)((vu)a - (vu)b);
}

PRIM vi vi_neg(vi a)
{
	return vi_sub(vi_zero(), a);
}

PRIM vi vi_and(vi a, vi b)
{
	return a & b;
}

PRIM vi vi_xor(vi a, vi b)
{
	return a ^ b;
}

PRIM vi vi_sra31(vi a)
{
	return (vi)((vs)a >> 31);
}

PRIM vi vi_abs_bits(vi a)
{
	return (vi)((vu)a & 0x7fffffff);
}

/* -1 in the odd lane above each negative even lane, else 0. */
PRIM vi vi_sign_to_pair(vi a)
{
	return (vi)((vp)vi_sra31(a) << 32);
}

PRIM vf vf_mul(vf a, vf b)
{
	return a * b;
}

PRIM vf vi_float(vi a)
{
	return __builtin_convertvector((vs)a, vf);
}

/*
 * Chunks of a message are converted one after another, with other work between
 * them: prefetch for the next call. Addresses past the end are harmless.
 */
#define AHEAD 2048
#define FETCH(p) __builtin_prefetch((const char *)(p) + AHEAD)
#define FETCH_TO_WRITE(p) __builtin_prefetch((const char *)(p) + AHEAD, 1)

static void SIMD(pad)(void *w, size_t used, size_t units)
{
	memset((char *)w + used, 0, trib_payload_len((uint32_t)units) - used);
}

static uint32_t SIMD(amax)(const float *x, size_t n)
{
	vi m0 = vi_zero(), m1 = vi_zero(), m2 = vi_zero(), m3 = vi_zero();
	size_t i = 0;

	for (; i + 4 * LANES <= n; i += 4 * LANES) {
		FETCH(x + i);
		FETCH(x + i + LANES);
		FETCH(x + i + 2 * LANES);
		FETCH(x + i + 3 * LANES);
		m0 = vi_max(m0, vi_abs_bits(vi_load(x + i)));
		m1 = vi_max(m1, vi_abs_bits(vi_load(x + i + LANES)));
		m2 = vi_max(m2, vi_abs_bits(vi_load(x + i + 2 * LANES)));
		m3 = vi_max(m3, vi_abs_bits(vi_load(x + i + 3 * LANES)));
	}
	for (; i + LANES <= n; i += LANES)
		m0 = vi_max(m0, vi_abs_bits(vi_load(x + i)));
	if (i < n)
		m1 = vi_max(m1, vi_abs_bits(vi_load_part(x + i, n - i)));
	m0 = vi_max(vi_max(m0, m1), vi_max(m2, m3));
	return vi_hmax(m0);
}

PRIM vi SIMD(quantise)(vf x, vf unit, vf more, vi lim)
{
	vi q = vf_round(vf_mul(vf_mul(x, unit), more));

	q = vi_max(vi_min(q, lim), vi_neg(lim));
	return vi_add(q, vi_sign_to_pair(q));
}

static void SIMD(q32_pack)(void *w, const float *x, size_t n, int scale, int32_t limit)
{
	/* 2^-scale can exceed the range of one float: take two exact steps. */
	int k = -scale < 127 ? -scale : 127;
	unsigned int fp = trib_fp_enter();
	vf unit = vf_set(trib_pow2f(k)), more = vf_set(trib_pow2f(-scale - k));
	vi lim = vi_set(limit);
	int32_t *q = w;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		FETCH(x + i);
		vi_store(q + i, SIMD(quantise)(vf_load(x + i), unit, more, lim));
	}
	if (i < n) {
		/* The partner of an odd tail is zero and takes the sign, too. */
		size_t m = (n - i + 1) & ~(size_t)1;

		vi_store_part(q + i, m,
			      SIMD(quantise)(vf_load_part(x + i, n - i), unit, more, lim));
		i += m;
	}
	trib_fp_leave(fp);
	SIMD(pad)(w, i * 4, n);
}

PRIM vi SIMD(lanes)(vi q)
{
	return vi_sub(q, vi_sign_to_pair(q));
}

/* Through double: exact products, one rounding, denormals included. */
static void SIMD(unpack_wide)(float *x, const void *w, size_t n, double unit)
{
	const int32_t *q = w;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(x + i, vi_scale_wide(SIMD(lanes)(vi_load(q + i)), unit));
	if (i < n) {
		/* The payload holds the whole pair of an odd tail. */
		size_t m = (n - i + 1) & ~(size_t)1;

		vf_store_part(x + i, n - i,
			      vi_scale_wide(SIMD(lanes)(vi_load_part(q + i, m)), unit));
	}
}

static void SIMD(q32_unpack)(float *x, const void *w, size_t n, int scale)
{
	unsigned int fp = trib_fp_enter();
	const int32_t *q = w;
	size_t i = 0;
	vf unit;

	if (scale < -126 || scale > 127) {
		SIMD(unpack_wide)(x, w, n, trib_pow2(scale));
		trib_fp_leave(fp);
		return;
	}
	/* The conversion rounds, the product is exact: it is normal, or zero,
	 * or overflows as it should.
	 */
	unit = vf_set(trib_pow2f(scale));
	for (; i + LANES <= n; i += LANES) {
		FETCH(q + i);
		FETCH_TO_WRITE(x + i);
		vf_store(x + i, vf_mul(vi_float(SIMD(lanes)(vi_load(q + i))), unit));
	}
	if (i < n) {
		size_t m = (n - i + 1) & ~(size_t)1;

		vf_store_part(x + i, n - i,
			      vf_mul(vi_float(SIMD(lanes)(vi_load_part(q + i, m))), unit));
	}
	trib_fp_leave(fp);
}

static void SIMD(q32_unpack_avg)(float *x, const void *w, size_t n, int scale, unsigned int world)
{
	unsigned int fp = trib_fp_enter();

	SIMD(unpack_wide)(x, w, n, trib_pow2(scale) / world);
	trib_fp_leave(fp);
}

/* Flip the magnitude of negatives: integers in the order of the floats. */
PRIM vi SIMD(flip)(vi b)
{
	return vi_xor(b, vi_and(vi_sra31(b), vi_set(0x7fffffff)));
}

PRIM void SIMD(order)(void *w, const void *src, size_t n, int neg, int is_float)
{
	const int32_t *x = src;
	char *out = w;
	size_t i = 0;
	vi b;

	for (; i + LANES <= n; i += LANES) {
		b = vi_load(x + i);
		vi_store_words(out + i * 8, is_float ? SIMD(flip)(b) : b, neg);
	}
	if (i < n) {
		char part[LANES * 8];

		b = vi_load_part(x + i, n - i);
		vi_store_words(part, is_float ? SIMD(flip)(b) : b, neg);
		memcpy(out + i * 8, part, (n - i) * 8);
	}
	SIMD(pad)(w, n * 8, n * 2);
}

PRIM void SIMD(unorder)(void *dst, const void *w, size_t n, int neg, int is_float)
{
	const char *in = w;
	int32_t *x = dst;
	size_t i = 0;
	vi b;

	for (; i + LANES <= n; i += LANES) {
		b = vi_load_words(in + i * 8, neg);
		vi_store(x + i, is_float ? SIMD(flip)(b) : b);
	}
	if (i < n) {
		char part[LANES * 8] = {0};

		memcpy(part, in + i * 8, (n - i) * 8);
		b = vi_load_words(part, neg);
		vi_store_part(x + i, n - i, is_float ? SIMD(flip)(b) : b);
	}
}

static void SIMD(f32_order)(void *w, const float *x, size_t n, int neg)
{
	SIMD(order)(w, x, n, neg, 1);
}

static void SIMD(f32_unorder)(float *x, const void *w, size_t n, int neg)
{
	SIMD(unorder)(x, w, n, neg, 1);
}

static void SIMD(i32_order)(void *w, const int32_t *x, size_t n, int neg)
{
	SIMD(order)(w, x, n, neg, 0);
}

static void SIMD(i32_unorder)(int32_t *x, const void *w, size_t n, int neg)
{
	SIMD(unorder)(x, w, n, neg, 0);
}

static size_t SIMD(f32_nan)(const float *x, size_t n)
{
	/* NaNs are rare: search only if the largest bits are a NaN. */
	if (SIMD(amax)(x, n) <= 0x7f800000)
		return n;
	return trib_codec_scalar.f32_nan(x, n);
}

/* Conversion instructions honour MXCSR: enter the default environment. */
static void SIMD(f16_pack)(void *w, const float *x, size_t n)
{
	unsigned int fp = trib_fp_enter();
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store_half((char *)w + 2 * i, vf_load(x + i));
	trib_fp_leave(fp);
	for (; i < n; i++)
		trib_half_put(w, i, trib_f16_of(trib_bits_at(x + i)));
	SIMD(pad)(w, 2 * n, (n + 1) / 2);
}

static void SIMD(f16_unpack)(float *x, const void *w, size_t n)
{
	unsigned int fp = trib_fp_enter();
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		vf_store(x + i, vf_load_half((const char *)w + 2 * i));
	trib_fp_leave(fp);
	for (; i < n; i++)
		trib_bits_put(x + i, trib_f16_to(trib_half_at(w, i)));
}

/* Integers without a branch, which the compiler turns into vectors. */
static void SIMD(bf16_pack)(void *w, const float *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		trib_half_put(w, i, trib_bf16_of(trib_bits_at(x + i)));
	SIMD(pad)(w, 2 * n, (n + 1) / 2);
}

static void SIMD(bf16_unpack)(float *x, const void *w, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		trib_bits_put(x + i, trib_bf16_to(trib_half_at(w, i)));
}

static void SIMD(f32_div)(float *x, size_t n, unsigned int world)
{
	unsigned int fp = trib_fp_enter();
	float by = (float)world;
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = x[i] / by;
	trib_fp_leave(fp);
}

#define SIMD_CODEC(label)                                                                          \
	{                                                                                          \
		.name = label, .amax = SIMD(amax), .q32_pack = SIMD(q32_pack),                     \
		.q32_unpack = SIMD(q32_unpack), .q32_unpack_avg = SIMD(q32_unpack_avg),            \
		.f32_order = SIMD(f32_order), .f32_unorder = SIMD(f32_unorder),                    \
		.f32_nan = SIMD(f32_nan), .i32_order = SIMD(i32_order),                            \
		.i32_unorder = SIMD(i32_unorder), .f16_pack = SIMD(f16_pack),                      \
		.f16_unpack = SIMD(f16_unpack), .bf16_pack = SIMD(bf16_pack),                      \
		.bf16_unpack = SIMD(bf16_unpack), .f32_div = SIMD(f32_div),                        \
	}

#endif /* TRIB_CODEC_SIMD_H */
