// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model of hosts that add up: what a RESULT lets the ranks of a node go, and the sum
 * that leaves in its frame.
 */
#include <arpa/inet.h>
#include <string.h>
#include "model.h"

/**
 * struct look - at one chunk of one rank
 * @rank:  place in the row.
 * @cells: its array.
 * @chunk: that may go.
 * @last:  also if that fills the slot.
 */
struct look {
	int rank;
	uint8_t *cells;
	uint32_t chunk;
	bool last;
};

static const struct trib_deliver *row_of(const struct node *n)
{
	return &model.delivers[n->row->deliver];
}

static bool fills(const struct node *n, const struct look *l)
{
	const struct trib_slot *s = node_slot(n, l->chunk);
	uint64_t seen = s->epoch == n->row->epoch && s->chunk == l->chunk ? s->seen : 0;

	return (seen | 1ULL << row_of(n)->child[l->rank]) == n->row->full;
}

/* Without the kernel module there are no floats. */
static bool is_float(const struct trib_hdr *h)
{
	return h->fmt >= TRIB_FMT_F32;
}

/* The cell's contribution, as a packet of the rank would have it. Return: as node_add(). */
static int add(struct node *n, const struct look *l)
{
	struct trib_cell *c = rig_cell(l->cells, l->chunk);
	struct trib_hdr h = c->h;
	struct node_packet q = {
		.h = &h,
		.pay = (uint8_t *)c->v,
		.paylen = model_length(&c->h),
		.child = row_of(n)->child[l->rank],
	};

	h.flags &= TRIB_F_PUSH | TRIB_F_EMPTY | TRIB_F_MASK | TRIB_F_HEAD;
	h.chunk = htonl(l->chunk);
	return node_add(n, &q);
}

/* The cell is READY and may go. Return: true if its slot is full now. */
static bool take(struct node *n, const struct look *l)
{
	struct trib_cell *c = rig_cell(l->cells, l->chunk);
	int act;

	c->state = TRIB_CELL(n->row->epoch, l->chunk, TRIB_CELL_SENT);
	if (l->chunk % 4 == l->chunk / 16 % 4)
		model_timed(c, n->row->deliver, l->rank, false);
	rig_desk(l->cells)->cpu[rig.cpu % TRIB_DESK_CPUS].carried++;
	act = add(n, l);
	if (act == NODE_DROPPED)
		model.refused++;
	else
		model.stats[TRIB_ADDED_HERE]++;
	return act == NODE_DONE;
}

/* Look at a chunk while the frame is free, or @used. Return: true if it is full now. */
static bool look_at(struct node *n, const struct node_packet *p, const struct look *l,
		    uint32_t other, bool used)
{
	const struct trib_hdr *h = &rig_cell(l->cells, l->chunk)->h;
	struct node_result r = {
		.chunk = ntohl(p->h->chunk),
		.epoch = n->row->epoch,
		.flags = p->h->flags,
	};

	if (!model_ready(l->cells, n->row->epoch, l->chunk, other) || (!l->last && fills(n, l)))
		return false;
	if (!used && model_shape_ok(h) && model_length(h) <= p->paylen && !is_float(h))
		return take(n, l);
	if (l->last) {
		model.stats[TRIB_REFLEX_LEFT]++;
		model_ring(n, l->rank, &r);
	}
	return false;
}

/* Both looks at a rank. Return: true if one filled a slot, in *@full. */
static bool look_twice(struct node *n, const struct node_packet *p, int rank, bool last, bool used,
		       uint32_t *full)
{
	struct look l = {.rank = rank, .cells = model.cells[n->row->deliver][rank], .last = last};
	uint32_t c = ntohl(p->h->chunk), w = n->row->window, dist = rig_desk(l.cells)->dist;
	bool done = false;

	if (row_of(n)->ring[rank] == TRIB_NONE || !dist || dist > w ||
	    rig_cell(l.cells, c)->state != TRIB_CELL(n->row->epoch, c, TRIB_CELL_RESULT))
		return false;
	l.chunk = c + dist;
	if (look_at(n, p, &l, l.chunk - w, used)) {
		*full = l.chunk;
		done = true;
	}
	l.chunk = c + w;
	if (dist == w || !look_at(n, p, &l, l.chunk - dist, used || done))
		return done;
	*full = l.chunk;
	return true;
}

int model_host(struct node *n, struct node_packet *p)
{
	const struct trib_deliver *d = row_of(n);
	uint32_t full = 0;
	bool used = false;

	if (!d->host || n->row->flags & TRIB_TREE_ROOT)
		return V_DROP;
	for (int last = 0; last < 2; last++)
		for (uint32_t i = 0; i < d->nrank; i++)
			used |= look_twice(n, p, i, last, used, &full);
	return used ? node_sum(n, p, full) : V_DROP;
}
