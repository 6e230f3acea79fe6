/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums of packet values: what the module's kfuncs do to a slot. Compiled into
 * the kernel, and in user space into tests and benches.
 *
 * A slot's accumulators are 32 bits wide: floats for TRIB_FMT_F32, F16 and
 * BF16, integers for TRIB_FMT_I32. A packet holds values of its format,
 * little-endian like the hosts that these functions run on. Value i of a packet
 * belongs to accumulator i.
 *
 * There is one set of functions per instruction set. All give the same bits for
 * the same input, whatever that is:
 *
 *  - acc + in is what SSE's ADDPS gives with acc as its first operand and the
 *    MXCSR that the kernel starts with: round to nearest even, denormals kept.
 *    A NaN comes out quiet with its payload, that of acc if both are NaNs;
 *    Inf - Inf is 0xffc00000.
 *  - f16 widens as VCVTPH2PS does (exact; a signalling NaN becomes quiet) and
 *    narrows as VCVTPS2PH does (nearest even, denormals kept, a NaN quiet with
 *    the upper bits of its payload).
 *  - bf16 widens by a shift (a signalling NaN stays one until it is added) and
 *    narrows to the nearest even, denormals kept, a NaN quiet with the upper
 *    bits of its payload. That is not what VCVTNEPS2BF16 does, which has no
 *    denormals.
 *  - f32 is stored and emitted as it is.
 *  - i32 is modulo 2^32.
 *
 * Levels other than TRIB_SUM_SCALAR use vector registers: in the kernel only
 * between kernel_fpu_begin() and kernel_fpu_end(), in user space with MXCSR as
 * a process starts with it. The scalar one touches no FPU state at all, so it
 * is the one for a softirq that finds irq_fpu_usable() false.
 *
 * Nothing here keeps state, locks or sleeps. No pointer needs any alignment;
 * slots aligned to 64 bytes are fastest. Areas must not overlap unless it says
 * so. Nothing is read or written outside of the lengths given.
 */
#ifndef TRIB_SUM_H
#define TRIB_SUM_H

#include <linux/types.h>

#include "uapi/trib_wire.h"

enum trib_sum_level {
	TRIB_SUM_SCALAR = 0,
	TRIB_SUM_SSE2 = 1,
	TRIB_SUM_AVX2 = 2,
	TRIB_SUM_AVX512 = 3,
	TRIB_SUM__MAX,
};

/* What the CPU has, and the system lets be used: see trib_sum_caps(). */
enum trib_sum_cap {
	TRIB_SUM_CAP_SSE2 = 1 << 0,
	TRIB_SUM_CAP_AVX2 = 1 << 1,
	TRIB_SUM_CAP_F16C = 1 << 2,
	TRIB_SUM_CAP_POPCNT = 1 << 3,
	TRIB_SUM_CAP_AVX512F = 1 << 4,
	TRIB_SUM_CAP_AVX512BW = 1 << 5,
	TRIB_SUM_CAP_AVX512DQ = 1 << 6,
	TRIB_SUM_CAP_AVX512VL = 1 << 7,
};

/**
 * struct trib_sum_ops - one format at one level
 * @size: bytes of a value in a packet: 4 or 2.
 *
 * @len is in bytes of packet values. A rest that is no whole value is ignored.
 * The accumulators of @len bytes of values are trib_sum_acc_len() long.
 *
 * @add:   acc += in.
 * @store: acc = in. The first contribution to a chunk.
 * @final: acc += in, out = acc as values. The last one; @out may be @in, so
 *         that the packet that came goes out as the result.
 * @emit:  out = acc as values; @out may be @acc, so that a slot keeps the result.
 * @expand_add: @add of an N:M-masked payload: values that the mask names are
 *         added, the other accumulators stay as they are.
 * @expand_store: @store of one: the other accumulators become +0.
 *
 * A masked payload is mask words, then packed values. Each word is 32 bits,
 * little-endian; bit i % 32 of word i / 32 says that value i is there. Each
 * group of N successive values has exactly M of them. The packed values are
 * those, in the order of i. N and M are as &trib_hdr.nm has them, N >= 2.
 *
 * The expanding ones check what they get before they touch acc. @acc_len must
 * be a multiple of 128 bytes (a mask word's values), not 0, and @len at least
 * trib_sum_masked_len(); what follows is padding.
 * Return: 0, or -EINVAL if a length, @nm or the mask is not as said.
 */
