// SPDX-License-Identifier: BSD-2-Clause
/* Waiting for requests, and queries of a handle. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dtype.h"
#include "lib/handle/handle.h"
#include "lib/way/carrier.h"

/* This request outlived its handle: only its result is left. */
static int wait_orphan(struct trib_req *r)
{
	int status = r->status;

	trib_free(r);
	return status;
}

int trib_wait(struct trib_req *r)
{
	struct trib *t = r->eng ? trib_of(r->eng) : NULL;
	int status;

	if (!t)
		return wait_orphan(r);
	pthread_mutex_lock(&t->lock);
	t->inside++;
	trib_drive_until(t, r, 0);
	status = trib_req_blame(r);
	trib_req_free(r);
	if (!--t->inside && t->eng.leaving)
		pthread_cond_broadcast(&t->cond);
	pthread_mutex_unlock(&t->lock);
	return status;
}

int trib_test(struct trib_req *r, int *done)
{
	struct trib *t = r->eng ? trib_of(r->eng) : NULL;
	int status = 0;

	if (!t) {
		*done = 1;
		return wait_orphan(r);
	}
	pthread_mutex_lock(&t->lock);
	if (!r->done)
		trib_drive_once(t);
	*done = r->done;
	if (r->done) {
		status = trib_req_blame(r);
		trib_req_free(r);
	}
	pthread_mutex_unlock(&t->lock);
	return status;
}

int trib_rank(const struct trib *t)
{
	return (int)t->eng.rank;
}

int trib_world(const struct trib *t)
{
	return (int)t->eng.world;
}

int trib_number(const struct trib *t)
{
	return t->place.rep.job;
}

int trib_trees(const struct trib *t)
{
	return (int)t->eng.nstream;
}

const char *trib_transport_name(const struct trib *t)
{
	return t->way->name ? t->way->name : t->transport->name;
}

void trib_describe(const struct trib *t, char *buf, size_t room)
{
	struct trib *m = (struct trib *)t;

	if (!room)
		return;
	buf[0] = '\0';
	pthread_mutex_lock(&m->lock);
	if (m->way->describe)
		m->way->describe(m, buf, room);
	else if (m->eng.nstream > 1)
		snprintf(buf, room, "%u trees", m->eng.nstream);
	pthread_mutex_unlock(&m->lock);
}

const char *trib_sum_format(const struct trib *t)
{
	unsigned int fmt = t->place.rep.fmt;

	return trib_dtype_name(fmt ? fmt : TRIB_FMT_Q32);
}

const char *trib_version(void)
{
	return TRIB_VERSION;
}

void trib_counters(const struct trib *t, struct trib_counters *out)
{
	struct trib *m = (struct trib *)t;
	struct trib_counters c = {0};
	size_t size = out->size;

	pthread_mutex_lock(&m->lock);
	m->way->count(m, &c);
	c.waits = m->waits;
	pthread_mutex_unlock(&m->lock);
	if (size > sizeof(c))
		size = sizeof(c);
	c.size = size;
	memcpy(out, &c, size);
}
