/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compression of gradients: keep the M largest magnitudes of every N successive
 * values, pack them, optionally as integers of 16, 8 or 4 bits; and back. What is
 * not sent stays in a residual and is added to the next gradient (error feedback).
 *
 *	x, residual ── select ──▶ mask ── pack, pack_lanes ──▶ values, words
 *	x ◀── expand ── mask, values ◀── unpack_lanes ── sum of words
 *
 * There is one set of functions per instruction set, and one on the GPU
 * (kernels/gpu/gpu.h). All give the same bits, in any rounding or flush-to-zero
 * mode of the caller. The library keeps no state: the caller owns residuals,
 * seed and step, all plain arrays and integers, so saving them saves everything.
 *
 * acc = x + residual, one fp32 addition that rounds to the nearest even and keeps
 * denormals; f16 and bf16 widen exactly first. All of the following is of acc.
 *
 * Mask: one bit per value, bit i % 32 of little-endian word i / 32. Each group of
 * N successive values has exactly M bits set, an incomplete last group min(M,
 * values): those of the largest |acc|; among equals the first, and -0 equals 0.
 * Bits behind the last value are 0. Packed values are in the order of the bits.
 *
 * Quantised values: with the chunk's exponent e (the smallest with |acc| < 2^e for
 * the sent values of all workers) one unit is 2^s, s = trib_nm_scale(e, bits), and
 *
 *	q = floor(t + u), clamped to +-trib_nm_limit(bits)
 *
 * t is acc / 2^s, rounded to the nearest even at 31 - bits fraction bits; u has
 * as many random bits (rand.h), the same on every backend for one (seed, step,
 * index). So q is acc / 2^s on average.
 *
 * Planar lanes: quantised values travel in lanes of R bits, R the smallest number
 * in which the sum of all workers fits, L = 64 / R lanes in a 64-bit little-endian
 * word. In a chunk of W words lane k of word j holds value k * W + j, as
 * word = sum of v_k * 2^(R * k) modulo 2^64; values beyond the last are 0. Adding
 * words adds all lanes. Sums are read after adding 2^(R - 1) to each lane: lanes
 * are unsigned fields then, none borrows from another.
 */
#ifndef TRIB_NM_H
#define TRIB_NM_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_wire.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trib_nm_level {
	TRIB_NM_SCALAR = 0,
	TRIB_NM_AVX2 = 1,
	TRIB_NM_AVX512 = 2,
	TRIB_NM__MAX,
};

/**
 * struct trib_nm_spec - how to compress
 * @group: N: 2, 4, 8, 16 or 32; 1 is dense, without a mask.
 * @kept:  M, below @group; 1 if dense.
 * @bits:  16, 8 or 4 if values are quantised, else 0.
 */
struct trib_nm_spec {
	uint8_t group;
	uint8_t kept;
	uint8_t bits;
};

/**
 * struct trib_nm_range - successive values of a gradient
 * @x:        values of type @fmt.
 * @residual: one float per value, or NULL without error feedback: 0 then.
 * @count:    values; a multiple of 32 unless the range ends the gradient.
 * @fmt:      TRIB_FMT_F32, TRIB_FMT_F16 or TRIB_FMT_BF16.
 * @spec:     only @group and @kept count.
 */
struct trib_nm_range {
	const void *x;
	float *residual;
	size_t count;
	uint32_t fmt;
	struct trib_nm_spec spec;
};

/**
 * struct trib_nm_chunk - the payload that a range's quantised values fill
 * @seed:      of the job and the rank; ranks with one seed round alike, and then
 *             their errors add up instead of averaging out.
 * @step:      number of the training step.
 * @index:     of the range's first value in the gradient.
 * @words:     64-bit words, a multiple of 8; @words * (64 / @lane_bits) is at
 *             least the number of packed values.
 * @scale:     trib_nm_scale().
 * @bits:      16, 8 or 4.
 * @lane_bits: trib_nm_lane_bits().
 */
struct trib_nm_chunk {
	uint64_t seed;
	uint64_t step;
	uint64_t index;
	size_t words;
	int32_t scale;
	uint8_t bits;
	uint8_t lane_bits;
};

/* Larger than the bits of any finite magnitude: a value of acc is not finite. */
#define TRIB_NM_BAD 0x7f800000U

/**
 * struct trib_nm_ops - one implementation
 * @name: "scalar", "avx2", "avx512".
 *
 * Masks, packed values and words need no alignment; @x and the residual need that
 * of their types. No areas may overlap. Nothing outside the ranges is read or
 * written. A mask is NULL where the range is dense. Masks from outside must have
 * passed @check.
 *
 * acc must be finite for @pack and @pack_lanes: @select or @amax has told. If one
 * of these two or @select_pack returns TRIB_NM_BAD, trib_nm_first_bad() finds
 * the index.
 *
 * @select: write the mask. The residual stays.
 *          Return: bits of the largest |acc|; TRIB_NM_BAD if a value is not
 *          finite, and then the mask means nothing.
 * @amax:   find the largest |acc| in @mask.
 *          Return: its bits; TRIB_NM_BAD if any value of the range is not
 *          finite, whether sent or not.
 * @pack:   write the floats that @mask selects. The residual becomes 0 for them,
 *          acc for all others.
 * @pack_lanes: write @chunk.words words with the values that @mask selects. The
 *          residual becomes acc - q * 2^s for them, acc for all others.
 * @select_pack: @select and @pack in one pass over memory. It looks at the whole
 *          range before it writes, so it is fast on ranges that fit in L2.
 *          Return: as @select; with TRIB_NM_BAD nothing has changed.
 * @unpack_lanes: write @count floats, the values of a sum of words times 2^s,
 *          divided by @divide, correctly rounded. @divide is 1 to 1024. Only
 *          @words, @scale and @lane_bits of @chunk count.
 * @expand: write @count values of type @fmt: the packed ones divided by @divide and
 *          rounded to the nearest even where @mask has a bit, else 0.
 * @check:  Return: 0; -EINVAL if a group of the mask of @count values has more or
 *          fewer bits than it must have, or a bit behind the last value is set.
 */
