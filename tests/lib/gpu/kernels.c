// SPDX-License-Identifier: BSD-2-Clause
/* Kernels of the double: the CPU's codec, row by row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"

static size_t mask_bytes(const struct trib_nm_range *g)
{
	return 4 * trib_nm_mask_words(g->spec, g->count);
}

/* The range with the CPU's view of its areas. */
static struct trib_nm_range view_of(const struct work *w)
{
	struct trib_nm_range g = w->range;

	g.x = double_view(g.x, 4 * g.count);
	if (g.residual)
		g.residual = double_view(g.residual, 4 * g.count);
	return g;
}

static struct trib_nm_range part_of(const struct trib_nm_range *g, size_t first, size_t most)
{
	struct trib_nm_range part = *g;

	part.x = (const float *)g->x + first;
	part.residual = g->residual ? g->residual + first : NULL;
	part.count = g->count - first < most ? g->count - first : most;
	return part;
}

static const uint32_t *mask_view(const struct work *w)
{
	return w->range.spec.group > 1 && w->mask ? double_view(w->mask, mask_bytes(&w->range))
						  : NULL;
}

static int launch(const struct work *given, void (*run)(const struct work *w), void *stream)
{
	struct work w = *given;

	if (w.range.x && w.range.fmt != TRIB_FMT_F32)
		return -EINVAL;
	w.launch = true;
	w.run = run;
	return double_push(stream, &w);
}

static void run_select(const struct work *w)
{
	struct trib_nm_range g = view_of(w), part;
	uint32_t *mask = double_view(w->out, mask_bytes(&g));
	size_t off, n = (g.count + w->row - 1) / w->row;
	uint32_t *amax = double_view(w->amax, 4 * n);

	for (off = 0; off < g.count; off += w->row, amax++) {
		part = part_of(&g, off, w->row);
		*amax = trib_nm_best()->select(mask + off / 32, &part);
		if (*amax == TRIB_NM_BAD) /* then it means nothing */
			memset(mask + off / 32, 0xff, mask_bytes(&part));
	}
}

int double_select(uint32_t *mask, uint32_t *amax, const struct trib_nm_range *g, size_t row,
		  void *stream)
{
	struct work w = {.range = *g, .out = mask, .amax = amax, .row = row};

	return row && !(row % 32) ? launch(&w, run_select, stream) : -EINVAL;
}

static void run_amax(const struct work *w)
{
	struct trib_nm_range g = view_of(w), part;
	size_t off, n = (g.count + w->row - 1) / w->row;
	uint32_t *amax = double_view(w->amax, 4 * n);
	const uint32_t *mask = mask_view(w);

	for (off = 0; off < g.count; off += w->row) {
		part = part_of(&g, off, w->row);
		*amax++ = trib_nm_best()->amax(&part, mask ? mask + off / 32 : NULL);
	}
}

int double_amax(uint32_t *amax, const struct trib_nm_range *g, const uint32_t *mask, size_t row,
		void *stream)
{
	struct work w = {.range = *g, .mask = mask, .amax = amax, .row = row};

	return row && !(row % 32) ? launch(&w, run_amax, stream) : -EINVAL;
}

static void run_pack(const struct work *w)
{
	struct trib_nm_range g = view_of(w);

	trib_nm_best()->pack(double_view(w->out, 4 * trib_nm_packed(g.spec, g.count)), &g,
			     mask_view(w));
}

int double_pack(float *packed, const struct trib_nm_range *g, const uint32_t *mask, void *stream)
{
	struct work w = {.range = *g, .mask = mask, .out = packed};

	return launch(&w, run_pack, stream);
}

static void run_pack_lanes(const struct work *w)
{
	struct trib_nm_range g = view_of(w), part;
	size_t off, n = (g.count + w->rows.values - 1) / w->rows.values, words, i = 0;
	const int32_t *scales = double_view(w->rows.scales, 4 * n);
	const uint32_t *mask = mask_view(w);
	struct trib_nm_chunk ch = w->rows.chunk;
	uint64_t *out;

	words = ch.words;
	out = double_view(w->out, 8 * n * words);
	for (off = 0; off < g.count; off += w->rows.values, i++) {
		part = part_of(&g, off, w->rows.values);
		ch.index = w->rows.chunk.index + off;
		ch.scale = scales[i];
		trib_nm_best()->pack_lanes(out + i * words, &part, mask ? mask + off / 32 : NULL,
					   &ch);
	}
}

int double_pack_lanes(uint64_t *words, const struct trib_nm_range *g, const uint32_t *mask,
		      const struct trib_gpu_rows *rows, void *stream)
{
	struct work w = {.range = *g, .mask = mask, .out = words, .rows = *rows};

	return launch(&w, run_pack_lanes, stream);
}

