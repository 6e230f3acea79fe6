// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Contents of each chunk of a message. All ranks compute the same shape from the
 * same arguments, without negotiation.
 *
 * A float sum sends exponents (EXP) before the data that they scale. An EXP chunk
 * covers a group of G = nval / 2 data chunks and is sent K groups ahead, so only the
 * first ones cost a round trip, and a rank can fill all cells that it shares with XDP:
 *
 *	E0 .. EK D0[G] E(K+1) D1[G] ... E(n-1) D(n-1-K)[G] ... D(n-1)[the rest]
 *
 * Masked values (TRIB_KIND_LOCAL) travel like that, too, their data chunks as I32.
 *
 * In a job of floats there are data chunks only, and the sum is the result.
 */
#include "inner.h"

#define GROUP(nval) ((uint64_t)(nval) / 2)

/* EXP chunks before the first data chunk: K + 1. Part of the wire protocol. */
static uint64_t ahead(const struct trib_part *p, uint64_t g)
{
	uint64_t cells = g <= GROUP(TRIB_NVAL_SMALL) ? 1024 : 512;
	uint64_t k = cells / (g + 1) + 1;

	return k < p->nexp ? k + 1 : p->nexp;
}

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* Values per chunk in a job of floats; relays have slots of @nval units. */
static uint32_t floats_each(uint16_t nval, uint16_t fmt)
{
	return trib_fmt_values((uint8_t)fmt, trib_fmt_nval_max((uint8_t)fmt, nval));
}

void trib_part_count(struct trib_part *p, uint16_t nval, uint16_t fmt)
{
	p->nexp = 0;
	switch (p->kind) {
	case TRIB_KIND_FLOATS:
		p->ndata = div_up(p->count, floats_each(nval, fmt));
		break;
	case TRIB_KIND_FSUM:
		p->ndata = div_up(p->count, nval);
		p->nexp = div_up(p->ndata, GROUP(nval));
		break;
	case TRIB_KIND_LOCAL:
		p->ndata = div_up(p->count, trib_local_each(nval));
		if (!trib_fmt_is_float((uint8_t)fmt))
			p->nexp = div_up(p->ndata, GROUP(nval));
		break;
	case TRIB_KIND_ISUM:
	case TRIB_KIND_BITS:
		p->ndata = div_up(p->count, nval);
		break;
	case TRIB_KIND_ORDER:
	case TRIB_KIND_WORDS:
		p->ndata = div_up(p->count, nval / 2);
		break;
	case TRIB_KIND_BARRIER:
	case TRIB_KIND_LEAVE:
		p->ndata = 1;
		break;
	}
	p->front = p->nexp ? ahead(p, GROUP(nval)) : 0;
	p->nchunk = p->ndata + p->nexp;
	p->left = p->nchunk;
}

/**
 * struct spot - chunk of a float sum
 * @exp:   an EXP chunk.
 * @i:     index among the data chunks, or of the EXP chunk.
 * @group: that it belongs to.
 * @end:   the first chunk behind it that waits for other exponents.
 */
struct spot {
	bool exp;
	uint64_t i;
	uint64_t group;
	uint64_t end;
};

static struct spot spot_of(const struct trib_part *p, uint64_t g, uint64_t off)
{
	uint64_t rows = p->nexp - p->front, at = off - p->front, row, col;

	if (off < p->front)
		return (struct spot){.exp = true, .i = off, .group = off, .end = p->front};
	row = at / (g + 1);
	col = at % (g + 1);
	if (row < rows)
		return (struct spot){
			.exp = col == g,
			.i = col == g ? p->front + row : row * g + col,
			.group = col == g ? p->front + row : row,
			.end = off - col + g + 1,
		};
	at -= rows;
	row = at / g;
	return (struct spot){.i = at, .group = row, .end = p->front + rows + (row + 1) * g};
}

void trib_shape_data(const struct trib_part *p, uint64_t i, unsigned int each,
		     struct trib_shape *sh)
{
	uint64_t done = i * each;

	sh->first = p->first + done;
	sh->n = p->count - done < each ? (uint32_t)(p->count - done) : each;
}

/* Elements of a data chunk of a float sum. */
static uint32_t sum_each(const struct trib_stream *s, const struct trib_part *p)
{
	return p->kind == TRIB_KIND_LOCAL ? trib_local_each(s->nval) : s->nval;
}

void trib_shape_sum(const struct trib_stream *s, const struct trib_part *p, uint64_t i,
		    struct trib_shape *sh)
{
	trib_shape_data(p, i, sum_each(s, p), sh);
}

