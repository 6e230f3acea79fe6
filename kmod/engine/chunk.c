// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packs elements into a chunk's packet and unpacks results. shape.c says what a
 * chunk holds.
 */
#include "inner.h"

static bool is_bad(int64_t word)
{
	return word > 0 && (word & TRIB_EXP_BAD);
}

/* 64-bit words travel little-endian. */
static void put_word(uint8_t *v, size_t i, int64_t word)
{
	__le64 w = htole64((uint64_t)word);

	memcpy(v + 8 * i, &w, sizeof(w));
}

static int64_t get_word(const uint8_t *v, size_t i)
{
	__le64 w;

	memcpy(&w, v + 8 * i, sizeof(w));
	return (int64_t)le64toh(w);
}

/* The word of data chunk @i: its exponent, or its first value that is not finite. */
static int64_t exponent(const struct trib_stream *s, const struct trib_part *p, uint64_t i)
{
	const float *x = p->req->src;
	struct trib_shape d;
	uint32_t n, amax;
	uint64_t at;

	trib_shape_sum(s, p, i, &d);
	x += d.first;
	n = d.n;
	if (p->kind == TRIB_KIND_LOCAL)
		x = trib_local_values(p->req, &d, &n);
	amax = s->eng->codec->amax(x, n);
	if (amax < 0x7f800000)
		return trib_exponent(amax);
	at = trib_first_bad(x, n);
	at = p->kind == TRIB_KIND_LOCAL ? trib_local_index(p->req, &d, (uint32_t)at) : d.first + at;
	return trib_exp_bad(s->eng->rank, at);
}

static int16_t exp_of(int64_t word)
{
	return is_bad(word) ? TRIB_PART_BAD : (int16_t)word;
}

/* Our exponents stay in @p->exp until the result replaces them. */
static void pack_exp(struct trib_stream *s, struct trib_part *p, const struct trib_shape *sh,
		     uint8_t *v)
{
	int64_t w;
	uint32_t i;

	for (i = 0; i < sh->n; i++) {
		w = exponent(s, p, sh->first + i);
		put_word(v, i, w);
		p->exp[sh->first + i] = exp_of(w);
	}
	memset(v + 8 * i, 0, trib_payload_len(sh->nval) - 8 * i);
}

static void pack_order(struct trib_stream *s, const struct trib_part *p,
		       const struct trib_shape *sh, uint8_t *v)
{
	const struct trib_req *r = p->req;
	int neg = r->op == TRIB_SOCK_MIN;
	const float *x = (const float *)r->src + sh->first;
	size_t i;

	if (r->dtype == TRIB_SOCK_I32) {
		s->eng->codec->i32_order(v, (const int32_t *)r->src + sh->first, sh->n, neg);
		return;
	}
	i = s->eng->codec->f32_nan(x, sh->n);
	if (i == sh->n) {
		s->eng->codec->f32_order(v, x, sh->n, neg);
		return;
	}
	/* One report is enough: it is larger than every value. */
	memset(v, 0, trib_payload_len(sh->nval));
	put_word(v, 0, trib_exp_bad(s->eng->rank, sh->first + i));
}

/* Pack this rank's region of the message, with zeros around it.
 * Return: false if the chunk has no part of the region.
 */
static bool pack_bits(const struct trib_part *p, const struct trib_shape *sh, uint8_t *v)
{
	const struct trib_req *r = p->req;
	uint64_t from = sh->first, to = sh->first + sh->n;
	uint64_t end = r->own_first + r->own_count;

	if (from < r->own_first)
		from = r->own_first;
	if (to > end)
		to = end;
	if (from >= to)
		return false;
	memset(v, 0, trib_payload_len(sh->nval));
	memcpy(v + 4 * (from - sh->first), (const uint32_t *)r->src + (from - r->own_first),
	       4 * (to - from));
	return true;
}

static void pack_floats(const struct trib_codec *codec, const struct trib_shape *sh, const float *x,
			uint8_t *v)
{
	switch (sh->fmt) {
	case TRIB_FMT_F16:
		codec->f16_pack(v, x, sh->n);
		break;
	case TRIB_FMT_BF16:
		codec->bf16_pack(v, x, sh->n);
		break;
	default:
		trib_i32_pack(v, (const int32_t *)x, sh->n);
	}
}

static void pack_words(uint8_t *v, const uint64_t *src, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		put_word(v, i, (int64_t)src[i]);
	memset(v + 8 * n, 0, trib_payload_len(2 * n) - 8 * n);
}

