// SPDX-License-Identifier: BSD-2-Clause
/* A relay's node rules in plain C; see relay_model.h. */
#include "relay_model.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"

enum { COLLECT, SENT, RESULT };

struct packet {
	struct trib_hdr h;
	uint64_t v[TRIB_NVAL_LARGE / 2];
};

int relay_init(struct relay *r, unsigned int nchild, unsigned int window)
{
	r->nchild = nchild;
	r->slots = 2 * window;
	r->slot = calloc(r->slots, sizeof(*r->slot));
	return r->slot ? 0 : -ENOMEM;
}

void relay_free(struct relay *r)
{
	free(r->slot);
}

void relay_wipe(struct relay *r)
{
	memset(r->slot, 0, r->slots * sizeof(*r->slot));
	r->resets++;
}

static void send_one(struct relay *r, int to, struct packet *p, size_t len)
{
	if (to == RELAY_UP) {
		p->h.flags |= TRIB_F_UP;
		p->h.child = htobe16((uint16_t)r->up_child);
	}
	r->out(r, to, p, len);
}

static void to_children(struct relay *r, struct packet *p, size_t len)
{
	unsigned int i;

	p->h.flags &= (uint8_t)~TRIB_F_UP;
	for (i = 0; i < r->nchild; i++)
		send_one(r, (int)i, p, len);
}

static void to_all(struct relay *r, struct packet *p, size_t len)
{
	to_children(r, p, len);
	if (!r->root)
		send_one(r, RELAY_UP, p, len);
}

/* The slot's values as a packet. */
static size_t fill(const struct relay_slot *s, const struct trib_hdr *like,
		   struct packet *p, uint8_t type)
{
	p->h = *like;
	p->h.type = type;
	p->h.flags = s->flags & (TRIB_F_PUSH | TRIB_F_CE);
	p->h.op = s->op;
	p->h.fmt = s->fmt;
	p->h.scale = s->scale;
	p->h.nval = htobe16(s->nval);
	p->h.bmwords = 0;
	p->h.aux = 0;
	p->h.child = htobe16(s->last);
	memcpy(p->v, s->v, trib_payload_len(s->nval));
	return sizeof(p->h) + trib_payload_len(s->nval);
}

static void answer(struct relay *r, const struct relay_slot *s,
		   const struct trib_hdr *like, int to)
{
	struct packet p;
	size_t len = fill(s, like, &p, TRIB_T_RESULT);

	send_one(r, to, &p, len);
}

static void partial(struct relay *r, const struct relay_slot *s,
		    const struct trib_hdr *like, bool resend)
{
	struct packet p;
	size_t len = fill(s, like, &p, TRIB_T_GRAD);

	p.h.flags |=
		(resend ? TRIB_F_RESEND : 0) | (s->nval ? 0 : TRIB_F_EMPTY);
	send_one(r, RELAY_UP, &p, len);
}

static size_t make_need(struct relay *r, const struct trib_hdr *like,
			uint64_t seen, struct packet *p)
{
	uint64_t be = htobe64(seen);

	r->needs++;
	p->h = *like;
	p->h.type = TRIB_T_NEED;
	p->h.flags = 0;
	p->h.op = p->h.fmt = 0;
	p->h.scale = 0;
	p->h.nval = 0;
	p->h.bmwords = 1;
	memcpy(p->v, &be, 8);
	return sizeof(p->h) + 8;
}

/* In the order of arrival, in fp32; the slot holds sums until it is full. */
static void merge_floats(struct relay_slot *s, const struct packet *p)
{
	unsigned int n = trib_fmt_values(s->fmt, be16toh(p->h.nval)), i;
	float in[TRIB_NVAL_LARGE], *acc = (float *)s->v;

	for (i = 0; i < n; i++) {
		uint16_t h = trib_half_at(p->v, i);

		if (s->fmt == TRIB_FMT_F16)
			trib_bits_put(in + i, trib_f16_to(h));
		else if (s->fmt == TRIB_FMT_BF16)
			trib_bits_put(in + i, trib_bf16_to(h));
		else
			memcpy(in + i, (const float *)p->v + i, 4);
	}
	for (i = 0; i < n; i++)
		acc[i] = s->nval ? acc[i] + in[i] : in[i];
	s->nval = be16toh(p->h.nval);
}

static void round_floats(struct relay_slot *s)
{
	unsigned int n = trib_fmt_values(s->fmt, s->nval), i;
	float acc[TRIB_NVAL_LARGE];

	if (s->fmt == TRIB_FMT_F32)
		return;
	memcpy(acc, s->v, 4 * n);
	memset(s->v, 0, sizeof(s->v));
	for (i = 0; i < n; i++) {
		uint32_t b = trib_bits_at(acc + i);

		trib_half_put(s->v, i,
			      s->fmt == TRIB_FMT_F16 ? trib_f16_of(b)
						     : trib_bf16_of(b));
	}
}

static void merge(struct relay_slot *s, const struct packet *p)
{
	unsigned int nval = be16toh(p->h.nval), i;
	const uint64_t *v = p->v;

	if (!nval)
		return;
	if (trib_fmt_is_float(s->fmt)) {
		merge_floats(s, p);
		return;
	}
	if (!s->nval) {
		s->nval = (uint16_t)nval;
		memcpy(s->v, v, trib_payload_len(nval));
		return;
	}
	for (i = 0; i < trib_payload_len(nval) / 8; i++) {
		if (s->op == TRIB_WOP_MAX) {
			if ((int64_t)v[i] > (int64_t)s->v[i])
				s->v[i] = v[i];
		} else if (s->fmt == TRIB_FMT_I32) {
			uint64_t lo = (uint32_t)(s->v[i] + v[i]);
			uint64_t hi = (s->v[i] >> 32) + (v[i] >> 32);

			s->v[i] = hi << 32 | lo;
		} else {
			s->v[i] += v[i];
		}
	}
}

