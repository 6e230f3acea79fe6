// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mutations besides those of libFuzzer: bursts of related packets,
 * which bytes changed at random would take long to become.
 */
#include <stdlib.h>
#include <string.h>
#include "gen.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);

static uint32_t rnd(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % n;
}

static int one_in(uint32_t *r, uint32_t n)
{
	return !rnd(r, n);
}

/* A packet for @tree that mostly goes with @shape and stays in few chunks. */
static void record(uint32_t *r, uint8_t *p, uint8_t tree, uint8_t shape)
{
	static const uint8_t fits[] = {0, 0, 0, 0x30, 7, 10};

	p[0] = one_in(r, 40) ? rnd(r, 256) : 0;
	p[1] = one_in(r, 30) ? rnd(r, T__MAX) : tree;
	p[2] = rnd(r, 65) | (one_in(r, 20) ? 0x80 : 0);
	p[3] = one_in(r, 3) ? fits[rnd(r, sizeof(fits))] : 0;
	if (one_in(r, 5))
		p[3] = rnd(r, 256);
	p[4] = one_in(r, 3) ? rnd(r, 256) & ~0xc8 : 0;
	p[5] = one_in(r, 6) ? shape ^ (8 << rnd(r, 3)) : shape;
	p[6] = rnd(r, 256);
	p[7] = one_in(r, 12) ? 0xd0 : rnd(r, 0xd0);
	p[8] = rnd(r, 256);
}

static size_t burst(uint32_t *r, uint8_t *data, size_t size, size_t max)
{
	uint8_t tree = 1 + rnd(r, T__MAX - 1), shape = rnd(r, 5) | rnd(r, 7) << 3;
	int n = 3 + rnd(r, 20);

	if (one_in(r, 3))
		shape = rnd(r, 256);
	else if (one_in(r, 3)) /* I32, masked */
		shape = 0x82 | rnd(r, 3) << 3;
	if (one_in(r, 2))
		size = 0;
	if (!size && max)
		data[size++] = rnd(r, 256);
	for (; n && size + RECORD + 3 <= max; n--, size += RECORD) {
		if (one_in(r, 15)) {
			data[size++] = OP_DISTURB;
			data[size++] = tree - 1;
			data[size++] = rnd(r, 256);
		}
		record(r, data + size, tree - 1, shape);
	}
	return size;
}

/* One of the packets once more, from somebody else or a little different. */
static size_t again(uint32_t *r, uint8_t *data, size_t size, size_t max)
{
	size_t n = size / RECORD, from;

	if (!n || size + RECORD > max)
		return size;
	from = 1 + rnd(r, n) * RECORD;
	if (from + RECORD > size)
		return size;
	memmove(data + size, data + from, RECORD);
	data[size + 2 + rnd(r, RECORD - 2)] = rnd(r, 256);
	return size + RECORD;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	uint32_t r = seed;

	switch (rnd(&r, 4)) {
	case 0:
		return burst(&r, data, size, max);
	case 1:
		return again(&r, data, size, max);
	default:
		return LLVMFuzzerMutate(data, size, max);
	}
}
