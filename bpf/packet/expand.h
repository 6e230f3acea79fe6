/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Masked contributions (uapi/trib_wire.h, TRIB_F_MASK): the check of their masks, and
 * addition of their values to dense integers. Both are global subprograms: the
 * verifier walks each once, wherever slots and headers are.
 */
#ifndef TRIB_BPF_EXPAND_H
#define TRIB_BPF_EXPAND_H

#include "lanes.h"

#define MASK_WORDS_MAX (TRIB_NVAL / TRIB_MASK_UNITS)
/* Mask for offsets in a packet: every verifier keeps a mask. */
#define EXPAND_OFF_MASK 4095

/*
 * A row of the table: byte offsets of the units that a byte of a mask marks, and in the
 * ninth byte how many these are.
 */
#define EXPAND_BELOW(b, i) __builtin_popcount((b) & ((1 << (i)) - 1))
#define EXPAND_AT(b, i) ((__u64)((b) >> (i)&1) * (i)*4 << 8 * EXPAND_BELOW(b, i))
#define EXPAND_ROW(b)                                                                              \
	EXPAND_AT(b, 1) | EXPAND_AT(b, 2) | EXPAND_AT(b, 3) | EXPAND_AT(b, 4) | EXPAND_AT(b, 5) |  \
		EXPAND_AT(b, 6) | EXPAND_AT(b, 7),                                                 \
		__builtin_popcount(b)
#define EXPAND_4(what, b) what((b)), what((b) + 1), what((b) + 2), what((b) + 3)
#define EXPAND_16(what, b)                                                                         \
	EXPAND_4(what, b), EXPAND_4(what, (b) + 4), EXPAND_4(what, (b) + 8),                       \
		EXPAND_4(what, (b) + 12)
#define EXPAND_64(what, b)                                                                         \
	EXPAND_16(what, b), EXPAND_16(what, (b) + 16), EXPAND_16(what, (b) + 32),                  \
		EXPAND_16(what, (b) + 48)
#define EXPAND_256(what)                                                                           \
	EXPAND_64(what, 0), EXPAND_64(what, 64), EXPAND_64(what, 128), EXPAND_64(what, 192)

/* A section of its own: .rodata is what the loader sets. */
static const volatile __u64 expand_rows[512] SEC(".rodata.expand") = {EXPAND_256(EXPAND_ROW)};

/* The row of byte @i of the mask word @w. */
#define EXPAND_ROW_OF(w, i)                                                                        \
	((const volatile __u8 *)expand_rows + ((__u64)(w) << 4 >> 8 * (i)&0xff0))

/* Units of a slot, as an argument of subprograms. */
struct expand_units {
	__u64 v[TRIB_NVAL / 2];
};

/* Values to add: their mask, their number, and whether they are the first. */
#define EXPAND_WHAT(nm, nval, first) ((__u32)(__u8)(nm) | (__u32)(first) << 8 | (__u32)(nval) << 16)
#define EXPAND_NM(what) ((__u8)(what))
#define EXPAND_FIRST(what) ((what) >> 8 & 1)
#define EXPAND_WORDS(what) (((what) >> 16) / TRIB_MASK_UNITS)

/* trib_mask_counts() of two words at once. */
static __always_inline __u64 mask_counts(__u64 w, __u32 group)
{
	w -= w >> 1 & 0x5555555555555555;
	if (group >= 4)
		w = (w & 0x3333333333333333) + (w >> 2 & 0x3333333333333333);
	if (group >= 8)
		w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0f;
	if (group >= 16)
		w = (w + (w >> 8)) & 0x00ff00ff00ff00ff;
	if (group >= 32)
		w = (w + (w >> 16)) & 0x000000ff000000ff;
	return w;
}

/* Not 0 if a group has more or fewer bits than @kept, or the packet ends too early. */
static __always_inline __u64 mask_wrong(const void *m, const void *end, __u32 words, __u32 group,
					__u32 kept)
{
	__u64 want = trib_mask_want(group, kept), wrong = 0;

	want |= want << 32;
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i < MASK_WORDS_MAX + 1; i += 2) {
		HIDE(m);
		/* Values follow the words: there are 8 bytes, unless the packet lies. */
		if (i > words || m + 8 > end)
			return i > words ? wrong : 1;
		wrong |= i < words ? mask_counts(load64(m), group) ^ want
				   : mask_counts(load32(m), group) ^ (__u32)want;
		m += 8;
	}
	return wrong;
}

