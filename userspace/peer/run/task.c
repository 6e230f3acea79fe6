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
	if (t->plan) {
		*err = 0;
		return t;
	}
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

/* Elements of this room's memory, reduced in place. */
static struct peer_task *make_inner(struct peer_crew *c, enum peer_collective collective,
				    void *memory, uint64_t n, size_t size, trib_reduce_fn fn,
				    unsigned int shape, int *err)
{
	struct peer_what what = {.collective = collective, .count = n};
	struct peer_task *t = make(c, &what, shape, err);

	if (!t)
		return NULL;
	t->job.src = t->job.dst = memory;
	t->job.size = size;
	t->job.fn = fn;
	return t;
}

/* Values that each rank has chosen: it sends units, as long as they are its own. */
static struct peer_task *make_units(struct peer_crew *c, const struct peer_masked *m,
				    unsigned int shape, int *err)
{
	struct peer_task *t;

	if (m->whole)
		return make_inner(c, PEER_ALLREDUCE, m->sum, m->units * TRIB_MASK_UNITS,
				  sizeof(*m->sum), m->fn, shape, err);
	t = make_inner(c, PEER_ALLREDUCE, m->sum, m->units, PEER_MASKED_SUM, NULL, shape, err);
	if (!t)
		return NULL;
	t->job.src = m->own;
	t->job.masked = m;
	return t;
}

/* --- exact sums */

static struct peer_task *make_sums(struct peer_crew *c, struct peer_exact *x, unsigned int shape,
				   int *err)
{
	if (x->is_masked)
		return make_units(c, &x->masked, shape, err);
	return make_inner(c, x->part ? PEER_REDUCE_SCATTER : PEER_ALLREDUCE, x->ints, x->count,
			  sizeof(*x->ints), trib_reduce(TRIB_REDUCE_I32, TRIB_REDUCE_SUM), shape,
			  err);
}

/* Put @t behind @after, which makes it ready. */
static void follow(struct peer_task *after, struct peer_task *t)
{
	after->then = t;
	after->silent = true;
	t->waits = true;
	t->exact = after->exact;
}

/* The tasks of an exact sum; the caller collects the last one. */
static struct peer_task *make_exact(struct peer_crew *c, const struct trib_peer_call *call,
				    unsigned int shape, void *cookie, int *err)
{
	struct peer_exact *x =
		peer_exact_make(call, c->conf.nval, c->conf.rank, c->conf.world, c->chunk);
	struct peer_task *t[3] = {NULL}, *last;

	*err = -ENOMEM;
	if (!x)
		return NULL;
	t[0] = make_inner(c, PEER_ALLREDUCE, x->word, x->nchunk, 8, peer_exact_max, shape, err);
	if (t[0])
		t[1] = make_sums(c, x, shape, err);
	if (t[1] && x->part)
		t[2] = make_inner(c, PEER_ALLREDUCE, &x->over_word, 1, 8, peer_exact_max, shape,
				  err);
	last = t[x->part ? 2 : 1];
	if (!last) {
		drop(t[1]);
		drop(t[0]);
		peer_exact_free(x);
		return NULL;
	}
	t[0]->exact = x;
	follow(t[0], t[1]);
	if (t[2])
		follow(t[1], t[2]);
	last->cookie = cookie;
	*err = 0;
	return t[0];
}

static bool is_exact(const struct peer_crew *c, const struct trib_peer_call *call)
{
	return c->conf.exact && reduces(call) && call->dtype == TRIB_REDUCE_F32 &&
	       call->op <= PEER_OP_AVG && call->count && !call->words;
}

/* --- masked values that are added as floats */

