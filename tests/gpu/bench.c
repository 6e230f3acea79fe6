// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench-codec-gpu: compression on the GPU over a copy from device to device.
 *
 *	bench-codec-gpu [MIB]		default: 1024 MiB of floats
 *
 * Prints JSON. Each share is bytes read and written a second over the copy's, best
 * of the rounds, which take turns; each round runs its call several times.
 *
 *	share_of_copy_24_f32	select_pack of 2:4 with residual, in place: x, residual
 *				twice, packed values, mask
 *	share_of_copy_expand	expand of 2:4: mask, packed values, all values
 *	share_of_copy_reduce	the sum of four areas of f32: four areas, the sum
 *	share_of_copy_reduce_bf16	the same bytes of bf16
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/gpu/gpu.h"

#define ROUNDS 15
#define CALLS 10
#define ROW 1024
#define AREAS 4

static const struct trib_nm_spec spec = {.group = 4, .kept = 2};

struct bench {
	const struct trib_gpu_ops *gpu;
	void *stream;
	size_t count;
	float *x, *residual, *packed, *out;
	float *more[AREAS - 2];
	uint32_t *mask, *amax;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int copy(const struct bench *b)
{
	return b->gpu->copy(b->out, b->x, 4 * b->count, b->stream);
}

static int select_pack(const struct bench *b)
{
	struct trib_nm_range g = {b->x, b->residual, b->count, TRIB_FMT_F32, spec};

	return b->gpu->select_pack(b->mask, b->packed, b->residual, b->amax, &g, ROW, b->stream);
}

static int expand(const struct bench *b)
{
	return b->gpu->expand(b->out, TRIB_FMT_F32, b->count, spec, b->mask, b->packed, 1,
			      b->stream);
}

static int reduce_type(const struct bench *b, enum trib_reduce_type type)
{
	const void *in[AREAS] = {b->x, b->residual, b->more[0], b->more[1]};
	struct trib_gpu_sum s = {
		.out = b->out,
		.in = in,
		.n = AREAS,
		.type = type,
		.count = 4 * b->count / trib_reduce_size(type),
		.op = TRIB_REDUCE_SUM,
	};

	return b->gpu->reduce(&s, b->stream);
}

static int reduce(const struct bench *b)
{
	return reduce_type(b, TRIB_REDUCE_F32);
}

static int reduce_bf16(const struct bench *b)
{
	return reduce_type(b, TRIB_REDUCE_BF16);
}

static const struct {
	const char *name;
	int (*run)(const struct bench *b);
	double bytes; /* for each value */
} works[] = {
	{"copy", copy, 8},
	{"24_f32", select_pack, 4 + 8 + 2 + 1 / 8.},
	{"expand", expand, 4 + 2 + 1 / 8.},
	{"reduce", reduce, 4 * (AREAS + 1)},
	{"reduce_bf16", reduce_bf16, 4 * (AREAS + 1)},
};

#define NWORKS (sizeof(works) / sizeof(works[0]))

static int measure(const struct bench *b, double best[NWORKS])
{
	double start, rate;
	unsigned int w;
	int round, i, rc;

	for (round = 0; round < ROUNDS; round++)
		for (w = 0; w < NWORKS; w++) {
			rc = b->gpu->wait(b->stream);
			start = now();
			for (i = 0; i < CALLS && !rc; i++)
				rc = works[w].run(b);
			if (rc || (rc = b->gpu->wait(b->stream)))
				return rc;
			rate = works[w].bytes * (double)b->count * CALLS / (now() - start);
			best[w] = rate > best[w] ? rate : best[w];
		}
	return 0;
}

static int prepare(struct bench *b)
{
	float *x = malloc(4 * b->count);
	uint32_t s = 1;
	size_t i;
	int rc = -1, k;

	b->x = b->gpu->memory_new(4 * b->count);
	b->residual = b->gpu->memory_new(4 * b->count);
	b->out = b->gpu->memory_new(4 * b->count);
	b->packed = b->gpu->memory_new(2 * b->count);
	b->mask = b->gpu->memory_new(b->count / 8);
	b->amax = b->gpu->memory_new(b->count / ROW * 4);
	for (k = 0; k < AREAS - 2; k++)
		b->more[k] = b->gpu->memory_new(4 * b->count);
	if (!x || !b->more[0] || !b->more[1] || !b->x || !b->residual || !b->out || !b->packed ||
	    !b->mask || !b->amax)
		goto out;
	for (i = 0; i < b->count; i++) {
		s = s * 1664525 + 1013904223;
		x[i] = (float)(int32_t)s * 0x1p-31f;
	}
	rc = b->gpu->copy(b->x, x, 4 * b->count, b->stream);
	if (!rc)
		rc = b->gpu->copy(b->residual, x, 4 * b->count, b->stream);
	for (k = 0; k < AREAS - 2 && !rc; k++)
		rc = b->gpu->copy(b->more[k], x, 4 * b->count, b->stream);
	if (!rc)
		rc = b->gpu->wait(b->stream);
out:
	free(x);
	return rc;
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
	double best[NWORKS] = {0};
	struct bench b = {.count = mib << 18};
	char text[256];

	if (argc > 2 || mib < 1 || mib > 65536) {
		fprintf(stderr, "Usage: bench-codec-gpu [MIB]\n");
		return 2;
	}
	b.gpu = trib_gpu_load("build/libtrib-gpu.so", text, sizeof(text));
	if (!b.gpu) {
		fprintf(stderr, "bench-codec-gpu: %s\n", text);
		return 4;
	}
	if (b.gpu->describe(text, sizeof(text)) || b.gpu->stream_new(&b.stream)) {
		fprintf(stderr, "bench-codec-gpu: %s\n", b.gpu->error_text());
		return 4;
	}
	if (prepare(&b) || measure(&b, best)) {
		fprintf(stderr, "bench-codec-gpu: %s\n", b.gpu->error_text());
		return 1;
	}
	printf("{%s, \"mib\": %zu, \"figures\": {\"share_of_copy_24_f32\": %.3f, "
	       "\"share_of_copy_expand\": %.3f, \"share_of_copy_reduce\": %.3f, "
	       "\"share_of_copy_reduce_bf16\": %.3f, \"gbytes_copy\": %.0f}}\n",
	       text, mib, best[1] / best[0], best[2] / best[0], best[3] / best[0],
	       best[4] / best[0], best[0] / 1e9);
	return 0;
}
