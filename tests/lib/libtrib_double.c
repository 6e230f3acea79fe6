// SPDX-License-Identifier: BSD-2-Clause
/*
 * A double of libtrib: the same API for processes of one machine that share the
 * file $TRIB_DOUBLE. Tests of libtrib's users need it to check that a wrong
 * result is noticed, so it spoils results on request:
 *
 * TRIB_DOUBLE_FAULT="KIND RANK CALL ELEMENT"
 *
 * flip: flip the lowest bit of the element, on that rank only.
 * off:  make the element one too large (a float: 16 ulp), on all ranks.
 * lose: leave that rank's contribution to the element out, on all ranks.
 * fail: fail the call on that rank, as if rank 0 had died.
 *
 * CALL counts the collectives of the process from 0. Each collective completes
 * when it is issued.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trib.h"
#include "trib_compress.h"

#define RANKS_MAX 16
#define PART 65536 /* elements per exchange */

struct shared {
	pthread_barrier_t all;
	volatile int ready;
	uint32_t in[RANKS_MAX][PART];
};

struct trib {
	struct shared *s;
	int rank;
	int world;
	long calls;
	char kind[8];
	int fault_rank;
	long fault_call;
	long fault_elem;
	struct trib_error error;
	struct trib_counters counters;
};

struct trib_req {
	int rc;
};

static struct trib_error attach_error;

static int env_int(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : -1;
}

static struct shared *join(const char *path, int rank, int world)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct shared *s = MAP_FAILED;
	pthread_barrierattr_t attr;

	if (fd < 0)
		return NULL;
	if (!ftruncate(fd, sizeof(*s)))
		s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s == MAP_FAILED)
		return NULL;
	if (!rank) {
		pthread_barrierattr_init(&attr);
		pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
		pthread_barrier_init(&s->all, &attr, (unsigned int)world);
		__atomic_store_n(&s->ready, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&s->ready, __ATOMIC_ACQUIRE))
		usleep(1000);
	pthread_barrier_wait(&s->all);
	return s;
}

int trib_attach(struct trib **out, const struct trib_options *opts)
{
	const char *path = getenv("TRIB_DOUBLE");
	const char *fault = getenv("TRIB_DOUBLE_FAULT");
	struct trib *t = calloc(1, sizeof(*t));

	(void)opts;
	if (!t)
		return -ENOMEM;
	t->rank = env_int("TRIB_RANK");
	t->world = env_int("TRIB_WORLD");
	t->error.rank = -1;
	t->fault_rank = -1;
	if (path && t->rank >= 0 && t->world > t->rank && t->world <= RANKS_MAX)
		t->s = join(path, t->rank, t->world);
	if (!t->s) {
		snprintf(attach_error.text, sizeof(attach_error.text),
			 "no job: set TRIB_DOUBLE, rank and world");
		free(t);
		return -ENOENT;
	}
	if (fault)
		sscanf(fault, "%7s %d %ld %ld", t->kind, &t->fault_rank, &t->fault_call,
		       &t->fault_elem);
	*out = t;
	return 0;
}

int trib_detach(struct trib *t)
{
	if (!t)
		return 0;
	munmap(t->s, sizeof(*t->s));
	free(t);
	return 0;
}

int trib_rank(const struct trib *t)
{
	return t->rank;
}

int trib_number(const struct trib *t)
{
	(void)t;
	return 0;
}

int trib_world(const struct trib *t)
{
	return t->world;
}

static int hit(const struct trib *t, const char *kind, long elem)
{
	return t->calls == t->fault_call && elem == t->fault_elem && !strcmp(t->kind, kind);
}

static uint32_t combine_f32(const struct trib *t, size_t i, enum trib_op op, int skip)
{
	double acc = 0;
	uint32_t bits;
	float f;

	for (int r = 0; r < t->world; r++) {
		memcpy(&f, &t->s->in[r][i], 4);
		if (r == skip)
			f = 0;
		if (op == TRIB_SUM || op == TRIB_AVG)
			acc += (double)f;
		else if (!r || (op == TRIB_MAX ? (double)f > acc : (double)f < acc))
			acc = (double)f;
	}
	f = (float)(op == TRIB_AVG ? acc / t->world : acc);
	memcpy(&bits, &f, 4);
	return bits;
}