static struct peer_task *make_masked(struct peer_crew *c, const struct trib_peer_call *call,
				     unsigned int shape, void *cookie, int *err)
{
	struct peer_masked *m = calloc(1, sizeof(*m));
	struct peer_task *t = NULL;

	*err = m ? peer_masked_init(m, call->mask, trib_nm_per_word(call->nm), call->count, false,
				    c->chunk)
		 : -ENOMEM;
	if (!*err)
		t = make_units(c, m, shape, err);
	if (!t) {
		if (m)
			peer_masked_free(m);
		free(m);
		return NULL;
	}
	m->values = call->src;
	t->masked = m;
	t->cookie = cookie;
	t->result = call->dst;
	t->elements = call->count;
	if (call->op == PEER_OP_AVG)
		t->average = trib_average(TRIB_REDUCE_F32);
	return t;
}

static void prepare_masked(const struct peer_task *t)
{
	struct peer_masked *m = t->masked;

	peer_masked_put(m, 0, m->values, m->units);
	if (m->whole || t->job.world == 1)
		peer_masked_expand(m);
}

static void finish_masked(const struct peer_task *t)
{
	if (t->average)
		t->average(t->result, t->masked->sum, NULL, t->elements, t->job.world);
	else if (t->elements)
		memcpy(t->result, t->masked->sum, t->elements * sizeof(float));
}

/* --- calls as they are */

static void set_reduction(struct peer_job *j, const struct trib_peer_call *call)
{
	bool avg = call->op == PEER_OP_AVG;

	j->src = call->src;
	if (call->words) {
		j->size = 8;
		j->fn = peer_exact_add;
		return;
	}
	j->fn = trib_reduce(call->dtype, avg ? (unsigned int)TRIB_REDUCE_SUM : call->op);
	if (avg)
		j->average = trib_average(call->dtype);
}

static struct peer_task *make_plain(struct peer_crew *c, const struct trib_peer_call *call,
				    unsigned int shape, void *cookie, int *err)
{
	struct peer_what what = {
		.collective = (enum peer_collective)call->collective,
		.count = vector_of(c, call),
		.root = call->collective == PEER_BROADCAST ? call->root : 0,
	};
	struct peer_task *t = make(c, &what, shape, err);

	if (!t)
		return NULL;
	t->cookie = cookie;
	t->ready = true;
	t->job.src = t->job.dst = call->dst;
	if (call->collective != PEER_BARRIER)
		t->job.size = trib_reduce_size(call->dtype);
	if (reduces(call))
		set_reduction(&t->job, call);
	*err = make_work(c, t, call);
	if (!*err)
		return t;
	drop(t);
	return NULL;
}

struct peer_task *peer_task_make(struct peer_crew *c, const struct trib_peer_call *call,
				 unsigned int shape, void *cookie, int *err)
{
	if (is_exact(c, call))
		return make_exact(c, call, shape, cookie, err);
	if (call->nm)
		return make_masked(c, call, shape, cookie, err);
	return make_plain(c, call, shape, cookie, err);
}

/* --- beginning and end of tasks */

void peer_task_prepare(struct peer_task *t)
{
	if (t->exact)
		peer_exact_exponents(t->exact);
	else
		prepare_masked(t);
}

/* The first task brought the exponents, the second one the sums. */
static void finish_exact(struct peer_task *t)
{
	struct peer_exact *x = t->exact;

	if (!t->waits)
		peer_exact_pack(x);
	else if (t->then || !x->part)
		peer_exact_unpack(x);
	if (t->then) {
		t->then->skip = t->waits && !x->look;
		return;
	}
	t->status = peer_exact_status(x);
	t->detail = t->status == -EDOM ? x->bad : (int64_t)x->over;
}

void peer_task_finish(struct peer_task *t)
{
	const struct peer_job *j = &t->job;

	if (t->exact)
		finish_exact(t);
	else if (t->masked)
		finish_masked(t);
	else if (t->own && t->own_len)
		memmove(t->own, (const char *)(t->work ? t->work : j->src) + t->own_at, t->own_len);
	else if (j->world == 1 && j->vec && j->src != j->dst)
		memmove(j->dst, j->src, j->vec * j->size);
}

void peer_task_free(struct peer_task *t)
{
	if (!t->then)
		peer_exact_free(t->exact);
	if (t->masked)
		peer_masked_free(t->masked);
	free(t->masked);
	free(t->work);
	free(t);
}
