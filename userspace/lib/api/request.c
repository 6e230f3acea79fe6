// SPDX-License-Identifier: BSD-2-Clause
/* The collectives of trib.h: each becomes one call of the handle's way. */
#include <errno.h>

#include "lib/handle/handle.h"

/* Bytes of an element of a call that the way will take; 0: it will refuse the call. */
static size_t way_size(struct trib *t, const struct trib_call *c)
{
	if (t->way->size)
		return t->way->size(t, c);
	return trib_call_wrong(&t->eng, c) ? 0 : 4;
}

/* Lock held. */
static int issue_where(struct trib *t, const struct trib_call *c, const struct trib_where *where,
		       struct trib_req **out)
{
	if (where->memory == TRIB_MEMORY_HOST)
		return t->way->issue(t, c, out);
	if (t->way->issue_where)
		return t->way->issue_where(t, c, where, out);
	return trib_fail(
		t, TRIB_ERR_ARGUMENT, -EINVAL,
		"values in GPU memory are for peers: attach with TRIB_TRANSPORT=peer, or sum them by trib_compress_iallreduce_buffer()");
}

/*
 * @blocking: the caller waits for the result at once, so it becomes the driver, unless
 * there is one. Neither is the progress thread woken for a way with threads: it looks once
 * a tick.
 */
