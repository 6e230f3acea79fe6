// SPDX-License-Identifier: BSD-2-Clause
/*
 * Carries out a simulation. Rules of waiting are run/'s: sends of a link leave in their
 * order, chunk by chunk, when the operations that they depend on have passed.
 */
#include <errno.h>

#include "sim.h"

/* Elements of a chunk; the last one is shorter. */
static uint64_t chunk_len(const struct peer_sim_lane *l, uint32_t op, uint32_t chunk)
{
	uint64_t len = l->lane->op[op].len, from = chunk * l->op[op].cut;

	if (from >= len)
		return 0;
	return len - from < l->op[op].cut ? len - from : l->op[op].cut;
}

/* Have the operations that a chunk waits for passed its end? */
static bool may(const struct peer_sim_lane *l, uint32_t i, uint32_t chunk)
{
	const struct peer_node *n = &l->path.node[i];
	uint64_t end = l->lane->op[i].at + chunk * l->op[i].cut + chunk_len(l, i, chunk);
	uint64_t from = l->lane->op[i].at + chunk * l->op[i].cut;
	uint32_t j;

	for (j = 0; j < n->ndep; j++) {
		const struct peer_op *d = &l->lane->op[l->path.dep[n->dep + j]];
		const struct peer_sim_op *s = &l->op[l->path.dep[n->dep + j]];
		uint64_t upto = end < d->at + d->len ? end : d->at + d->len;

		if (s->done < s->chunks && from < upto && d->at < upto &&
		    d->at + s->done * s->cut < upto)
			return false;
	}
	return true;
}

static const struct peer_rate *rate_of(const struct peer_sim *s, uint8_t nic)
{
	return nic == PEER_NIC_LOCAL ? &s->costs->local : &s->costs->nic[nic];
}

static double *use_of(double *use, uint32_t rank, uint8_t nic)
{
	return &use[rank * PEER_SIM_NICS + (nic == PEER_NIC_LOCAL ? PEER_NICS_MAX : nic)];
}

static void push(struct peer_sim *s, double at, enum peer_event_kind kind, uint32_t lane,
		 uint32_t op)
{
	int err = peer_heap_push(&s->heap, at, kind, lane, op);

	if (err)
		s->err = err;
}

/* Keep the first CPU that is free busy with a message. Return: when that ends. */
static double work(struct peer_sim *s, double at)
{
	uint32_t i, first = 0;

	if (!s->costs->cpus)
		return at;
	for (i = 1; i < s->costs->cpus; i++)
		if (s->cpu[i] < s->cpu[first])
			first = i;
	s->cpu[first] = (s->cpu[first] > at ? s->cpu[first] : at) + s->costs->work;
	return s->cpu[first];
}

static void transmit(struct peer_sim *s, struct peer_sim_lane *l, uint32_t i, uint32_t chunk)
{
	uint8_t nic = l->lane->op[i].nic;
	const struct peer_rate *r = rate_of(s, nic);
	double *tx = use_of(s->tx, l->rank, nic);
	double start = work(s, *tx > s->now ? *tx : s->now), bytes;

	bytes = (double)chunk_len(l, i, chunk) * s->load.size;
	*tx = start + r->overhead + bytes * r->beta;
	if (nic == PEER_NIC_LOCAL)
		push(s, *tx + r->alpha, PEER_EVENT_ARRIVED, l->op[i].lane, l->op[i].mate);
	else
		push(s, start + r->overhead + r->alpha, PEER_EVENT_HEAD, l->op[i].lane,
		     l->op[i].mate);
}

static void advanced(struct peer_sim *s, struct peer_sim_lane *l, uint32_t i);

/* Send the chunks of a link that may leave. */
static void link_go(struct peer_sim *s, struct peer_sim_lane *l, uint32_t link)
{
	uint32_t i;

	while ((i = l->path.send[link]) != PEER_NO_OP) {
		struct peer_sim_op *op = &l->op[i];

		while (op->done < op->chunks && may(l, i, op->done)) {
			transmit(s, l, i, op->done++);
			advanced(s, l, i);
		}
		if (op->done < op->chunks)
			return;
		l->path.send[link] = l->path.node[i].next;
	}
}

/* Add the chunks that have come, or take them in if there is nothing to add. */
static void take(struct peer_sim *s, struct peer_sim_lane *l, uint32_t i)
{
	struct peer_sim_op *op = &l->op[i];

	while (op->taken < op->arrived && may(l, i, op->taken)) {
		double cost = (double)chunk_len(l, i, op->taken) * s->load.size * s->costs->gamma;

		op->taken++;
		if (l->lane->op[i].kind == PEER_ADD) {
			l->busy = (l->busy > s->now ? l->busy : s->now) + cost;
			push(s, l->busy, PEER_EVENT_APPLIED, l - s->lane, i);
		} else {
			op->done++;
			advanced(s, l, i);
		}
	}
}

/* Wake the operations that wait for one which went on. */
static void advanced(struct peer_sim *s, struct peer_sim_lane *l, uint32_t i)
{
	uint32_t j;

	for (j = 0; j < l->op[i].nrdep; j++) {
		uint32_t k = l->rdep[l->op[i].rdep + j], link = l->path.node[k].link;

		if (!peer_op_sends(&l->lane->op[k]))
			take(s, l, k);
		else if (l->path.send[link] == k)
			link_go(s, l, link);
	}
}

static void arrive(struct peer_sim *s, struct peer_sim_lane *l, const struct peer_event *e)
{
	struct peer_sim_op *op = &l->op[e->op];
	uint8_t nic = l->lane->op[e->op].nic;
	double *rx = use_of(s->rx, l->rank, nic);
	double bytes = (double)chunk_len(l, e->op, op->head++) * s->load.size;

	*rx = (*rx > s->now ? *rx : s->now) + bytes * rate_of(s, nic)->beta;
	push(s, *rx, PEER_EVENT_ARRIVED, e->lane, e->op);
}

static bool ended(const struct peer_sim *s)
{
	uint32_t i, j;

	for (i = 0; i < s->ranks * s->nlane; i++)
		for (j = 0; j < s->lane[i].lane->nop; j++)
			if (s->lane[i].op[j].done < s->lane[i].op[j].chunks)
				return false;
	return true;
}

double peer_sim_run(struct peer_sim *s)
{
	struct peer_event e;
	uint32_t i, j;

	/* In the order of the lane, in which no two ranks begin with the same one. */
	for (i = 0; i < s->ranks * s->nlane; i++)
		for (j = 0; j < s->lane[i].lane->nop; j++)
			if (s->lane[i].path.send[s->lane[i].path.node[j].link] == j)
				link_go(s, &s->lane[i], s->lane[i].path.node[j].link);
	while (!s->err && peer_heap_pop(&s->heap, &e)) {
		struct peer_sim_lane *l = &s->lane[e.lane];

		s->now = e.at;
		switch (e.kind) {
		case PEER_EVENT_HEAD:
			arrive(s, l, &e);
			break;
		case PEER_EVENT_ARRIVED:
			push(s, work(s, s->now), PEER_EVENT_READ, e.lane, e.op);
			break;
		case PEER_EVENT_READ:
			l->op[e.op].arrived++;
			take(s, l, e.op);
			break;
		case PEER_EVENT_APPLIED:
			l->op[e.op].done++;
			advanced(s, l, e.op);
			break;
		}
	}
	if (!s->err && !ended(s))
		s->err = -EDEADLK;
	return s->err ? s->err : s->now;
}
