// SPDX-License-Identifier: BSD-2-Clause
/*
 * The collectives of trib.h: each becomes a request with one part for every
 * tree that it uses. What the parts are follows from the arguments alone, so
 * all ranks make the same.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

/* Elements whose index still fits the report of a value that is not finite. */
#define COUNT_MAX (1ULL << TRIB_EXP_INDEX_BITS)

static int bad_argument(struct trib *t, const char *why)
{
	int rc;

	pthread_mutex_lock(&t->lock);
	rc = trib_fail(t, TRIB_ERR_ARGUMENT, -EINVAL, "%s", why);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

/* Trees a message of @count elements is spread over. */
static unsigned int parts_of(const struct trib *t, enum trib_kind kind,
			     uint64_t count)
{
	unsigned int nval = t->stream[0]->nval;

	if (kind == TRIB_KIND_LEAVE)
		return t->nstream;
	if (kind == TRIB_KIND_BARRIER ||
	    count <= (uint64_t)nval * TRIB_TUNE_SPLIT_CHUNKS)
		return 1;
	return t->nstream;
}

static void unlink_req(struct trib_req *r)
{
	if (r->prev)
		r->prev->next = r->next;
	else
		r->t->reqs = r->next;
	if (r->next)
		r->next->prev = r->prev;
}

static void free_req(struct trib_req *r)
{
	unsigned int i;

	for (i = 0; i < r->npart; i++)
		free(r->part[i].exp);
	free(r);
}

void trib_req_free(struct trib_req *r)
{
	unlink_req(r);
	free_req(r);
}

/* Room for the exponents of a float sum, one byte in front for each 8 groups. */
static int make_exponents(struct trib_part *p)
{
	size_t groups = (size_t)(p->nexp + 7) / 8;

	p->exp = calloc(1, (size_t)p->ndata * sizeof(*p->exp) + groups);
	if (!p->exp)
		return -ENOMEM;
	p->exp_seen = (uint8_t *)(p->exp + p->ndata);
	return 0;
}

/* How much of @count stream @s takes, of those of weight @all together. */
static uint64_t share_of(const struct trib_stream *s, uint64_t count,
			 uint64_t all)
{
	/* Neither product nor sum can be too large for what memory holds. */
	uint64_t share = (count * s->weight + all - 1) / all;

	return (share + TRIB_NVAL_BLOCK - 1) / TRIB_NVAL_BLOCK *
	       TRIB_NVAL_BLOCK;
}

/* A request over @count elements; not queued yet. @whole: in one tree. */
static struct trib_req *make(struct trib *t, enum trib_kind kind,
			     uint64_t count, bool whole)
{
	unsigned int n = whole ? 1 : parts_of(t, kind, count), i;
	uint64_t share, all = 0, first = 0;
	struct trib_req *r = calloc(1, sizeof(*r) + n * sizeof(r->part[0]));

	if (!r)
		return NULL;
	r->t = t;
	r->npart = n;
	r->left = n;
	r->dst_count = count;
	for (i = 0; i < n; i++)
		all += t->stream[i]->weight;
	for (i = 0; i < n; i++) {
		struct trib_part *p = &r->part[i];
		unsigned int s = n == 1 ? t->seq % t->nstream : i;

		p->req = r;
		p->stream = t->stream[s];
		p->kind = kind;
		p->first = first;
		share = n == 1 ? count : share_of(p->stream, count, all);
		p->count = count - first < share ? count - first : share;
		first += p->count;
		trib_part_count(p, p->stream->nval);
		if (!p->nchunk)
			r->left--;
		if (kind == TRIB_KIND_FSUM && make_exponents(p)) {
			free_req(r);
			return NULL;
		}
	}
	return r;
}

static void enqueue(struct trib_req *r)
{
	struct trib *t = r->t;
	unsigned int i;

	r->next = t->reqs;
	if (r->next)
		r->next->prev = r;
	t->reqs = r;
	t->unfinished++;
	t->seq++;
	t->now = trib_now();
	for (i = 0; i < r->npart; i++)
		if (r->part[i].nchunk)
			trib_stream_queue(r->part[i].stream, &r->part[i]);
	if (!r->left)
		trib_req_done(r, 0);
	for (i = 0; i < r->npart; i++)
		if (!t->dead)
			trib_stream_push(r->part[i].stream);
}

struct trib_req *trib_req_leave(struct trib *t)
{
	struct trib_req *r = make(t, TRIB_KIND_LEAVE, 0, false);

	if (r)
		enqueue(r);
	return r;
}

/*
 * What all collectives are issued by. @whole: its parts may not be in several
 * trees. @blocking: the caller waits at once.
 */
struct issue {
	enum trib_kind kind;
	const void *src;
	void *dst;
	uint64_t count;
	uint64_t dst_first, dst_count;
	uint64_t own_first, own_count;
	enum trib_dtype dtype;
	enum trib_op op;
	bool whole;
	bool blocking;
};

static int issue(struct trib *t, const struct issue *in, struct trib_req **out)
{
	struct trib_req *r;
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	if (t->dead || t->leaving) {
		rc = t->dead ? t->dead : -ECANCELED;
		goto unlock;
	}
	r = make(t, in->kind, in->count, in->whole);
	if (!r) {
		rc = trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
		goto unlock;
	}
	r->src = in->src;
	r->dst = in->dst;
	r->dst_first = in->dst_first;
	r->dst_count = in->dst_count;
	r->own_first = in->own_first;
	r->own_count = in->own_count;
	r->dtype = in->dtype;
	r->op = in->op;
	enqueue(r);
	/* Who waits at once drives by itself, unless somebody else does. */
	if (!in->blocking || t->driver == TRIB_DRIVER_USER)
		trib_drive_wake(t);
	*out = r;
unlock:
	pthread_mutex_unlock(&t->lock);
	return rc;
}

static int check(struct trib *t, const void *src, const void *dst, size_t count,
		 size_t times, enum trib_dtype dtype, enum trib_op op)
{
	if ((unsigned int)dtype > TRIB_I32)
		return bad_argument(t, "no such element type");
	if ((unsigned int)op > TRIB_MIN)
		return bad_argument(t, "no such operation");
	if (op == TRIB_AVG && dtype != TRIB_F32)
		return bad_argument(t, "averages are of floats only");
	if (count >= COUNT_MAX / times || count > SIZE_MAX / 4 / times)
		return bad_argument(t, "too many elements");
	if (count && (!src || !dst))
		return bad_argument(t, "a buffer is NULL");
	return 0;
}

static enum trib_kind kind_of(enum trib_dtype dtype, enum trib_op op)
{
	if (op == TRIB_MAX || op == TRIB_MIN)
		return TRIB_KIND_ORDER;
	return dtype == TRIB_F32 ? TRIB_KIND_FSUM : TRIB_KIND_ISUM;
}

static int start_allreduce(struct trib *t, const void *src, void *dst,
			   size_t count, enum trib_dtype dtype, enum trib_op op,
			   bool blocking, struct trib_req **req)
{
	int rc = check(t, src, dst, count, 1, dtype, op);
	struct issue in = {
		.kind = kind_of(dtype, op),
		.src = src,
		.dst = dst,
		.count = count,
		.dst_count = count,
		.dtype = dtype,
		.op = op,
		.blocking = blocking,
	};

	return rc ? rc : issue(t, &in, req);
}

/*
 * Everybody gets the whole sum, and keeps its share. @dst may be @src or this
 * rank's share of it. In the former case results are stored where elements
 * were that come earlier in the message: they were packed before, provided
 * that they are in the same tree. (All ranks must do the same, so where @dst
 * is does not decide.)
 */
static int start_reduce_scatter(struct trib *t, const void *src, void *dst,
				size_t count, enum trib_dtype dtype,
				enum trib_op op, bool blocking,
				struct trib_req **req)
{
	int rc = check(t, src, dst, count, t->world, dtype, op);
	struct issue in = {
		.kind = kind_of(dtype, op),
		.src = src,
		.dst = dst,
		.count = (uint64_t)count * t->world,
		.dst_first = (uint64_t)count * t->rank,
		.dst_count = count,
		.dtype = dtype,
		.op = op,
		.whole = true,
		.blocking = blocking,
	};

	return rc ? rc : issue(t, &in, req);
}

static int start_allgather(struct trib *t, const void *src, void *dst,
			   size_t count, enum trib_dtype dtype, bool blocking,
			   struct trib_req **req)
{
	int rc = check(t, src, dst, count, t->world, dtype, TRIB_SUM);
	struct issue in = {
		.kind = TRIB_KIND_BITS,
		.src = src,
		.dst = dst,
		.count = (uint64_t)count * t->world,
		.dst_count = (uint64_t)count * t->world,
		.own_first = (uint64_t)count * t->rank,
		.own_count = count,
		.blocking = blocking,
	};

	if (rc)
		return rc;
	/* Results of others may not land on what was not sent yet. */
	if (count) {
		in.src = (char *)dst + 4 * in.own_first;
		if (src != in.src)
			memmove((void *)in.src, src, 4 * count);
	}
	return issue(t, &in, req);
}

static int start_broadcast(struct trib *t, void *buf, size_t count,
			   enum trib_dtype dtype, int root, bool blocking,
			   struct trib_req **req)
{
	int rc = check(t, buf, buf, count, 1, dtype, TRIB_SUM);
	struct issue in = {
		.kind = TRIB_KIND_BITS,
		.src = buf,
		.dst = buf,
		.count = count,
		.dst_count = count,
		.own_count = (unsigned int)root == t->rank ? count : 0,
		.blocking = blocking,
	};

	if (rc)
		return rc;
	if (root < 0 || (unsigned int)root >= t->world)
		return bad_argument(t, "root is not a rank");
	return issue(t, &in, req);
}

static int start_barrier(struct trib *t, bool blocking, struct trib_req **req)
{
	struct issue in = {.kind = TRIB_KIND_BARRIER, .blocking = blocking};

	return issue(t, &in, req);
}

int trib_iallreduce(struct trib *t, const void *src, void *dst, size_t count,
		    enum trib_dtype dtype, enum trib_op op,
		    struct trib_req **req)
{
	return start_allreduce(t, src, dst, count, dtype, op, false, req);
}

int trib_ireduce_scatter(struct trib *t, const void *src, void *dst,
			 size_t count, enum trib_dtype dtype, enum trib_op op,
			 struct trib_req **req)
{
	return start_reduce_scatter(t, src, dst, count, dtype, op, false, req);
}

int trib_iallgather(struct trib *t, const void *src, void *dst, size_t count,
		    enum trib_dtype dtype, struct trib_req **req)
{
	return start_allgather(t, src, dst, count, dtype, false, req);
}

int trib_ibroadcast(struct trib *t, void *buf, size_t count,
		    enum trib_dtype dtype, int root, struct trib_req **req)
{
	return start_broadcast(t, buf, count, dtype, root, false, req);
}

int trib_ibarrier(struct trib *t, struct trib_req **req)
{
	return start_barrier(t, false, req);
}

int trib_allreduce(struct trib *t, const void *src, void *dst, size_t count,
		   enum trib_dtype dtype, enum trib_op op)
{
	struct trib_req *r;
	int rc = start_allreduce(t, src, dst, count, dtype, op, true, &r);

	return rc ? rc : trib_wait(r);
}

int trib_reduce_scatter(struct trib *t, const void *src, void *dst,
			size_t count, enum trib_dtype dtype, enum trib_op op)
{
	struct trib_req *r;
	int rc = start_reduce_scatter(t, src, dst, count, dtype, op, true, &r);

	return rc ? rc : trib_wait(r);
}

int trib_allgather(struct trib *t, const void *src, void *dst, size_t count,
		   enum trib_dtype dtype)
{
	struct trib_req *r;
	int rc = start_allgather(t, src, dst, count, dtype, true, &r);

	return rc ? rc : trib_wait(r);
}

int trib_broadcast(struct trib *t, void *buf, size_t count,
		   enum trib_dtype dtype, int root)
{
	struct trib_req *r;
	int rc = start_broadcast(t, buf, count, dtype, root, true, &r);

	return rc ? rc : trib_wait(r);
}

int trib_barrier(struct trib *t)
{
	struct trib_req *r;
	int rc = start_barrier(t, true, &r);

	return rc ? rc : trib_wait(r);
}
