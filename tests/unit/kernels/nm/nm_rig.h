/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inputs of the tests of compression, and the results that nm.h promises, computed
 * in another way: sorting, double and integers.
 */
#ifndef NM_RIG_H
#define NM_RIG_H

#include <stdlib.h>

#include "kernels/nm/nm.h"
#include "tests/lib/sum_oracle.h"

#define RIG_MAX 2100

/* Each level that this CPU supports. */
#define each_nm_level(ops)                                                                         \
	for (int l_ = 0; l_ < TRIB_NM__MAX; l_++)                                                  \
		if (((ops) = trib_nm_get((enum trib_nm_level)l_)))

/* A gradient and the masks and values that must come of it. */
struct rig {
	struct trib_nm_spec spec;
	uint32_t fmt;
	unsigned int size; /* of a value */
	size_t count;
	bool feedback;
	unsigned char x[RIG_MAX * 4];
	uint32_t residual[RIG_MAX];
	uint32_t acc[RIG_MAX];
	uint32_t mask[RIG_MAX / 32 + 1];
	uint32_t packed[RIG_MAX];
	size_t npacked;
};

static const uint32_t rig_fmts[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};

/* Values to test for each value that a quick run tests: `make check-all` sets it. */
static inline size_t rig_budget(size_t values)
{
	const char *scale = getenv("TRIB_TEST_SCALE");

	return values * (scale ? strtoul(scale, NULL, 10) : 1);
}

static inline struct trib_nm_spec rig_group(unsigned int group, unsigned int kept)
{
	return (struct trib_nm_spec){.group = (uint8_t)group, .kept = (uint8_t)kept};
}

static inline struct trib_nm_spec rig_any_spec(void)
{
	unsigned int group = 1u << rnd() % 6;

	if (group == 1)
		return rig_group(1, 1);
	if (rnd() % 4 == 0)
		return rig_group(4, 2);
	return rig_group(group, 1 + rnd() % (group - 1));
}

static inline size_t rig_any_count(void)
{
	switch (rnd() % 4) {
	case 0:
		return rnd() % 70;
	case 1:
		return rnd() % 65 * 32;
	default:
		return rnd() % RIG_MAX;
	}
}

/* Kinds of gradients; each makes another thing likely. */
enum rig_kind { ANY, FEW, ZEROS, TINY, HUGE_ONES, ALIKE, BELL, RIG_KINDS };

static inline uint32_t rig_float(enum rig_kind kind)
{
	uint32_t sign = rnd() & 0x80000000, b;

	switch (kind) {
	case FEW: /* many equal magnitudes */
		return sign | (0x3f800000 + (uint32_t)(rnd() % 3) * 0x400000);
	case ZEROS:
		return rnd() % 5 ? sign : sign | 0x3f000000;
	case TINY:
		return sign | (rnd() & (rnd() % 3 ? 0xffffff : 3));
	case HUGE_ONES:
		return sign | (0x7e000000 + (uint32_t)(rnd() % 0x00ffffff));
	case ALIKE: /* differ in the last bits */
		return sign | (0x3f800000 + (uint32_t)(rnd() % 4));
	case BELL:
		b = (uint32_t)rnd();
		return sign | (uint32_t)(127 - __builtin_ctz(b | 0x10000)) << 23 | (b >> 9);
	default:
		do
			b = any_float();
		while ((b & 0x7fffffff) >= TRIB_NM_BAD);
		return b;
	}
}

static inline void rig_set_acc(struct rig *r, size_t i)
{
	uint32_t x = oracle_widen((enum trib_fmt)r->fmt, r->x + i * r->size);

	if (r->feedback)
		x = float_bits((float)((double)float_of(x) + (double)float_of(r->residual[i])));
	r->acc[i] = x;
}

static inline bool rig_finite(uint32_t b)
{
	return (b & 0x7fffffff) < TRIB_NM_BAD;
}

/* Position and magnitude of a group's value. */
struct rig_key {
	uint32_t magnitude;
	unsigned int at;
};

static inline int rig_larger(const void *pa, const void *pb)
{
	const struct rig_key *a = pa, *b = pb;

	if (a->magnitude != b->magnitude)
		return a->magnitude < b->magnitude ? 1 : -1;
	return a->at < b->at ? -1 : 1;
}

static inline void rig_set_mask(struct rig *r)
{
	struct rig_key key[32];
	unsigned int n, k;
	size_t i;

	memset(r->mask, 0, sizeof(r->mask));
	for (i = 0; i < r->count; i += r->spec.group) {
		n = r->count - i < r->spec.group ? (unsigned int)(r->count - i) : r->spec.group;
		for (k = 0; k < n; k++)
			key[k] = (struct rig_key){r->acc[i + k] & 0x7fffffff, k};
		qsort(key, n, sizeof(key[0]), rig_larger);
		for (k = 0; k < n && k < r->spec.kept; k++)
			r->mask[(i + key[k].at) / 32] |= 1u << (i + key[k].at) % 32;
	}
}

