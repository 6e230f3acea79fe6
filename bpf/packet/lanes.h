/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that copy and combine values; they dominate the cost of a packet. One
 * block is TRIB_NVAL_BLOCK 32-bit units, 8 words.
 */
#ifndef TRIB_BPF_LANES_H
#define TRIB_BPF_LANES_H

#include "packet.h"
#include "uapi/trib_maps.h"

#define BLOCK_WORDS (TRIB_NVAL_BLOCK / 2)
#define BLOCKS_MAX (TRIB_NVAL / TRIB_NVAL_BLOCK)
/* Words per round of the unrolled loop: the divisors measured as fastest. */
#define EACH_UNROLL (TRIB_NVAL == TRIB_NVAL_SMALL ? 22 : 16)

static __always_inline __u32 blocks(__u32 nval)
{
	return (nval + TRIB_NVAL_BLOCK - 1) / TRIB_NVAL_BLOCK;
}

/*
 * Copy @nval units, at most TRIB_NVAL, between packet and memory. Helpers do it: a
 * loop of ours would cost more than the addition does. Return: 0, or less if the
 * packet is too short.
 */
#define COPY_UNITS(helper, ctx, off, mem, nval)                                                    \
	COPY_BYTES(helper, ctx, off, mem, trib_payload_len(nval))

/* This form proves to every verifier that the length is not 0. */
#define COPY_BYTES(helper, ctx, off, mem, bytes)                                                   \
	({                                                                                         \
		__u32 len_ = (bytes);                                                              \
		long rc_ = 0;                                                                      \
                                                                                                   \
		if (len_) {                                                                        \
			len_--;                                                                    \
			HIDE(len_);                                                                \
			rc_ = len_ < TRIB_NVAL * 4 ? helper(ctx, off, mem, len_ + 1) : -1;         \
		}                                                                                  \
		rc_;                                                                               \
	})

static __always_inline long copy_in(struct xdp_md *ctx, __u32 off, void *to, __u32 nval)
{
	return COPY_UNITS(bpf_xdp_load_bytes, ctx, off, to, nval);
}

/* The same in a clsact program. */
static __always_inline long copy_in_skb(struct __sk_buff *skb, __u32 off, void *to, __u32 nval)
{
	return COPY_UNITS(bpf_skb_load_bytes, skb, off, to, nval);
}

static __always_inline long copy_out(struct xdp_md *ctx, __u32 off, void *from, __u32 nval)
{
	return COPY_UNITS(bpf_xdp_store_bytes, ctx, off, from, nval);
}

/* @bytes, at most 4 * TRIB_NVAL. */
static __always_inline long copy_out_bytes(struct xdp_md *ctx, __u32 off, void *from, __u32 bytes)
{
	return COPY_BYTES(bpf_xdp_store_bytes, ctx, off, from, bytes);
}

/*
 * Run OP for each word of @nblk blocks: q[j] in the packet from @v on, t[j] in
 * memory at @mem. A full packet has one bounds check; others have one per block,
 * hidden from the compiler, which would merge them into a check that the verifier
 * cannot follow. Ends early if the packet does.
 */
#define EACH_WORD(v, end, mem, nblk, OP)                                                           \
	do {                                                                                       \
		__u64 *q = (v), *t = (mem);                                                        \
		HIDE(q);                                                                           \
		if ((nblk) == BLOCKS_MAX && (void *)(q + BLOCKS_MAX * BLOCK_WORDS) <= (end)) {     \
			_Pragma("clang loop unroll_count(EACH_UNROLL)") for (int j = 0;            \
									     j <                   \
									     BLOCKS_MAX *          \
										     BLOCK_WORDS;  \
									     j++)                  \
			{                                                                          \
				OP;                                                                \
			}                                                                          \
			break;                                                                     \
		}                                                                                  \
		for (__u32 b_ = 0; b_ < BLOCKS_MAX; b_++) {                                        \
			HIDE(q);                                                                   \
			if (b_ >= (nblk) || (void *)(q + BLOCK_WORDS) > (end))                     \
				break;                                                             \
			_Pragma("clang loop unroll(full)") for (int j = 0; j < BLOCK_WORDS; j++)   \
			{                                                                          \
				OP;                                                                \
			}                                                                          \
			q += BLOCK_WORDS;                                                          \
			t += BLOCK_WORDS;                                                          \
		}                                                                                  \
	} while (0)

/* Add two 32-bit lanes, each modulo 2^32, without a carry between them. */
static __always_inline __u64 add_i32(__u64 a, __u64 b)
{
	const __u64 high = 0x80000000;

	return ((a & ~high) + (b & ~high)) ^ ((a ^ b) & high);
}

/*
 * The larger signed word, without a branch that would be mispredicted every other
 * time. The sign of a - b is wrong if it overflows: then a and b differ in sign,
 * and so do a and a - b.
 */
static __always_inline __u64 max_s64(__u64 a, __u64 b)
{
	__u64 differ = a ^ b, diff = a - b;
	__u64 less = (__s64)(diff ^ (differ & (diff ^ a))) >> 63;

	HIDE(less); /* or the compiler makes it a branch */
	return a ^ (differ & less);
}

#endif /* TRIB_BPF_LANES_H */