static bool have_exp(const struct trib_part *p, uint64_t group)
{
	return p->exp_seen[group / 8] >> group % 8 & 1;
}

/* A chunk of whole mask words. */
static void shape_local(struct trib_shape *sh, unsigned int fmt)
{
	sh->fmt = fmt;
	sh->nval = (sh->n + TRIB_MASK_UNITS - 1) / TRIB_MASK_UNITS * TRIB_MASK_UNITS;
}

static void shape_fsum(const struct trib_stream *s, const struct trib_part *p, uint64_t off,
		       struct trib_shape *sh)
{
	uint64_t g = GROUP(s->nval), i;
	struct spot at = spot_of(p, g, off);

	i = at.i;
	sh->exp = at.exp;
	sh->group = at.group;
	if (sh->exp) {
		sh->op = TRIB_WOP_MAX;
		sh->fmt = TRIB_FMT_W64;
		sh->first = i * g;
		sh->n = p->ndata - i * g < g ? (uint32_t)(p->ndata - i * g) : (uint32_t)g;
		sh->nval = 2 * sh->n;
		/* Data waits for the first one; later ones are ahead. */
		sh->push = !i;
		return;
	}
	sh->fmt = TRIB_FMT_Q32;
	trib_shape_sum(s, p, i, sh);
	sh->nval = (sh->n + 1) & ~1u; /* whole pairs */
	if (p->kind == TRIB_KIND_LOCAL)
		shape_local(sh, TRIB_FMT_I32);
	if (!have_exp(p, sh->group))
		return;
	sh->bad = p->exp[i] == TRIB_PART_BAD;
	/* If all values are zero, the scale does not matter. */
	if (!sh->bad && p->exp[i] != TRIB_EXP_ZERO)
		sh->scale = trib_q32_scale(p->exp[i], s->eng->world);
}

/*
 * Chunks between two wake-ups (TRIB_F_PUSH): at least two in a window, or a
 * receiver whose window is full would sleep until its timeout. A power of two, so
 * that ranks with different windows mostly push at the same chunks.
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

void trib_chunk_shape(const struct trib_stream *s, const struct trib_part *p, uint64_t off,
		      struct trib_shape *sh)
{
	memset(sh, 0, sizeof(*sh));
	sh->op = TRIB_WOP_ADD;
	switch (p->kind) {
	case TRIB_KIND_FSUM:
		shape_fsum(s, p, off, sh);
		break;
	case TRIB_KIND_LOCAL:
		if (p->nexp) {
			shape_fsum(s, p, off, sh);
			break;
		}
		trib_shape_sum(s, p, off, sh);
		shape_local(sh, TRIB_FMT_F32);
		break;
	case TRIB_KIND_FLOATS:
		sh->fmt = s->eng->rep->fmt;
		trib_shape_data(p, off, floats_each(s->nval, s->eng->rep->fmt), sh);
		sh->nval = trib_fmt_is_half((uint8_t)sh->fmt) ? (sh->n + 1) / 2 : sh->n;
		break;
	case TRIB_KIND_ISUM:
	case TRIB_KIND_BITS:
		sh->fmt = TRIB_FMT_I32;
		trib_shape_data(p, off, s->nval, sh);
		sh->nval = sh->n;
		break;
	case TRIB_KIND_ORDER:
		sh->op = TRIB_WOP_MAX;
		sh->fmt = TRIB_FMT_W64;
		trib_shape_data(p, off, s->nval / 2, sh);
		sh->nval = 2 * sh->n;
		break;
	case TRIB_KIND_WORDS:
		/* Relays add whole words, whatever lanes are in them. */
		sh->fmt = TRIB_FMT_Q32;
		trib_shape_data(p, off, s->nval / 2, sh);
		sh->nval = 2 * sh->n;
		break;
	case TRIB_KIND_BARRIER:
	case TRIB_KIND_LEAVE:
		/*
		 * No values use this pair of op and format, so relays refuse
		 * it if other ranks issue another collective.
		 */
		sh->fmt = TRIB_FMT_W64;
		sh->scale = p->kind == TRIB_KIND_LEAVE;
		break;
	}
	if (off == p->nchunk - 1 || !((p->chunk0 + off + 1) & (push_every(s) - 1)))
		sh->push = true;
}

bool trib_chunk_ready(const struct trib_stream *s, struct trib_part *p, uint64_t off)
{
	struct spot at;

	if (p->req->held)
		return false;
	if (!p->nexp || off < p->open)
		return true;
	at = spot_of(p, GROUP(s->nval), off);
	if (at.exp)
		return true;
	if (!have_exp(p, at.group))
		return false;
	p->open = at.end;
	return true;
}