static void run_unpack_lanes(const struct work *w)
{
	size_t packed = trib_nm_packed(w->range.spec, w->range.count), off, i = 0;
	size_t each = trib_nm_packed(w->range.spec, w->rows.values);
	size_t n = (w->range.count + w->rows.values - 1) / w->rows.values;
	const int32_t *scales = double_view(w->rows.scales, 4 * n);
	struct trib_nm_chunk ch = w->rows.chunk;
	const uint64_t *words = double_view(w->in, 8 * n * ch.words);
	float *out = double_view(w->out, 4 * packed);

	for (off = 0; off < packed; off += each, i++) {
		ch.scale = scales[i];
		trib_nm_best()->unpack_lanes(out + off, words + i * ch.words,
					     packed - off < each ? packed - off : each, &ch,
					     w->divide);
	}
}

int double_unpack_lanes(float *packed, const uint64_t *words, size_t count,
			struct trib_nm_spec spec, const struct trib_gpu_rows *rows,
			unsigned int divide, void *stream)
{
	struct work w = {
		.range = {.count = count, .spec = spec},
		.rows = *rows,
		.out = packed,
		.in = words,
		.divide = divide,
	};

	return launch(&w, run_unpack_lanes, stream);
}

static void run_expand(const struct work *w)
{
	size_t packed = trib_nm_packed(w->range.spec, w->range.count);

	trib_nm_best()->expand(double_view(w->out, 4 * w->range.count), TRIB_FMT_F32,
			       w->range.count, mask_view(w), double_view(w->in, 4 * packed),
			       w->divide);
}

int double_expand(void *x, uint32_t fmt, size_t count, struct trib_nm_spec spec,
		  const uint32_t *mask, const float *packed, unsigned int divide, void *stream)
{
	struct work w = {
		.range = {.count = count, .spec = spec},
		.mask = mask,
		.out = x,
		.in = packed,
		.divide = divide,
	};

	return fmt == TRIB_FMT_F32 ? launch(&w, run_expand, stream) : -EINVAL;
}

static void run_check(const struct work *w)
{
	uint32_t *wrong = double_view(w->out, 4);

	*wrong = trib_nm_best()->check(mask_view(w), w->range.count, w->range.spec) != 0;
}

int double_check(uint32_t *wrong, const uint32_t *mask, size_t count, struct trib_nm_spec spec,
		 void *stream)
{
	struct work w = {.range = {.count = count, .spec = spec}, .mask = mask, .out = wrong};

	return launch(&w, run_check, stream);
}

static void run_first_bad(const struct work *w)
{
	struct trib_nm_range g = view_of(w);
	uint64_t *index = double_view(w->out, 8);

	*index = trib_nm_first_bad(&g);
	if (*index == g.count)
		*index = ~0ULL;
}

int double_first_bad(uint64_t *index, const struct trib_nm_range *g, void *stream)
{
	struct work w = {.range = *g, .out = index};

	return launch(&w, run_first_bad, stream);
}

static void run_energy(const struct work *w)
{
	struct trib_nm_range g = view_of(w), part;
	size_t off, rows = (g.count + TRIB_NM_ENERGY_ROW - 1) / TRIB_NM_ENERGY_ROW;
	const float *old = w->old ? double_view(w->old, 4 * g.count) : NULL;
	double *sums = double_view(w->out, 24 * rows);

	for (off = 0; off < g.count; off += TRIB_NM_ENERGY_ROW, sums += 3) {
		part = part_of(&g, off, TRIB_NM_ENERGY_ROW);
		trib_nm_energy(sums, &part, old ? old + off : NULL);
	}
}

int double_energy(double *sums, const struct trib_nm_range *g, const float *old, void *stream)
{
	struct work w = {.range = *g, .out = sums, .old = old};

	return launch(&w, run_energy, stream);
}

static void run_reduce(const struct work *w)
{
	const struct trib_gpu_sum *s = &w->sum;
	size_t bytes = s->count * trib_reduce_size(s->type);
	const void *in[TRIB_GPU_REDUCE_MAX];
	void *out = double_view(s->out, bytes), *acc = double_alloc(bytes + 1);
	unsigned int k;

	for (k = 0; k < s->n; k++)
		in[k] = double_view(w->areas[k], bytes);
	memcpy(acc, in[0], bytes);
	if (s->n == 1 && s->world)
		trib_average_scalar(s->type)(acc, acc, NULL, s->count, s->world);
	for (k = 1; k < s->n; k++) {
		if (k + 1 == s->n && s->world)
			trib_average_scalar(s->type)(acc, acc, in[k], s->count, s->world);
		else
			trib_reduce_scalar(s->type, s->op)(acc, acc, in[k], s->count);
	}
	memcpy(out, acc, bytes);
	free(acc);
}

int double_reduce(const struct trib_gpu_sum *sum, void *stream)
{
	struct work w = {.sum = *sum};

	if (!sum->n || sum->n > TRIB_GPU_REDUCE_MAX || !trib_reduce_scalar(sum->type, sum->op) ||
	    (sum->world && !trib_average_scalar(sum->type)))
		return -EINVAL;
	if (!sum->count)
		return 0;
	memcpy(w.areas, sum->in, sum->n * sizeof(w.areas[0]));
	return launch(&w, run_reduce, stream);
}