static void unpack_words(uint64_t *out, const uint8_t *v, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		out[i] = (uint64_t)get_word(v, i);
}

void trib_chunk_pack(struct trib_stream *s, struct trib_part *p, uint64_t off, uint64_t c)
{
	const struct trib_codec *codec = s->eng->codec;
	struct trib_hdr *h = (void *)trib_cell(s, c);
	const void *src = p->req->src;
	struct trib_shape sh;
	bool empty = false;
	uint8_t *v;

	trib_chunk_shape(s, p, off, &sh);
	trib_hdr_fill(s, h, TRIB_T_GRAD, (uint32_t)c);
	if (s->shared)
		trib_shared_label(s, h);
	v = trib_cell_values(s, h);
	switch (p->kind) {
	case TRIB_KIND_FSUM:
		if (sh.exp)
			pack_exp(s, p, &sh, v);
		else if (sh.bad)
			memset(v, 0, trib_payload_len(sh.nval));
		else
			codec->q32_pack(v, (const float *)src + sh.first, sh.n, sh.scale,
					trib_q32_limit(s->eng->world));
		break;
	case TRIB_KIND_LOCAL:
		if (sh.exp)
			pack_exp(s, p, &sh, v);
		else
			trib_local_pack(s, p, &sh, h, v);
		break;
	case TRIB_KIND_FLOATS:
		pack_floats(codec, &sh, (const float *)src + sh.first, v);
		break;
	case TRIB_KIND_ISUM:
		trib_i32_pack(v, (const int32_t *)src + sh.first, sh.n);
		break;
	case TRIB_KIND_WORDS:
		pack_words(v, (const uint64_t *)src + sh.first, sh.n);
		break;
	case TRIB_KIND_ORDER:
		pack_order(s, p, &sh, v);
		break;
	case TRIB_KIND_BITS:
		empty = !pack_bits(p, &sh, v);
		break;
	case TRIB_KIND_BARRIER:
	case TRIB_KIND_LEAVE:
		empty = true;
		break;
	}
	h->flags |= (sh.push ? TRIB_F_PUSH : 0) | (empty ? TRIB_F_EMPTY : 0);
	/* Nobody waits for a rank that leaves later than others. */
	if (!off && p->kind != TRIB_KIND_LEAVE)
		h->flags |= TRIB_F_HEAD;
	h->op = (uint8_t)sh.op;
	h->fmt = (uint8_t)sh.fmt;
	h->nval = htobe16(empty ? 0 : (uint16_t)sh.nval);
	h->scale = htobe32((uint32_t)sh.scale);
}

/* Store the maximum exponents of all ranks. A result below our own exponents is refused. */
static int unpack_exp(struct trib_stream *s, struct trib_part *p, const struct trib_shape *sh,
		      const uint8_t *cell)
{
	const uint8_t *v = (const uint8_t *)s->eng->scratch->values;
	int64_t w, own;
	uint32_t i;

	trib_snapshot(s->eng->scratch->values, cell, 8 * sh->n);
	for (i = 0; i < sh->n; i++) {
		w = get_word(v, i);
		own = p->exp[sh->first + i];
		if (own == TRIB_PART_BAD)
			own = exponent(s, p, sh->first + i);
		if (w < own)
			return -EPROTO;
		if (!is_bad(w) && w != TRIB_EXP_ZERO && (w < TRIB_EXP_MIN || w > TRIB_EXP_LARGEST))
			return -EPROTO;
	}
	for (i = 0; i < sh->n; i++) {
		w = get_word(v, i);
		if (is_bad(w) && w > p->req->bad)
			p->req->bad = w;
		p->exp[sh->first + i] = exp_of(w);
	}
	p->exp_seen[sh->group / 8] |= (uint8_t)(1u << sh->group % 8);
	return 0;
}

static void unpack_floats(const struct trib_codec *codec, const struct trib_shape *sh,
			  const void *v, float *out)
{
	switch (sh->fmt) {
	case TRIB_FMT_F16:
		codec->f16_unpack(out, v, sh->n);
		break;
	case TRIB_FMT_BF16:
		codec->bf16_unpack(out, v, sh->n);
		break;
	default:
		trib_i32_unpack((int32_t *)out, v, sh->n);
	}
}

