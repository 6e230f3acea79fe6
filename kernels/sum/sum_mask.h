/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks a masked payload against its header. Each level compiles it for itself,
 * because the loop gains from vectors.
 */
#ifndef TRIB_SUM_MASK_H
#define TRIB_SUM_MASK_H

#include <linux/errno.h>

#include "sum.h"

/* Not 0 if a group in @words mask words has more or fewer bits than @kept. */
static inline __attribute__((always_inline)) __u32 trib_mask_wrong(const void *mask, __u32 words,
								   __u32 group, __u32 kept)
{
	__u32 want = trib_mask_want(group, kept);
	__u32 i, w, wrong = 0;

	for (i = 0; i < words; i++) {
		__builtin_memcpy(&w, (const char *)mask + i * 4, sizeof(w));
		wrong |= trib_mask_counts(w, group) ^ want;
	}
	return wrong;
}

/*
 * Checks an expanding function's arguments before it touches any accumulator.
 * Return: packed values per mask word, or -EINVAL.
 */
static inline __attribute__((always_inline)) int
trib_mask_check(const struct trib_sum_ops *ops, __u32 acc_len, const void *in, __u32 len, __u8 nm)
{
	__u32 group = trib_nm_group(nm), kept = trib_nm_kept(nm);
	__u32 need = trib_sum_masked_len(ops, acc_len, nm);
	__u32 words = acc_len / 128, wrong;

	if (!need || len < need)
		return -EINVAL;
	switch (group) {
	case 2:
		wrong = trib_mask_wrong(in, words, 2, kept);
		break;
	case 4:
		wrong = trib_mask_wrong(in, words, 4, kept);
		break;
	case 8:
		wrong = trib_mask_wrong(in, words, 8, kept);
		break;
	case 16:
		wrong = trib_mask_wrong(in, words, 16, kept);
		break;
	default:
		wrong = trib_mask_wrong(in, words, 32, kept);
		break;
	}
	return wrong ? -EINVAL : (int)(32 / group * kept);
}

#endif /* TRIB_SUM_MASK_H */
