// SPDX-License-Identifier: BSD-2-Clause
/* Makes a simulation: schedules, who waits for whom, which send meets which reception. */
#include <errno.h>
#include <stdlib.h>

#include "sim.h"

/*
 * Long operations are cut into fewer chunks than in reality: a pipeline of some is as
 * good, and a simulation should have about this many events.
 */
#define CHUNKS_ALL 300000
#define CHUNKS_MIN 4
#define CHUNKS_MAX 256

static int by_peer(const void *a, const void *b)
{
	const struct peer_edge *x = a, *y = b;

	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return (int)x->nic - (int)y->nic;
}

/* The edges that a lane's operations use, which is what peer_path_make() needs. */
static int edges_make(struct peer_sim_lane *l)
{
	uint32_t i, n = 0;

	l->edge = calloc((size_t)l->lane->nop + 1, sizeof(*l->edge));
	if (!l->edge)
		return -ENOMEM;
	for (i = 0; i < l->lane->nop; i++)
		l->edge[i] =
			(struct peer_edge){.peer = l->lane->op[i].peer, .nic = l->lane->op[i].nic};
	qsort(l->edge, l->lane->nop, sizeof(*l->edge), by_peer);
	for (i = 0; i < l->lane->nop; i++)
		if (!n || by_peer(&l->edge[i], &l->edge[n - 1]))
			l->edge[n++] = l->edge[i];
	l->nedge = n;
	return 0;
}

static void chunks_make(const struct peer_sim *s, struct peer_sim_op *op, uint64_t len)
{
	uint64_t each = s->load.chunk / s->load.size;

	if (each < 1)
		each = 1;
	if (each < (len + s->chunks - 1) / s->chunks)
		each = (len + s->chunks - 1) / s->chunks;
	op->cut = each;
	op->chunks = len ? (len + each - 1) / each : 1;
}

/* Turn the lists of dependencies round. */
static int rdeps_make(struct peer_sim_lane *l)
{
	uint32_t i, j, at = 0, all = 0, nop = l->lane->nop;

	for (i = 0; i < nop; i++)
		for (j = 0; j < l->path.node[i].ndep; j++, all++)
			l->op[l->path.dep[l->path.node[i].dep + j]].nrdep++;
	l->rdep = calloc((size_t)all + 1, sizeof(*l->rdep));
	if (!l->rdep)
		return -ENOMEM;
	for (i = 0; i < nop; i++) {
		l->op[i].rdep = at;
		at += l->op[i].nrdep;
		l->op[i].nrdep = 0;
	}
	for (i = 0; i < nop; i++)
		for (j = 0; j < l->path.node[i].ndep; j++) {
			struct peer_sim_op *d = &l->op[l->path.dep[l->path.node[i].dep + j]];

			l->rdep[d->rdep + d->nrdep++] = i;
		}
	return 0;
}

static int lane_make(struct peer_sim *s, uint32_t rank, uint32_t lane)
{
	struct peer_sim_lane *l = &s->lane[rank * s->nlane + lane];
	uint32_t i;
	int err;

	l->lane = &s->sched[rank].lane[lane];
	l->rank = rank;
	l->op = calloc((size_t)l->lane->nop + 1, sizeof(*l->op));
	if (!l->op)
		return -ENOMEM;
	for (i = 0; i < l->lane->nop; i++)
		chunks_make(s, &l->op[i], l->lane->op[i].len);
	err = edges_make(l);
	if (!err)
		err = peer_path_make(&l->path, l->lane, l->rank, l->edge, l->nedge);
	return err ? err : rdeps_make(l);
}

