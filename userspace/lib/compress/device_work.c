// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computing by the GPU on a bucket. A stage gives its work to a stream; when that has
 * landed, the CPU reads the answers:
 *
 *	SELECT	select; down: mask, magnitudes
 *	MASK	up: mask; check it, find magnitudes; down: these
 *	EXP	up: scales; keep the residual, pack; down: packed values
 *	SUM	up: sums; unpack, expand into dst
 */
#include <errno.h>

#include "device.h"

/* Answers of kernels: a bad value's index, a wrong mask; magnitudes and energies follow. */
struct answer {
	uint64_t index;
	uint32_t wrong;
	uint32_t zero;
};

static uint32_t *amax_of(void *answer)
{
	return (uint32_t *)((struct answer *)answer + 1);
}

static double *energy_of(const struct bucket *b, void *answer)
{
	return (double *)(void *)(amax_of(answer) + (b->cut.ranges + 1) / 2 * 2);
}

static const struct trib_gpu_ops *gpu_of(const struct bucket *b)
{
	return b->m->c->device->gpu;
}

/* Neighbours take turns. */
static void *stream_of(const struct bucket *b)
{
	size_t i = (size_t)(b - b->m->bucket) % 2;

	return b->m->c->device->stream[(b->stage == STAGE_SUM ? STREAM_UP : STREAM_DOWN) + i];
}

static struct trib_nm_range range_of(const struct bucket *b)
{
	const struct message *m = b->m;
	float *residual = m->tensor->residual;

	return (struct trib_nm_range){
		.x = m->src + b->first,
		.residual = residual ? residual + b->first : NULL,
		.count = b->cut.values,
		.fmt = TRIB_FMT_F32,
		.spec = m->layout.spec,
	};
}

/* Bring the answers down, without energies. */
static int copy_answer(const struct bucket *b, void *s)
{
	size_t len = sizeof(struct answer) + 4 * b->cut.ranges;

	return gpu_of(b)->copy(b->far.answer, b->far.back, len, s);
}

/* --- masks and exponents */

static int begin_select(struct bucket *b, void *s)
{
	struct trib_nm_range r = range_of(b);
	int rc;

	rc = gpu_of(b)->select(b->far.mask, amax_of(b->far.back), &r, b->m->layout.range, s);
	if (!rc)
		rc = gpu_of(b)->copy(b->mask, b->far.mask, 4 * b->cut.masks, s);
	return rc ? rc : copy_answer(b, s);
}

/* Each group sends its largest magnitude, so these are of the values that are sent. */
static void end_select(struct bucket *b)
{
	const uint32_t *amax = amax_of(b->far.answer);
	bool bad = false;
	size_t i;

	for (i = 0; i < b->cut.ranges; i++)
		bad |= amax[i] >= TRIB_NM_BAD;
	if (bad)
		mask_fill(b);
}

static int begin_mask(struct bucket *b, void *s)
{
	const struct layout *l = &b->m->layout;
	struct answer *back = b->far.back;
	struct trib_nm_range r = range_of(b);
	int rc;

	if (l->local)
		return begin_select(b, s);
	rc = gpu_of(b)->clear(back, sizeof(*back), s);
	if (!rc && b->mask)
		rc = gpu_of(b)->copy(b->far.mask, b->mask, 4 * b->cut.masks, s);
	if (!rc && b->mask)
		rc = gpu_of(b)->check(&back->wrong, b->far.mask, b->cut.values, l->spec, s);
	if (!rc)
		rc = gpu_of(b)->amax(amax_of(back), &r, b->far.mask, l->range, s);
	return rc ? rc : copy_answer(b, s);
}

/* Find the bucket's first bad value, and wait for it. Return: 0 or -EIO. */
static int find_bad(const struct bucket *b, size_t *first)
{
	struct answer *back = b->far.back, *answer = b->far.answer;
	struct trib_nm_range r = range_of(b);
	void *s = stream_of(b);
	int rc, done;

	rc = gpu_of(b)->first_bad(&back->index, &r, s);
	if (!rc)
		rc = gpu_of(b)->copy(answer, back, sizeof(*answer), s);
	done = gpu_of(b)->wait(s);
	rc = rc ? rc : done;
	*first = !rc && answer->index < b->cut.values ? answer->index : 0;
	return device_rc(b->m->c, rc);
}

/* The first bad range's report wins, so no other needs its index. */
static int write_exponents(struct bucket *b)
{
	const uint32_t *amax = amax_of(b->far.answer);
	size_t i, off, first = SIZE_MAX;
	int rc;

	for (i = 0; i < b->cut.ranges; i++) {
		if (amax[i] < TRIB_NM_BAD) {
			b->exp[i] = trib_exponent(amax[i]);
			continue;
		}
		rc = first == SIZE_MAX ? find_bad(b, &first) : 0;
		if (rc)
			return rc;
		off = i * b->m->layout.range;
		b->exp[i] = report_bad(b, off > first ? off : first);
	}
	return 0;
}

