// SPDX-License-Identifier: BSD-2-Clause
/*
 * One turn of the engine: what is late, what is lost, what can go. Called by
 * whoever drives, after the transport has delivered what had arrived.
 */
#include "internal.h"

void trib_engine_run(struct trib *t)
{
	unsigned int i;

	/* What the planned rate leaves goes to each of them in turn. */
	t->turn++;
	for (i = 0; i < t->nstream && !t->dead; i++) {
		struct trib_stream *s = t->stream[(t->turn + i) % t->nstream];

		if (!s->epoch)
			continue;
		trib_window_gaps(s);
		trib_window_timer(s);
		trib_shared_timer(s);
		if (!t->dead && s->head)
			trib_stream_push(s);
	}
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

uint64_t trib_engine_deadline(const struct trib *t)
{
	uint64_t when = 0;
	unsigned int i;

	for (i = 0; i < t->nstream; i++) {
		when = sooner(when, t->stream[i]->timer_ns);
		when = sooner(when, t->stream[i]->check_ns);
		when = sooner(when, t->stream[i]->retry_ns);
		when = sooner(when, t->stream[i]->paced_ns);
		when = sooner(when, t->stream[i]->probe_ns);
	}
	return when;
}

void trib_req_done(struct trib_req *r, int status)
{
	r->status = status;
	r->done = true;
	r->t->unfinished--;
	if (r->t->waiters)
		pthread_cond_broadcast(&r->t->cond);
}
