// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computing on a bucket: mask, exponents, packed values, and back. The codec thread
 * does it without the handle's lock.
 */
#include <errno.h>

#include "compress.h"

/* A report, larger than every exponent: the largest rank wins, then its first value. */
#define REPORT (1 << 30)

/* Floats are packed in pieces that stay in the cache. */
#define SLICE 32768

static int32_t report(unsigned int rank, size_t index)
{
	return (int32_t)(REPORT | rank << BUCKET_BITS | (unsigned int)(BUCKET_MAX - 1 - index));
}

/* @count values of the bucket from @off on; @count is cut at the end. */
static struct trib_nm_range range_at(const struct bucket *b, size_t off, size_t count)
{
	const struct message *m = b->m;
	float *residual = m->tensor->residual;

	if (count > b->cut.values - off)
		count = b->cut.values - off;
	return (struct trib_nm_range){
		.x = m->src + b->first + off,
		.residual = residual ? residual + b->first + off : NULL,
		.count = count,
		.fmt = TRIB_FMT_F32,
		.spec = m->layout.spec,
	};
}

static uint32_t *mask_at(const struct bucket *b, size_t off)
{
	return b->mask ? b->mask + off / 32 : NULL;
}

/* A mask that is right, for values that are not: the first M of each group. */
static void fill_mask(uint32_t *mask, size_t count, struct trib_nm_spec spec)
{
	size_t i;

	memset(mask, 0, 4 * trib_nm_mask_words(spec, count));
	for (i = 0; i < count; i++)
		if (i % spec.group < spec.kept)
			mask[i / 32] |= htole32(1u << i % 32);
}

static void select_mask(struct bucket *b)
{
	struct trib_nm_range r = range_at(b, 0, b->cut.values);

	if (b->m->c->nm->select(b->mask, &r) == TRIB_NM_BAD)
		fill_mask(b->mask, r.count, r.spec);
}

static int write_exponents(struct bucket *b)
{
	const struct message *m = b->m;
	const struct trib_nm_ops *nm = m->c->nm;
	size_t i, off;
	uint32_t amax;

	if (m->layout.local)
		select_mask(b);
	else if (b->mask && nm->check(b->mask, b->cut.values, m->layout.spec))
		return -EPROTO;
	for (i = 0; i < b->cut.ranges; i++) {
		struct trib_nm_range r;

		off = i * m->layout.range;
		r = range_at(b, off, m->layout.range);
		amax = nm->amax(&r, mask_at(b, off));
		b->exp[i] = amax == TRIB_NM_BAD
				    ? report(m->c->t->eng.rank, off + trib_nm_first_bad(&r))
				    : trib_exponent(amax);
	}
	return 0;
}

/* Look for reports. Return: 0, or -EPROTO if no rank can have sent these. */
static int read_exponents(struct bucket *b)
{
	int32_t e;
	size_t i;

	for (i = 0; i < b->cut.ranges; i++) {
		e = b->exp[i];
		if (e >= REPORT) {
			if ((e & (REPORT - 1)) >> BUCKET_BITS >= (int)b->m->c->t->eng.world ||
			    BUCKET_MAX - 1 - (e & (BUCKET_MAX - 1)) >= b->cut.values)
				return -EPROTO;
			b->bad = e > b->bad ? e : b->bad;
		} else if (e != TRIB_EXP_ZERO && (e < TRIB_EXP_MIN || e > TRIB_EXP_LARGEST)) {
			return -EPROTO;
		}
	}
	return 0;
}

/* Sums of squares, after packing. @old: residual before, or NULL. */
static void measure(struct bucket *b, const struct trib_nm_range *r, const float *old)
{
	const float *x = r->x;
	double g, l, a;
	size_t i;

	for (i = 0; i < r->count; i++) {
		g = x[i];
		l = r->residual ? r->residual[i] : 0;
		a = g + (old ? old[i] : 0);
		b->grad += g * g;
		b->left += l * l;
		b->all += a * a;
	}
}

static struct trib_nm_chunk chunk_at(const struct bucket *b, size_t i)
{
	const struct message *m = b->m;
	const struct layout *l = &m->layout;
	size_t words = b->cut.words - i * RANGE_WORDS;

	return (struct trib_nm_chunk){
		.seed = m->seed,
		.step = m->step,
		.index = b->first + i * l->range,
		.words = words < RANGE_WORDS ? words : RANGE_WORDS,
		.scale = trib_nm_scale(b->exp[i], l->spec.bits),
		.bits = l->spec.bits,
		.lane_bits = (uint8_t)l->lane_bits,
	};
}

/*
 * Fill the last mask word of a local mask: each group of the wire has M bits, the last
 * ones with zeros.
 */
