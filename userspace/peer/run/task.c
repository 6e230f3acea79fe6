// SPDX-License-Identifier: BSD-2-Clause
/* Tasks: what a call means for the lanes, and what is left to do after them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"

enum { OP_AVG = 1 };

/* The elements of the vector that a call's schedule is about. */
static uint64_t vector_of(const struct peer_crew *c, const struct trib_peer_call *call)
{
	switch (call->collective) {
	case PEER_REDUCE_SCATTER:
	case PEER_ALLGATHER:
		return call->count * c->conf.world;
	case PEER_BARRIER:
		return 0;
	default:
		return call->count;
	}
}

static bool reduces(const struct trib_peer_call *call)
{
	return call->collective == PEER_ALLREDUCE || call->collective == PEER_REDUCE_SCATTER;
}

/* A reduce-scatter reduces in memory of its own: the source stays, the result is a part. */
static int make_work(struct peer_crew *c, struct peer_task *t, const struct trib_peer_call *call)
{
	size_t size = t->job.size;

	if (call->collective != PEER_REDUCE_SCATTER)
		return 0;
	t->own = call->dst;
	t->own_at = call->count * c->conf.rank * size;
	t->own_len = call->count * size;
	if (c->conf.world == 1)
		return 0;
	t->work = malloc(t->job.vec * size + 1);
	if (!t->work)
		return -ENOMEM;
	t->job.dst = t->work;
	return 0;
}

struct peer_task *peer_task_make(struct peer_crew *c, const struct trib_peer_call *call,
				 unsigned int shape, void *cookie, int *err)
{
	struct peer_task *t = calloc(1, sizeof(*t));
	struct peer_what what = {
		.collective = (enum peer_collective)call->collective,
		.count = vector_of(c, call),
		.root = call->collective == PEER_BROADCAST ? call->root : 0,
	};
	bool avg = reduces(call) && call->op == OP_AVG;

	*err = -ENOMEM;
	if (!t)
		return NULL;
	t->cookie = cookie;
	t->shape = shape;
	t->job = (struct peer_job){
		.src = reduces(call) ? call->src : call->dst,
		.dst = call->dst,
		.vec = what.count,
		.size = call->collective == PEER_BARRIER ? 1 : trib_reduce_size(call->dtype),
		.world = c->conf.world,
		.chunk = c->conf.chunk,
		.direct = c->conf.direct,
	};
	if (reduces(call))
		t->job.fn =
			trib_reduce(call->dtype, avg ? (unsigned int)TRIB_REDUCE_SUM : call->op);
	if (avg)
		t->job.average = trib_average(call->dtype);
	*err = make_work(c, t, call);
	if (!*err)
		t->plan = peer_plan_get(&c->plans, &c->conf.shape[shape], &what, c->conf.rank,
					c->edge[shape], c->nedge[shape], err);
	if (t->plan) {
		*err = 0;
		return t;
	}
	peer_task_free(t);
	return NULL;
}

void peer_task_finish(struct peer_task *t)
{
	const struct peer_job *j = &t->job;

	if (t->own)
		memmove(t->own, (const char *)(t->work ? t->work : j->src) + t->own_at, t->own_len);
	else if (j->world == 1 && j->src != j->dst)
		memmove(j->dst, j->src, j->vec * j->size);
}

void peer_task_free(struct peer_task *t)
{
	free(t->work);
	free(t);
}