/* Unpack all elements of a chunk to @out. */
static void unpack_values(struct trib_stream *s, const struct trib_part *p,
			  const struct trib_shape *sh, const void *v, void *out)
{
	const struct trib_codec *codec = s->eng->codec;
	const struct trib_req *r = p->req;
	unsigned int world = s->eng->world;
	int neg = r->op == TRIB_SOCK_MIN;

	if (p->kind == TRIB_KIND_LOCAL && !p->nexp) {
		unpack_floats(codec, sh, v, out);
		if (r->op == TRIB_SOCK_AVG)
			codec->f32_div(out, sh->n, world);
		return;
	}
	switch (p->kind) {
	case TRIB_KIND_LOCAL:
	case TRIB_KIND_FSUM:
		if (p->kind == TRIB_KIND_LOCAL)
			v = trib_local_words(s, sh, v);
		if (r->op != TRIB_SOCK_AVG)
			codec->q32_unpack(out, v, sh->n, sh->scale);
		else if (world & (world - 1))
			codec->q32_unpack_avg(out, v, sh->n, sh->scale, world);
		else /* a power of two: same bits, faster */
			codec->q32_unpack(out, v, sh->n, sh->scale - (int)trib_log2_ceil(world));
		break;
	case TRIB_KIND_FLOATS:
		unpack_floats(codec, sh, v, out);
		if (r->op == TRIB_SOCK_AVG)
			codec->f32_div(out, sh->n, world);
		break;
	case TRIB_KIND_ORDER:
		if (r->dtype == TRIB_SOCK_I32)
			codec->i32_unorder(out, v, sh->n, neg);
		else
			codec->f32_unorder(out, v, sh->n, neg);
		break;
	default:
		trib_i32_unpack(out, v, sh->n);
		break;
	}
}

/* Can a sum in this chunk exceed the largest float? Averages never do. */
static bool may_overflow(const struct trib_part *p, const struct trib_shape *sh)
{
	return p->nexp && p->req->op == TRIB_SOCK_SUM && sh->scale > TRIB_Q32_SCALE_SAFE;
}

/*
 * Note the first sum that is infinite. All ranks look at all elements, also at
 * those that they do not store, so all find the same one.
 */
static void find_overflow(struct trib_req *r, const struct trib_shape *sh, const uint32_t *sums)
{
	uint64_t over;
	uint32_t i;

	for (i = 0; i < sh->n; i++)
		if ((sums[i] & 0x7fffffff) == 0x7f800000)
			break;
	over = sh->first + i + 1;
	if (i < sh->n && (!r->over || over < r->over))
		r->over = over;
}

/* Store the elements in the caller's region of the result. */
static void store(struct trib_stream *s, const struct trib_part *p, const struct trib_shape *sh,
		  const void *v)
{
	uint64_t from = sh->first, to = sh->first + sh->n;
	uint32_t *all = s->eng->scratch->values;
	struct trib_req *r = p->req;
	uint64_t end = r->dst_first + r->dst_count;
	bool look = may_overflow(p, sh);

	if (!look && from >= r->dst_first && to <= end) {
		unpack_values(s, p, sh, v, (uint32_t *)r->dst + (from - r->dst_first));
		return;
	}
	if (from < r->dst_first)
		from = r->dst_first;
	if (to > end)
		to = end;
	if (!look && from >= to)
		return;
	unpack_values(s, p, sh, v, all);
	if (look)
		find_overflow(r, sh, all);
	if (from < to)
		memcpy((uint32_t *)r->dst + (from - r->dst_first), all + (from - sh->first),
		       4 * (to - from));
}

int trib_chunk_unpack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		      const struct trib_rx *rx)
{
	struct trib_req *r = p->req;
	struct trib_shape sh;
	int64_t w;

	trib_chunk_shape(s, p, off, &sh);
	if (rx->op != sh.op || rx->fmt != sh.fmt || rx->nval != sh.nval || rx->scale != sh.scale ||
	    (sh.nval && !rx->v))
		return -EPROTO;
	if (sh.exp)
		return unpack_exp(s, p, &sh, rx->v);
	if (p->kind == TRIB_KIND_ORDER && r->dtype == TRIB_SOCK_F32) {
		w = get_word(rx->v, 0);
		if (is_bad(w)) {
			if (w > r->bad)
				r->bad = w;
			return 0;
		}
	}
	if (p->kind == TRIB_KIND_WORDS)
		unpack_words((uint64_t *)r->dst + sh.first, rx->v, sh.n);
	else if (sh.n && !sh.bad)
		store(s, p, &sh, rx->v);
	return 0;
}