/**
 * mask_check() - check the mask words of a packet
 * @off:  offset of the payload.
 * @what: EXPAND_WHAT().
 *
 * Return: 0, or not 0 if the mask is wrong.
 */
__noinline int mask_check(struct xdp_md *ctx, __u32 off, __u32 what)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 words = EXPAND_WORDS(what), kept = trib_nm_kept(EXPAND_NM(what));
	void *m;

	off &= EXPAND_OFF_MASK;
	m = data + off;
	switch (EXPAND_NM(what) >> 5) {
	case 1:
		return !!mask_wrong(m, end, words, 2, kept);
	case 2:
		return !!mask_wrong(m, end, words, 4, kept);
	case 3:
		return !!mask_wrong(m, end, words, 8, kept);
	case 4:
		return !!mask_wrong(m, end, words, 16, kept);
	default:
		return !!mask_wrong(m, end, words, 32, kept);
	}
}

/*
 * Add @value to the unit that byte @j of @row names. The compiler would copy @t first, a
 * seventh of the loop.
 */
#define EXPAND_ONE(t, off, row, j, value)                                                          \
	do {                                                                                       \
		__u64 at_ = (row)[j];                                                              \
                                                                                                   \
		at_ &= 28;                                                                         \
		asm volatile("%0 += %1" : "+r"(at_) : "r"(t));                                     \
		*(__u32 *)(at_ + (off)) += (value);                                                \
	} while (0)

/*
 * The values of the mask word @w, @each in a byte, which is constant: up to eight in a
 * row without a branch. Return: false if the packet is too short.
 */
static __always_inline bool expand_same(void *t, __u32 w, const __u32 *q, const void *end,
					const int each)
{
	if ((void *)(q + 4 * each) > end)
		return false;
#pragma clang loop unroll(full)
	for (int i = 0; i < 4; i++) {
		const volatile __u8 *row = EXPAND_ROW_OF(w, i);

#pragma clang loop unroll(full)
		for (int j = 0; j < each; j++)
			EXPAND_ONE(t, 32 * i, row, j, q[each * i + j]);
	}
	return true;
}

/* One value, or the end. */
#define EXPAND_NEXT(j, stop)                                                                       \
	do {                                                                                       \
		if (n <= (j) || (stop))                                                            \
			return;                                                                    \
		EXPAND_ONE(t, off, row, j, q[j]);                                                  \
	} while (0)

/* The values of a mask byte, @n of them. A loop with two exits is not unrolled. */
static __always_inline void expand_byte(void *t, const int off, const volatile __u8 *row, __u32 n,
					const __u32 *q, const void *end)
{
	if ((void *)(q + 8) <= end) {
		EXPAND_NEXT(0, 0);
		EXPAND_NEXT(1, 0);
		EXPAND_NEXT(2, 0);
		EXPAND_NEXT(3, 0);
		EXPAND_NEXT(4, 0);
		EXPAND_NEXT(5, 0);
		EXPAND_NEXT(6, 0);
		EXPAND_NEXT(7, 0);
		return;
	}
	/* The packet ends within eight values. */
	EXPAND_NEXT(0, (void *)(q + 1) > end);
	EXPAND_NEXT(1, (void *)(q + 2) > end);
	EXPAND_NEXT(2, (void *)(q + 3) > end);
	EXPAND_NEXT(3, (void *)(q + 4) > end);
	EXPAND_NEXT(4, (void *)(q + 5) > end);
	EXPAND_NEXT(5, (void *)(q + 6) > end);
	EXPAND_NEXT(6, (void *)(q + 7) > end);
}