static int end_mask(struct bucket *b)
{
	const struct answer *answer = b->far.answer;

	if (b->m->layout.local)
		end_select(b);
	else if (answer->wrong)
		return -EPROTO;
	return write_exponents(b);
}

/* --- quantised values */

/* Ranges that fill all their words, or the one behind them that does not. */
struct chunks {
	size_t first;  /* value */
	size_t values; /* 0: none */
	size_t range;
	struct trib_gpu_rows rows;
};

static void chunks_of(const struct bucket *b, bool tail, struct chunks *out)
{
	const struct message *m = b->m;
	const struct layout *l = &m->layout;
	size_t full = b->cut.values / l->range;

	out->range = tail ? full : 0;
	out->first = out->range * l->range;
	out->values = (tail ? b->cut.values : full * l->range) - out->first;
	out->rows = (struct trib_gpu_rows){
		.values = l->range,
		.scales = b->far.scale + out->range,
		.chunk =
			{
				.seed = m->seed,
				.step = m->step,
				.index = b->first + out->first,
				.words = tail ? b->cut.words - full * RANGE_WORDS : RANGE_WORDS,
				.bits = l->spec.bits,
				.lane_bits = (uint8_t)l->lane_bits,
			},
	};
}

static int pack_lanes(const struct bucket *b, void *s)
{
	struct chunks ch;
	int tail, rc = 0;

	for (tail = 0; !rc && tail < 2; tail++) {
		struct trib_nm_range r = range_of(b);

		chunks_of(b, tail, &ch);
		if (!ch.values)
			continue;
		r.x = (const float *)r.x + ch.first;
		r.residual = r.residual ? r.residual + ch.first : NULL;
		r.count = ch.values;
		rc = gpu_of(b)->pack_lanes((uint64_t *)b->far.sum + ch.range * RANGE_WORDS, &r,
					   b->mask ? b->far.mask + ch.first / 32 : NULL, &ch.rows,
					   s);
	}
	return rc;
}

static int unpack_lanes(const struct bucket *b, float *to, void *s)
{
	const struct trib_nm_spec spec = b->m->layout.spec;
	struct chunks ch;
	int tail, rc = 0;

	for (tail = 0; !rc && tail < 2; tail++) {
		chunks_of(b, tail, &ch);
		if (!ch.values)
			continue;
		rc = gpu_of(b)->unpack_lanes(to + trib_nm_packed(spec, ch.first),
					     (uint64_t *)b->far.sum + ch.range * RANGE_WORDS,
					     ch.values, spec, &ch.rows, b->m->divide, s);
	}
	return rc;
}

static int copy_scales(const struct bucket *b, void *s)
{
	size_t i;

	for (i = 0; i < b->cut.ranges; i++)
		b->far.scales[i] = trib_nm_scale(b->exp[i], b->m->layout.spec.bits);
	return gpu_of(b)->copy(b->far.scale, b->far.scales, 4 * b->cut.ranges, s);
}

/* --- packing */

static int begin_measure(const struct bucket *b, void *s)
{
	const struct message *m = b->m;
	struct trib_nm_range r = range_of(b);
	size_t rows = (r.count + TRIB_NM_ENERGY_ROW - 1) / TRIB_NM_ENERGY_ROW;
	double *sums = energy_of(b, b->far.back);
	int rc;

	rc = gpu_of(b)->energy(sums, &r, m->old ? m->old + b->first : NULL, s);
	return rc ? rc : gpu_of(b)->copy(energy_of(b, b->far.answer), sums, 24 * rows, s);
}

static void end_measure(struct bucket *b)
{
	const double *sums = energy_of(b, b->far.answer);
	size_t off;

	for (off = 0; off < b->cut.values; off += TRIB_NM_ENERGY_ROW, sums += 3) {
		b->grad += sums[0];
		b->left += sums[1];
		b->all += sums[2];
	}
}

static int begin_pack(struct bucket *b, void *s)
{
	const struct message *m = b->m;
	const struct layout *l = &m->layout;
	struct trib_nm_range r = range_of(b);
	bool as_is = !b->mask && !l->lanes && !r.residual;
	size_t len = l->lanes ? 8 * b->cut.words : 4 * trib_nm_packed(l->spec, b->cut.values);
	int rc = l->lanes ? copy_scales(b, s) : 0;

	if (!rc && m->old) {
		rc = gpu_of(b)->copy(m->old + b->first, r.residual, 4 * r.count, s);
		b->saved = !rc;
	}
	if (!rc && l->lanes)
		rc = pack_lanes(b, s);
	else if (!rc && !as_is)
		rc = gpu_of(b)->pack(b->far.sum, &r, b->far.mask, s);
	if (!rc && m->c->measure)
		rc = begin_measure(b, s);
	return rc ? rc : gpu_of(b)->copy(b->sum, as_is ? r.x : b->far.sum, len, s);
}

