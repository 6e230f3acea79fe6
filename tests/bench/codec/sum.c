// SPDX-License-Identifier: BSD-2-Clause
/*
 * bench-sum: the module's summation by itself, one core, in user space.
 *
 *	bench-sum -o FILE
 *
 * Packets have 1408 bytes of values. Packets and slots together exceed L1 and fit
 * L2, and are visited in an order that the CPU cannot predict across packets.
 * Payloads begin 82 bytes into a packet, as behind Ethernet, IPv4 and UDP; slots
 * begin on a cache line. Masked payloads are of 352 values. Each figure is the
 * best of several short rounds; the rounds of all figures take turns.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/cpu.h"
#include "kernels/sum/sum.h"

#define LEN 1408
#define VALUES 352
#define OFFSET 82
#define PACKET 1536
#define SLOT (LEN * 2)
#define PAIRS 128   /* 128 * (1408 + 1408) = 352 KiB, f32 */
#define PAIRS_16 80 /* 80 * (1408 + 2816) = 330 KiB, 16-bit values */
#define ROUNDS 15
#define ROUND_NS 2000000
#define NM_2_OF_4 (2 << 5 | 1)

enum what { ADD, STORE, FINAL, EMIT, EXPAND, __WHATS };

static const char *const what_names[] = {
	[ADD] = "",	  [STORE] = "_store",	   [FINAL] = "_final",
	[EMIT] = "_emit", [EXPAND] = "_24_expand",
};

static const struct {
	enum trib_fmt fmt;
	const char *name;
} formats[] = {
	{TRIB_FMT_F32, "f32"},
	{TRIB_FMT_BF16, "bf16"},
	{TRIB_FMT_F16, "f16"},
	{TRIB_FMT_I32, "i32"},
};

#define NFORMATS (sizeof(formats) / sizeof(formats[0]))

static unsigned char packets[PAIRS][PACKET] __attribute__((aligned(4096)));
static unsigned char slots[PAIRS][SLOT] __attribute__((aligned(4096)));
static uint8_t order[PAIRS];

/* gbps[level][format][what], 0 where not measured. */
static double gbps[TRIB_SUM__MAX][NFORMATS][__WHATS];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint32_t rnd(void)
{
	static uint64_t s = 88172645463325252ULL;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return (uint32_t)(s >> 16);
}

/* Values between 1/8 and 8, of either sign, in any format. */
static void fill_values(enum trib_fmt fmt, unsigned char *p, unsigned int n)
{
	uint32_t w, e = rnd() % 6;
	uint16_t h;

	for (; n; n--, e = rnd() % 6) {
		w = (rnd() & 0x807fffff) | (124 + e) << 23;
		h = (uint16_t)(fmt == TRIB_FMT_F16 ? (rnd() & 0x83ff) | (12 + e) << 10 : w >> 16);
		if (fmt == TRIB_FMT_F16 || fmt == TRIB_FMT_BF16) {
			memcpy(p, &h, 2);
			p += 2;
		} else {
			memcpy(p, &w, 4);
			p += 4;
		}
	}
}

/* The masks of a payload: two of each four. */
static void fill_masks(unsigned char *p)
{
	static const uint8_t two[] = {3, 5, 6, 9, 10, 12};
	unsigned int i;

	for (i = 0; i < VALUES / 8; i++)
		p[i] = (uint8_t)(two[rnd() % 6] | two[rnd() % 6] << 4);
}

static void fill(enum trib_fmt fmt, unsigned int size, enum what what)
{
	unsigned int i;

	for (i = 0; i < PAIRS; i++) {
		unsigned char *p = packets[i] + OFFSET;

		fill_values(TRIB_FMT_F32, slots[i], SLOT / 4);
		if (what == EXPAND) {
			fill_masks(p);
			fill_values(fmt, p + VALUES / 8, VALUES / 2);
		} else {
			fill_values(fmt, p, LEN / size);
		}
	}
}