static uint32_t combine_i32(const struct trib *t, size_t i, enum trib_op op, int skip)
{
	int32_t acc = 0, v;

	for (int r = 0; r < t->world; r++) {
		v = r == skip ? 0 : (int32_t)t->s->in[r][i];
		if (op == TRIB_SUM)
			acc = (int32_t)((uint32_t)acc + (uint32_t)v);
		else if (!r || (op == TRIB_MAX ? v > acc : v < acc))
			acc = v;
	}
	return (uint32_t)acc;
}

static uint32_t combine(const struct trib *t, size_t i, long elem, enum trib_dtype dtype,
			enum trib_op op)
{
	int skip = hit(t, "lose", elem) ? t->fault_rank : -1;
	uint32_t v = dtype == TRIB_F32 ? combine_f32(t, i, op, skip) : combine_i32(t, i, op, skip);

	if (hit(t, "off", elem))
		v += dtype == TRIB_F32 ? 16 : 1;
	if (hit(t, "flip", elem) && t->rank == t->fault_rank)
		v ^= 1;
	return v;
}

/*
 * The exchange behind all collectives: combine @n elements of all ranks, and
 * store elements @from .. @from + @keep at @dst.
 */
static int exchange(struct trib *t, const void *src, void *dst, size_t n, size_t from, size_t keep,
		    enum trib_dtype dtype, enum trib_op op)
{
	for (size_t at = 0; at < n; at += PART) {
		size_t len = n - at < PART ? n - at : PART;

		memcpy(t->s->in[t->rank], (const char *)src + 4 * at, 4 * len);
		pthread_barrier_wait(&t->s->all);
		for (size_t i = 0; i < len; i++) {
			size_t e = at + i;
			uint32_t v;

			if (e < from || e >= from + keep)
				continue;
			v = combine(t, i, (long)e, dtype, op);
			memcpy((char *)dst + 4 * (e - from), &v, 4);
		}
		pthread_barrier_wait(&t->s->all);
	}
	return 0;
}

/* Count the call, fail on request, and return a request that is done. */
static int issue(struct trib *t, struct trib_req **req)
{
	*req = calloc(1, sizeof(**req));
	if (!*req)
		return -ENOMEM;
	if (t->calls == t->fault_call && !strcmp(t->kind, "fail") && t->rank == t->fault_rank) {
		t->error.code = TRIB_ERR_DEAD;
		t->error.err = (*req)->rc = -EHOSTDOWN;
		t->error.rank = 0;
		snprintf(t->error.text, sizeof(t->error.text),
			 "rank 0 gave no sign of life for 5000 ms");
	}
	return 0;
}

int trib_iallreduce(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		    enum trib_op op, struct trib_req **req)
{
	int rc = issue(t, req);

	if (!rc && !(*req)->rc)
		exchange(t, src, dst, count, 0, count, dtype, op);
	t->counters.sent_bytes += count * 4;
	t->counters.recv_bytes += count * 4;
	t->calls++;
	return rc;
}

int trib_ireduce_scatter(struct trib *t, const void *src, void *dst, size_t count,
			 enum trib_dtype dtype, enum trib_op op, struct trib_req **req)
{
	int rc = issue(t, req);

	if (!rc && !(*req)->rc)
		exchange(t, src, dst, count * (size_t)t->world, count * (size_t)t->rank, count,
			 dtype, op);
	t->calls++;
	return rc;
}

int trib_iallgather(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		    struct trib_req **req)
{
	size_t n = count * (size_t)t->world;
	uint32_t *all = calloc(n + 1, 4);
	int rc = issue(t, req);

	(void)dtype;
	if (all && !rc && !(*req)->rc) {
		memcpy(all + count * (size_t)t->rank, src, count * 4);
		exchange(t, all, dst, n, 0, n, TRIB_I32, TRIB_SUM);
	}
	t->calls++;
	free(all);
	return rc;
}

int trib_ibroadcast(struct trib *t, void *buf, size_t count, enum trib_dtype dtype, int root,
		    struct trib_req **req)
{
	int rc = issue(t, req);

	(void)dtype;
	if (t->rank != root)
		memset(buf, 0, count * 4);
	if (!rc && !(*req)->rc)
		exchange(t, buf, buf, count, 0, count, TRIB_I32, TRIB_SUM);
	t->calls++;
	return rc;
}

int trib_iallreduce_buffer(struct trib *t, const struct trib_buffer *src,
			   const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
			   enum trib_op op, struct trib_req **req)
{
	return trib_iallreduce(t, src->data, dst->data, count, dtype, op, req);
}