static void end_pack(struct bucket *b)
{
	if (b->m->c->measure)
		end_measure(b);
	if (b->m->layout.local)
		mask_pad(b);
}

/* --- sums */

/* Can a sum of integers be infinite? */
static bool may_overflow(const struct bucket *b)
{
	const struct layout *l = &b->m->layout;
	size_t i;

	for (i = 0; i < b->cut.ranges && l->lanes; i++)
		if (b->far.scales[i] + (int)l->lane_bits - 1 >= TRIB_EXP_LARGEST)
			return true;
	return false;
}

static int find_overflow(const struct bucket *b, void *s)
{
	struct answer *back = b->far.back;
	struct trib_nm_range r = range_of(b);
	int rc;

	r.x = b->m->dst + b->first;
	r.residual = NULL;
	rc = gpu_of(b)->first_bad(&back->index, &r, s);
	return rc ? rc : gpu_of(b)->copy(b->far.answer, back, sizeof(*back), s);
}

static int expand(const struct bucket *b, const float *packed, void *s)
{
	return gpu_of(b)->expand(b->m->dst + b->first, TRIB_FMT_F32, b->cut.values,
				 b->m->layout.spec, b->far.mask, packed, 1, s);
}

static int begin_sum(struct bucket *b, void *s)
{
	const struct layout *l = &b->m->layout;
	float *dst = b->m->dst + b->first, *packed = b->mask ? b->far.packed : dst;
	int rc;

	if (l->lanes) {
		rc = gpu_of(b)->copy(b->far.sum, b->result, 8 * b->cut.words, s);
		if (!rc)
			rc = unpack_lanes(b, packed, s);
		if (!rc && b->mask)
			rc = expand(b, packed, s);
		if (!rc && may_overflow(b))
			rc = find_overflow(b, s);
	} else if (l->local || !b->mask) {
		rc = gpu_of(b)->copy(dst, b->result, 4 * b->cut.values, s);
	} else {
		rc = gpu_of(b)->copy(b->far.sum, b->result, 4 * b->cut.packed, s);
		if (!rc)
			rc = expand(b, b->far.sum, s);
	}
	return rc;
}

static void end_sum(struct bucket *b)
{
	const struct answer *answer = b->far.answer;
	const struct trib_req *r = b->sum_req;

	if (may_overflow(b) && answer->index < b->cut.values)
		b->over = b->first + 1 + answer->index;
	else if (!b->m->layout.lanes && r->status == -ERANGE)
		b->over = b->first + 1 +
			  (b->m->layout.local ? r->over - 1 : mask_unpacked(b, r->over - 1));
}

/* --- stages */

/* Nothing of it is for the GPU, or all is there. Return: 1, or as &work_ops.begin. */
static int without_gpu(struct bucket *b)
{
	int rc;

	switch (b->stage) {
	case STAGE_EXP:
		rc = report_find(b);
		if (!rc && b->bad)
			mask_empty(b);
		return rc || b->bad ? rc : 1;
	case STAGE_SUM:
		/* No rank reported a bad value among the exponents of floats. */
		if (!b->bad && !b->m->layout.lanes && b->sum_req->status == -EDOM)
			return -EPROTO;
		return b->bad ? 0 : 1;
	default:
		return 1;
	}
}

int device_begin(struct bucket *b)
{
	struct trib_compress *c = b->m->c;
	void *s = stream_of(b);
	int rc = without_gpu(b);

	if (rc <= 0)
		return rc;
	switch (b->stage) {
	case STAGE_SELECT:
		rc = begin_select(b, s);
		break;
	case STAGE_MASK:
		rc = begin_mask(b, s);
		break;
	case STAGE_EXP:
		rc = begin_pack(b, s);
		break;
	default:
		rc = begin_sum(b, s);
		break;
	}
	rc = rc ? device_rc(c, rc) : device_fly(b, s);
	/* Work that was begun must not go on behind the message's back. */
	if (rc < 0)
		c->device->gpu->wait(s);
	return rc;
}

int device_end(struct bucket *b)
{
	switch (b->stage) {
	case STAGE_SELECT:
		end_select(b);
		return 0;
	case STAGE_MASK:
		return end_mask(b);
	case STAGE_EXP:
		end_pack(b);
		return 0;
	default:
		end_sum(b);
		return 0;
	}
}
