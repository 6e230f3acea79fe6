// SPDX-License-Identifier: BSD-2-Clause
/* See exact.h. */
#include "exact.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ints.h"
#include "kernels/codec/codec.h"
#include "peer/sched/sched.h"

static bool is_bad(int64_t word)
{
	return word > 0 && (word & TRIB_EXP_BAD);
}

/* Whether a peer may have sent this. */
static bool in_range(int64_t word)
{
	return word == TRIB_EXP_ZERO || (word >= TRIB_EXP_MIN && word <= TRIB_EXP_LARGEST);
}

static uint32_t elements_in(const struct peer_exact *x, uint64_t chunk)
{
	uint64_t left = x->count - chunk * x->nval;

	return left < x->nval ? (uint32_t)left : x->nval;
}

/* Mask words of a chunk. */
static uint32_t units_in(const struct peer_exact *x, uint64_t chunk)
{
	return (elements_in(x, chunk) + TRIB_MASK_UNITS - 1) / TRIB_MASK_UNITS;
}

/* The values that this rank adds to a chunk. */
static const float *values_of(const struct peer_exact *x, uint64_t chunk, uint32_t *n)
{
	*n = elements_in(x, chunk);
	if (!x->is_masked)
		return x->src + chunk * x->nval;
	*n = units_in(x, chunk) * x->masked.per;
	return x->src + chunk * (x->nval / TRIB_MASK_UNITS) * x->masked.per;
}

/* --- memory */

static int make_masked(struct peer_exact *x, const struct trib_peer_call *c, size_t chunk)
{
	int rc;

	x->is_masked = true;
	x->nval = x->nval / TRIB_MASK_UNITS * TRIB_MASK_UNITS;
	rc = peer_masked_init(&x->masked, c->mask, trib_nm_per_word(c->nm), c->count, true, chunk);
	x->ints = (int32_t *)x->masked.sum;
	return rc;
}

static int make_ints(struct peer_exact *x)
{
	x->ints = malloc((x->count + 1) * sizeof(*x->ints));
	return x->ints ? 0 : -ENOMEM;
}

struct peer_exact *peer_exact_make(const struct trib_peer_call *c, uint32_t nval, uint32_t rank,
				   uint32_t world, size_t chunk)
{
	bool part = c->collective == PEER_REDUCE_SCATTER;
	struct peer_exact *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->src = c->src;
	x->dst = c->dst;
	x->count = part ? c->count * world : c->count;
	x->first = part ? c->count * rank : 0;
	x->own = c->count;
	x->part = part;
	x->nval = nval;
	x->rank = rank;
	x->world = world;
	x->average = c->op == PEER_OP_AVG;
	if (c->nm ? make_masked(x, c, chunk) : make_ints(x))
		goto fail;
	x->nchunk = (x->count + x->nval - 1) / x->nval;
	x->word = malloc((x->nchunk + 1) * sizeof(*x->word));
	if (x->word)
		return x;
fail:
	peer_exact_free(x);
	return NULL;
}

void peer_exact_free(struct peer_exact *x)
{
	if (!x)
		return;
	if (!x->is_masked)
		free(x->ints);
	peer_masked_free(&x->masked);
	free(x->word);
	free(x);
}

/* --- exponents */

/* The place of the @k-th value that a mask selects. */
static size_t place_of(const uint32_t *mask, size_t units, size_t k)
{
	size_t i;

	for (i = 0; i < units * TRIB_MASK_UNITS; i++)
		if (le32toh(mask[i / TRIB_MASK_UNITS]) >> i % TRIB_MASK_UNITS & 1 && !k--)
			break;
	return i;
}

/* The element that this rank's @k-th value of a chunk is. */
static uint64_t element_of(const struct peer_exact *x, uint64_t chunk, size_t k)
{
	if (x->is_masked)
		k = place_of(x->masked.mask + chunk * (x->nval / TRIB_MASK_UNITS),
			     units_in(x, chunk), k);
	return chunk * x->nval + k;
}

void peer_exact_exponents(struct peer_exact *x)
{
	const struct trib_codec *codec = trib_codec_best();
	uint32_t n, amax;
	const float *v;
	uint64_t i;

	for (i = 0; i < x->nchunk; i++) {
		v = values_of(x, i, &n);
		amax = codec->amax(v, n);
		x->word[i] =
			amax < 0x7f800000
				? trib_exponent(amax)
				: trib_exp_bad(x->rank, element_of(x, i, trib_first_bad(v, n)));
	}
}

