// SPDX-License-Identifier: BSD-2-Clause
/* The functions of trib_compress.h, except those of the saved state. */
#include <errno.h>
#include <stdlib.h>

#include "compress.h"

/* Is it a mistake of the caller? */
static bool is_mistake(int err)
{
	return err != -ENOMEM && err != -ENODEV && err != -EIO;
}

/* Record an error, with or without the lock. Return: @err. */
static int fail(struct trib *t, int err, const char *text)
{
	pthread_mutex_lock(&t->lock);
	trib_fail(t, is_mistake(err) ? TRIB_ERR_ARGUMENT : TRIB_ERR_SYSTEM, err, "%s", text);
	pthread_mutex_unlock(&t->lock);
	return err;
}

/* All that must be the same on all ranks, as a number. */
static uint32_t name_of(const struct trib_compress *c, const char *schedule)
{
	uint64_t more[3] = {c->seed, c->bucket, c->feedback | c->local << 1};
	const uint8_t *p = (const uint8_t *)more;
	uint32_t h = 2166136261u;
	size_t i;

	for (; *schedule; schedule++)
		h = (h ^ (uint8_t)*schedule) * 16777619u;
	for (i = 0; i < sizeof(more); i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

static int take_options(struct trib_compress *c, struct trib *t,
			const struct trib_compress_options *given)
{
	struct trib_compress_options o = {0};
	char why[160], text[240];
	const char *schedule;

	if (given)
		memcpy(&o, given, given->size < sizeof(o) ? given->size : sizeof(o));
	schedule = o.schedule ? o.schedule : getenv("TRIB_COMPRESS");
	if (!schedule || !*schedule)
		schedule = "dense";
	if (schedule_parse(&c->schedule, schedule, why, sizeof(why))) {
		snprintf(text, sizeof(text), "schedule \"%.60s\": %s", schedule, why);
		return fail(t, -EINVAL, text);
	}
	if (o.bucket > BUCKET_MAX)
		return fail(t, -EINVAL, "bucket is too large: want at most 1048576 values");
	if (o.mask && strcmp(o.mask, "shared") && strcmp(o.mask, "local"))
		return fail(t, -EINVAL, "mask is neither \"shared\" nor \"local\"");
	c->local = o.mask && !strcmp(o.mask, "local");
	if (c->local && schedule_quantises(&c->schedule))
		return fail(
			t, -EINVAL,
			"local masks are for floats: use a schedule without integers, as 2:4, or mask \"shared\"");
	if (c->local && trib_fmt_is_half((uint8_t)t->eng.rep->fmt))
		return fail(
			t, -EOPNOTSUPP,
			"local masks are for jobs of dtype int or f32: use mask \"shared\", or another job");
	if (c->schedule.automatic && o.no_feedback)
		return fail(t, -EINVAL,
			    "schedule auto judges by residuals: use it without no_feedback");
	c->seed = o.seed;
	c->bucket = o.bucket ? o.bucket : BUCKET_DEFAULT;
	c->feedback = !o.no_feedback;
	c->measure = o.measure || c->schedule.automatic;
	c->name = name_of(c, schedule);
	return 0;
}

/* Take the memory and, for a GPU, its library. */
static int take_memory(struct trib_compress *c, struct trib *t,
		       const struct trib_compress_options *given)
{
	struct trib_compress_options o = {0};
	int rc;

	if (given)
		memcpy(&o, given, given->size < sizeof(o) ? given->size : sizeof(o));
	c->work = &work_host;
	if (o.memory == TRIB_MEMORY_HOST)
		return 0;
	if (o.memory != TRIB_MEMORY_CUDA)
		return fail(t, -EINVAL, "memory is neither TRIB_MEMORY_HOST nor TRIB_MEMORY_CUDA");
	rc = device_open(c, o.gpu_library);
	return rc ? fail(t, rc, c->why) : 0;
}

static void compress_free(struct trib_compress *c)
{
	if (c->work) {
		tensor_free_all(c, c->table);
		c->work->close(c);
	}
	pthread_cond_destroy(&c->bell_cond);
	pthread_mutex_destroy(&c->bell);
	free(c);
}

int compress_make(struct trib_compress **out, struct trib *t,
		  const struct trib_compress_options *opts, bool threaded)
{
	struct trib_compress *c;
	int rc;

	if (!t->way->composes)
		return fail(
			t, -EOPNOTSUPP,
			"a kernel socket has no place for masks and residuals: to compress, attach with transport udp or xdp, or by peers");
	c = calloc(1, sizeof(*c));
	if (!c)
		return fail(t, -ENOMEM, "out of memory");
	pthread_mutex_init(&c->bell, NULL);
	pthread_cond_init(&c->bell_cond, NULL);
	c->tail = &c->first;
	c->nm = trib_nm_best();
	rc = take_options(c, t, opts);
	if (!rc)
		rc = take_memory(c, t, opts);
	if (!rc)
		rc = guest_enter(c, t, threaded);
	if (rc) {
		compress_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

int trib_compress_open(struct trib_compress **out, struct trib *t,
		       const struct trib_compress_options *opts)
{
	struct trib_compress *c;
	int rc;

	rc = compress_make(&c, t, opts, true);
	if (rc)
		return rc;
	rc = agree(c);
	if (rc) {
		trib_compress_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

static const char *wrong_buffer(const struct trib_compress *c, const struct trib_buffer *b)
{
	if (!b->data)
		return "a buffer is NULL";
	if (c->device)
		return b->memory == TRIB_MEMORY_CUDA
			       ? device_wrong(c, b)
			       : "a buffer is in host memory: this object is for CUDA memory, by trib_compress_iallreduce_buffer()";
	return b->memory == TRIB_MEMORY_HOST
		       ? NULL
		       : "a buffer is not in host memory: open with memory TRIB_MEMORY_CUDA";
}

static const char *wrong(const struct trib_compress *c, const struct tensor *x,
			 const struct message_args *a, size_t count, enum trib_dtype dtype)
{
	const char *text = NULL;

	if (dtype != TRIB_F32)
		return "the element type is not f32: compressed sums are of f32";
	if (a->op != TRIB_SUM && a->op != TRIB_AVG)
		return "the operation is neither sum nor avg";
	if (count >= 1ULL << TRIB_EXP_INDEX_BITS)
		return "too many elements";
	if (x && x->count != count)
		return "this key had another number of values before: call trib_compress_forget() first";
	if (c->step > INT32_MAX)
		return "too many steps";
	if (count)
		text = wrong_buffer(c, a->src);
	if (count && !text)
		text = wrong_buffer(c, a->dst);
	return text;
}

/* May the tensor have a message? Return: 0, or the recorded -EBUSY or -EIO. */
static int check_tensor(struct trib_compress *c, const struct tensor *x)
{
	struct trib *t = c->t;
	int rc = 0;

	pthread_mutex_lock(&t->lock);
	t->eng.now = clock_ns();
	if (x && x->busy)
		rc = trib_fail(t, TRIB_ERR_ARGUMENT, -EBUSY,
			       "key %llu has a message under way: wait for it first",
			       (unsigned long long)x->key);
	else if (x && x->lost)
		rc = trib_fail(
			t, TRIB_ERR_SYSTEM, -EIO,
			"the residual of key %llu was lost when the GPU failed: call trib_compress_forget() or trib_compress_load()",
			(unsigned long long)x->key);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int trib_compress_iallreduce_buffer(struct trib_compress *c, uint64_t key,
				    const struct trib_buffer *src, const struct trib_buffer *dst,
				    size_t count, enum trib_dtype dtype, enum trib_op op,
				    struct trib_req **req)
{
	const struct message_args a = {.src = src, .dst = dst, .op = op};
	struct trib *t = c->t;
	struct message *m;
	struct tensor *x;
	const char *text;
	int rc;

	if (!t)
		return -ECANCELED;
	x = tensor_find(c, key);
	text = wrong(c, x, &a, count, dtype);
	if (text)
		return fail(t, -EINVAL, text);
	rc = check_tensor(c, x);
	if (rc)
		return rc;
	/* A GPU may take its time for memory, so not under the lock. */
	rc = tensor_get(c, key, count, &x);
	if (rc == -EIO)
		return fail(t, rc, c->work->error(c));
	m = rc ? NULL : message_make(c, x, &a);
	if (!m)
		return fail(t, -ENOMEM,
			    c->device ? "out of memory, of the process or of the GPU"
				      : "out of memory");
	pthread_mutex_lock(&t->lock);
	t->eng.now = clock_ns();
	rc = message_start(m, &a, req);
	if (!rc)
		trib_drive_wake(t);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int trib_compress_allreduce_buffer(struct trib_compress *c, uint64_t key,
				   const struct trib_buffer *src, const struct trib_buffer *dst,
				   size_t count, enum trib_dtype dtype, enum trib_op op)
{
	struct trib_req *r;
	int rc = trib_compress_iallreduce_buffer(c, key, src, dst, count, dtype, op, &r);

	return rc ? rc : trib_wait(r);
}

int trib_compress_iallreduce(struct trib_compress *c, uint64_t key, const void *src, void *dst,
			     size_t count, enum trib_dtype dtype, enum trib_op op,
			     struct trib_req **req)
{
	const struct trib_buffer from = {.data = (void *)src}, to = {.data = dst};

	return trib_compress_iallreduce_buffer(c, key, &from, &to, count, dtype, op, req);
}

int trib_compress_allreduce(struct trib_compress *c, uint64_t key, const void *src, void *dst,
			    size_t count, enum trib_dtype dtype, enum trib_op op)
{
	struct trib_req *r;
	int rc = trib_compress_iallreduce(c, key, src, dst, count, dtype, op, &r);

	return rc ? rc : trib_wait(r);
}

/* Lock held. */
static int step(struct trib_compress *c)
{
	int rc;

	if (c->schedule.automatic) {
		rc = norms_wait(c);
		if (rc)
			return rc;
		if (c->judge)
			schedule_judge(&c->schedule, c->norm[0], c->norm[1]);
		c->judge = false;
		rc = norms_issue(c);
		if (rc)
			return rc;
	}
	c->grad = c->left = 0;
	c->values = 0;
	return (int)++c->step;
}

int trib_compress_step(struct trib_compress *c)
{
	struct trib *t = c->t;
	int rc;

	if (!t)
		return -ECANCELED;
	pthread_mutex_lock(&t->lock);
	if (c->first)
		rc = trib_fail(t, TRIB_ERR_ARGUMENT, -EBUSY,
			       "a message of this step is under way: wait for it first");
	else if (c->step == INT32_MAX)
		rc = trib_fail(t, TRIB_ERR_ARGUMENT, -EINVAL, "too many steps");
	else
		rc = step(c);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

int compress_rest(struct trib_compress *c)
{
	struct trib *t = c->t;
	int rc;

	if (!t)
		return 0;
	pthread_mutex_lock(&t->lock);
	if (c->first)
		rc = trib_fail(t, TRIB_ERR_ARGUMENT, -EBUSY,
			       "a message is under way: wait for it first");
	else
		rc = norms_wait(c);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

void trib_compress_spec(const struct trib_compress *c, char *buf, size_t len)
{
	char text[TRIB_NM_TEXT];

	trib_nm_print(text, schedule_spec(&c->schedule, c->step));
	snprintf(buf, len, "%s", text);
}

/* Is its message under way? */
static bool is_busy(const struct trib_compress *c, const struct tensor *x)
{
	bool busy;

	if (!x || !c->t)
		return false;
	pthread_mutex_lock(&c->t->lock);
	busy = x->busy;
	pthread_mutex_unlock(&c->t->lock);
	return busy;
}

float *trib_compress_residual(struct trib_compress *c, uint64_t key, size_t count)
{
	struct tensor *x;

	if (!c->feedback || tensor_get(c, key, count, &x))
		return NULL;
	return x->count == count && !x->lost ? x->residual : NULL;
}

int trib_compress_forget(struct trib_compress *c, uint64_t key)
{
	if (is_busy(c, tensor_find(c, key)))
		return fail(c->t, -EBUSY, "a message of this key is under way: wait for it first");
	tensor_drop(c, key);
	return 0;
}

int trib_compress_move(struct trib_compress *c, struct trib *t)
{
	int rc = compress_rest(c);

	if (rc == -EBUSY)
		return rc;
	if (!t->way->composes)
		return fail(
			t, -EOPNOTSUPP,
			"a kernel socket has no place for masks and residuals: to compress, attach with transport udp or xdp, or by peers");
	guest_leave(c);
	rc = guest_enter(c, t, true);
	return rc ? rc : agree(c);
}

int trib_compress_close(struct trib_compress *c)
{
	int rc = c ? compress_rest(c) : 0;

	if (!c || rc == -EBUSY)
		return rc;
	guest_leave(c);
	compress_free(c);
	return 0;
}

void trib_compress_counters(const struct trib_compress *c, struct trib_compress_counters *out)
{
	struct trib_compress_counters n;
	size_t size = out->size;

	if (c->t)
		pthread_mutex_lock(&c->t->lock);
	n = c->count;
	if (c->t)
		pthread_mutex_unlock(&c->t->lock);
	if (size > sizeof(n))
		size = sizeof(n);
	n.size = size;
	memcpy(out, &n, size);
}