static void pad(struct bucket *b)
{
	struct trib_nm_spec spec = b->m->layout.spec;
	size_t packed = trib_nm_packed(spec, b->cut.values), i;
	uint32_t *last = &b->mask[b->cut.masks - 1], w = le32toh(*last);
	unsigned int in, n = 0;

	memset((float *)b->sum + packed, 0, 4 * (b->cut.packed - packed));
	for (i = 0; i < 32; i++) {
		in = (unsigned int)i % spec.group;
		n = in ? n : 0;
		/* Set the missing bits, behind the last value. */
		if ((b->cut.masks - 1) * 32 + i >= b->cut.values && n < spec.kept)
			w |= 1u << i;
		n += w >> i & 1;
	}
	*last = htole32(w);
}

static void pack(struct bucket *b)
{
	const struct message *m = b->m;
	const struct layout *l = &m->layout;
	size_t each = l->lanes ? l->range : SLICE, off, i;
	const float *old;

	if (b->bad) {
		memset(b->sum, 0, l->lanes ? 8 * b->cut.words : 4 * b->cut.packed);
		if (l->local)
			pad(b);
		return;
	}
	for (off = i = 0; off < b->cut.values; off += each, i++) {
		struct trib_nm_range r = range_at(b, off, each);

		old = m->old ? m->old + b->first + off : NULL;
		if (old)
			memcpy((float *)old, r.residual, 4 * r.count);
		if (l->lanes) {
			struct trib_nm_chunk ch = chunk_at(b, i);

			m->c->nm->pack_lanes((uint64_t *)b->sum + i * RANGE_WORDS, &r,
					     mask_at(b, off), &ch);
		} else {
			m->c->nm->pack((float *)b->sum + trib_nm_packed(l->spec, off), &r,
				       mask_at(b, off));
		}
		if (m->c->measure)
			measure(b, &r, old);
	}
	b->saved = m->old;
	if (m->layout.local)
		pad(b);
}

/* Index in the bucket of packed value @k. */
static size_t unpacked_index(const struct bucket *b, size_t k)
{
	uint32_t bits;
	size_t i = 0;

	if (!b->mask)
		return k;
	while (k >= (unsigned int)__builtin_popcount(b->mask[i]))
		k -= (unsigned int)__builtin_popcount(b->mask[i++]);
	bits = le32toh(b->mask[i]);
	while (k--)
		bits &= bits - 1;
	return 32 * i + (unsigned int)__builtin_ctz(bits);
}

static int expand_floats(struct bucket *b)
{
	const struct trib_req *r = b->sum_req;
	const struct message *m = b->m;

	/* No rank reported a bad value among the exponents. */
	if (r->status == -EDOM)
		return -EPROTO;
	if (b->mask && !m->layout.local)
		m->c->nm->expand(m->dst + b->first, TRIB_FMT_F32, b->cut.values, b->mask, b->sum,
				 1);
	if (r->status == -ERANGE)
		b->over = b->first + 1 +
			  (m->layout.local ? r->over - 1 : unpacked_index(b, r->over - 1));
	return 0;
}

/* Note the first infinity, where there can be one. */
static void find_overflow(struct bucket *b, size_t off, size_t n)
{
	const float *x = b->m->dst + b->first + off;
	size_t i;

	for (i = 0; i < n && !b->over; i++)
		if (__builtin_isinf(x[i]))
			b->over = b->first + off + i + 1;
}

static void expand_lanes(struct bucket *b)
{
	const struct message *m = b->m;
	const struct layout *l = &m->layout;
	const struct trib_nm_ops *nm = m->c->nm;
	size_t i, off, n;
	float *x, *packed;

	for (i = 0; i < b->cut.ranges; i++) {
		struct trib_nm_chunk ch = chunk_at(b, i);

		off = i * l->range;
		n = b->cut.values - off < l->range ? b->cut.values - off : l->range;
		x = m->dst + b->first + off;
		packed = b->mask ? m->c->scratch : x;
		nm->unpack_lanes(packed, (uint64_t *)b->sum + i * RANGE_WORDS,
				 trib_nm_packed(l->spec, n), &ch, m->divide);
		if (b->mask)
			nm->expand(x, TRIB_FMT_F32, n, mask_at(b, off), packed, 1);
		if (ch.scale + (int)l->lane_bits - 1 >= TRIB_EXP_LARGEST)
			find_overflow(b, off, n);
	}
}

int work_on(struct bucket *b)
{
	int rc = 0;

	switch (b->stage) {
	case STAGE_SELECT:
		select_mask(b);
		break;
	case STAGE_MASK:
		rc = write_exponents(b);
		break;
	case STAGE_EXP:
		rc = read_exponents(b);
		if (!rc)
			pack(b);
		break;
	case STAGE_SUM:
		if (b->bad)
			break;
		if (b->m->layout.lanes)
			expand_lanes(b);
		else
			rc = expand_floats(b);
		break;
	case STAGE_DONE:
		break;
	}
	return rc;
}