static void take(struct relay_slot *s, const struct packet *p, uint32_t chunk)
{
	memset(s, 0, offsetof(struct relay_slot, v));
	s->used = true;
	s->chunk = chunk;
	s->op = p->h.op;
	s->fmt = p->h.fmt;
	s->scale = p->h.scale;
}

static bool fits(const struct relay_slot *s, const struct packet *p)
{
	return s->op == p->h.op && s->fmt == p->h.fmt &&
	       s->scale == p->h.scale &&
	       (!s->nval || !p->h.nval || s->nval == be16toh(p->h.nval));
}

static void contribute(struct relay *r, struct relay_slot *s, int from,
		       const struct packet *in)
{
	uint64_t full = r->nchild < 64 ? (1ULL << r->nchild) - 1 : ~0ULL;
	struct packet p;
	size_t len;

	if (!fits(s, in)) {
		r->mismatches++;
		return;
	}
	if (!(in->h.flags & TRIB_F_EMPTY))
		merge(s, in);
	s->seen |= 1ULL << from;
	s->flags |= in->h.flags & (TRIB_F_PUSH | TRIB_F_CE);
	if (s->seen != full)
		return;
	if (trib_fmt_is_float(s->fmt) && s->nval)
		round_floats(s);
	s->last = (uint16_t)from;
	s->state = r->root ? RESULT : SENT;
	if (!r->root) {
		partial(r, s, &in->h, in->h.flags & TRIB_F_RESEND);
		return;
	}
	len = fill(s, &in->h, &p, TRIB_T_RESULT);
	to_children(r, &p, len);
}

static void rx_grad(struct relay *r, struct relay_slot *s, int from,
		    const struct packet *in)
{
	uint32_t chunk = be32toh(in->h.chunk);
	struct packet p;
	size_t len;

	if (s->used && trib_chunk_diff(chunk, s->chunk) < 0)
		return;
	if (!s->used || s->chunk != chunk)
		take(s, in, chunk);
	if (s->state == RESULT) {
		answer(r, s, &in->h, from);
	} else if (s->state == COLLECT && !(s->seen >> from & 1)) {
		contribute(r, s, from, in);
	} else if (!(in->h.flags & TRIB_F_RESEND)) {
		r->dups++;
	} else if (s->state == SENT) {
		partial(r, s, &in->h, true);
	} else {
		len = make_need(r, &in->h, s->seen, &p);
		to_all(r, &p, len);
	}
}

static void rx_need(struct relay *r, struct relay_slot *s, int from,
		    const struct packet *in)
{
	uint32_t chunk = be32toh(in->h.chunk);
	bool here = s->used && s->chunk == chunk;
	uint64_t bits = be64toh(in->v[0]);
	struct packet p;
	size_t len;

	if (s->used && trib_chunk_diff(chunk, s->chunk) < 0)
		return;
	if (from == RELAY_UP && bits >> r->up_child & 1)
		return;
	if (here && s->state == RESULT) {
		answer(r, s, &in->h, from);
	} else if (here && s->state == SENT) {
		if (from == RELAY_UP) {
			partial(r, s, &in->h, false);
			return;
		}
		len = make_need(r, &in->h, 0, &p);
		send_one(r, RELAY_UP, &p, len);
	} else {
		len = make_need(r, &in->h,
				(here ? s->seen : 0) |
					(from >= 0 ? 1ULL << from : 0),
				&p);
		if (from >= 0)
			to_all(r, &p, len);
		else
			to_children(r, &p, len);
	}
}

static void rx_result(struct relay *r, struct relay_slot *s, int from,
		      const struct packet *in, size_t len)
{
	uint32_t chunk = be32toh(in->h.chunk);
	struct packet p = *in;

	if (s->used && (trib_chunk_diff(chunk, s->chunk) < 0 ||
			(s->chunk == chunk && s->state == RESULT)))
		return;
	take(s, in, chunk);
	s->state = RESULT;
	s->nval = be16toh(in->h.nval);
	s->flags = in->h.flags & (TRIB_F_PUSH | TRIB_F_CE);
	s->last = from == RELAY_UP ? be16toh(in->h.child) : 0xff;
	memcpy(s->v, in->v, trib_payload_len(s->nval));
	p.h.child = htobe16(s->last);
	to_children(r, &p, len);
	if (from != RELAY_UP && !r->root)
		send_one(r, RELAY_UP, &p, len);
}

void relay_rx(struct relay *r, int from, const void *pkt, size_t len)
{
	struct relay_slot *s;
	struct packet p;

	if (len < sizeof(p.h) || len > sizeof(p))
		return;
	memcpy(&p, pkt, len);
	if (be32toh(p.h.epoch) != r->epoch)
		return;
	s = &r->slot[be32toh(p.h.chunk) & (r->slots - 1)];
	switch (p.h.type) {
	case TRIB_T_GRAD:
		rx_grad(r, s, from, &p);
		break;
	case TRIB_T_NEED:
		rx_need(r, s, from, &p);
		break;
	case TRIB_T_RESULT:
		rx_result(r, s, from, &p, len);
		break;
	case TRIB_T_ALIVE:
	case TRIB_T_ABORT:
		if (from == RELAY_UP || r->root)
			to_children(r, &p, len);
		else
			send_one(r, RELAY_UP, &p, len);
		break;
	}
}
