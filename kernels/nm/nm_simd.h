/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compression over vectors of any width. The including file owns the instruction
 * set: it defines SIMD(name), LANES, the types vf (LANES floats) and vi (LANES
 * int32), and the primitives. nm_simd_lanes.h has the quantised half.
 *
 * All loops take whole mask words, 32 values. The values behind the last whole
 * word are the scalar level's.
 */
#include <errno.h>

#include "kernels/codec/codec_fp.h"
#include "kernels/sum/sum_mask.h"
#include "nm_value.h"
#include "quant.h"

/* Vectors in a mask word. */
#define VECS (32 / LANES)
#define LANE_BITS ((1u << LANES) - 1)

/* Bytes from a packed value that is stored to the one whose line is fetched. */
#define AHEAD 2048

NM_EACH vf SIMD(acc)(const struct trib_nm_range *g, uint32_t fmt, size_t i)
{
	vf x = vf_widen(fmt, (const char *)g->x + i * nm_size(fmt));

	return g->residual ? vf_add(x, vf_load(g->residual + i)) : x;
}

NM_EACH void SIMD(acc_word)(vf *acc, const struct trib_nm_range *g, uint32_t fmt, size_t i)
{
	int v;

	for (v = 0; v < VECS; v++)
		acc[v] = SIMD(acc)(g, fmt, i + (size_t)(v * LANES));
}

/*
 * For each value of vector @a, count those of its group that go before it: larger
 * ones, and equal ones at lower positions. The others come by in turns. A key that
 * wraps around is at a lower position from then on, so it gains one, which makes
 * equal ones larger.
 */
NM_EACH vi SIMD(rank)(const vi *key, int a, int group)
{
	const int in = group < LANES ? group : LANES, vecs = group / in, base = a / vecs * vecs;
	vi rank = vi_set(0), p = key[a];
	int b, d;

#pragma GCC unroll 16
	for (d = 1; d < in; d++) {
		p = vi_add(vi_rotate(p, in), vi_wrapped(in));
		rank = vi_count_above(rank, p, key[a]);
	}
#pragma GCC unroll 4
	for (b = base; b < base + vecs; b++) {
		if (b == a)
			continue;
		p = b < a ? vi_add(key[b], vi_set(1)) : key[b];
#pragma GCC unroll 16
		for (d = 0; d < in; d++) {
			rank = vi_count_above(rank, p, key[a]);
			p = vi_rotate(p, in);
		}
	}
	return rank;
}

/* The mask of 32 values. */
NM_EACH uint32_t SIMD(pick)(const vf *acc, int kept, int group)
{
	uint32_t word = 0;
	vi key[VECS];
	int v;

	for (v = 0; v < VECS; v++)
		key[v] = vi_magnitude(acc[v]);
#pragma GCC unroll 4
	for (v = 0; v < VECS; v++)
		word |= (group <= 4 ? vi_pick_few(key[v], kept, group)
				    : vi_below(SIMD(rank)(key, v, group), kept))
			<< (v * LANES);
	return word;
}

NM_EACH uint32_t SIMD(most)(vi most, uint32_t tail)
{
	uint32_t m = vi_largest(most);

	m = m > tail ? m : tail;
	return m < TRIB_NM_BAD ? m : TRIB_NM_BAD;
}

NM_EACH uint32_t SIMD(amax_fmt)(const struct trib_nm_range *range, const void *mask, uint32_t fmt)
{
	const struct trib_nm_range g = *range;
	vi all = vi_set(0), sent = vi_set(0), key;
	size_t w, words = g.count / 32;
	struct trib_nm_range tail = nm_rest(range, words * 32);
	uint32_t word, rest;
	int v;

	for (w = 0; w < words; w++) {
		word = nm_word(mask, w);
		for (v = 0; v < VECS; v++) {
			key = vi_magnitude(SIMD(acc)(&g, fmt, w * 32 + (size_t)(v * LANES)));
			all = vi_max(all, key);
			sent = vi_max(sent, vi_keep(key, word >> (v * LANES) & LANE_BITS));
		}
	}
	rest = trib_nm_scalar.amax(&tail, (const char *)mask + 4 * words);
	if (vi_largest(all) >= TRIB_NM_BAD)
		return TRIB_NM_BAD;
	return SIMD(most)(sent, rest);
}