/* The values of the mask word @w, any number. Return: the place of the next ones. */
static __always_inline __u32 expand_any(void *t, __u32 w, const void *data, const void *end,
					__u32 at)
{
#pragma clang loop unroll(full)
	for (int i = 0; i < 4; i++) {
		const volatile __u8 *row = EXPAND_ROW_OF(w, i);
		__u32 n = row[8];

		/* Forget how it came about: the verifier walks on once. */
		HIDE(at);
		at &= EXPAND_OFF_MASK;
		expand_byte(t, 32 * i, row, n, data + at, end);
		at += n * 4;
	}
	return at;
}

/* Before the first values: a loop of its own, whose states the verifier prunes. */
static __always_inline void expand_zero(__u64 *t, __u32 words)
{
	__u64 zero = 0;

	HIDE(zero); /* or the compiler calls memset() */
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MASK_WORDS_MAX && i < words; i++, t += TRIB_MASK_UNITS / 2) {
#pragma clang loop unroll(full)
		for (int j = 0; j < TRIB_MASK_UNITS / 2; j++)
			t[j] = zero;
	}
}

/**
 * expand_word() - add the values of mask word @i
 * @off: offset of the payload.
 * @at:  offset of the word's values.
 *
 * A subprogram for each word: walked for all of them at once, the verifier would
 * forget the states that prune its way. Return: offset of the next word's values.
 */
__noinline int expand_word(struct xdp_md *ctx, struct expand_units *to, __u32 i, __u32 off,
			   __u32 at)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	void *m, *t;

	off &= EXPAND_OFF_MASK;
	if (!to || i >= MASK_WORDS_MAX)
		return 0;
	t = (__u8 *)to->v + i * (TRIB_MASK_UNITS * 4);
	m = data + off + i * 4;
	if (m + 4 > end)
		return 0;
	return expand_any(t, load32(m), data, end, at);
}

/* Groups of up to 8: every byte has as many values, @each. Return: as expand_add(). */
static __always_inline int expand_all(struct xdp_md *ctx, __u8 *t, __u32 off, __u32 words,
				      const int each)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 at = off + words * 4, w;
	void *m = data + off;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MASK_WORDS_MAX && i < words; i++, t += TRIB_MASK_UNITS * 4) {
		HIDE(m);
		if (m + 4 > end)
			return -1;
		w = load32(m);
		m += 4;
		HIDE(at);
		at &= EXPAND_OFF_MASK;
		if (!expand_same(t, w, data + at, end, each))
			return -1;
		at += 16 * each;
	}
	return 0;
}

/**
 * expand_add() - add a masked payload of integers, modulo 2^32
 * @to:   units to add to, or to replace if they are the first.
 * @off:  offset of the payload.
 * @what: EXPAND_WHAT(), of a payload that passed mask_check(), in a packet that has all of it.
 *
 * Return: 0, or less if there is no room for it.
 */
__noinline int expand_add(struct xdp_md *ctx, struct expand_units *to, __u32 off, __u32 what)
{
	__u32 words = EXPAND_WORDS(what), nm = EXPAND_NM(what), at;

	if (!to || words > MASK_WORDS_MAX)
		return -1;
	off &= EXPAND_OFF_MASK;
	if (EXPAND_FIRST(what))
		expand_zero(to->v, words);
	/* Again, unknown: the loop above has taught the verifier their number. */
	HIDE(what);
	words = EXPAND_WORDS(what);
	switch (nm >> 5 < 4 ? trib_nm_per_word(nm) / 4 : 0) {
	case 1:
		return expand_all(ctx, (__u8 *)to->v, off, words, 1);
	case 2:
		return expand_all(ctx, (__u8 *)to->v, off, words, 2);
	case 3:
		return expand_all(ctx, (__u8 *)to->v, off, words, 3);
	case 4:
		return expand_all(ctx, (__u8 *)to->v, off, words, 4);
	case 5:
		return expand_all(ctx, (__u8 *)to->v, off, words, 5);
	case 6:
		return expand_all(ctx, (__u8 *)to->v, off, words, 6);
	case 7:
		return expand_all(ctx, (__u8 *)to->v, off, words, 7);
	}
	at = off + words * 4;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MASK_WORDS_MAX && i < words; i++)
		at = expand_word(ctx, to, i, off, at);
	return 0;
}

#endif /* TRIB_BPF_EXPAND_H */