static int issue_in(struct trib *t, const struct trib_call *c, const struct trib_where *where,
		    bool blocking, struct trib_req **out)
{
	int rc;

	pthread_mutex_lock(&t->lock);
	t->eng.now = clock_ns();
	rc = issue_where(t, c, where, out);
	if (!rc && !t->way->threads && (!blocking || t->driver == TRIB_DRIVER_USER))
		trib_drive_wake(t);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

static int issue(struct trib *t, const struct trib_call *c, bool blocking, struct trib_req **out)
{
	const struct trib_where host = {.memory = TRIB_MEMORY_HOST};

	return issue_in(t, c, &host, blocking, out);
}

static int start_sum(struct trib *t, enum trib_collective what, const void *src, void *dst,
		     size_t count, enum trib_dtype dtype, enum trib_op op, bool blocking,
		     struct trib_req **req)
{
	struct trib_call c = {
		.collective = what,
		.op = op,
		.dtype = dtype,
		.src = src,
		.dst = dst,
		.count = count,
	};

	return issue(t, &c, blocking, req);
}

static int start_allreduce(struct trib *t, const void *src, void *dst, size_t count,
			   enum trib_dtype dtype, enum trib_op op, bool blocking,
			   struct trib_req **req)
{
	return start_sum(t, TRIB_COLL_ALLREDUCE, src, dst, count, dtype, op, blocking, req);
}

static int start_reduce_scatter(struct trib *t, const void *src, void *dst, size_t count,
				enum trib_dtype dtype, enum trib_op op, bool blocking,
				struct trib_req **req)
{
	return start_sum(t, TRIB_COLL_REDUCE_SCATTER, src, dst, count, dtype, op, blocking, req);
}

static int start_allgather(struct trib *t, const void *src, void *dst, size_t count,
			   enum trib_dtype dtype, bool blocking, struct trib_req **req)
{
	struct trib_call c = {
		.collective = TRIB_COLL_ALLGATHER,
		.dtype = dtype,
		.src = src,
		.dst = dst,
		.count = count,
	};
	size_t size = way_size(t, &c);
	void *own;

	/*
	 * The ways read this rank's elements from their place in the result.
	 */
	if (count && src && size) {
		own = (char *)dst + size * count * t->eng.rank;
		if (src != own)
			memmove(own, src, size * count);
	}
	return issue(t, &c, blocking, req);
}

static int start_broadcast(struct trib *t, void *buf, size_t count, enum trib_dtype dtype, int root,
			   bool blocking, struct trib_req **req)
{
	struct trib_call c = {
		.collective = TRIB_COLL_BROADCAST,
		.dtype = dtype,
		.dst = buf,
		.count = count,
		.root = (uint32_t)root,
	};

	return issue(t, &c, blocking, req);
}

static int start_barrier(struct trib *t, bool blocking, struct trib_req **req)
{
	struct trib_call c = {.collective = TRIB_COLL_BARRIER};

	return issue(t, &c, blocking, req);
}

int trib_iallreduce(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		    enum trib_op op, struct trib_req **req)
{
	return start_allreduce(t, src, dst, count, dtype, op, false, req);
}

int trib_ireduce_scatter(struct trib *t, const void *src, void *dst, size_t count,
			 enum trib_dtype dtype, enum trib_op op, struct trib_req **req)
{
	return start_reduce_scatter(t, src, dst, count, dtype, op, false, req);
}

int trib_iallgather(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		    struct trib_req **req)
{
	return start_allgather(t, src, dst, count, dtype, false, req);
}

int trib_ibroadcast(struct trib *t, void *buf, size_t count, enum trib_dtype dtype, int root,
		    struct trib_req **req)
{
	return start_broadcast(t, buf, count, dtype, root, false, req);
}

static int start_buffers(struct trib *t, struct trib_call *c, const struct trib_buffer *src,
			 const struct trib_buffer *dst, struct trib_req **req)
{
	const struct trib_where where = {dst->memory, src->stream, dst->stream};

	c->src = src->data;
	c->dst = dst->data;
	if (src->memory == dst->memory && dst->memory <= TRIB_MEMORY_CUDA)
		return issue_in(t, c, &where, false, req);
	pthread_mutex_lock(&t->lock);
	trib_fail(t, TRIB_ERR_ARGUMENT, -EINVAL,
		  "src and dst are not both in host memory, or both in CUDA memory");
	pthread_mutex_unlock(&t->lock);
	return -EINVAL;
}

int trib_iallreduce_buffer(struct trib *t, const struct trib_buffer *src,
			   const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
			   enum trib_op op, struct trib_req **req)
{
	struct trib_call c = {
		.collective = TRIB_COLL_ALLREDUCE, .op = op, .dtype = dtype, .count = count};

	return start_buffers(t, &c, src, dst, req);
}

int trib_ireduce_scatter_buffer(struct trib *t, const struct trib_buffer *src,
				const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
				enum trib_op op, struct trib_req **req)
{
	struct trib_call c = {
		.collective = TRIB_COLL_REDUCE_SCATTER, .op = op, .dtype = dtype, .count = count};

	return start_buffers(t, &c, src, dst, req);
}

int trib_iallgather_buffer(struct trib *t, const struct trib_buffer *src,
			   const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
			   struct trib_req **req)
{
	struct trib_call c = {.collective = TRIB_COLL_ALLGATHER, .dtype = dtype, .count = count};

	if (src->memory == TRIB_MEMORY_HOST && dst->memory == TRIB_MEMORY_HOST)
		return trib_iallgather(t, src->data, dst->data, count, dtype, req);
	return start_buffers(t, &c, src, dst, req);
}

int trib_ibroadcast_buffer(struct trib *t, const struct trib_buffer *buf, size_t count,
			   enum trib_dtype dtype, int root, struct trib_req **req)
{
	struct trib_call c = {.collective = TRIB_COLL_BROADCAST,
			      .dtype = dtype,
			      .count = count,
			      .root = (uint32_t)root};
	const struct trib_buffer none = {.memory = buf->memory};

	return start_buffers(t, &c, &none, buf, req);
}

int trib_ibarrier(struct trib *t, struct trib_req **req)
{
	return start_barrier(t, false, req);
}

int trib_allreduce(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		   enum trib_op op)
{
	struct trib_req *r;
	int rc = start_allreduce(t, src, dst, count, dtype, op, true, &r);

	return rc ? rc : trib_wait(r);
}

int trib_reduce_scatter(struct trib *t, const void *src, void *dst, size_t count,
			enum trib_dtype dtype, enum trib_op op)
{
	struct trib_req *r;
	int rc = start_reduce_scatter(t, src, dst, count, dtype, op, true, &r);

	return rc ? rc : trib_wait(r);
}

int trib_allgather(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype)
{
	struct trib_req *r;
	int rc = start_allgather(t, src, dst, count, dtype, true, &r);

	return rc ? rc : trib_wait(r);
}

int trib_broadcast(struct trib *t, void *buf, size_t count, enum trib_dtype dtype, int root)
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
