// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model's delivery: cells, desks and ring records of the ranks of this host.
 */
#include <arpa/inet.h>
#include <string.h>
#include "model.h"

static const struct trib_deliver *row_of(const struct node *n)
{
	return &model.delivers[n->row->deliver];
}

static void record(unsigned int ring, const struct trib_event *ev)
{
	if (ring == TRIB_NONE || model.nrecord >= MODEL_RECORDS)
		return;
	model.record[model.nrecord].ring = ring;
	model.record[model.nrecord++].ev = *ev;
	model.stats[TRIB_RUNG]++;
}

void model_event(struct node *n, const struct trib_event *ev)
{
	const struct trib_deliver *d = row_of(n);

	for (uint32_t i = 0; i < d->nrank; i++)
		record(d->ring[i], ev);
}

void model_ring(struct node *n, int i, const struct node_result *r)
{
	struct trib_event ev = {
		.type = TRIB_T_RESULT,
		.flags = r->flags,
		.tree = model.tree,
		.chunk = r->chunk,
		.epoch = r->epoch,
	};

	record(row_of(n)->ring[i], &ev);
}

void model_timed(struct trib_cell *cell, int tree, int rank, bool took)
{
	uint8_t *c = (uint8_t *)cell;

	model.times[model.ntime++] = (struct model_time){
		.model = cell,
		.cell = (struct trib_cell *)(rig.cells[tree][rank] + (c - model.cells[tree][rank])),
		.took = took,
	};
}

/* The RESULT is in the cell; count it at the desk, and ring if the rank waits for it. */
static void at_desk(struct node *n, int i, const struct node_result *r)
{
	struct trib_desk *desk = rig_desk(model.cells[n->row->deliver][i]);
	struct trib_desk_cpu *line = &desk->cpu[rig.cpu % TRIB_DESK_CPUS];

	line->delivered++;
	if (!desk->armed || (int64_t)(line->delivered - line->wake_at) < 0)
		return;
	desk->armed = 0;
	model_ring(n, i, r);
}

static int to_rank(struct node *n, int i, const struct node_result *r)
{
	int row = n->row->deliver;
	struct trib_cell *c = rig_cell(model.cells[row][i], r->chunk);

	if (c->state == TRIB_CELL(r->epoch, r->chunk, TRIB_CELL_RESULT)) {
		model_ring(n, i, r);
		return TRIB_DROP_SEEN;
	}
	if (c->state != TRIB_CELL(r->epoch, r->chunk, TRIB_CELL_SENT))
		return TRIB_DROP_STALE;
	if (c->h.op != r->op || c->h.fmt != r->fmt || c->h.scale != r->scale ||
	    (!(c->h.flags & TRIB_F_EMPTY) && ntohs(c->h.nval) != r->nval))
		return TRIB_DROP_MISMATCH;
	c->state = TRIB_CELL(r->epoch, r->chunk, TRIB_CELL_RESULT);
	c->took_ns = 0;
	if (r->chunk % 4 == r->chunk / 16 % 4 && c->sent_ns)
		model_timed(c, row, i, true);
	c->h.version = TRIB_WIRE_VERSION;
	c->h.type = TRIB_T_RESULT;
	c->h.flags = r->flags;
	c->h.op = r->op;
	c->h.fmt = r->fmt;
	c->h.nm = c->h.attempt = c->h.bmwords = 0;
	c->h.child = r->last == NODE_NOBODY ? 0xffff : htons(r->last);
	c->h.nval = htons(r->nval);
	c->h.aux = 0;
	c->h.scale = r->scale;
	memcpy(c->v, r->values, r->len);
	model.stats[TRIB_DELIVERED]++;
	at_desk(n, i, r);
	return 0;
}

int model_deliver(struct node *n, const struct node_result *r)
{
	const struct trib_deliver *d = row_of(n);
	int fresh = 0, seen = 0, other = TRIB_DROP_DELIVER, why;

	for (uint32_t i = 0; i < d->nrank; i++) {
		if (d->ring[i] == TRIB_NONE)
			continue;
		why = to_rank(n, i, r);
		fresh += !why;
		seen += why == TRIB_DROP_SEEN;
		if (other == TRIB_DROP_DELIVER)
			other = why;
	}
	return fresh ? 0 : seen ? TRIB_DROP_SEEN : other;
}