/* All ranks alike: the j-th send of a step arrives as the j-th reception of it. */
static int pair_alike(struct peer_sim *s, uint32_t lane)
{
	struct peer_sim_lane *l = &s->lane[lane];
	uint32_t i, to = 0, nop = l->lane->nop;

	for (i = 0; i < nop; i++) {
		const struct peer_op *op = &l->lane->op[i];

		if (!peer_op_sends(op))
			continue;
		while (to < nop && peer_op_sends(&l->lane->op[to]))
			to++;
		if (to == nop || l->lane->op[to].step != op->step)
			return -EINVAL;
		/* Elsewhere its length may differ by one; its chunks are the sender's here. */
		l->op[to].chunks = l->op[i].chunks;
		l->op[to].cut = l->op[i].cut;
		l->op[i].lane = lane;
		l->op[i].mate = to++;
	}
	return 0;
}

static int pair_lane(struct peer_sim *s, uint32_t lane)
{
	struct peer_sim_lane *l = &s->lane[lane];
	uint32_t i;

	for (i = 0; i < l->nedge; i++) {
		uint32_t to = l->edge[i].peer * s->nlane + lane % s->nlane;
		struct peer_edge back = {.peer = l->rank, .nic = l->edge[i].nic};
		struct peer_sim_lane *p = &s->lane[to];
		struct peer_edge *e = bsearch(&back, p->edge, p->nedge, sizeof(back), by_peer);
		uint32_t out = l->path.send[i], in;

		if (!e)
			return -EINVAL;
		for (in = p->path.recv[e - p->edge]; out != PEER_NO_OP && in != PEER_NO_OP;
		     out = l->path.node[out].next, in = p->path.node[in].next) {
			l->op[out].lane = to;
			l->op[out].mate = in;
		}
		if (out != PEER_NO_OP || in != PEER_NO_OP)
			return -EINVAL;
	}
	return 0;
}

static int scheds_make(struct peer_sim *s, const struct peer_shape *shape)
{
	uint64_t ops = 0;
	uint32_t r, i;
	int err;

	for (r = 0; r < s->ranks; r++) {
		err = peer_sched_make(&s->sched[r], shape, &s->load.what, r);
		if (err)
			return err;
		for (i = 0; i < s->sched[r].nlane; i++)
			ops += s->sched[r].lane[i].nop;
		if (ops > s->limit)
			return -E2BIG;
	}
	s->chunks = CHUNKS_ALL / (ops + 1);
	if (s->chunks < CHUNKS_MIN)
		s->chunks = CHUNKS_MIN;
	if (s->chunks > CHUNKS_MAX)
		s->chunks = CHUNKS_MAX;
	return 0;
}

int peer_sim_make(struct peer_sim *s, const struct peer_shape *shape, bool alike)
{
	uint32_t i;
	int err;

	s->alike = alike;
	s->ranks = alike ? 1 : shape->world;
	s->sched = calloc(s->ranks, sizeof(*s->sched));
	s->tx = calloc((size_t)s->ranks * PEER_SIM_NICS, sizeof(*s->tx));
	s->rx = calloc((size_t)s->ranks * PEER_SIM_NICS, sizeof(*s->rx));
	if (!s->sched || !s->tx || !s->rx)
		return -ENOMEM;
	err = scheds_make(s, shape);
	if (err)
		return err;
	s->nlane = s->sched[0].nlane;
	s->lane = calloc((size_t)s->ranks * s->nlane, sizeof(*s->lane));
	if (!s->lane)
		return -ENOMEM;
	for (i = 0; !err && i < s->ranks * s->nlane; i++)
		err = lane_make(s, i / s->nlane, i % s->nlane);
	for (i = 0; !err && i < s->ranks * s->nlane; i++)
		err = alike ? pair_alike(s, i) : pair_lane(s, i);
	return err;
}

void peer_sim_free(struct peer_sim *s)
{
	uint32_t i;

	for (i = 0; s->lane && i < s->ranks * s->nlane; i++) {
		peer_path_free(&s->lane[i].path);
		free(s->lane[i].edge);
		free(s->lane[i].op);
		free(s->lane[i].rdep);
	}
	for (i = 0; s->sched && i < s->ranks; i++)
		peer_sched_free(&s->sched[i]);
	free(s->lane);
	free(s->sched);
	free(s->tx);
	free(s->rx);
	free(s->heap.event);
}
