// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reductions on the GPU against kernels/reduce's scalar level, bit by bit: every type,
 * operation, number of areas, length and alignment; values of all kinds. Built twice, as
 * vectors.c.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/gpu/gpu.h"
#include "tests/lib/tap.h"

#ifdef TRIB_GPU_EMULATED
#define MANY 3000
#define TRIALS 12
#else
#define MANY 300000
#define TRIALS 60
#endif
#define BYTES ((MANY + 64) * 8)

static const struct trib_gpu_ops *gpu;
static void *stream;
static uint64_t state = 1;
static unsigned char values[TRIB_GPU_REDUCE_MAX][BYTES], want[BYTES], got[BYTES];

static uint64_t rnd(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 32 ^ state << 20;
}

/* --- values */

/* Bits of a value of @size bytes: of any exponent, of a few, or special. */
static uint64_t any_bits(unsigned int type)
{
	static const struct {
		unsigned int width, fraction;
	} forms[TRIB_REDUCE_TYPE__MAX] = {
		[TRIB_REDUCE_F32] = {32, 23}, [TRIB_REDUCE_I32] = {32, 23},
		[TRIB_REDUCE_F16] = {16, 10}, [TRIB_REDUCE_BF16] = {16, 7},
		[TRIB_REDUCE_F64] = {64, 52},
	};
	unsigned int width = forms[type].width, fraction = forms[type].fraction;
	uint64_t exponent = (1ULL << (width - 1 - fraction)) - 1, sign = rnd() % 2 << (width - 1);
	uint64_t low = (1ULL << fraction) - 1;

	switch (rnd() % 16) {
	case 0:
		return sign; /* zero */
	case 1:
		return sign | exponent << fraction; /* infinity */
	case 2:
		return sign | exponent << fraction | (rnd() & low); /* NaN, or infinity */
	case 3:
		return sign | (rnd() & low); /* denormal */
	case 4:
		return sign | (exponent - 1) << fraction | low; /* largest */
	case 5:
	case 6:
		return rnd() >> (64 - width);
	default: /* near one, so that sums round */
		return sign | (exponent / 2 + rnd() % 3) << fraction | (rnd() & low);
	}
}

static void any_values(unsigned char *to, unsigned int type, size_t count)
{
	size_t size = trib_reduce_size(type), i;
	uint64_t v;

	for (i = 0; i < count; i++) {
		v = any_bits(type);
		memcpy(to + i * size, &v, size);
	}
}

/* --- a trial */

/* The definition: one area after the other. */
static void reduce_by_scalar(const struct trib_gpu_sum *s)
{
	trib_reduce_fn fn = trib_reduce_scalar(s->type, s->op);
	trib_average_fn average = s->world ? trib_average_scalar(s->type) : NULL;
	unsigned int k;

	memcpy(want, values[0], s->count * trib_reduce_size(s->type));
	if (average && s->n == 1)
		average(want, want, NULL, s->count, s->world);
	for (k = 1; k < s->n; k++) {
		if (average && k + 1 == s->n)
			average(want, want, values[k], s->count, s->world);
		else
			fn(want, want, values[k], s->count);
	}
}

/* @shift: elements by which areas are away from 16 bytes, one, some or none of them. */
static bool reduce_is_right(struct trib_gpu_sum s, unsigned int shift)
{
	size_t size = trib_reduce_size(s.type), bytes = s.count * size;
	unsigned char *area[TRIB_GPU_REDUCE_MAX + 1];
	const void *in[TRIB_GPU_REDUCE_MAX];
	size_t at[TRIB_GPU_REDUCE_MAX + 1];
	unsigned int k, n = s.n;
	bool right, inside = rnd() % 3 == 0;

	for (k = 0; k <= n; k++) {
		at[k] = shift ? rnd() % shift * size : 0;
		area[k] = gpu->memory_new(bytes + at[k]);
		if (!expect(area[k]))
			return false;
		if (k == n)
			break;
		in[k] = area[k] + at[k];
		any_values(values[k], s.type, s.count);
		expect_eq(gpu->copy(area[k] + at[k], values[k], bytes, stream), 0);
	}
	s.in = in;
	s.out = inside ? (void *)(uintptr_t)in[0] : area[n] + at[n];
	expect_eq(gpu->reduce(&s, stream), 0);
	expect_eq(gpu->copy(got, s.out, bytes, stream), 0);
	expect_eq(gpu->wait(stream), 0);
	reduce_by_scalar(&s);
	right = !memcmp(got, want, bytes);
	if (!expect(right))
		printf("# type %u, op %u, %u areas, %zu elements, shift %u, world %u, %s\n", s.type,
		       s.op, s.n, s.count, shift, s.world, gpu->name);
	for (k = 0; k <= n; k++)
		gpu->memory_free(area[k]);
	return right;
}