static int scale_of(const struct peer_exact *x, uint64_t chunk)
{
	int e = (int)x->word[chunk];

	return e == TRIB_EXP_ZERO || is_bad(x->word[chunk]) ? 0 : trib_q32_scale(e, x->world);
}

/* --- integers */

/* Zeros stand for the values of a chunk that is bad. */
static void pack_chunk(struct peer_exact *x, uint64_t chunk)
{
	int32_t packed[TRIB_NVAL_LARGE], *ints = x->ints + chunk * x->nval;
	uint32_t n;
	const float *v = values_of(x, chunk, &n);

	if (x->is_masked)
		ints = packed;
	if (is_bad(x->word[chunk]))
		memset(ints, 0, n * sizeof(*ints));
	else
		peer_ints_pack(ints, v, n, scale_of(x, chunk), x->world);
	if (x->is_masked)
		peer_masked_put(&x->masked, chunk * (x->nval / TRIB_MASK_UNITS), ints,
				units_in(x, chunk));
}

/* Note what a chunk's word says. */
static void take_word(struct peer_exact *x, uint64_t chunk)
{
	int64_t *word = &x->word[chunk];

	if (is_bad(*word)) {
		if (*word > x->bad)
			x->bad = *word;
	} else if (!in_range(*word)) {
		x->garbled = true;
		*word = TRIB_EXP_ZERO;
	} else if (!x->average && scale_of(x, chunk) > TRIB_Q32_SCALE_SAFE) {
		x->look = true;
	}
}

void peer_exact_pack(struct peer_exact *x)
{
	uint64_t i;

	for (i = 0; i < x->nchunk; i++) {
		take_word(x, i);
		pack_chunk(x, i);
	}
	if (x->is_masked && (x->masked.whole || x->world == 1))
		peer_masked_expand(&x->masked);
}

/* Note the first infinite sum. */
static void find_overflow(struct peer_exact *x, uint64_t at, const float *out, uint64_t n)
{
	uint32_t b;
	uint64_t i;

	for (i = 0; i < n && !x->over; i++) {
		memcpy(&b, &out[i], sizeof(b));
		if ((b & 0x7fffffff) == 0x7f800000)
			x->over = at + i + 1;
	}
}

/* The part of a chunk that the caller wants. */
static void unpack_chunk(struct peer_exact *x, uint64_t chunk)
{
	uint64_t from = chunk * x->nval, to = from + elements_in(x, chunk);
	float *out;

	if (from < x->first)
		from = x->first;
	if (to > x->first + x->own)
		to = x->first + x->own;
	if (from >= to)
		return;
	out = x->dst + (from - x->first);
	peer_ints_unpack(out, x->ints + from, to - from, scale_of(x, chunk),
			 x->average ? x->world : 1);
	if (x->look)
		find_overflow(x, from, out, to - from);
}

void peer_exact_unpack(struct peer_exact *x)
{
	uint64_t i, end = x->first + x->own;

	if (x->garbled || x->bad)
		return;
	for (i = x->first / x->nval; i < x->nchunk && i * x->nval < end; i++)
		unpack_chunk(x, i);
	x->over_word = x->over ? INT64_MAX - (int64_t)x->over : 0;
}

int peer_exact_status(struct peer_exact *x)
{
	if (x->garbled)
		return -EPROTO;
	if (x->bad)
		return -EDOM;
	if (x->over_word)
		x->over = (uint64_t)(INT64_MAX - x->over_word);
	return x->over_word ? -ERANGE : 0;
}

void peer_exact_max(void *out, const void *a, const void *b, size_t n)
{
	const int64_t *x = a, *y = b;
	int64_t *o = out;
	size_t i;

	for (i = 0; i < n; i++)
		o[i] = x[i] > y[i] ? x[i] : y[i];
}

void peer_exact_add(void *out, const void *a, const void *b, size_t n)
{
	const uint64_t *x = a, *y = b;
	uint64_t *o = out;
	size_t i;

	for (i = 0; i < n; i++)
		o[i] = x[i] + y[i];
}
