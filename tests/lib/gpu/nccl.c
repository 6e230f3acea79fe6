// SPDX-License-Identifier: BSD-2-Clause
/*
 * A double of NCCL for the double of a GPU, as libnccl.so.2: ranks are threads of one
 * process, whose program exports the double's functions. An operation ends when all
 * ranks of its communicator are at it, in the GPU's streams, or when one aborts. Ranks
 * whose operations differ, or come in another order, end the program.
 *
 * TRIB_NCCL_DOUBLE_FAIL=init: communicators cannot be made; =call: nothing can be begun.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"
#include "kernels/reduce/reduce.h"
#include "peer/gpu/nccl.h"

#define RANKS 8
#define OPS 64

#define NCCL_API __attribute__((visibility("default")))

enum kind { ALLREDUCE, REDUCE, REDUCE_SCATTER, ALLGATHER, BROADCAST };

/* The same on all ranks, but for the areas. */
struct op {
	enum kind kind;
	size_t n;
	int type, op, root;
	const void *src[RANKS];
	void *dst[RANKS];
	int there;
	unsigned long done; /* 1 + number of the operation */
};

struct group {
	struct group *next;
	struct nccl_id id;
	int ranks, joined, members;
	bool aborted;
	struct op ops[OPS];
};

struct comm {
	struct comm *parted;
	struct group *group;
	int rank;
	unsigned long issued;
};

