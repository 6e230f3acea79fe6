// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Compression in plain C, one value at a time: the reference for all backends. */
#include <errno.h>

#include "kernels/codec/codec_fp.h"
#include "nm.h"
#include "nm_value.h"
#include "quant.h"

/*
 * The mask of a group: each value counts those that go before it, larger ones and
 * equal ones at lower positions.
 */
NM_EACH uint32_t pick(const uint32_t *key, unsigned int kept, unsigned int n)
{
	uint8_t rank[32] = {0};
	unsigned int i, j, first;
	uint32_t bits = 0;

	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++) {
			first = key[i] >= key[j];
			rank[j] = (uint8_t)(rank[j] + first);
			rank[i] = (uint8_t)(rank[i] + !first);
		}
	for (i = 0; i < n; i++)
		bits |= (uint32_t)(rank[i] < kept) << i;
	return bits;
}

/* The mask of up to 32 values. */
NM_EACH uint32_t pick_word(const uint32_t *key, unsigned int n, unsigned int kept,
			   unsigned int group)
{
	uint32_t word = 0;
	unsigned int i;

	for (i = 0; i + group <= n; i += group)
		word |= pick(key + i, kept, group) << i;
	if (i < n)
		word |= pick(key + i, kept, n - i) << i;
	return word;
}

/* Bits of the magnitudes of a word's values; return how many there are. */
NM_EACH unsigned int load_keys(uint32_t *key, const struct trib_nm_range *g, size_t first,
			       uint32_t fmt)
{
	unsigned int n = g->count - first < 32 ? (unsigned int)(g->count - first) : 32, i;

	for (i = 0; i < n; i++)
		key[i] = nm_bits(nm_acc(g, fmt, first + i)) & 0x7fffffff;
	return n;
}

NM_EACH uint32_t select_group(void *mask, const struct trib_nm_range *g, uint32_t fmt,
			      unsigned int group)
{
	uint32_t key[32], most = 0;
	unsigned int i, n;
	size_t w;

	for (w = 0; w * 32 < g->count; w++) {
		n = load_keys(key, g, w * 32, fmt);
		for (i = 0; i < n; i++)
			most = key[i] > most ? key[i] : most;
		nm_word_put(mask, w, pick_word(key, n, g->spec.kept, group));
	}
	return most < TRIB_NM_BAD ? most : TRIB_NM_BAD;
}

NM_EACH uint32_t select_fmt(void *mask, const struct trib_nm_range *g, uint32_t fmt)
{
	return NM_BY_GROUP(g->spec.group, select_group, mask, g, fmt);
}

NM_EACH uint32_t amax_fmt(const struct trib_nm_range *g, const void *mask, uint32_t fmt)
{
	uint32_t b, most = 0, all = 0;
	size_t i;

	for (i = 0; i < g->count; i++) {
		b = nm_bits(nm_acc(g, fmt, i)) & 0x7fffffff;
		all = b > all ? b : all;
		if (mask && !(nm_word(mask, i / 32) >> i % 32 & 1))
			continue;
		most = b > most ? b : most;
	}
	return all < TRIB_NM_BAD ? most : TRIB_NM_BAD;
}

static uint32_t scalar_amax(const struct trib_nm_range *g, const void *mask)
{
	__auto_type fp = trib_fp_enter();
	uint32_t most = NM_BY_FMT(g->fmt, amax_fmt, g, mask);

	trib_fp_leave(fp);
	return most;
}

static uint32_t scalar_select(void *mask, const struct trib_nm_range *g)
{
	__auto_type fp = trib_fp_enter();
	uint32_t most;

	if (g->spec.group == 1)
		most = scalar_amax(g, NULL);
	else
		most = NM_BY_FMT(g->fmt, select_fmt, mask, g);
	trib_fp_leave(fp);
	return most;
}

/* Pack the values of one mask word; return the end of the packed ones. */
NM_EACH char *pack_word(char *to, const struct trib_nm_range *g, size_t first, uint32_t word,
			uint32_t fmt)
{
	size_t i, end = g->count - first < 32 ? g->count : first + 32;
	float acc;

	for (i = first; i < end; i++, word >>= 1) {
		acc = nm_acc(g, fmt, i);
		if (word & 1) {
			memcpy(to, &acc, sizeof(acc));
			to += sizeof(acc);
			acc = 0;
		}
		if (g->residual)
			g->residual[i] = acc;
	}
	return to;
}

NM_EACH void pack_fmt(void *packed, const struct trib_nm_range *g, const void *mask, uint32_t fmt)
{
	char *to = packed;
	size_t w;

	for (w = 0; w * 32 < g->count; w++)
		to = pack_word(to, g, w * 32, mask ? nm_word(mask, w) : 0xffffffff, fmt);
}

static void scalar_pack(void *packed, const struct trib_nm_range *g, const void *mask)
{
	__auto_type fp = trib_fp_enter();

	NM_BY_FMT(g->fmt, pack_fmt, packed, g, mask);
	trib_fp_leave(fp);
}

NM_EACH void select_pack_group(void *mask, void *packed, const struct trib_nm_range *g,
			       uint32_t fmt, unsigned int group)
{
	uint32_t key[32], word;
	char *to = packed;
	unsigned int n;
	size_t w;

	for (w = 0; w * 32 < g->count; w++) {
		n = load_keys(key, g, w * 32, fmt);
		word = pick_word(key, n, g->spec.kept, group);
		nm_word_put(mask, w, word);
		to = pack_word(to, g, w * 32, word, fmt);
	}
}