struct trib_nm_ops {
	const char *name;
	uint32_t (*select)(void *mask, const struct trib_nm_range *range);
	uint32_t (*amax)(const struct trib_nm_range *range, const void *mask);
	void (*pack)(void *packed, const struct trib_nm_range *range, const void *mask);
	void (*pack_lanes)(void *words, const struct trib_nm_range *range, const void *mask,
			   const struct trib_nm_chunk *chunk);
	uint32_t (*select_pack)(void *mask, void *packed, const struct trib_nm_range *range);
	void (*unpack_lanes)(void *packed, const void *words, size_t count,
			     const struct trib_nm_chunk *chunk, unsigned int divide);
	void (*expand)(void *x, uint32_t fmt, size_t count, const void *mask, const void *packed,
		       unsigned int divide);
	int (*check)(const void *mask, size_t count, struct trib_nm_spec spec);
};

/** trib_nm_best() - find the highest level that this CPU runs */
const struct trib_nm_ops *trib_nm_best(void);

/** trib_nm_get() - find a level, or NULL if this CPU cannot run it */
const struct trib_nm_ops *trib_nm_get(enum trib_nm_level level);

/** trib_nm_first_bad() - find the first acc that is not finite; the count if none */
size_t trib_nm_first_bad(const struct trib_nm_range *range);

/* Values whose energies are added together. */
#define TRIB_NM_ENERGY_ROW 4096
/* Partial sums of a row: sum k is of its values k, k + 128, k + 256 ... */
#define TRIB_NM_ENERGY_LANES 128

/**
 * trib_nm_energy() - sums of squares: of x, of the residual, of x + @old
 * @old: the residual before packing, or NULL.
 *
 * Each row of TRIB_NM_ENERGY_ROW values is added up in TRIB_NM_ENERGY_LANES partial
 * sums, sum k gets those of sum k + 64, then of sum k + 32, and so on; rows are added
 * in order. x are floats.
 */
void trib_nm_energy(double sums[3], const struct trib_nm_range *range, const float *old);

/* Longest text of a spec, with its end. */
#define TRIB_NM_TEXT 16

/**
 * trib_nm_parse() - read a spec
 * @text: "dense", "int8", "2:4" (2 of every 4), "2:4+int8" and the like; "4:4" is
 *        dense. Not ended by 0.
 * @why:  receives a sentence if the text is wrong, with the text's first bytes.
 *
 * Return: 0, or -EINVAL.
 */
int trib_nm_parse(struct trib_nm_spec *spec, const char *text, size_t len, char *why,
		  size_t why_len);

/** trib_nm_print() - write the text that trib_nm_parse() reads */
void trib_nm_print(char text[TRIB_NM_TEXT], struct trib_nm_spec spec);

/** trib_nm_valid() - true if the spec is one that trib_nm_parse() makes */
static inline int trib_nm_valid(struct trib_nm_spec s)
{
	int grouped = s.group >= 2 && s.group <= 32 && !(s.group & (s.group - 1)) && s.kept &&
		      s.kept < s.group;

	return (grouped || (s.group == 1 && s.kept == 1)) &&
	       (!s.bits || s.bits == 4 || s.bits == 8 || s.bits == 16);
}

/** trib_nm_packed() - count the packed values of @count values */
static inline size_t trib_nm_packed(struct trib_nm_spec s, size_t count)
{
	size_t rest = count % s.group;

	return count / s.group * s.kept + (rest < s.kept ? rest : s.kept);
}

/** trib_nm_mask_words() - count the mask words of @count values */
static inline size_t trib_nm_mask_words(struct trib_nm_spec s, size_t count)
{
	return s.group == 1 ? 0 : count / 32 + (count % 32 != 0);
}

/** trib_nm_limit() - largest magnitude of a quantised value */
static inline int32_t trib_nm_limit(unsigned int bits)
{
	return (1 << (bits - 1)) - 1;
}

/** trib_nm_lane_bits() - bits in which the sum of @world quantised values fits */
static inline unsigned int trib_nm_lane_bits(unsigned int bits, unsigned int world)
{
	uint64_t most = (uint64_t)world * (uint64_t)trib_nm_limit(bits);
	unsigned int r = bits;

	while (r < 63 && (1ULL << (r - 1)) - 1 < most)
		r++;
	return r;
}

/** trib_nm_scale() - exponent of one unit in a chunk with exponent @e */
static inline int trib_nm_scale(int e, unsigned int bits)
{
	return e == TRIB_EXP_ZERO ? 0 : e - ((int)bits - 1);
}

extern const struct trib_nm_ops trib_nm_scalar;
#if defined(__x86_64__)
extern const struct trib_nm_ops trib_nm_avx2;
extern const struct trib_nm_ops trib_nm_avx512;
#endif

#ifdef __cplusplus
}
#endif
#endif /* TRIB_NM_H */
