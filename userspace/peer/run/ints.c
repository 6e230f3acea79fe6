// SPDX-License-Identifier: BSD-2-Clause
/* See ints.h. */
#include "ints.h"

#include <endian.h>

#include "kernels/codec/codec.h"

/* Values that are converted at a time. */
#define PIECE TRIB_NVAL_LARGE

/* The lower lane of a word borrows from the upper one if it is negative. */
static void to_ints(int32_t *out, const uint64_t *words, uint32_t n)
{
	uint64_t w, lo;
	uint32_t i;

	for (i = 0; i < n; i++) {
		w = le64toh(words[i / 2]);
		lo = (uint64_t)(int64_t)(int32_t)w;
		out[i] = (int32_t)(i % 2 ? (w - lo) >> 32 : w);
	}
}

static void to_words(uint64_t *words, const int32_t *in, uint32_t n)
{
	uint64_t hi;
	uint32_t i;

	for (i = 0; i < n; i += 2) {
		hi = i + 1 < n ? (uint64_t)(uint32_t)in[i + 1] << 32 : 0;
		words[i / 2] = htole64(hi + (uint64_t)(int64_t)in[i]);
	}
}

void peer_ints_pack(int32_t *out, const float *x, uint32_t n, int scale, uint32_t world)
{
	uint64_t words[PIECE / 2];

	trib_codec_best()->q32_pack(words, x, n, scale, trib_q32_limit(world));
	to_ints(out, words, n);
}

static void unpack(float *out, const uint64_t *words, uint32_t n, int scale, uint32_t divide)
{
	const struct trib_codec *codec = trib_codec_best();

	if (divide & (divide - 1))
		codec->q32_unpack_avg(out, words, n, scale, divide);
	else /* a power of two: same bits, faster */
		codec->q32_unpack(out, words, n, scale - (int)trib_log2_ceil(divide));
}

void peer_ints_unpack(float *out, const int32_t *in, size_t n, int scale, uint32_t divide)
{
	uint64_t words[PIECE / 2];
	uint32_t part;

	for (; n; n -= part, in += part, out += part) {
		part = n < PIECE ? (uint32_t)n : PIECE;
		to_words(words, in, part);
		unpack(out, words, part, scale, divide);
	}
}
