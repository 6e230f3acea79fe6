// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What one chunk of a message holds, and its way from elements to a packet
 * and back. All ranks compute the same shape from the same arguments; nothing
 * of it is negotiated.
 *
 * A float sum is: exponents first (EXP), then the data that they scale. One
 * EXP chunk speaks for a group of G = nval / 2 data chunks, and is sent one
 * group ahead, so that its round trip costs nothing but the first time:
 *
 *	E0 E1 D0[G] E2 D1[G] ... E(n-1) D(n-2)[G] D(n-1)[the rest]
 */
#include "inner.h"

#define GROUP(nval) ((uint64_t)(nval) / 2)

/* Exponents beside the real ones. */
#define EXP_BAD INT16_MIN

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

void trib_part_count(struct trib_part *p, uint16_t nval)
{
	p->nexp = 0;
	switch (p->kind) {
	case TRIB_KIND_FSUM:
		p->ndata = div_up(p->count, nval);
		p->nexp = div_up(p->ndata, GROUP(nval));
		break;
	case TRIB_KIND_ISUM:
	case TRIB_KIND_BITS:
		p->ndata = div_up(p->count, nval);
		break;
	case TRIB_KIND_ORDER:
		p->ndata = div_up(p->count, nval / 2);
		break;
	case TRIB_KIND_BARRIER:
	case TRIB_KIND_LEAVE:
		p->ndata = 1;
		break;
	}
	p->nchunk = p->ndata + p->nexp;
	p->left = p->nchunk;
}

/* Place @off of a float sum: EXP chunk of *@i, or data chunk *@i. */
static bool is_exp(const struct trib_part *p, uint64_t g, uint64_t off,
		   uint64_t *i)
{
	uint64_t row, col;

	if (!off) {
		*i = 0;
		return true;
	}
	row = (off - 1) / (g + 1);
	col = (off - 1) % (g + 1);
	if (row < p->nexp - 1 && !col) {
		*i = row + 1;
		return true;
	}
	if (row < p->nexp - 1)
		*i = row * g + col - 1;
	else
		*i = off - 1 - (p->nexp - 1);
	return false;
}

static void shape_data(const struct trib_part *p, uint64_t i, unsigned int each,
		       struct trib_shape *sh)
{
	uint64_t done = i * each;

	sh->first = p->first + done;
	sh->n = p->count - done < each ? (uint32_t)(p->count - done) : each;
}

static bool have_exp(const struct trib_part *p, uint64_t group)
{
	return p->exp_seen[group / 8] >> group % 8 & 1;
}

static void shape_fsum(const struct trib_stream *s, const struct trib_part *p,
		       uint64_t off, struct trib_shape *sh)
{
	uint64_t g = GROUP(s->nval), i;

	sh->exp = is_exp(p, g, off, &i);
	if (sh->exp) {
		sh->op = TRIB_WOP_MAX;
		sh->fmt = TRIB_FMT_W64;
		sh->first = i * g;
		sh->n = p->ndata - i * g < g ? (uint32_t)(p->ndata - i * g)
					     : (uint32_t)g;
		sh->nval = 2 * sh->n;
		sh->group = i;
		/* Data waits for the first; the others come a group ahead. */
		sh->push = !i;
		return;
	}
	sh->fmt = TRIB_FMT_Q32;
	sh->group = i / g;
	shape_data(p, i, s->nval, sh);
	sh->nval = (sh->n + 1) & ~1u; /* whole pairs */
	if (!have_exp(p, sh->group))
		return;
	sh->bad = p->exp[i] == EXP_BAD;
	/* Where all is zero any scale will do. */
	if (!sh->bad && p->exp[i] != TRIB_EXP_ZERO)
		sh->scale = trib_q32_scale(p->exp[i], s->eng->world);
}

/*
 * Receivers are woken at least twice a window: who waits for results before
 * it may send on would otherwise sleep until its time-out. A power of two, so
 * that ranks with different windows push at the same chunks where they can.
 */
static uint64_t push_every(const struct trib_stream *s)
{
	uint64_t n = TRIB_TUNE_PUSH_EVERY, room = s->window;

	if (room > s->cong.cwnd / TRIB_CHUNK_ONE)
		room = s->cong.cwnd / TRIB_CHUNK_ONE;
	while (n > 1 && n > room / 2)
		n /= 2;
	return n;
}

