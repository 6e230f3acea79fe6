// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model's delivery: cells and ring records of the ranks of this host.
 */
#include <arpa/inet.h>
#include <string.h>
#include "model.h"

void model_event(struct node *n, const struct trib_event *ev)
{
	const struct trib_deliver *d = &model.delivers[n->row->deliver];

	for (uint32_t i = 0; i < d->nring; i++) {
		if (model.nrecord >= MODEL_RECORDS)
			return;
		model.record[model.nrecord].ring = d->ring[i];
		model.record[model.nrecord++].ev = *ev;
		model.stats[TRIB_RUNG]++;
	}
}

static void ring(struct node *n, const struct node_result *r)
{
	struct trib_event ev = {
		.type = TRIB_T_RESULT,
		.flags = r->flags,
		.tree = model.tree,
		.chunk = r->chunk,
		.epoch = r->epoch,
	};

	model_event(n, &ev);
}

/* Does this chunk wake the ranks? */
static bool rings(struct trib_deliver *d, const struct node_result *r)
{
	bool in_row = r->chunk == d->next;

	if (in_row || !r->chunk || trib_chunk_diff(r->chunk, d->next) > 0)
		d->next = r->chunk + 1;
	d->unrung++;
	if (in_row && d->unrung < TRIB_RING_EVERY && !(r->flags & TRIB_F_PUSH))
		return false;
	d->unrung = 0;
	return true;
}

int model_deliver(struct node *n, const struct node_result *r)
{
	int row = n->row->deliver;
	struct trib_deliver *d = &model.delivers[row];
	struct trib_cell *c;

	c = (struct trib_cell *)(model.cells[row] + (r->chunk & d->cell_mask) * rig.slot_size);
	if (c->busy)
		return TRIB_DROP_BUSY;
	if (c->id && c->id >> 32 == r->epoch) {
		int32_t age = trib_chunk_diff(r->chunk, c->id);

		if (age < 0)
			return TRIB_DROP_STALE;
		if (!age) {
			ring(n, r);
			return TRIB_DROP_SEEN;
		}
	}
	c->id = TRIB_CELL_ID(r->epoch, r->chunk);
	c->nval = r->nval;
	c->flags = r->flags;
	c->last = r->last;
	c->scale = ntohl(r->scale);
	c->op = r->op;
	c->fmt = r->fmt;
	memcpy(c->v, r->values, r->len);
	model.stats[TRIB_DELIVERED]++;
	if (rings(d, r))
		ring(n, r);
	return 0;
}
