/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks a masked payload against its header. Each level compiles it for itself,
 * because the loop gains from vectors.
 */
#ifndef TRIB_SUM_MASK_H
#define TRIB_SUM_MASK_H

#include <linux/errno.h>

#include "sum.h"

/* Bits set in each field of @group bits of @w. */
static inline __u32 trib_mask_counts(__u32 w, __u32 group)
{
	w -= w >> 1 & 0x55555555;
	if (group >= 4)
		w = (w & 0x33333333) + (w >> 2 & 0x33333333);
	if (group >= 8)
		w = (w + (w >> 4)) & 0x0f0f0f0f;
	if (group >= 16)
		w = (w + (w >> 8)) & 0x00ff00ff;
	if (group >= 32)
		w = (w + (w >> 16)) & 0xff;
	return w;
}

/* Not 0 if a group in @words mask words has more or fewer bits than @kept. */
static inline __attribute__((always_inline)) __u32 trib_mask_wrong(const void *mask, __u32 words,
								   __u32 group, __u32 kept)
{
	/* @kept in each field; a field of 32 bits fills the word. */
	__u32 want = group == 32 ? kept : kept * (0xffffffffU / ((1U << group) - 1));
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
	__u32 group = trib_sum_nm_group(nm), kept = trib_sum_nm_kept(nm);
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
