// SPDX-License-Identifier: BSD-2-Clause
/* The functions of trib_compress.h, except those of the saved state. */
#include <errno.h>
#include <stdlib.h>

#include "compress.h"

/* Record an error, with or without the lock. Return: @err. */
static int fail(struct trib *t, int err, const char *text)
{
	pthread_mutex_lock(&t->lock);
	trib_fail(t, err == -ENOMEM ? TRIB_ERR_SYSTEM : TRIB_ERR_ARGUMENT, err, "%s", text);
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

static void compress_free(struct trib_compress *c)
{
	tensor_free_all(c->table);
	pthread_cond_destroy(&c->work);
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
			"a kernel socket has no place for masks and residuals: to compress, attach with transport udp or xdp");
	c = calloc(1, sizeof(*c));
	if (!c)
		return fail(t, -ENOMEM, "out of memory");
	pthread_cond_init(&c->work, NULL);
	c->tail = &c->first;
	c->nm = trib_nm_best();
	rc = take_options(c, t, opts);
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

static const char *wrong(const struct trib_compress *c, const struct tensor *x, const void *src,
			 const void *dst, size_t count, enum trib_dtype dtype, enum trib_op op)
{
	if (dtype != TRIB_F32)
		return "the element type is not f32: compressed sums are of f32";
	if (op != TRIB_SUM && op != TRIB_AVG)
		return "the operation is neither sum nor avg";
	if (count && (!src || !dst))
		return "a buffer is NULL";
	if (count >= 1ULL << TRIB_EXP_INDEX_BITS)
		return "too many elements";
	if (x && x->count != count)
		return "this key had another number of values before: call trib_compress_forget() first";
	if (c->step > INT32_MAX)
		return "too many steps";
	return NULL;
}

int trib_compress_iallreduce(struct trib_compress *c, uint64_t key, const void *src, void *dst,
			     size_t count, enum trib_dtype dtype, enum trib_op op,
			     struct trib_req **req)
{
	struct trib *t = c->t;
	struct tensor *x;
	const char *text;
	int rc;

	if (!t)
		return -ECANCELED;
	x = tensor_find(c, key);
	text = wrong(c, x, src, dst, count, dtype, op);
	if (text)
		return fail(t, -EINVAL, text);
	pthread_mutex_lock(&t->lock);
	t->eng.now = clock_ns();
	if (x && x->busy) {
		rc = trib_fail(t, TRIB_ERR_ARGUMENT, -EBUSY,
			       "key %llu has a message under way: wait for it first",
			       (unsigned long long)key);
	} else if (!x && !(x = tensor_get(c, key, count))) {
		rc = trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	} else {
		rc = message_start(c, x, src, dst, op, req);
		if (!rc)
			trib_drive_wake(t);
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
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
	struct tensor *x = c->feedback ? tensor_get(c, key, count) : NULL;

	return x && x->count == count ? x->residual : NULL;
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
			"a kernel socket has no place for masks and residuals: to compress, attach with transport udp or xdp");
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
