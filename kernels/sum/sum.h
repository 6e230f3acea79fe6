/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums of packet values: the arithmetic of the module's kfuncs on a slot. The
 * kernel module links it; tests and benchmarks link it in user space.
 *
 * A slot's accumulators are 32 bits wide: floats for TRIB_FMT_F32, F16 and
 * BF16, integers for TRIB_FMT_I32. A packet holds values of its format,
 * little-endian like the hosts that these functions run on. Value i of a packet
 * belongs to accumulator i.
 *
 * There is one set of functions per instruction set. All give the same bits for
 * any input:
 *
 *  - acc + in equals SSE's ADDPS with acc as the first operand and the kernel's
 *    initial MXCSR: round to nearest even, denormals kept. A NaN comes out quiet
 *    with its payload, or with acc's payload if both are NaNs. Inf - Inf is
 *    0xffc00000.
 *  - f16 widens as VCVTPH2PS does (exact; a signalling NaN becomes quiet) and
 *    narrows as VCVTPS2PH does (nearest even, denormals kept, a NaN quiet with
 *    the upper bits of its payload).
 *  - bf16 widens by a shift (a signalling NaN stays one until it is added) and
 *    narrows to the nearest even, denormals kept, a NaN quiet with the upper
 *    bits of its payload. VCVTNEPS2BF16 differs: it flushes denormals.
 *  - f32 is stored and emitted unchanged.
 *  - i32 is modulo 2^32.
 *
 * Levels above TRIB_SUM_SCALAR use vector registers. In the kernel, call them
 * only between kernel_fpu_begin() and kernel_fpu_end(); in user space, with the
 * MXCSR that a process starts with. The scalar level touches no FPU state, so a
 * softirq that finds irq_fpu_usable() false can call it.
 *
 * The functions keep no state, take no locks and do not sleep. No pointer needs
 * alignment; slots aligned to 64 bytes are fastest. Areas must not overlap unless
 * the function's comment allows it. Nothing outside the given lengths is read or
 * written.
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

/**
 * struct trib_sum_ops - one format at one level
 * @size: bytes of a value in a packet: 4 or 2.
 *
 * @len counts bytes of packet values. An incomplete last value is ignored. The
 * accumulators for @len bytes of values are trib_sum_acc_len() bytes long.
 *
 * @add:   acc += in.
 * @store: acc = in, for the first contribution to a chunk.
 * @final: acc += in, out = acc as values, for the last contribution. @out may be
 *         @in: the packet that came leaves as the result.
 * @emit:  out = acc as values. @out may be @acc: a slot keeps the result.
 * @expand_add: @add of an N:M-masked payload. Accumulators without a value stay
 *         unchanged.
 * @expand_store: @store of a masked payload. Accumulators without a value become
 *         +0.
 *
 * A masked payload is mask words, then packed values. A word is 32 bits,
 * little-endian; bit i % 32 of word i / 32 marks value i as present. Each group
 * of N successive values has exactly M present. Packed values are in the order
 * of i. &trib_hdr.nm encodes N and M; N >= 2.
 *
 * The expanding functions check the payload before they touch acc. @acc_len must
 * be a multiple of 128 bytes (the values of a mask word), not 0, and @len at least
 * trib_sum_masked_len(); any bytes after that are padding.
 * Return: 0, or -EINVAL if a length, @nm or the mask is wrong.
 */
struct trib_sum_ops {
	__u32 size;
	void (*add)(void *acc, const void *in, __u32 len);
	void (*store)(void *acc, const void *in, __u32 len);
	void (*final)(void *out, void *acc, const void *in, __u32 len);
	void (*emit)(void *out, const void *acc, __u32 len);
	int (*expand_add)(void *acc, __u32 acc_len, const void *in, __u32 len, __u8 nm);
	int (*expand_store)(void *acc, __u32 acc_len, const void *in, __u32 len, __u8 nm);
};

/**
 * struct trib_sum - one level
 * @name:  "scalar", "sse2", "avx2", "avx512".
 * @needs: enum trib_cpu bits that it requires.
 * @ops:   by enum trib_fmt; .size is 0 for a format without functions. Use
 *         trib_sum_ops().
 */
struct trib_sum {
	const char *name;
	__u32 needs;
	struct trib_sum_ops ops[TRIB_FMT__MAX];
};

/**
 * trib_sum_level_best() - find the fastest level that a CPU runs
 * @caps: enum trib_cpu bits of the CPU.
 *
 * Return: a level for which trib_sum_get() is not NULL; at least TRIB_SUM_SCALAR.
 */
enum trib_sum_level trib_sum_level_best(__u32 caps);

/**
 * trib_sum_get() - find a level
 *
 * Return: NULL if @level does not exist or needs more than @caps.
 */
const struct trib_sum *trib_sum_get(enum trib_sum_level level, __u32 caps);

/** trib_sum_ops() - find the functions for a format, or NULL */
static inline const struct trib_sum_ops *trib_sum_ops(const struct trib_sum *s, __u32 fmt)
{
	if (fmt >= TRIB_FMT__MAX || !s->ops[fmt].size)
		return (void *)0;
	return &s->ops[fmt];
}

/** trib_sum_acc_len() - count bytes of accumulators for @len bytes of values */
static inline __u32 trib_sum_acc_len(const struct trib_sum_ops *ops, __u32 len)
{
	return len / ops->size * 4;
}

/* More than any packet has; lengths of masked payloads fit 32 bits below it. */
#define TRIB_SUM_ACC_MAX (1U << 20)

/**
 * trib_sum_masked_len() - count bytes of a masked payload, without padding
 * @acc_len: bytes of accumulators.
 *
 * Return: 0 if @nm is not N:M with N in 2..32 and M <= N, or @acc_len is 0, not a
 * multiple of 128 or above TRIB_SUM_ACC_MAX.
 */
static inline __u32 trib_sum_masked_len(const struct trib_sum_ops *ops, __u32 acc_len, __u8 nm)
{
	__u32 group = trib_nm_group(nm), kept = trib_nm_kept(nm);
	__u32 words = acc_len / 128;

	if (group < 2 || group > 32 || kept > group || acc_len % 128 || acc_len > TRIB_SUM_ACC_MAX)
		return 0;
	return words * (4 + 32 / group * kept * ops->size);
}

#endif /* TRIB_SUM_H */