/* The largest of all. */
NM_EACH uint32_t SIMD(amax_all)(const struct trib_nm_range *range, uint32_t fmt)
{
	const struct trib_nm_range g = *range;
	size_t w, words = g.count / 32;
	struct trib_nm_range tail = nm_rest(range, words * 32);
	vi most[VECS];
	int v;

	for (v = 0; v < VECS; v++)
		most[v] = vi_set(0);
	for (w = 0; w < words; w++)
		for (v = 0; v < VECS; v++)
			most[v] = vi_max(most[v], vi_magnitude(SIMD(acc)(
							  &g, fmt, w * 32 + (size_t)(v * LANES))));
	for (v = 1; v < VECS; v++)
		most[0] = vi_max(most[0], most[v]);
	return SIMD(most)(most[0], trib_nm_scalar.amax(&tail, NULL));
}

static uint32_t SIMD(amax)(const struct trib_nm_range *g, const void *mask)
{
	__auto_type fp = trib_fp_enter();
	uint32_t most = mask ? NM_BY_FMT(g->fmt, SIMD(amax_fmt), g, mask)
			     : NM_BY_FMT(g->fmt, SIMD(amax_all), g);

	trib_fp_leave(fp);
	return most;
}

/*
 * Call fn(args, kept, group) with a constant group, and with a constant kept, too,
 * for the usual 2 of 4.
 */
#define BY_SPEC(spec, fn, ...)                                                                     \
	((spec).group == 4 && (spec).kept == 2                                                     \
		 ? fn(__VA_ARGS__, 2, 4)                                                           \
		 : NM_BY_GROUP((spec).group, fn, __VA_ARGS__, (int)(spec).kept))

NM_EACH uint32_t SIMD(select_group)(void *mask, const struct trib_nm_range *range, uint32_t fmt,
				    int kept, int group)
{
	const struct trib_nm_range g = *range;
	size_t w, words = g.count / 32;
	struct trib_nm_range tail = nm_rest(range, words * 32);
	vi most = vi_set(0);
	vf acc[VECS];
	int v;

	for (w = 0; w < words; w++) {
		SIMD(acc_word)(acc, &g, fmt, w * 32);
		for (v = 0; v < VECS; v++)
			most = vi_max(most, vi_magnitude(acc[v]));
		nm_word_put(mask, w, SIMD(pick)(acc, kept, group));
	}
	return SIMD(most)(most, trib_nm_scalar.select((char *)mask + 4 * words, &tail));
}

NM_EACH uint32_t SIMD(select_fmt)(void *mask, const struct trib_nm_range *g, uint32_t fmt)
{
	return BY_SPEC(g->spec, SIMD(select_group), mask, g, fmt);
}

static uint32_t SIMD(select)(void *mask, const struct trib_nm_range *g)
{
	__auto_type fp = trib_fp_enter();
	uint32_t most;

	if (g->spec.group == 1)
		most = SIMD(amax)(g, NULL);
	else
		most = NM_BY_FMT(g->fmt, SIMD(select_fmt), mask, g);
	trib_fp_leave(fp);
	return most;
}

/* Packed values and how many of them there will be. */
struct SIMD(out) {
	char *to;
	size_t left;
};

/* Store a whole vector while there is room; the next one overwrites the rest. */
NM_EACH void SIMD(put)(struct SIMD(out) * out, vf packed, uint32_t count)
{
	if (out->left >= LANES)
		vf_store(out->to, packed);
	else
		vf_store_some(out->to, count, packed);
	out->to += 4 * count;
	out->left -= count;
}

/* @each: values that each vector keeps, 0 if that varies. */
NM_EACH void SIMD(pack_word)(struct SIMD(out) * out, float *residual, const vf *acc, uint32_t word,
			     int each)
{
	vf packed[VECS];
	uint32_t bits;
	int v;

	for (v = 0; v < VECS; v++) {
		bits = word >> (v * LANES) & LANE_BITS;
		if (residual)
			vf_store(residual + v * LANES, vf_keep(acc[v], ~bits & LANE_BITS));
		packed[v] = vf_compress(acc[v], bits);
		if (each == LANES / 2 && v % 2)
			SIMD(put)(out, vf_join(packed[v - 1], packed[v]), LANES);
		else if (each != LANES / 2)
			SIMD(put)
		(out, packed[v], each ? (uint32_t)each : (uint32_t)__builtin_popcount(bits));
	}
}