static size_t any_count(void)
{
	switch (rnd() % 4) {
	case 0:
		return rnd() % 40;
	case 1:
		return rnd() % 1000;
	default:
		return rnd() % MANY;
	}
}

static void reduce__every_type_and_operation_has_the_scalar_level_s_bits(void)
{
	static const unsigned int ops[] = {TRIB_REDUCE_SUM, TRIB_REDUCE_MAX, TRIB_REDUCE_MIN,
					   TRIB_REDUCE_PROD};
	struct trib_gpu_sum s = {0};
	unsigned int o, trial;

	for (s.type = 0; s.type < TRIB_REDUCE_TYPE__MAX; s.type++)
		for (o = 0; o < 4; o++)
			for (trial = 0; trial < TRIALS; trial++) {
				s.op = ops[o];
				s.n = 1 + (unsigned int)rnd() % TRIB_GPU_REDUCE_MAX;
				s.count = any_count();
				if (!reduce_is_right(s, trial % 3 ? 0 : 9))
					return;
			}
}

static void reduce__averages_have_the_scalar_level_s_bits(void)
{
	struct trib_gpu_sum s = {.op = TRIB_REDUCE_SUM};
	unsigned int trial;

	for (s.type = 0; s.type < TRIB_REDUCE_TYPE__MAX; s.type++)
		for (trial = 0; trial < TRIALS && s.type != TRIB_REDUCE_I32; trial++) {
			s.n = 1 + (unsigned int)rnd() % 6;
			s.world = trial % 5 ? 1 + (unsigned int)rnd() % 4096 : 1 << 24;
			s.count = any_count();
			if (!reduce_is_right(s, trial % 3 ? 0 : 9))
				return;
		}
}

static void reduce__wrong_arguments_are_refused(void)
{
	void *p = gpu->memory_new(64);
	const void *in[TRIB_GPU_REDUCE_MAX + 1] = {p, p};
	const struct trib_gpu_sum right = {.out = p, .in = in, .n = 2, .count = 4};
	struct trib_gpu_sum s;

	expect_eq(gpu->reduce(&right, stream), 0);
	s = right;
	s.n = 0;
	expect_eq(gpu->reduce(&s, stream), -EINVAL);
	s.n = TRIB_GPU_REDUCE_MAX + 1;
	expect_eq(gpu->reduce(&s, stream), -EINVAL);
	s = right;
	s.type = TRIB_REDUCE_TYPE__MAX;
	expect_eq(gpu->reduce(&s, stream), -EINVAL);
	s = right;
	s.op = 1;
	expect_eq(gpu->reduce(&s, stream), -EINVAL);
	s = right;
	s.type = TRIB_REDUCE_I32;
	s.world = 2;
	expect_eq(gpu->reduce(&s, stream), -EINVAL);
	s = right;
	s.out = (char *)p + 2;
	expect_eq(gpu->reduce(&s, stream), -EINVAL);
	expect_eq(gpu->wait(stream), 0);
	gpu->memory_free(p);
}

/* With --find it only looks for a GPU: the exit status is 0, or 4. */
int main(int argc, char **argv)
{
	char text[512];

#ifdef TRIB_GPU_EMULATED
	gpu = trib_gpu_library(TRIB_GPU_ABI);
#else
	gpu = trib_gpu_load(NULL, text, sizeof(text));
#endif
	if (!gpu) {
		printf("# %s\n", text);
		tap_skip_all("no libtrib-gpu.so");
	}
	if (gpu->describe(text, sizeof(text)) || gpu->stream_new(&stream)) {
		printf("# %s\n", gpu->error_text());
		tap_skip_all("no GPU");
	}
	if (argc > 1 && !strcmp(argv[1], "--find"))
		return 0;
	run(reduce__every_type_and_operation_has_the_scalar_level_s_bits);
	run(reduce__averages_have_the_scalar_level_s_bits);
	run(reduce__wrong_arguments_are_refused);
	return tap_done();
}