void trib_chunk_shape(const struct trib_stream *s, const struct trib_part *p,
		      uint64_t off, struct trib_shape *sh)
{
	memset(sh, 0, sizeof(*sh));
	sh->op = TRIB_WOP_ADD;
	switch (p->kind) {
	case TRIB_KIND_FSUM:
		shape_fsum(s, p, off, sh);
		break;
	case TRIB_KIND_ISUM:
	case TRIB_KIND_BITS:
		sh->fmt = TRIB_FMT_I32;
		shape_data(p, off, s->nval, sh);
		sh->nval = sh->n;
		break;
	case TRIB_KIND_ORDER:
		sh->op = TRIB_WOP_MAX;
		sh->fmt = TRIB_FMT_W64;
		shape_data(p, off, s->nval / 2, sh);
		sh->nval = 2 * sh->n;
		break;
	case TRIB_KIND_BARRIER:
	case TRIB_KIND_LEAVE:
		/*
		 * A pair of op and format that no values travel with: a relay
		 * refuses it where others expect something else.
		 */
		sh->fmt = TRIB_FMT_W64;
		sh->scale = p->kind == TRIB_KIND_LEAVE;
		break;
	}
	if (off == p->nchunk - 1 || !((p->chunk0 + off + 1) % push_every(s)))
		sh->push = true;
}

bool trib_chunk_ready(const struct trib_stream *s, const struct trib_part *p,
		      uint64_t off)
{
	uint64_t i;

	if (p->kind != TRIB_KIND_FSUM || is_exp(p, GROUP(s->nval), off, &i))
		return true;
	return have_exp(p, i / GROUP(s->nval));
}

unsigned int trib_packet_len(const void *cell)
{
	const struct trib_hdr *h = cell;

	return sizeof(*h) + 8u * h->bmwords +
	       trib_payload_len(be16toh(h->nval));
}

static int64_t report_bad(const struct trib_engine *eng, uint64_t index)
{
	uint64_t mask = (1ULL << TRIB_EXP_INDEX_BITS) - 1;

	return (int64_t)((uint64_t)TRIB_EXP_BAD |
			 (uint64_t)eng->rank << TRIB_EXP_INDEX_BITS |
			 (~index & mask));
}

static bool is_bad(int64_t word)
{
	return word > 0 && (word & TRIB_EXP_BAD);
}

/* Words of 64 bits travel little-endian. */
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

static void pack_exp(struct trib_stream *s, const struct trib_part *p,
		     const struct trib_shape *sh, uint8_t *v)
{
	const float *src = p->req->src;
	uint32_t i, amax;
	int64_t word;

	for (i = 0; i < sh->n; i++) {
		struct trib_shape d;
		const float *x;

		shape_data(p, sh->first + i, s->nval, &d);
		x = src + d.first;
		amax = s->eng->codec->amax(x, d.n);
		if (amax < 0x7f800000)
			word = trib_exponent(amax);
		else
			word = report_bad(s->eng,
					  d.first + trib_first_bad(x, d.n));
		put_word(v, i, word);
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
		s->eng->codec->i32_order(v, (const int32_t *)r->src + sh->first,
					 sh->n, neg);
		return;
	}
	i = s->eng->codec->f32_nan(x, sh->n);
	if (i == sh->n) {
		s->eng->codec->f32_order(v, x, sh->n, neg);
		return;
	}
	/* One report says it all; it wins over every value. */
	memset(v, 0, trib_payload_len(sh->nval));
	put_word(v, 0, report_bad(s->eng, sh->first + i));
}

/* This rank's region of the message, zeros around it.
 * Return: false if the chunk has none of it.
 */
static bool pack_bits(const struct trib_part *p, const struct trib_shape *sh,
		      uint8_t *v)
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
	memcpy(v + 4 * (from - sh->first),
	       (const uint32_t *)r->src + (from - r->own_first),
	       4 * (to - from));
	return true;
}

