// SPDX-License-Identifier: BSD-2-Clause
/* See exact.h. */
#include "exact.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static uint32_t values_in(const struct peer_exact *x, uint64_t chunk)
{
	uint64_t left = x->count - chunk * x->nval;

	return left < x->nval ? (uint32_t)left : x->nval;
}

struct peer_exact *peer_exact_make(const struct trib_peer_call *c, uint32_t nval, uint32_t rank,
				   uint32_t world)
{
	bool part = c->collective == PEER_REDUCE_SCATTER;
	struct peer_exact *x = calloc(1, sizeof(*x));
	uint64_t last;

	if (!x)
		return NULL;
	x->src = c->src;
	x->dst = c->dst;
	x->count = part ? c->count * world : c->count;
	x->first = part ? c->count * rank : 0;
	x->own = c->count;
	x->nval = nval;
	x->rank = rank;
	x->world = world;
	x->average = c->op == PEER_OP_AVG;
	x->nchunk = (x->count + nval - 1) / nval;
	if (x->nchunk) {
		last = trib_payload_len(values_in(x, x->nchunk - 1));
		x->words = ((x->nchunk - 1) * trib_payload_len(nval) + last) / 8;
	}
	x->word = malloc((x->nchunk + 1) * sizeof(*x->word));
	x->pay = malloc((x->words + 1) * sizeof(*x->pay));
	if (x->word && x->pay)
		return x;
	peer_exact_free(x);
	return NULL;
}

void peer_exact_free(struct peer_exact *x)
{
	if (!x)
		return;
	free(x->word);
	free(x->pay);
	free(x);
}

void peer_exact_exponents(struct peer_exact *x)
{
	const struct trib_codec *codec = trib_codec_best();
	const float *v = x->src;
	uint32_t n, amax;
	uint64_t i;

	for (i = 0; i < x->nchunk; i++, v += x->nval) {
		n = values_in(x, i);
		amax = codec->amax(v, n);
		x->word[i] = amax < 0x7f800000
				     ? trib_exponent(amax)
				     : trib_exp_bad(x->rank, i * x->nval + trib_first_bad(v, n));
	}
}

static int scale_of(const struct peer_exact *x, uint64_t chunk)
{
	int e = (int)x->word[chunk];

	return e == TRIB_EXP_ZERO ? 0 : trib_q32_scale(e, x->world);
}

static void *payload(const struct peer_exact *x, uint64_t chunk)
{
	return (char *)x->pay + chunk * trib_payload_len(x->nval);
}

void peer_exact_pack(struct peer_exact *x)
{
	const struct trib_codec *codec = trib_codec_best();
	int32_t limit = trib_q32_limit(x->world);
	uint64_t i;
	uint32_t n;

	for (i = 0; i < x->nchunk; i++) {
		n = values_in(x, i);
		if (is_bad(x->word[i])) {
			if (x->word[i] > x->bad)
				x->bad = x->word[i];
			memset(payload(x, i), 0, trib_payload_len(n));
			continue;
		}
		if (!in_range(x->word[i])) {
			x->garbled = true;
			x->word[i] = TRIB_EXP_ZERO;
		}
		codec->q32_pack(payload(x, i), x->src + i * x->nval, n, scale_of(x, i), limit);
	}
}

static void unpack_chunk(const struct peer_exact *x, uint64_t i, float *out)
{
	const struct trib_codec *codec = trib_codec_best();
	int scale = scale_of(x, i);
	uint32_t n = values_in(x, i);
	const void *v = payload(x, i);

	if (!x->average)
		codec->q32_unpack(out, v, n, scale);
	else if (x->world & (x->world - 1))
		codec->q32_unpack_avg(out, v, n, scale, x->world);
	else /* a power of two: same bits, faster */
		codec->q32_unpack(out, v, n, scale - (int)trib_log2_ceil(x->world));
}

/* Note the first infinite sum: all ranks look at all elements, and find the same one. */
static void find_overflow(struct peer_exact *x, uint64_t at, const float *out, uint32_t n)
{
	uint32_t i, b;

	for (i = 0; i < n && !x->over; i++) {
		memcpy(&b, &out[i], sizeof(b));
		if ((b & 0x7fffffff) == 0x7f800000)
			x->over = at + i + 1;
	}
}

/* A chunk that the caller wants only a part of, or that may hold an infinity. */
static void unpack_part(struct peer_exact *x, uint64_t i, bool look)
{
	uint64_t at = i * x->nval, from = at, to = at + values_in(x, i);
	float all[TRIB_NVAL_LARGE];

	unpack_chunk(x, i, all);
	if (look)
		find_overflow(x, at, all, values_in(x, i));
	if (from < x->first)
		from = x->first;
	if (to > x->first + x->own)
		to = x->first + x->own;
	if (from < to)
		memcpy(x->dst + (from - x->first), all + (from - at), (to - from) * sizeof(*all));
}

int peer_exact_unpack(struct peer_exact *x)
{
	uint64_t i, at, end = x->first + x->own;
	bool look;

	if (x->garbled)
		return -EPROTO;
	if (x->bad)
		return -EDOM;
	for (i = 0; i < x->nchunk; i++) {
		at = i * x->nval;
		look = !x->average && scale_of(x, i) > TRIB_Q32_SCALE_SAFE;
		if (look || at < x->first || at + values_in(x, i) > end)
			unpack_part(x, i, look);
		else
			unpack_chunk(x, i, x->dst + (at - x->first));
	}
	return x->over ? -ERANGE : 0;
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
