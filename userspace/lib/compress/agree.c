// SPDX-License-Identifier: BSD-2-Clause
/*
 * Small messages between all ranks: at the beginning, whether their options are the
 * same and which step it is; after each step, norms for the ladder.
 */
#include <errno.h>
#include <math.h>

#include "compress.h"

/* Wait for @r like trib_wait(), and free it. Lock held. */
static int wait_for(struct trib_compress *c, struct trib_req *r)
{
	struct trib *t = c->t;
	int status;

	t->inside++;
	trib_drive_until(t, r, 0);
	status = trib_req_blame(r);
	trib_req_free(r);
	if (!--t->inside && t->eng.leaving)
		pthread_cond_broadcast(&t->cond);
	return status;
}

static int issue(struct trib_compress *c, struct trib_call *call, struct trib_req **r)
{
	int rc;

	c->t->eng.now = clock_ns();
	rc = c->t->way->issue(c->t, call, r);
	if (!rc)
		trib_drive_wake(c->t);
	return rc;
}

int agree(struct trib_compress *c)
{
	int32_t v[5] = {
		(int32_t)(c->name & INT32_MAX),
		-(int32_t)(c->name & INT32_MAX),
		(int32_t)c->step,
		c->schedule.rung,
		c->schedule.calm,
	};
	struct trib_call call = {
		.op = TRIB_SOCK_MAX, .dtype = TRIB_SOCK_I32, .src = v, .dst = v, .count = 5};
	struct trib *t = c->t;
	struct trib_req *r;
	int rc;

	pthread_mutex_lock(&t->lock);
	rc = issue(c, &call, &r);
	if (!rc)
		rc = wait_for(c, r);
	if (!rc && v[0] != -v[1])
		rc = trib_fail(
			t, TRIB_ERR_ARGUMENT, -EINVAL,
			"ranks compress with different options: give all the same schedule, seed, bucket and feedback");
	if (!rc) {
		c->step = (uint64_t)v[2];
		c->schedule.rung = v[3] < schedule_rungs() ? v[3] : 0;
		c->schedule.calm = v[4];
		/* Norms of a step that a fault cut short are not those of all. */
		c->judge = false;
		c->grad = c->left = 0;
		c->values = 0;
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
}

/* Root mean squares, which no format of floats overflows if values do not. */
static float rms(double sum, uint64_t values)
{
	return values ? (float)sqrt(sum / (double)values) : 0;
}

int norms_issue(struct trib_compress *c)
{
	struct trib_call call = {.op = TRIB_SOCK_AVG, .src = c->norm, .dst = c->norm, .count = 2};

	c->norm[0] = rms(c->grad, c->values);
	c->norm[1] = rms(c->left, c->values);
	return issue(c, &call, &c->norm_req);
}

int norms_wait(struct trib_compress *c)
{
	struct trib_req *r = c->norm_req;
	int rc;

	if (!r)
		return 0;
	rc = wait_for(c, r);
	c->norm_req = NULL;
	c->judge = !rc;
	return rc;
}
