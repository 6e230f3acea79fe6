// SPDX-License-Identifier: BSD-2-Clause
/*
 * A lane made ready: links and dependencies of its operations.
 *
 * An operation reads or writes its range. It waits for the newest earlier operation of
 * each part of the range that it could disturb or that it needs; that one waited for
 * older ones of the same part. Waiting is by chunks: peer_walk() compares watermarks.
 */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

/* Whether @o has to wait for the earlier @e where their ranges overlap. */
static bool waits_for(const struct peer_op *o, const struct peer_op *e)
{
	switch (o->kind) {
	case PEER_SEND_ADD:
	case PEER_SEND_SET:
		return !peer_op_sends(e);
	case PEER_ADD:
		return true; /* ADDs in their order; SENDs leave with the old values */
	default:
		return false; /* SET: its sender has heard of all (sched.h) */
	}
}

/* The parts of a range for which no earlier operation was found yet, in order. */
struct gaps {
	uint64_t (*part)[2];
	uint32_t n;
	uint32_t room;
};

static int gap_push(struct gaps *g, uint64_t a, uint64_t b)
{
	uint64_t(*more)[2];

	if (a >= b)
		return 0;
	if (g->n == g->room) {
		g->room = g->room ? 2 * g->room : 16;
		more = realloc(g->part, g->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		g->part = more;
	}
	g->part[g->n][0] = a;
	g->part[g->n++][1] = b;
	return 0;
}

/* Take @e's range out of the gaps. Return: 1 if it was in one, 0, or -ENOMEM. */
static int gaps_take(struct gaps *g, const struct peer_op *e)
{
	uint64_t from = e->at, to = e->at + e->len, a, b;
	uint32_t i, n = g->n;
	int hit = 0;

	for (i = 0; i < n; i++) {
		a = g->part[i][0];
		b = g->part[i][1];
		if (from >= b || to <= a)
			continue;
		hit = 1;
		g->part[i][1] = from > a ? from : a;
		if (gap_push(g, to, b))
			return -ENOMEM;
	}
	for (i = n = 0; i < g->n; i++)
		if (g->part[i][0] < g->part[i][1]) {
			g->part[n][0] = g->part[i][0];
			g->part[n++][1] = g->part[i][1];
		}
	g->n = n;
	return hit;
}

/* The list of dependencies of all operations, while it grows. */
struct deps {
	uint32_t *op;
	uint32_t n;
	uint32_t room;
};

static int dep_push(struct deps *d, uint32_t op)
{
	uint32_t *more;

	if (d->n == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		more = realloc(d->op, d->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		d->op = more;
	}
	d->op[d->n++] = op;
	return 0;
}

/*
 * Empty ranges, as a barrier has: an operation waits for all of the step before its own,
 * which waited for those before.
 */
static int find_order(struct deps *d, const struct peer_lane *lane, uint32_t i)
{
	uint32_t e, step = 0;
	bool any = false;

	for (e = i; e-- > 0;) {
		if (lane->op[e].step == lane->op[i].step)
			continue;
		if (any && lane->op[e].step != step)
			break;
		any = true;
		step = lane->op[e].step;
		if (dep_push(d, e))
			return -ENOMEM;
	}
	return 0;
}

/*
 * The newest operation of a part stands for the older ones, which it waited for: a SEND
 * or an ADD for all ADDs and SETs before. A SET waits for nothing, but its sender has
 * heard of all that this rank sent of the part.
 */
static int find_deps(struct deps *d, struct gaps *g, const struct peer_lane *lane, uint32_t i)
{
	const struct peer_op *o = &lane->op[i];
	uint32_t e;
	int rc;

	g->n = 0;
	rc = gap_push(g, o->at, o->at + o->len);
	for (e = i; !rc && e-- > 0 && g->n;) {
		if (!waits_for(o, &lane->op[e]))
			continue;
		rc = gaps_take(g, &lane->op[e]);
		if (rc > 0)
			rc = dep_push(d, e);
	}
	return rc;
}

static int edge_order(const void *a, const void *b)
{
	const struct peer_edge *x = a, *y = b;

	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return (int)x->nic - (int)y->nic;
}

static int find_link(const struct peer_op *o, const struct peer_edge *edge, uint32_t nedge,
		     uint32_t *link)
{
	struct peer_edge key = {.peer = o->peer, .nic = o->nic};
	const struct peer_edge *e = bsearch(&key, edge, nedge, sizeof(key), edge_order);

	if (!e)
		return -EINVAL;
	*link = (uint32_t)(e - edge);
	return 0;
}

/* Chain the operations of each link and direction, from the last to the first. */
static int chain(struct peer_path *p, const struct peer_edge *edge, uint32_t nedge)
{
	const struct peer_lane *lane = p->lane;
	uint32_t i, *head;
	int rc;

	for (i = 0; i < nedge; i++)
		p->send[i] = p->recv[i] = PEER_NO_OP;
	for (i = lane->nop; i-- > 0;) {
		struct peer_node *n = &p->node[i];

		rc = find_link(&lane->op[i], edge, nedge, &n->link);
		if (rc)
			return rc;
		head = peer_op_sends(&lane->op[i]) ? &p->send[n->link] : &p->recv[n->link];
		n->next = *head;
		*head = i;
	}
	return 0;
}

/* The first link to a rank above @rank: if all began with the same one, it had to serve all. */
static uint32_t first_link(const struct peer_edge *edge, uint32_t nedge, uint32_t rank)
{
	uint32_t i = 0;

	while (i < nedge && edge[i].peer < rank)
		i++;
	return i < nedge ? i : 0;
}

int peer_path_make(struct peer_path *p, const struct peer_lane *lane, uint32_t rank,
		   const struct peer_edge *edge, uint32_t nedge)
{
	struct deps d = {0};
	struct gaps g = {0};
	uint32_t i;
	int rc = -ENOMEM;

	*p = (struct peer_path){
		.lane = lane, .nlink = nedge, .start = first_link(edge, nedge, rank)};
	p->node = calloc(lane->nop + 1, sizeof(*p->node));
	p->send = calloc(nedge + 1, sizeof(*p->send));
	p->recv = calloc(nedge + 1, sizeof(*p->recv));
	if (!p->node || !p->send || !p->recv)
		goto out;
	rc = chain(p, edge, nedge);
	for (i = 0; !rc && i < lane->nop; i++) {
		p->node[i].dep = d.n;
		rc = lane->len ? find_deps(&d, &g, lane, i) : find_order(&d, lane, i);
		p->node[i].ndep = d.n - p->node[i].dep;
	}
	p->dep = d.op;
out:
	free(g.part);
	if (rc)
		peer_path_free(p);
	return rc;
}

void peer_path_free(struct peer_path *p)
{
	free(p->node);
	free(p->dep);
	free(p->send);
	free(p->recv);
	*p = (struct peer_path){0};
}