int trib_ireduce_scatter_buffer(struct trib *t, const struct trib_buffer *src,
				const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
				enum trib_op op, struct trib_req **req)
{
	return trib_ireduce_scatter(t, src->data, dst->data, count, dtype, op, req);
}

int trib_iallgather_buffer(struct trib *t, const struct trib_buffer *src,
			   const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
			   struct trib_req **req)
{
	return trib_iallgather(t, src->data, dst->data, count, dtype, req);
}

int trib_ibroadcast_buffer(struct trib *t, const struct trib_buffer *buf, size_t count,
			   enum trib_dtype dtype, int root, struct trib_req **req)
{
	return trib_ibroadcast(t, buf->data, count, dtype, root, req);
}

int trib_ibarrier(struct trib *t, struct trib_req **req)
{
	int rc = issue(t, req);

	pthread_barrier_wait(&t->s->all);
	t->calls++;
	return rc;
}

int trib_wait(struct trib_req *req)
{
	int rc = req->rc;

	free(req);
	return rc;
}

int trib_test(struct trib_req *req, int *done)
{
	*done = 1;
	return trib_wait(req);
}

int trib_allreduce(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		   enum trib_op op)
{
	struct trib_req *req;
	int rc = trib_iallreduce(t, src, dst, count, dtype, op, &req);

	return rc ? rc : trib_wait(req);
}

int trib_broadcast(struct trib *t, void *buf, size_t count, enum trib_dtype dtype, int root)
{
	struct trib_req *req;
	int rc = trib_ibroadcast(t, buf, count, dtype, root, &req);

	return rc ? rc : trib_wait(req);
}

int trib_barrier(struct trib *t)
{
	struct trib_req *req;
	int rc = trib_ibarrier(t, &req);

	return rc ? rc : trib_wait(req);
}

void trib_error(const struct trib *t, struct trib_error *out)
{
	*out = t ? t->error : attach_error;
}

const char *trib_error_text(const struct trib *t)
{
	return t ? t->error.text : attach_error.text;
}

void trib_counters(const struct trib *t, struct trib_counters *out)
{
	size_t size = out->size;

	*out = t->counters;
	out->size = size;
}

int trib_trees(const struct trib *t)
{
	(void)t;
	return 1;
}

void trib_describe(const struct trib *t, char *buf, size_t room)
{
	(void)t;
	if (room)
		buf[0] = '\0';
}

const char *trib_sum_format(const struct trib *t)
{
	(void)t;
	return "int";
}

const char *trib_transport_name(const struct trib *t)
{
	(void)t;
	return "double";
}

/* --- compression: there is none here */

int trib_compress_open(struct trib_compress **out, struct trib *t,
		       const struct trib_compress_options *opts)
{
	(void)out;
	(void)opts;
	t->error.code = TRIB_ERR_ARGUMENT;
	t->error.err = -EOPNOTSUPP;
	snprintf(t->error.text, sizeof(t->error.text), "the double does not compress");
	return -EOPNOTSUPP;
}

int trib_compress_iallreduce(struct trib_compress *c, uint64_t key, const void *src, void *dst,
			     size_t count, enum trib_dtype dtype, enum trib_op op,
			     struct trib_req **req)
{
	(void)c;
	(void)key;
	(void)src;
	(void)dst;
	(void)count;
	(void)dtype;
	(void)op;
	(void)req;
	return -EOPNOTSUPP;
}

int trib_compress_iallreduce_buffer(struct trib_compress *c, uint64_t key,
				    const struct trib_buffer *src, const struct trib_buffer *dst,
				    size_t count, enum trib_dtype dtype, enum trib_op op,
				    struct trib_req **req)
{
	return trib_compress_iallreduce(c, key, src->data, dst->data, count, dtype, op, req);
}

int trib_compress_step(struct trib_compress *c)
{
	(void)c;
	return -EOPNOTSUPP;
}

int trib_compress_forget(struct trib_compress *c, uint64_t key)
{
	(void)c;
	(void)key;
	return -EOPNOTSUPP;
}

void trib_compress_spec(const struct trib_compress *c, char *buf, size_t len)
{
	(void)c;
	snprintf(buf, len, "dense");
}

void trib_compress_counters(const struct trib_compress *c, struct trib_compress_counters *out)
{
	(void)c;
	(void)out;
}

int trib_compress_close(struct trib_compress *c)
{
	(void)c;
	return 0;
}