NM_EACH int SIMD(each)(int kept, int group)
{
	return group <= LANES ? LANES / group * kept : 0;
}

NM_EACH void SIMD(pack_group)(void *packed, const struct trib_nm_range *range, const void *mask,
			      uint32_t fmt, int kept, int group)
{
	struct SIMD(out) out = {packed, trib_nm_packed(range->spec, range->count)};
	const struct trib_nm_range g = *range;
	size_t w, words = g.count / 32;
	struct trib_nm_range tail = nm_rest(range, words * 32);
	vf acc[VECS];

	for (w = 0; w < words; w++) {
		SIMD(acc_word)(acc, &g, fmt, w * 32);
		SIMD(pack_word)
		(&out, g.residual ? g.residual + w * 32 : NULL, acc, nm_word(mask, w),
		 SIMD(each)(kept, group));
	}
	trib_nm_scalar.pack(out.to, &tail, (const char *)mask + 4 * words);
}

NM_EACH void SIMD(pack_dense)(void *packed, const struct trib_nm_range *range, uint32_t fmt)
{
	const struct trib_nm_range g = *range;
	size_t i, whole = g.count / 32 * 32;
	struct trib_nm_range tail = nm_rest(range, whole);

	for (i = 0; i < whole; i += LANES) {
		vf_store((char *)packed + 4 * i, SIMD(acc)(&g, fmt, i));
		if (g.residual)
			vf_store(g.residual + i, vf_set(0));
	}
	trib_nm_scalar.pack((char *)packed + 4 * whole, &tail, NULL);
}

NM_EACH void SIMD(pack_fmt)(void *packed, const struct trib_nm_range *g, const void *mask,
			    uint32_t fmt)
{
	if (mask)
		BY_SPEC(g->spec, SIMD(pack_group), packed, g, mask, fmt);
	else
		SIMD(pack_dense)(packed, g, fmt);
}

static void SIMD(pack)(void *packed, const struct trib_nm_range *g, const void *mask)
{
	__auto_type fp = trib_fp_enter();

	NM_BY_FMT(g->fmt, SIMD(pack_fmt), packed, g, mask);
	trib_fp_leave(fp);
}

/*
 * Ranges follow each other, and this one is in the cache already: prefetch the
 * next, and the lines that its packed values will fill. Addresses past the end are
 * harmless. Plain prefetches: those for writing took a quarter longer.
 */
NM_EACH void SIMD(fetch_next)(const struct trib_nm_range *g, uint32_t fmt, size_t i, const char *to)
{
	const char *x = (const char *)g->x + (g->count + i) * nm_size(fmt);

	__builtin_prefetch(to + AHEAD);
	__builtin_prefetch(x, 0, 2);
	if (fmt == TRIB_FMT_F32)
		__builtin_prefetch(x + 64, 0, 2);
	if (!g->residual)
		return;
	__builtin_prefetch(g->residual + g->count + i, 0, 2);
	__builtin_prefetch(g->residual + g->count + i + 16, 0, 2);
}

NM_EACH void SIMD(select_pack_group)(void *mask, void *packed, const struct trib_nm_range *range,
				     uint32_t fmt, int kept, int group)
{
	struct SIMD(out) out = {packed, trib_nm_packed(range->spec, range->count)};
	const struct trib_nm_range g = *range;
	size_t w, words = g.count / 32;
	struct trib_nm_range tail = nm_rest(range, words * 32);
	uint32_t word;
	vf acc[VECS];

	for (w = 0; w < words; w++) {
		SIMD(fetch_next)(&g, fmt, w * 32, out.to);
		SIMD(acc_word)(acc, &g, fmt, w * 32);
		word = SIMD(pick)(acc, kept, group);
		nm_word_put(mask, w, word);
		SIMD(pack_word)
		(&out, g.residual ? g.residual + w * 32 : NULL, acc, word, SIMD(each)(kept, group));
	}
	trib_nm_scalar.select_pack((char *)mask + 4 * words, out.to, &tail);
}

