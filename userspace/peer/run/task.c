// SPDX-License-Identifier: BSD-2-Clause
/* Tasks: what a call means for the lanes, and what is left to do after them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"

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

static struct peer_task *make(struct peer_crew *c, const struct peer_what *what, unsigned int shape,
			      int *err)
{
	struct peer_task *t = calloc(1, sizeof(*t));

	*err = -ENOMEM;
	if (!t)
		return NULL;
	t->shape = shape;
	t->job = (struct peer_job){
		.vec = what->count,
		.size = 1,
		.world = c->conf.world,
		.chunk = c->chunk,
		.direct = c->conf.direct,
	};
	t->plan = peer_plan_get(&c->plans, &c->conf.shape[shape], what, c->conf.rank,
				c->edge[shape], c->nedge[shape], err);
	if (t->plan)
		return t;
	free(t);
	return NULL;
}

static void drop(struct peer_task *t)
{
	if (!t)
		return;
	peer_plan_put(t->plan);
	peer_task_free(t);
}

/* Memory of words, reduced in place by all ranks. */
static struct peer_task *make_words(struct peer_crew *c, void *words, uint64_t n, trib_reduce_fn fn,
				    unsigned int shape, int *err)
{
	struct peer_what what = {.collective = PEER_ALLREDUCE, .count = n};
	struct peer_task *t = make(c, &what, shape, err);

	if (!t)
		return NULL;
	t->job.src = t->job.dst = words;
	t->job.size = 8;
	t->job.fn = fn;
	return t;
}

/* The two tasks of an exact sum; the caller collects the second one. */
static struct peer_task *make_exact(struct peer_crew *c, const struct trib_peer_call *call,
				    unsigned int shape, void *cookie, int *err)
{
	struct peer_exact *x = peer_exact_make(call, c->conf.nval, c->conf.rank, c->conf.world);
	struct peer_task *exps = NULL, *sums = NULL;

	*err = -ENOMEM;
	if (x)
		exps = make_words(c, x->word, x->nchunk, peer_exact_max, shape, err);
	if (exps)
		sums = make_words(c, x->pay, x->words, peer_exact_add, shape, err);
	if (!sums) {
		drop(exps);
		peer_exact_free(x);
		return NULL;
	}
	exps->exact = sums->exact = x;
	exps->silent = sums->waits = true;
	exps->then = sums;
	sums->cookie = cookie;
	*err = 0;
	return exps;
}

static bool is_exact(const struct peer_crew *c, const struct trib_peer_call *call)
{
	return c->conf.exact && reduces(call) && call->dtype == TRIB_REDUCE_F32 &&
	       call->op <= PEER_OP_AVG && call->count;
}

struct peer_task *peer_task_make(struct peer_crew *c, const struct trib_peer_call *call,
				 unsigned int shape, void *cookie, int *err)
{
	bool avg = reduces(call) && call->op == PEER_OP_AVG;
	struct peer_what what = {
		.collective = (enum peer_collective)call->collective,
		.count = vector_of(c, call),
		.root = call->collective == PEER_BROADCAST ? call->root : 0,
	};
	struct peer_task *t;

	if (is_exact(c, call))
		return make_exact(c, call, shape, cookie, err);
	t = make(c, &what, shape, err);
	if (!t)
		return NULL;
	t->cookie = cookie;
	t->ready = true;
	t->job.src = reduces(call) ? call->src : call->dst;
	t->job.dst = call->dst;
	if (call->collective != PEER_BARRIER)
		t->job.size = trib_reduce_size(call->dtype);
	if (reduces(call))
		t->job.fn =
			trib_reduce(call->dtype, avg ? (unsigned int)TRIB_REDUCE_SUM : call->op);
	if (avg)
		t->job.average = trib_average(call->dtype);
	*err = make_work(c, t, call);
	if (!*err)
		return t;
	drop(t);
	return NULL;
}

void peer_task_prepare(struct peer_task *t)
{
	peer_exact_exponents(t->exact);
}

static void finish_exact(struct peer_task *t)
{
	struct peer_exact *x = t->exact;

	if (t->then) {
		peer_exact_pack(x);
		return;
	}
	t->status = peer_exact_unpack(x);
	t->detail = t->status == -EDOM ? x->bad : (int64_t)x->over;
}

void peer_task_finish(struct peer_task *t)
{
	const struct peer_job *j = &t->job;

	if (t->exact)
		finish_exact(t);
	else if (t->own && t->own_len)
		memmove(t->own, (const char *)(t->work ? t->work : j->src) + t->own_at, t->own_len);
	else if (j->world == 1 && j->vec && j->src != j->dst)
		memmove(j->dst, j->src, j->vec * j->size);
}

void peer_task_free(struct peer_task *t)
{
	if (!t->then)
		peer_exact_free(t->exact);
	free(t->work);
	free(t);
}
