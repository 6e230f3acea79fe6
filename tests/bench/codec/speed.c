// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench-codec: compression (kernels/nm) by itself, one core.
 *
 *	bench-codec -o FILE
 *
 * share_of_memcpy_24_f32: select_pack of 2:4 over a gradient of 256 MiB and its
 * residual, in ranges of RANGE values, one after another as the engine packs
 * chunks: bytes that must be read and written (gradient, residual twice, packed
 * values, mask) a second, over memcpy's of as large an area, which reads and
 * writes each byte once. All of it lies in huge pages. The two take turns; the share
 * is the median of the rounds'.
 *
 * ratio_*: time of the scalar level over the best one's for a range in L2, so that
 * instructions count and memory does not.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "peers.h"
#include "kernels/nm/nm.h"

#define BIG ((size_t)256 << 20)
#define VALUES (BIG / 4)
#define RANGE 8192
#define ROUNDS 15
#define SMALL_NS 20000000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *area(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "bench-codec: wants %zu MiB of memory: %s\n", len >> 20,
			strerror(errno));
		exit(1);
	}
	madvise(p, len, MADV_HUGEPAGE);
	memset(p, 0, len);
	return p;
}

/* A function on one range; @at is the range's first value. */
struct work {
	const struct trib_nm_ops *ops;
	struct trib_nm_range range;
	struct trib_nm_chunk chunk;
	float *x, *residual;
	char *mask, *packed, *words;
};

static void select_pack(struct work *w, size_t at)
{
	w->range.x = w->x + at;
	w->range.residual = w->residual + at;
	w->ops->select_pack(w->mask + at / 8, w->packed + trib_nm_packed(w->range.spec, at) * 4,
			    &w->range);
}

static void select_only(struct work *w, size_t at)
{
	w->range.x = w->x + at;
	w->ops->select(w->mask + at / 8, &w->range);
}

static void pack_lanes(struct work *w, size_t at)
{
	w->range.x = w->x + at;
	w->ops->pack_lanes(w->words, &w->range, w->mask + at / 8, &w->chunk);
}

static void unpack_lanes(struct work *w, size_t at)
{
	w->ops->unpack_lanes(w->packed, w->words, trib_nm_packed(w->range.spec, w->range.count),
			     &w->chunk, 1);
	(void)at;
}

static void expand(struct work *w, size_t at)
{
	w->ops->expand(w->x + at, TRIB_FMT_F32, w->range.count, w->mask + at / 8, w->packed, 1);
}

static const struct {
	const char *name;
	void (*run)(struct work *w, size_t at);
} functions[] = {
	{"select_pack", select_pack},	{"select", select_only}, {"pack_lanes", pack_lanes},
	{"unpack_lanes", unpack_lanes}, {"expand", expand},
};

#define NFUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* Nanoseconds a value, best of several rounds. */
static double small(struct work *w, void (*run)(struct work *w, size_t at))
{
	uint64_t start, end, calls;
	double best = INFINITY, ns;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		calls = 0;
		start = now();
		do {
			run(w, 0);
			calls++;
			end = now();
		} while (end - start < SMALL_NS / ROUNDS);
		ns = (double)(end - start) / (double)calls / (double)w->range.count;
		best = ns < best ? ns : best;
	}
	return best;
}

static void fill(float *x, size_t n)
{
	uint64_t s = 88172645463325252ULL;
	size_t i;

	for (i = 0; i < n; i++) {
		s ^= s << 13;
		s ^= s >> 7;
		s ^= s << 17;
		x[i] = (float)((int32_t)(s >> 20)) * 0x1p-34f;
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Bytes a second of each, best of the rounds, which take turns; and the median of
 * their ratios, because the memory's speed changes from second to second.
 */
static double large(struct work *w, char *from, char *to, double *codec, double *copy)
{
	double bytes = VALUES * (4 + 4 + 4 + 2 + 1 / 8.), ratios[ROUNDS], rate[2];
	uint64_t start;
	size_t at;
	int round;

	*codec = *copy = 0;
	for (round = 0; round < ROUNDS; round++) {
		start = now();
		memcpy(to, from, BIG);
		rate[0] = 2. * BIG / (double)(now() - start);
		start = now();
		for (at = 0; at < VALUES; at += RANGE)
			select_pack(w, at);
		rate[1] = bytes / (double)(now() - start);
		*copy = fmax(*copy, rate[0]);
		*codec = fmax(*codec, rate[1]);
		ratios[round] = rate[1] / rate[0];
	}
	qsort(ratios, ROUNDS, sizeof(ratios[0]), ascending);
	return ratios[ROUNDS / 2];
}

static void measure(FILE *out)
{
	struct work w = {
		.range = {.count = RANGE, .fmt = TRIB_FMT_F32, .spec = {.group = 4, .kept = 2}},
		.chunk = {.words = 688, .scale = -10, .bits = 8, .lane_bits = 10}};
	const struct trib_nm_ops *best = trib_nm_best();
	double codec, copy, share, ns[2], log_sum = 0;
	unsigned int f;
	char *to;

	w.x = area(BIG);
	w.residual = area(BIG);
	w.packed = area(BIG / 2);
	w.mask = area(BIG / 32);
	w.words = area(8 * w.chunk.words);
	to = area(BIG);
	w.ops = best;
	fill(w.x, VALUES);
	share = large(&w, (char *)w.x, to, &codec, &copy);
	fprintf(out,
		"\"share_of_memcpy_24_f32\": %.3f,\n\"gbytes_24_f32\": %.2f,\n"
		"\"gbytes_memcpy\": %.2f,\n",
		share, codec, copy);
	for (f = 0; f < NFUNCTIONS; f++) {
		fill(w.x, RANGE);
		memset(w.residual, 0, 4 * RANGE);
		w.ops = &trib_nm_scalar;
		ns[0] = small(&w, functions[f].run);
		w.ops = best;
		ns[1] = small(&w, functions[f].run);
		log_sum += log(ns[0] / ns[1]);
		fprintf(out, "\"ratio_%s\": %.2f,\n\"ns_%s\": %.3f,\n", functions[f].name,
			ns[0] / ns[1], functions[f].name, ns[1]);
	}
	fprintf(out, "\"ratio_vs_scalar\": %.2f", exp(log_sum / NFUNCTIONS));
}

int main(int argc, char **argv)
{
	FILE *out;

	if (argc != 3 || strcmp(argv[1], "-o")) {
		fprintf(stderr, "Usage: bench-codec -o FILE\n");
		return 2;
	}
	out = fopen(argv[2], "w");
	if (!out) {
		fprintf(stderr, "bench-codec: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	fprintf(out, "{\"level\": \"%s\", \"figures\": {\n", trib_nm_best()->name);
	measure(out);
	peers_measure(out);
	fprintf(out, "}}\n");
	return fclose(out) ? 1 : 0;
}
