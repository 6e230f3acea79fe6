/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Conversion between the caller's numbers and payloads: block floating point
 * (f32 to TRIB_FMT_Q32 and back), f16 and bf16, integers (TRIB_FMT_I32) and
 * order-preserving words (TRIB_FMT_W64). There is one set of functions per
 * instruction set. All give the same bits, in any rounding or flush-to-zero mode
 * of the caller. All run in the kernel, too; the scalar set is integer code.
 *
 * Block floating point: the values of a chunk share an exponent e, the smallest
 * with |x| < 2^e for all x of all workers. With n workers and L = ceil(log2 n)
 * one unit is 2^s, s = trib_q32_scale(e, n) = e - (31 - L); a value becomes
 * the nearest integer (ties to even), clamped to +-trib_q32_limit(n). The sum
 * of n of them fits an int32 and comes back as sum * 2^s, rounded once.
 */
#ifndef TRIB_CODEC_H
#define TRIB_CODEC_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

#include "uapi/trib_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trib_codec_level {
	TRIB_CODEC_SCALAR = 0,
	TRIB_CODEC_AVX2 = 1,
	TRIB_CODEC_AVX512 = 2,
	TRIB_CODEC__MAX,
};

/**
 * struct trib_codec - one implementation
 * @name: "scalar", "avx2", "avx512".
 *
 * Payload pointers need no alignment. Packing writes trib_payload_len(values)
 * bytes: the last value is followed by zeros. @n is the number of values and may
 * be 0. Source and destination must not overlap, but may be equal for i32.
 *
 * @amax: largest magnitude of @n floats, as the bits of a float without its
 *        sign; 0x7f800000 or more if a float is not finite.
 * @q32_pack: floats to paired lanes. @scale comes from trib_q32_scale() for the
 *        exponent of these values; larger magnitudes are clamped. @limit comes
 *        from trib_q32_limit().
 * @q32_unpack: reverse of @q32_pack, correctly rounded.
 * @q32_unpack_avg: the same, divided by @world; within half an ulp and 2^-52.
 * @f32_order: floats to words that compare like the floats or, with @neg, like
 *        their negatives. Input without NaN: check with @f32_nan.
 * @f32_unorder: reverse of @f32_order.
 * @f32_nan: index of the first NaN, or @n.
 * @i32_order: integers to words that compare like them; @neg as above.
 * @i32_unorder: reverse of @i32_order.
 * @f16_pack: floats to TRIB_FMT_F16, as half.h rounds them.
 * @f16_unpack: reverse, exact.
 * @bf16_pack: floats to TRIB_FMT_BF16, as half.h rounds them.
 * @bf16_unpack: reverse, exact.
 * @f32_div: @x / @world in place, correctly rounded.
 */
struct trib_codec {
	const char *name;
	uint32_t (*amax)(const float *x, size_t n);
	void (*q32_pack)(void *w, const float *x, size_t n, int scale, int32_t limit);
	void (*q32_unpack)(float *x, const void *w, size_t n, int scale);
	void (*q32_unpack_avg)(float *x, const void *w, size_t n, int scale, unsigned int world);
	void (*f32_order)(void *w, const float *x, size_t n, int neg);
	void (*f32_unorder)(float *x, const void *w, size_t n, int neg);
	size_t (*f32_nan)(const float *x, size_t n);
	void (*i32_order)(void *w, const int32_t *x, size_t n, int neg);
	void (*i32_unorder)(int32_t *x, const void *w, size_t n, int neg);
	void (*f16_pack)(void *w, const float *x, size_t n);
	void (*f16_unpack)(float *x, const void *w, size_t n);
	void (*bf16_pack)(void *w, const float *x, size_t n);
	void (*bf16_unpack)(float *x, const void *w, size_t n);
	void (*f32_div)(float *x, size_t n, unsigned int world);
};

/** trib_codec_best() - find the highest level that this CPU runs */
const struct trib_codec *trib_codec_best(void);

/** trib_codec_get() - find a level, or NULL if this CPU cannot run it */
const struct trib_codec *trib_codec_get(enum trib_codec_level level);

/**
 * trib_exponent() - compute the smallest e with |x| < 2^e
 * @amax: bits of |x|, finite.
 *
 * Return: -148 .. 128, or TRIB_EXP_ZERO for zero.
 */
int trib_exponent(uint32_t amax);

/** trib_first_bad() - find the first value that is not finite; @n if none */
size_t trib_first_bad(const float *x, size_t n);

/* Range of trib_exponent(). */
#define TRIB_EXP_MIN (-148)
#define TRIB_EXP_LARGEST 128

/* Exponent of one unit in a chunk with exponent @e. */
static inline int trib_q32_scale(int e, unsigned int world)
{
	return e - (31 - (int)trib_log2_ceil(world));
}

/* At scales up to this one, every sum is finite: 2^31 * 2^96 is. */
#define TRIB_Q32_SCALE_SAFE 96

/* Copy TRIB_FMT_I32 or TRIB_FMT_F32 values, which travel as they are in memory.
 * Packing adds zeros behind them.
 */
void trib_i32_pack(void *w, const int32_t *x, size_t n);
void trib_i32_unpack(int32_t *x, const void *w, size_t n);

extern const struct trib_codec trib_codec_scalar;
#if defined(__x86_64__)
extern const struct trib_codec trib_codec_avx2;
extern const struct trib_codec trib_codec_avx512;
#endif

#ifdef __cplusplus
}
#endif
#endif /* TRIB_CODEC_H */
