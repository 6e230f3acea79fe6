// SPDX-License-Identifier: BSD-2-Clause
/*
 * Methods that N:M replaces, as a careful programmer writes them in plain C for the
 * compiler's vectors. All send as many bits of values as 2:4 does, or 16 a value.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "peers.h"
#include "kernels/codec/codec.h"

#define BLOCK 32
#define BLOCKS (PEER_VALUES / BLOCK)
#define SAMPLE 65536

static size_t bf16_encode(unsigned char *to, const float *x)
{
	trib_codec_best()->bf16_pack(to, x, PEER_VALUES);
	return PEER_VALUES * 2;
}

static void bf16_decode(float *x, const unsigned char *from, size_t len)
{
	trib_codec_best()->bf16_unpack(x, from, len / 2);
}

const struct peer peer_bf16 = {"bf16", bf16_encode, bf16_decode};

/* The @k-th largest of @n values, which change places. */
static float kth_largest(float *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1, i, j;
	float pivot, t;

	while (low < high) {
		pivot = v[(low + high) / 2];
		for (i = low, j = high; i <= j;) {
			while (v[i] > pivot)
				i++;
			while (v[j] < pivot)
				j--;
			if (i > j)
				break;
			t = v[i];
			v[i++] = v[j];
			v[j--] = t;
			if (j == (size_t)-1)
				break;
		}
		if (j != (size_t)-1 && k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

static float threshold;

void peer_top_k_learn(const float *x)
{
	static float sample[SAMPLE];
	size_t i;

	for (i = 0; i < SAMPLE; i++)
		sample[i] = fabsf(x[i * (PEER_VALUES / SAMPLE)]);
	threshold = kth_largest(sample, SAMPLE, SAMPLE / 4);
}

/* Index and value of each value above the threshold; a branch would cost more. */
static size_t top_k_encode(unsigned char *to, const float *x)
{
	uint32_t pair[2];
	size_t n = 0, i;

	for (i = 0; i < PEER_VALUES; i++) {
		pair[0] = (uint32_t)i;
		memcpy(&pair[1], &x[i], 4);
		memcpy(to + 8 * n, pair, 8);
		n += fabsf(x[i]) >= threshold;
	}
	return 8 * n;
}

static void top_k_decode(float *x, const unsigned char *from, size_t len)
{
	uint32_t pair[2];
	size_t i;

	for (i = 0; i < len; i += 8) {
		memcpy(pair, from + i, 8);
		memcpy(&x[pair[0]], &pair[1], 4);
	}
}

const struct peer peer_top_k = {"top_k", top_k_encode, top_k_decode};

/* The half of the blocks with the largest sums of magnitudes, after a bit for each. */
static size_t block_l1_encode(unsigned char *to, const float *x)
{
	static float sum[BLOCKS], sorted[BLOCKS];
	unsigned char *at = to + BLOCKS / 8;
	size_t b, i, n = 0;
	float least;

	for (b = 0; b < BLOCKS; b++) {
		sum[b] = 0;
		for (i = 0; i < BLOCK; i++)
			sum[b] += fabsf(x[b * BLOCK + i]);
	}
	memcpy(sorted, sum, sizeof(sum));
	least = kth_largest(sorted, BLOCKS, BLOCKS / 2 - 1);
	memset(to, 0, BLOCKS / 8);
	for (b = 0; b < BLOCKS; b++) {
		if (sum[b] < least || n == BLOCKS / 2)
			continue;
		to[b / 8] |= (unsigned char)(1 << b % 8);
		memcpy(at + n++ * BLOCK * 4, x + b * BLOCK, BLOCK * 4);
	}
	return BLOCKS / 8 + n * BLOCK * 4;
}

static void block_l1_decode(float *x, const unsigned char *from, size_t len)
{
	const unsigned char *at = from + BLOCKS / 8;
	size_t b;

	for (b = 0; b < BLOCKS && at < from + len; b++)
		if (from[b / 8] >> b % 8 & 1) {
			memcpy(x + b * BLOCK, at, BLOCK * 4);
			at += BLOCK * 4;
		}
}

const struct peer peer_block_l1 = {"block_l1", block_l1_encode, block_l1_decode};