struct turn {
	struct comm *comm;
	unsigned long nth;
	struct op op;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct group *groups;

static bool fails(const char *what)
{
	const char *wanted = getenv("TRIB_NCCL_DOUBLE_FAIL");

	return wanted && !strcmp(wanted, what);
}

static unsigned int type_of(int type)
{
	switch (type) {
	case NCCL_INT32:
		return TRIB_REDUCE_I32;
	case NCCL_FLOAT16:
		return TRIB_REDUCE_F16;
	case NCCL_FLOAT64:
		return TRIB_REDUCE_F64;
	case NCCL_BFLOAT16:
		return TRIB_REDUCE_BF16;
	}
	return TRIB_REDUCE_F32;
}

static unsigned int op_of(int op)
{
	static const unsigned int ops[] = {TRIB_REDUCE_SUM, TRIB_REDUCE_PROD, TRIB_REDUCE_MAX,
					   TRIB_REDUCE_MIN, TRIB_REDUCE_SUM};

	return ops[op];
}

/* --- what an operation does, when all are there */

/* Elements @at to @at + @n - 1 of all ranks, combined; the caller frees them. */
static void *combined(const struct group *g, const struct op *o, size_t at, size_t n)
{
	unsigned int type = type_of(o->type);
	size_t size = trib_reduce_size(type);
	char *acc = malloc(n * size + 1);
	int r;

	for (r = 0; r < g->ranks; r++) {
		const char *in = (const char *)double_view(o->src[r], (at + n) * size) + at * size;

		if (!r)
			memcpy(acc, in, n * size);
		else if (r + 1 == g->ranks && o->op == NCCL_AVG)
			trib_average_scalar(type)(acc, acc, in, n, (unsigned int)g->ranks);
		else
			trib_reduce_scalar(type, op_of(o->op))(acc, acc, in, n);
	}
	return acc;
}

static void put(const struct op *o, int rank, size_t at, const void *from, size_t n)
{
	size_t size = trib_reduce_size(type_of(o->type));

	memcpy((char *)double_view(o->dst[rank], (at + n) * size) + at * size, from, n * size);
}

static void carry_out(const struct group *g, const struct op *o)
{
	size_t bytes = o->n * trib_reduce_size(type_of(o->type));
	void *sum[RANKS] = {NULL};
	int r, k;

	for (r = 0; r < g->ranks && o->kind <= REDUCE_SCATTER; r++)
		if (o->kind == REDUCE_SCATTER)
			sum[r] = combined(g, o, (size_t)r * o->n, o->n);
		else if (!r)
			sum[r] = combined(g, o, 0, o->n);
	for (r = 0; r < g->ranks; r++) {
		if (o->kind == ALLREDUCE || (o->kind == REDUCE && r == o->root))
			put(o, r, 0, sum[0], o->n);
		else if (o->kind == REDUCE_SCATTER)
			put(o, r, 0, sum[r], o->n);
		else if (o->kind == BROADCAST && o->dst[r] != o->src[o->root])
			put(o, r, 0, double_view(o->src[o->root], bytes), o->n);
		for (k = 0; o->kind == ALLGATHER && k < g->ranks; k++)
			put(o, r, (size_t)k * o->n, double_view(o->src[k], bytes), o->n);
	}
	for (r = 0; r < g->ranks; r++)
		free(sum[r]);
}

static void run_turn(const struct work *w)
{
	struct turn *t = w->arg;
	struct group *g = t->comm->group;
	struct op *o = &g->ops[t->nth % OPS], *mine = &t->op;
	int rank = t->comm->rank;

	pthread_mutex_lock(&lock);
	if (!o->there++) {
		*o = *mine;
		o->there = 1;
	} else if (o->kind != mine->kind || o->n != mine->n || o->type != mine->type ||
		   o->op != mine->op || o->root != mine->root) {
		double_die("ranks give NCCL different operations");
	}
	o->src[rank] = mine->src[rank];
	o->dst[rank] = mine->dst[rank];
	if (o->there == g->ranks) {
		carry_out(g, o);
		o->there = 0;
		o->done = t->nth + 1;
		pthread_cond_broadcast(&changed);
	}
	while (o->done != t->nth + 1 && !g->aborted)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	free(t);
}

static int begin(struct comm *c, enum kind kind, const void *src, void *dst, size_t n, int type,
		 int op, int root, void *stream)
{
	struct turn *t = calloc(1, sizeof(*t));
	struct work w = {.run = run_turn, .arg = t, .launch = true};

	*t = (struct turn){c, c->issued++, {.kind = kind, .n = n, .type = type, .op = op}};
	t->op.root = root;
	t->op.src[c->rank] = src;
	t->op.dst[c->rank] = dst;
	if (!fails("call") && !double_push(stream, &w))
		return 0;
	free(t);
	return 3;
}

/* --- NCCL's functions */

NCCL_API int ncclGetUniqueId(struct nccl_id *id);
NCCL_API int ncclCommInitRank(void **comm, int ranks, struct nccl_id id, int rank);
NCCL_API int ncclAllReduce(const void *src, void *dst, size_t n, int type, int op, void *comm,
			   void *stream);
NCCL_API int ncclReduce(const void *src, void *dst, size_t n, int type, int op, int root,
			void *comm, void *stream);
NCCL_API int ncclReduceScatter(const void *src, void *dst, size_t n, int type, int op, void *comm,
			       void *stream);
NCCL_API int ncclAllGather(const void *src, void *dst, size_t n, int type, void *comm,
			   void *stream);
NCCL_API int ncclBroadcast(const void *src, void *dst, size_t n, int type, int root, void *comm,
			   void *stream);
NCCL_API int ncclCommAbort(void *comm);
NCCL_API int ncclCommDestroy(void *comm);
NCCL_API const char *ncclGetErrorString(int error);

int ncclGetUniqueId(struct nccl_id *id)
{
	static unsigned int made;

	memset(id, 0, sizeof(*id));
	pthread_mutex_lock(&lock);
	snprintf(id->internal, sizeof(id->internal), "double %u", made++);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Lock held. */
static struct group *find(const struct nccl_id *id, int ranks)
{
	struct group *g;

	for (g = groups; g; g = g->next)
		if (!memcmp(&g->id, id, sizeof(*id)))
			return g;
	g = calloc(1, sizeof(*g));
	g->id = *id;
	g->ranks = ranks;
	g->next = groups;
	groups = g;
	return g;
}

int ncclCommInitRank(void **comm, int ranks, struct nccl_id id, int rank)
{
	struct comm *c = calloc(1, sizeof(*c));

	if (fails("init") || ranks > RANKS) {
		free(c);
		return 2;
	}
	pthread_mutex_lock(&lock);
	c->group = find(&id, ranks);
	c->rank = rank;
	c->group->joined++;
	c->group->members++;
	pthread_cond_broadcast(&changed);
	while (c->group->joined < ranks)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	*comm = c;
	return 0;
}

int ncclAllReduce(const void *src, void *dst, size_t n, int type, int op, void *comm, void *stream)
{
	return begin(comm, ALLREDUCE, src, dst, n, type, op, 0, stream);
}

int ncclReduce(const void *src, void *dst, size_t n, int type, int op, int root, void *comm,
	       void *stream)
{
	return begin(comm, REDUCE, src, dst, n, type, op, root, stream);
}

int ncclReduceScatter(const void *src, void *dst, size_t n, int type, int op, void *comm,
		      void *stream)
{
	return begin(comm, REDUCE_SCATTER, src, dst, n, type, op, 0, stream);
}

int ncclAllGather(const void *src, void *dst, size_t n, int type, void *comm, void *stream)
{
	return begin(comm, ALLGATHER, src, dst, n, type, 0, 0, stream);
}

int ncclBroadcast(const void *src, void *dst, size_t n, int type, int root, void *comm,
		  void *stream)
{
	return begin(comm, BROADCAST, src, dst, n, type, 0, root, stream);
}

/* Those that ended: operations under way still look at them and their groups. */
static struct comm *all_parted;

static int part(struct comm *c, bool abort)
{
	struct group *g = c->group, **link = &groups;
	bool last;

	pthread_mutex_lock(&lock);
	g->aborted |= abort;
	c->parted = all_parted;
	all_parted = c;
	pthread_cond_broadcast(&changed);
	last = !--g->members;
	while (last && *link != g)
		link = &(*link)->next;
	if (last)
		*link = g->next;
	pthread_mutex_unlock(&lock);
	return 0;
}

int ncclCommAbort(void *comm)
{
	return part(comm, true);
}

int ncclCommDestroy(void *comm)
{
	return part(comm, false);
}

const char *ncclGetErrorString(int error)
{
	return error == 2 ? "unhandled system error" : "internal error";
}