struct trib_sum_ops {
	__u32 size;
	void (*add)(void *acc, const void *in, __u32 len);
	void (*store)(void *acc, const void *in, __u32 len);
	void (*final)(void *out, void *acc, const void *in, __u32 len);
	void (*emit)(void *out, const void *acc, __u32 len);
	int (*expand_add)(void *acc, __u32 acc_len, const void *in, __u32 len,
			  __u8 nm);
	int (*expand_store)(void *acc, __u32 acc_len, const void *in, __u32 len,
			    __u8 nm);
};

/**
 * struct trib_sum - one level
 * @name:  "scalar", "sse2", "avx2", "avx512".
 * @needs: enum trib_sum_cap bits without which it must not run.
 * @ops:   by enum trib_fmt; .size is 0 where there is none. See trib_sum_ops().
 */
struct trib_sum {
	const char *name;
	__u32 needs;
	struct trib_sum_ops ops[TRIB_FMT__MAX];
};

/**
 * trib_sum_level_best() - the fastest level that runs
 * @caps: enum trib_sum_cap bits.
 *
 * Return: a level that trib_sum_get() has; TRIB_SUM_SCALAR at the least.
 */
enum trib_sum_level trib_sum_level_best(__u32 caps);

/**
 * trib_sum_get() - a certain level
 *
 * Return: NULL if there is none such, or @caps are not enough for it.
 */
const struct trib_sum *trib_sum_get(enum trib_sum_level level, __u32 caps);

/** trib_sum_ops() - the functions for a format, NULL if there are none */
static inline const struct trib_sum_ops *trib_sum_ops(const struct trib_sum *s,
						      __u32 fmt)
{
	if (fmt >= TRIB_FMT__MAX || !s->ops[fmt].size)
		return (void *)0;
	return &s->ops[fmt];
}

/** trib_sum_acc_len() - bytes of accumulators for @len bytes of values */
static inline __u32 trib_sum_acc_len(const struct trib_sum_ops *ops, __u32 len)
{
	return len / ops->size * 4;
}

/* Far more than a packet has: keeps lengths of masked payloads within 32 bits. */
#define TRIB_SUM_ACC_MAX (1U << 20)

/* Values of an N:M group, and how many of them are there. */
static inline __u32 trib_sum_nm_group(__u8 nm)
{
	return 1U << (nm >> 5);
}

static inline __u32 trib_sum_nm_kept(__u8 nm)
{
	return (nm & 31) + 1U;
}

/**
 * trib_sum_masked_len() - bytes of a masked payload, padding not included
 * @acc_len: bytes of accumulators.
 *
 * Return: 0 if @nm is not N:M with N in 2..32 and M <= N, or @acc_len is 0, not a
 * multiple of 128 or above TRIB_SUM_ACC_MAX.
 */
static inline __u32 trib_sum_masked_len(const struct trib_sum_ops *ops,
					__u32 acc_len, __u8 nm)
{
	__u32 group = trib_sum_nm_group(nm), kept = trib_sum_nm_kept(nm);
	__u32 words = acc_len / 128;

	if (group < 2 || group > 32 || kept > group || acc_len % 128 ||
	    acc_len > TRIB_SUM_ACC_MAX)
		return 0;
	return words * (4 + 32 / group * kept * ops->size);
}

#endif /* TRIB_SUM_H */