static int call(const struct trib_sum_ops *ops, enum what what, void *acc, void *packet)
{
	switch (what) {
	case ADD:
		ops->add(acc, packet, LEN);
		return 0;
	case STORE:
		ops->store(acc, packet, LEN);
		return 0;
	case FINAL:
		ops->final(packet, acc, packet, LEN);
		return 0;
	case EMIT:
		ops->emit(packet, acc, LEN);
		return 0;
	default:
		return ops->expand_add(acc, VALUES * 4, packet, LEN, NM_2_OF_4);
	}
}

/* Gb/s of values in packets, masks not counted; -1 if refused. */
static double one_round(const struct trib_sum_ops *ops, enum what what)
{
	unsigned int pairs = ops->size == 2 && what != EXPAND ? PAIRS_16 : PAIRS;
	unsigned int bytes = what == EXPAND ? VALUES / 2 * ops->size : LEN, i;
	uint64_t start, end, calls = 0;
	int rc = 0;

	/* Bring it all into L2. */
	for (i = 0; i < pairs; i++)
		rc |= call(ops, what, slots[order[i]], packets[i] + OFFSET);
	start = now();
	do {
		for (i = 0; i < pairs; i++)
			rc |= call(ops, what, slots[order[i]], packets[i] + OFFSET);
		calls += pairs;
		end = now();
	} while (end - start < ROUND_NS);
	return rc ? -1 : (double)calls * bytes * 8 / (double)(end - start);
}

static int measure(int level, unsigned int f, enum what what)
{
	const struct trib_sum *s = trib_sum_get(level, trib_cpu_caps());
	const struct trib_sum_ops *ops;
	double g;

	if (!s)
		return 0;
	ops = trib_sum_ops(s, formats[f].fmt);
	fill(formats[f].fmt, ops->size, what);
	g = one_round(ops, what);
	if (g < 0) {
		fprintf(stderr, "bench-sum: %s refused %s%s\n", s->name, formats[f].name,
			what_names[what]);
		return -1;
	}
	if (g > gbps[level][f][what])
		gbps[level][f][what] = g;
	return 0;
}

static int measure_all(void)
{
	int round, level, what;
	unsigned int f;

	for (round = 0; round < ROUNDS; round++)
		for (level = 0; level < TRIB_SUM__MAX; level++)
			for (f = 0; f < NFORMATS; f++)
				for (what = 0; what < __WHATS; what++)
					if (measure(level, f, what))
						return -1;
	return 0;
}

/* Those of the best level without its name, then all with theirs. */
static void print(FILE *out)
{
	int best = trib_sum_level_best(trib_cpu_caps()), level, what;
	const struct trib_sum *s;
	unsigned int f;

	fprintf(out, "{\"level\": \"%s\", \"figures\": {",
		trib_sum_get(best, trib_cpu_caps())->name);
	for (f = 0; f < NFORMATS; f++)
		for (what = 0; what < __WHATS; what++)
			fprintf(out, "%s\n\"gbps_%s%s\": %.1f", f || what ? "," : "",
				formats[f].name, what_names[what], gbps[best][f][what]);
	for (level = 0; level < TRIB_SUM__MAX; level++) {
		s = trib_sum_get(level, trib_cpu_caps());
		for (f = 0; s && f < NFORMATS; f++)
			for (what = 0; what < __WHATS; what++)
				fprintf(out, ",\n\"gbps_%s_%s%s\": %.1f", s->name, formats[f].name,
					what_names[what], gbps[level][f][what]);
	}
	fprintf(out, "}}\n");
}

int main(int argc, char **argv)
{
	unsigned int i, j;
	uint8_t swap;
	FILE *out;

	if (argc != 3 || strcmp(argv[1], "-o")) {
		fprintf(stderr, "Usage: bench-sum -o FILE\n");
		return 2;
	}
	for (i = 0; i < PAIRS; i++)
		order[i] = (uint8_t)i;
	/* Within the first PAIRS_16, for which that is all there is. */
	for (i = PAIRS_16 - 1; i; i--) {
		j = rnd() % (i + 1);
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	if (measure_all())
		return 1;
	out = fopen(argv[2], "w");
	if (!out) {
		fprintf(stderr, "bench-sum: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	print(out);
	return fclose(out) ? 1 : 0;
}
