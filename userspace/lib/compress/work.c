// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computing by the CPU on a bucket: mask, exponents, packed values, and back. The codec
 * thread does it without the handle's lock.
 */
#include <errno.h>
#include <stdlib.h>

#include "compress.h"

/* Floats are packed in pieces that stay in the cache. */
#define SLICE 32768

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

static void select_mask(struct bucket *b)
{
	struct trib_nm_range r = range_at(b, 0, b->cut.values);

	if (b->m->c->nm->select(b->mask, &r) == TRIB_NM_BAD)
		mask_fill(b);
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
		b->exp[i] = amax == TRIB_NM_BAD ? report_bad(b, off + trib_nm_first_bad(&r))
						: trib_exponent(amax);
	}
	return 0;
}

/* Sums of squares, after packing. */
static void measure(struct bucket *b)
{
	struct trib_nm_range r = range_at(b, 0, b->cut.values);
	double sums[3];

	trib_nm_energy(sums, &r, b->m->old ? b->m->old + b->first : NULL);
	b->grad = sums[0];
	b->left = sums[1];
	b->all = sums[2];
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

static void pack(struct bucket *b)
{
	const struct message *m = b->m;
	const struct layout *l = &m->layout;
	size_t each = l->lanes ? l->range : SLICE, off, i;

	if (b->bad) {
		mask_empty(b);
		return;
	}
	for (off = i = 0; off < b->cut.values; off += each, i++) {
		struct trib_nm_range r = range_at(b, off, each);

		if (m->old)
			memcpy(m->old + b->first + off, r.residual, 4 * r.count);
		if (l->lanes) {
			struct trib_nm_chunk ch = chunk_at(b, i);

			m->c->nm->pack_lanes((uint64_t *)b->sum + i * RANGE_WORDS, &r,
					     mask_at(b, off), &ch);
		} else {
			m->c->nm->pack((float *)b->sum + trib_nm_packed(l->spec, off), &r,
				       mask_at(b, off));
		}
	}
	b->saved = m->old;
	if (m->c->measure)
		measure(b);
	if (m->layout.local)
		mask_pad(b);
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
			  (m->layout.local ? r->over - 1 : mask_unpacked(b, r->over - 1));
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

static int work_on(struct bucket *b)
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
		rc = report_find(b);
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

static int end(struct bucket *b)
{
	(void)b; /* nothing flies */
	return 0;
}

static void put_back(struct message *m)
{
	size_t i;

	for (i = 0; i < m->layout.nbucket; i++) {
		const struct bucket *b = &m->bucket[i];

		if (b->saved)
			memcpy(m->tensor->residual + b->first, m->old + b->first,
			       4 * b->cut.values);
	}
}

static int open_at_once(struct message *m, const struct message_args *a)
{
	(void)a;
	m->gate = FLIGHT_LANDED;
	return 0;
}

static void shut(struct message *m)
{
	m->gate = FLIGHT_NONE;
}

static const char *error(const struct trib_compress *c)
{
	(void)c;
	return "no error";
}

static int room(struct message *m)
{
	struct tensor *x = m->tensor;
	struct area near = {0};

	room_cut(m, &near, NULL);
	if (near.len > x->room_len) {
		near.base = calloc(1, near.len);
		if (!near.base)
			return -ENOMEM;
		free(x->room);
		x->room = near.base;
		x->room_len = near.len;
	}
	near = (struct area){.base = x->room};
	room_cut(m, &near, NULL);
	return 0;
}

static void room_free(struct trib_compress *c, struct tensor *x)
{
	(void)c;
	free(x->room);
}

static int residual_new(struct trib_compress *c, size_t count, float **out)
{
	(void)c;
	*out = calloc(count ? count : 1, sizeof(float));
	return *out ? 0 : -ENOMEM;
}

static void residual_free(struct trib_compress *c, float *residual)
{
	(void)c;
	free(residual);
}

static int residual_copy(struct trib_compress *c, float *to, const float *from, size_t count)
{
	(void)c;
	memcpy(to, from, 4 * count);
	return 0;
}

static void nothing(struct trib_compress *c)
{
	(void)c;
}

const struct work_ops work_host = {
	.begin = work_on,
	.end = end,
	.put_back = put_back,
	.open = open_at_once,
	.shut = shut,
	.error = error,
	.room = room,
	.room_free = room_free,
	.residual_new = residual_new,
	.residual_free = residual_free,
	.residual_get = residual_copy,
	.residual_put = residual_copy,
	.enter = nothing,
	.close = nothing,
};