NM_EACH void select_pack_fmt(void *mask, void *packed, const struct trib_nm_range *g, uint32_t fmt)
{
	NM_BY_GROUP(g->spec.group, select_pack_group, mask, packed, g, fmt);
}

static uint32_t scalar_select_pack(void *mask, void *packed, const struct trib_nm_range *g)
{
	__auto_type fp = trib_fp_enter();
	uint32_t most = scalar_amax(g, NULL);

	if (most != TRIB_NM_BAD && g->spec.group == 1)
		scalar_pack(packed, g, NULL);
	else if (most != TRIB_NM_BAD)
		NM_BY_FMT(g->fmt, select_pack_fmt, mask, packed, g);
	trib_fp_leave(fp);
	return most;
}

/* A place in a chunk: lane and word of the next value. */
struct place {
	char *words;
	size_t word;
	unsigned int shift;
};

NM_EACH void add_lane(struct place *p, int32_t q, const struct trib_nm_chunk *c)
{
	uint64_t w;

	memcpy(&w, p->words + 8 * p->word, sizeof(w));
	w += (uint64_t)(int64_t)q << p->shift;
	memcpy(p->words + 8 * p->word, &w, sizeof(w));
	p->word++;
	if (p->word == c->words) {
		p->word = 0;
		p->shift += c->lane_bits;
	}
}

NM_EACH void pack_lanes_fmt(void *words, const struct trib_nm_range *g, const void *mask,
			    const struct trib_nm_chunk *c, uint32_t fmt)
{
	struct trib_nm_key key = trib_nm_key(c->seed, c->step, (uint32_t)(c->index >> 32));
	struct trib_nm_unit unit = trib_nm_unit(c->scale, c->bits);
	struct place at = {.words = words};
	uint64_t index = c->index;
	float acc;
	int32_t q;
	size_t i;

	memset(words, 0, c->words * 8);
	for (i = 0; i < g->count; i++, index++) {
		if (i && !(uint32_t)index)
			key = trib_nm_key(c->seed, c->step, (uint32_t)(index >> 32));
		acc = nm_acc(g, fmt, i);
		if (!mask || nm_word(mask, i / 32) >> i % 32 & 1) {
			q = trib_nm_quantise(acc, &unit, trib_nm_random(key, (uint32_t)index));
			add_lane(&at, q, c);
			acc -= trib_nm_restore(q, &unit);
		}
		if (g->residual)
			g->residual[i] = acc;
	}
}

static void scalar_pack_lanes(void *words, const struct trib_nm_range *g, const void *mask,
			      const struct trib_nm_chunk *c)
{
	__auto_type fp = trib_fp_enter();

	NM_BY_FMT(g->fmt, pack_lanes_fmt, words, g, mask, c);
	trib_fp_leave(fp);
}

/*
 * The quotient has 53 bits, and a tie of the float's 24 is at least 2^-35 away
 * from any quotient that is none, so rounding twice rounds right.
 */
static void scalar_unpack_lanes(void *packed, const void *words, size_t count,
				const struct trib_nm_chunk *c, unsigned int divide)
{
	__auto_type fp = trib_fp_enter();
	double unit = trib_pow2(c->scale);
	unsigned int lane = 0;
	size_t i, j = 0;
	uint64_t w;
	float f;

	for (i = 0; i < count; i++) {
		memcpy(&w, (const char *)words + 8 * j, sizeof(w));
		f = (float)((double)trib_nm_lane(w, lane, c->lane_bits) / divide * unit);
		memcpy((char *)packed + 4 * i, &f, sizeof(f));
		j++;
		if (j == c->words) {
			j = 0;
			lane++;
		}
	}
	trib_fp_leave(fp);
}

NM_EACH void expand_fmt(void *x, size_t count, const void *mask, const char *from,
			unsigned int divide, uint32_t fmt)
{
	size_t i;
	float f;

	for (i = 0; i < count; i++) {
		f = 0;
		if (!mask || nm_word(mask, i / 32) >> i % 32 & 1) {
			memcpy(&f, from, sizeof(f));
			from += sizeof(f);
			if (divide != 1)
				f /= (float)divide;
		}
		nm_put(x, fmt, i, f);
	}
}

static void scalar_expand(void *x, uint32_t fmt, size_t count, const void *mask, const void *packed,
			  unsigned int divide)
{
	__auto_type fp = trib_fp_enter();

	NM_BY_FMT(fmt, expand_fmt, x, count, mask, packed, divide);
	trib_fp_leave(fp);
}

static int scalar_check(const void *mask, size_t count, struct trib_nm_spec s)
{
	unsigned int size, want, rest;
	uint32_t w, wrong = 0, field;
	size_t i;

	if (s.group == 1)
		return 0;
	for (i = 0; i < count; i += size) {
		size = count - i < s.group ? (unsigned int)(count - i) : s.group;
		want = size < s.kept ? size : s.kept;
		w = nm_word(mask, i / 32) >> i % 32;
		field = size == 32 ? w : w & ((1u << size) - 1);
		wrong |= (uint32_t)__builtin_popcount(field) ^ want;
	}
	rest = (unsigned int)(count % 32);
	if (rest)
		wrong |= nm_word(mask, count / 32) >> rest;
	return wrong ? -EINVAL : 0;
}

const struct trib_nm_ops trib_nm_scalar = {
	.name = "scalar",
	.select = scalar_select,
	.amax = scalar_amax,
	.pack = scalar_pack,
	.pack_lanes = scalar_pack_lanes,
	.select_pack = scalar_select_pack,
	.unpack_lanes = scalar_unpack_lanes,
	.expand = scalar_expand,
	.check = scalar_check,
};
