// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sums of which each rank sends the values that it chose (TRIB_F_MASK). The host has
 * packed them: one mask word for each 32 elements, and trib_nm_per_word() floats for
 * each word. What comes back is dense.
 *
 * Integers have the values and scales of TRIB_FMT_Q32, but lanes of their own, so that
 * relays can add one without its neighbour.
 */
#include "inner.h"

uint32_t trib_local_each(uint16_t nval)
{
	return nval / TRIB_MASK_UNITS * TRIB_MASK_UNITS;
}

/* Mask words of a chunk; its elements begin with a word. */
static uint32_t words_of(const struct trib_shape *sh)
{
	return (sh->n + TRIB_MASK_UNITS - 1) / TRIB_MASK_UNITS;
}

const float *trib_local_values(const struct trib_req *r, const struct trib_shape *sh, uint32_t *n)
{
	uint32_t each = trib_nm_per_word(r->nm);

	*n = words_of(sh) * each;
	return (const float *)r->src + sh->first / TRIB_MASK_UNITS * each;
}

uint64_t trib_local_index(const struct trib_req *r, const struct trib_shape *sh, uint32_t k)
{
	const __le32 *mask = (const __le32 *)r->mask + sh->first / TRIB_MASK_UNITS;
	uint32_t i;

	for (i = 0; i < words_of(sh) * TRIB_MASK_UNITS; i++)
		if (le32toh(mask[i / TRIB_MASK_UNITS]) >> i % TRIB_MASK_UNITS & 1 && !k--)
			break;
	return sh->first + i;
}

/* The two lanes of a word of TRIB_FMT_Q32, as two of TRIB_FMT_I32; and back. */
static uint64_t to_lanes(uint64_t w)
{
	uint64_t lo = (uint64_t)(int64_t)(int32_t)w;

	return ((w - lo) & 0xffffffff00000000ULL) | (uint32_t)w;
}

static uint64_t from_lanes(uint64_t w)
{
	return (w & 0xffffffff00000000ULL) + (uint64_t)(int64_t)(int32_t)w;
}

void trib_local_pack(struct trib_stream *s, const struct trib_part *p, const struct trib_shape *sh,
		     struct trib_hdr *h, uint8_t *v)
{
	const struct trib_req *r = p->req;
	__le64 *lanes = s->eng->scratch->lanes;
	uint32_t words = words_of(sh), n, i;
	const float *x = trib_local_values(r, sh, &n);

	h->flags |= TRIB_F_MASK;
	h->nm = r->nm;
	memset(v, 0, trib_masked_len(sh->nval, r->nm));
	memcpy(v, (const __le32 *)r->mask + sh->first / TRIB_MASK_UNITS, 4 * words);
	if (sh->bad)
		return;
	if (!p->nexp) {
		memcpy(v + 4 * words, x, 4 * n);
		return;
	}
	s->eng->codec->q32_pack(lanes, x, n, sh->scale, trib_q32_limit(s->eng->world));
	for (i = 0; i < (n + 1) / 2; i++)
		lanes[i] = htole64(to_lanes(le64toh(lanes[i])));
	memcpy(v + 4 * words, lanes, 4 * n);
}

const void *trib_local_words(struct trib_stream *s, const struct trib_shape *sh, const void *v)
{
	__le64 *lanes = s->eng->scratch->lanes;
	uint32_t i;

	memcpy(lanes, v, trib_payload_len(sh->nval));
	for (i = 0; i < (sh->n + 1) / 2; i++)
		lanes[i] = htole64(from_lanes(le64toh(lanes[i])));
	return lanes;
}
