// SPDX-License-Identifier: BSD-2-Clause
/* The model of Reflex: what a RESULT lets go, and the frame that leaves. */
#include <arpa/inet.h>
#include <string.h>
#include "model.h"

static bool is_in(uint8_t *cells, uint32_t epoch, uint32_t chunk, int state)
{
	return rig_cell(cells, chunk)->state == TRIB_CELL(epoch, chunk, state);
}

/* Has the rank that RESULT, or is it of no chunk: before the first? */
static bool held(uint8_t *cells, uint32_t epoch, uint32_t chunk, uint32_t p)
{
	uint64_t word = rig_cell(cells, chunk)->state;

	if (is_in(cells, epoch, chunk, TRIB_CELL_RESULT))
		return true;
	return chunk > p && (word >> 3 != TRIB_CELL(epoch, chunk, TRIB_CELL_RESULT) >> 3 ||
			     word % 8 == TRIB_CELL_FREE);
}

bool model_ready(uint8_t *cells, uint32_t epoch, uint32_t chunk, uint32_t other)
{
	return is_in(cells, epoch, chunk, TRIB_CELL_READY) && held(cells, epoch, other, chunk);
}

bool model_shape_ok(const struct trib_hdr *h)
{
	static const int groups[8] = {1, 2, 4, 8, 16, 32};
	unsigned int nval = ntohs(h->nval), most = rig.nval;

	if (h->fmt == TRIB_FMT_F16 || h->fmt == TRIB_FMT_BF16)
		most = rig.nval / 2;
	if (nval > most || (!nval && !(h->flags & TRIB_F_EMPTY)))
		return false;
	if (h->fmt < TRIB_FMT_Q32 || h->fmt > TRIB_FMT_BF16)
		return false;
	if (h->op != TRIB_WOP_ADD && !(h->op == TRIB_WOP_MAX && h->fmt == TRIB_FMT_W64))
		return false;
	if (!(h->flags & TRIB_F_MASK))
		return !h->nm;
	return nval && nval % 32 == 0 && !(h->flags & TRIB_F_EMPTY) && h->op == TRIB_WOP_ADD &&
	       (h->fmt == TRIB_FMT_I32 || h->fmt == TRIB_FMT_F32) &&
	       (h->nm & 31) + 1 < groups[h->nm >> 5];
}

int model_length(const struct trib_hdr *h)
{
	int units = ntohs(h->nval);

	if (h->flags & TRIB_F_MASK)
		units = units / 32 + units * ((h->nm & 31) + 1) / (1 << (h->nm >> 5));
	return (units + 15) / 16 * 64;
}

static int leave(struct node *n, struct node_packet *p, const struct trib_cell *c, uint32_t chunk)
{
	const struct trib_reflex *r = &model.delivers[n->row->deliver].reflex;
	struct view *v = view_of(p);
	uint8_t *b = v->f->b;
	struct trib_hdr h = {
		.version = TRIB_WIRE_VERSION,
		.type = TRIB_T_GRAD,
		.flags = TRIB_F_UP |
			 (c->h.flags & (TRIB_F_PUSH | TRIB_F_EMPTY | TRIB_F_MASK | TRIB_F_HEAD)),
		.op = c->h.op,
		.fmt = c->h.fmt,
		.nm = c->h.nm,
		.job = htons(n->row->job),
		.tree = htons(model.tree),
		.child = r->child,
		.chunk = htonl(chunk),
		.epoch = htonl(n->row->epoch),
		.nval = c->h.nval,
		.scale = c->h.scale,
		.auth = r->auth,
	};

	memcpy(p->h, &h, sizeof(h));
	memcpy(b + v->pay, c->v, model_length(&c->h));
	model_shrink(n, p, model_length(&c->h));
	memcpy(b, b + 6, 6);
	memcpy(b + 6, r->smac, 6);
	model_turn_ip(v, (const uint8_t *)r->saddr);
	memcpy(b + v->l4, &r->sport, 2);
	memcpy(b + v->l4 + 2, &r->dport, 2);
	memset(b + v->l4 + 6, 0, 2);
	return V_REDIRECT;
}

int model_reflex(struct node *n, struct node_packet *p, const struct node_result *r)
{
	const struct trib_deliver *d = &model.delivers[n->row->deliver];
	uint8_t *cells = model.cells[n->row->deliver][0];
	struct trib_desk *desk = rig_desk(cells);
	uint32_t w = n->row->window, dist = desk->dist;
	bool ring = false;
	int verdict = V_DROP;

	if (!d->reflex.auth || d->nrank != 1 || !dist || dist > w)
		return V_DROP;
	for (int look = 0; look < (dist == w ? 1 : 2); look++) {
		uint32_t chunk = r->chunk + (look ? w : dist);
		struct trib_cell *c = rig_cell(cells, chunk);

		if (!model_ready(cells, r->epoch, chunk, chunk - (look ? dist : w)))
			continue;
		if (verdict == V_REDIRECT || !model_shape_ok(&c->h) ||
		    model_length(&c->h) > p->paylen || !model_answers(n, p)) {
			model.stats[TRIB_REFLEX_LEFT]++;
			ring = true;
			continue;
		}
		c->state = TRIB_CELL(r->epoch, chunk, TRIB_CELL_SENT);
		if (chunk % 4 == chunk / 16 % 4)
			model_timed(c, n->row->deliver, 0, false);
		desk->cpu[rig.cpu % TRIB_DESK_CPUS].carried++;
		model.stats[TRIB_TX_REFLEX]++;
		verdict = leave(n, p, c, chunk);
	}
	if (ring)
		model_ring(n, 0, r);
	return verdict;
}