void trib_chunk_pack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		     uint64_t c)
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
	v = trib_cell_values(h);
	switch (p->kind) {
	case TRIB_KIND_FSUM:
		if (sh.exp)
			pack_exp(s, p, &sh, v);
		else if (sh.bad)
			memset(v, 0, trib_payload_len(sh.nval));
		else
			codec->q32_pack(v, (const float *)src + sh.first, sh.n,
					sh.scale,
					trib_q32_limit(s->eng->world));
		break;
	case TRIB_KIND_ISUM:
		trib_i32_pack(v, (const int32_t *)src + sh.first, sh.n);
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
	h->op = (uint8_t)sh.op;
	h->fmt = (uint8_t)sh.fmt;
	h->nval = htobe16(empty ? 0 : (uint16_t)sh.nval);
	h->scale = htobe32((uint32_t)sh.scale);
}

/*
 * Exponents of all ranks' maximum. Our own are in the frozen GRAD: a result
 * below them is not one.
 */
static int unpack_exp(struct trib_stream *s, struct trib_part *p,
		      const struct trib_shape *sh, uint64_t c, const uint8_t *v)
{
	const uint8_t *own = trib_cell_values(trib_cell(s, c));
	int64_t w;
	uint32_t i;

	for (i = 0; i < sh->n; i++) {
		w = get_word(v, i);
		if (w < get_word(own, i))
			return -EPROTO;
		if (!is_bad(w) && w != TRIB_EXP_ZERO &&
		    (w < TRIB_EXP_MIN || w > TRIB_EXP_LARGEST))
			return -EPROTO;
	}
	for (i = 0; i < sh->n; i++) {
		w = get_word(v, i);
		if (is_bad(w) && w > p->req->bad)
			p->req->bad = w;
		p->exp[sh->first + i] = is_bad(w) ? EXP_BAD : (int16_t)w;
	}
	p->exp_seen[sh->group / 8] |= (uint8_t)(1u << sh->group % 8);
	return 0;
}

/* A whole chunk's elements, to @out. */
static void unpack_values(struct trib_stream *s, const struct trib_part *p,
			  const struct trib_shape *sh, const void *v, void *out)
{
	const struct trib_codec *codec = s->eng->codec;
	const struct trib_req *r = p->req;
	unsigned int world = s->eng->world;
	int neg = r->op == TRIB_SOCK_MIN;

	switch (p->kind) {
	case TRIB_KIND_FSUM:
		if (r->op != TRIB_SOCK_AVG)
			codec->q32_unpack(out, v, sh->n, sh->scale);
		else if (world & (world - 1))
			codec->q32_unpack_avg(out, v, sh->n, sh->scale, world);
		else /* the same, and faster */
			codec->q32_unpack(out, v, sh->n,
					  sh->scale -
						  (int)trib_log2_ceil(world));
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

/* The elements that the caller wants, to where the caller wants them. */
static void store(struct trib_stream *s, const struct trib_part *p,
		  const struct trib_shape *sh, const void *v)
{
	const struct trib_req *r = p->req;
	uint64_t from = sh->first, to = sh->first + sh->n;
	uint64_t end = r->dst_first + r->dst_count;
	uint32_t *all = s->eng->scratch->values;

	if (from >= r->dst_first && to <= end) {
		unpack_values(s, p, sh, v,
			      (uint32_t *)r->dst + (from - r->dst_first));
		return;
	}
	if (from < r->dst_first)
		from = r->dst_first;
	if (to > end)
		to = end;
	if (from >= to)
		return;
	unpack_values(s, p, sh, v, all);
	memcpy((uint32_t *)r->dst + (from - r->dst_first),
	       all + (from - sh->first), 4 * (to - from));
}

int trib_chunk_unpack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		      uint64_t c, const struct trib_rx *rx)
{
	struct trib_req *r = p->req;
	struct trib_shape sh;
	int64_t w;

	trib_chunk_shape(s, p, off, &sh);
	if (rx->op != sh.op || rx->fmt != sh.fmt || rx->nval != sh.nval ||
	    rx->scale != sh.scale || (sh.nval && !rx->v))
		return -EPROTO;
	if (sh.exp)
		return unpack_exp(s, p, &sh, c, rx->v);
	if (p->kind == TRIB_KIND_ORDER && r->dtype == TRIB_SOCK_F32) {
		w = get_word(rx->v, 0);
		if (is_bad(w)) {
			if (w > r->bad)
				r->bad = w;
			return 0;
		}
	}
	if (sh.n && !sh.bad)
		store(s, p, &sh, rx->v);
	return 0;
}