NM_EACH void SIMD(select_pack_fmt)(void *mask, void *packed, const struct trib_nm_range *g,
				   uint32_t fmt)
{
	BY_SPEC(g->spec, SIMD(select_pack_group), mask, packed, g, fmt);
}

static uint32_t SIMD(select_pack)(void *mask, void *packed, const struct trib_nm_range *g)
{
	__auto_type fp = trib_fp_enter();
	uint32_t most = SIMD(amax)(g, NULL);

	if (most != TRIB_NM_BAD && g->spec.group == 1)
		SIMD(pack)(packed, g, NULL);
	else if (most != TRIB_NM_BAD)
		NM_BY_FMT(g->fmt, SIMD(select_pack_fmt), mask, packed, g);
	trib_fp_leave(fp);
	return most;
}

/* Expand whole words; return the end of the packed values that they took. */
NM_EACH const char *SIMD(expand_words)(char *to, size_t words, const void *mask, const char *from,
				       unsigned int divide, uint32_t fmt)
{
	vf by = vf_set((float)divide), p;
	uint32_t word = 0xffffffff, bits, n;
	size_t w, left = 0;
	int v;

	for (w = 0; w < words; w++)
		left += mask ? (size_t)__builtin_popcount(nm_word(mask, w)) : 32;
	for (w = 0; w < words; w++) {
		if (mask)
			word = nm_word(mask, w);
		for (v = 0; v < VECS; v++, to += LANES * nm_size(fmt)) {
			bits = word >> (v * LANES) & LANE_BITS;
			n = (uint32_t)__builtin_popcount(bits);
			p = left >= LANES ? vf_load(from) : vf_load_some(from, n);
			if (divide != 1)
				p = vf_div(p, by);
			vf_narrow(fmt, to, vf_expand(p, bits));
			from += 4 * n;
			left -= n;
		}
	}
	return from;
}

NM_EACH void SIMD(expand_fmt)(void *x, size_t count, const void *mask, const char *from,
			      unsigned int divide, uint32_t fmt)
{
	size_t words = count / 32;

	if (mask) {
		from = SIMD(expand_words)(x, words, mask, from, divide, fmt);
		mask = (const char *)mask + 4 * words;
	} else {
		from = SIMD(expand_words)(x, words, NULL, from, divide, fmt);
	}
	trib_nm_scalar.expand((char *)x + words * 32 * nm_size(fmt), fmt, count % 32, mask, from,
			      divide);
}

static void SIMD(expand)(void *x, uint32_t fmt, size_t count, const void *mask, const void *packed,
			 unsigned int divide)
{
	__auto_type fp = trib_fp_enter();

	NM_BY_FMT(fmt, SIMD(expand_fmt), x, count, mask, packed, divide);
	trib_fp_leave(fp);
}

static int SIMD(check)(const void *mask, size_t count, struct trib_nm_spec s)
{
	uint32_t words = (uint32_t)(count / 32), wrong;

	switch (s.group) {
	case 1:
		return 0;
	case 2:
		wrong = trib_mask_wrong(mask, words, 2, s.kept);
		break;
	case 4:
		wrong = trib_mask_wrong(mask, words, 4, s.kept);
		break;
	case 8:
		wrong = trib_mask_wrong(mask, words, 8, s.kept);
		break;
	case 16:
		wrong = trib_mask_wrong(mask, words, 16, s.kept);
		break;
	default:
		wrong = trib_mask_wrong(mask, words, 32, s.kept);
	}
	if (wrong)
		return -EINVAL;
	return trib_nm_scalar.check((const char *)mask + 4 * (size_t)words, count % 32, s);
}

#include "nm_simd_lanes.h"

#define SIMD_NM(label)                                                                             \
	{                                                                                          \
		.name = label, .select = SIMD(select), .amax = SIMD(amax), .pack = SIMD(pack),     \
		.pack_lanes = SIMD(pack_lanes), .select_pack = SIMD(select_pack),                  \
		.unpack_lanes = SIMD(unpack_lanes), .expand = SIMD(expand), .check = SIMD(check),  \
	}