static inline bool rig_sent(const struct rig *r, size_t i)
{
	return r->spec.group == 1 || (r->mask[i / 32] >> i % 32 & 1);
}

static inline void rig_set_packed(struct rig *r)
{
	size_t i;

	for (i = r->npacked = 0; i < r->count; i++)
		if (rig_sent(r, i))
			r->packed[r->npacked++] = r->acc[i];
}

/* Bits of the largest |acc| that is sent. */
static inline uint32_t rig_amax(const struct rig *r)
{
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < r->npacked; i++)
		if ((r->packed[i] & 0x7fffffff) > most)
			most = r->packed[i] & 0x7fffffff;
	return most;
}

/* Make a gradient whose acc is finite, and its results. */
static inline void rig_make(struct rig *r, struct trib_nm_spec spec, size_t count)
{
	enum rig_kind kind = (enum rig_kind)(rnd() % RIG_KINDS), both = kind;
	uint32_t x;
	size_t i;

	r->spec = spec;
	r->count = count;
	r->fmt = rig_fmts[rnd() % 3];
	r->size = r->fmt == TRIB_FMT_F32 ? 4 : 2;
	r->feedback = rnd() % 4;
	if (rnd() % 3 == 0)
		both = ANY;
	for (i = 0; i < count; i++)
		do {
			x = rig_float(kind);
			if (r->fmt == TRIB_FMT_F16 && kind == HUGE_ONES)
				x -= 0x37000000; /* up to the largest half float */
			oracle_narrow((enum trib_fmt)r->fmt, r->x + i * r->size, x);
			r->residual[i] = rig_float(both);
			if (rnd() % 64 == 0 && r->fmt == TRIB_FMT_F32)
				r->residual[i] =
					oracle_widen(TRIB_FMT_F32, r->x + i * 4) ^ 0x80000000;
			rig_set_acc(r, i);
		} while (!rig_finite(r->acc[i]));
	rig_set_mask(r);
	rig_set_packed(r);
}

/* The gradient's mask becomes that of another one: a shared mask. */
static inline void rig_share(struct rig *r)
{
	static struct rig other;

	rig_make(&other, r->spec, r->count);
	memcpy(r->mask, other.mask, sizeof(r->mask));
	rig_set_packed(r);
}

/* Memory of one call, each piece before unmapped memory. */
enum { X, RESIDUAL, MASK, PACKED, WORDS, RIG_AREAS };

static struct area rig_areas[RIG_AREAS], rig_before[RIG_AREAS];

struct call {
	unsigned char *x, *mask, *packed, *words;
	float *residual;
	struct trib_nm_range range;
};

static inline void rig_areas_make(void)
{
	int i;

	for (i = 0; i < RIG_AREAS; i++) {
		area_make(&rig_areas[i]);
		area_make(&rig_before[i]);
	}
}

static inline void rig_call(struct call *c, const struct rig *r, size_t words)
{
	size_t mask_len = 4 * trib_nm_mask_words(r->spec, r->count);

	c->x = area_at(&rig_areas[X], r->count * r->size, r->size * (rnd() % 3));
	c->residual = (float *)area_at(&rig_areas[RESIDUAL], 4 * r->count, 4 * (rnd() % 3));
	c->mask = area_at(&rig_areas[MASK], mask_len, rnd() % 3);
	c->packed = area_at(&rig_areas[PACKED], 4 * r->npacked, rnd() % 3);
	c->words = area_at(&rig_areas[WORDS], 8 * words, rnd() % 3);
	memcpy(c->x, r->x, r->count * r->size);
	memcpy(c->residual, r->residual, 4 * r->count);
	c->range = (struct trib_nm_range){.x = c->x,
					  .residual = r->feedback ? c->residual : NULL,
					  .count = r->count,
					  .fmt = r->fmt,
					  .spec = r->spec};
}

/* Remember all memory, to compare what a call may not change. */
static inline void rig_remember(void)
{
	int i;

	for (i = 0; i < RIG_AREAS; i++)
		memcpy(rig_before[i].base, rig_areas[i].base, AREA);
}

/* True if area @i is as remembered, apart from @len bytes at @p. */
static inline bool rig_same(int i, const void *p, size_t len)
{
	size_t at = (size_t)((const unsigned char *)p - rig_areas[i].base);

	memcpy(rig_before[i].base + at, rig_areas[i].base + at, len);
	return area_same(&rig_areas[i], &rig_before[i]);
}

static inline bool rig_untouched(int i)
{
	return rig_same(i, rig_areas[i].base, 0);
}

static inline void rig_print(const char *op, const char *level, const struct rig *r)
{
	printf("# %s %s: %u:%u count %zu format %u%s\n", op, level, r->spec.kept, r->spec.group,
	       r->count, r->fmt, r->feedback ? " with residual" : "");
}

#endif /* NM_RIG_H */
