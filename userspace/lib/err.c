// SPDX-License-Identifier: BSD-2-Clause
/*
 * The newest error: of a handle, or of a thread's last attach. Also how a
 * handle ends when the job cannot go on.
 */
#include <errno.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local struct trib_error thread_error = {
	.rank = -1,
	.index = -1,
	.text = "no error",
};
static _Thread_local char thread_text[sizeof(thread_error.text)];

static void note(struct trib_error *e, int code, int err, int rank,
		 int64_t index, const char *fmt, va_list ap)
{
	e->code = code;
	e->err = err;
	e->rank = rank;
	e->index = index;
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
}

int trib_fail(struct trib *t, int code, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(t ? &t->error : &thread_error, code, err, -1, -1, fmt, ap);
	va_end(ap);
	return err;
}

int trib_fail_rank(struct trib *t, int code, int err, int rank, int64_t index,
		   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(t ? &t->error : &thread_error, code, err, rank, index, fmt, ap);
	va_end(ap);
	return err;
}

void trib_die_rank(struct trib *t, int code, int err, int rank, const char *fmt,
		   ...)
{
	struct trib_req *r;
	unsigned int i;
	va_list ap;

	if (t->dead)
		return;
	va_start(ap, fmt);
	note(&t->error, code, err, rank, -1, fmt, ap);
	va_end(ap);
	t->dead = err;
	/* Nothing may point into requests once their owners have them back. */
	for (i = 0; i < t->nstream; i++) {
		t->stream[i]->head = NULL;
		t->stream[i]->tail = &t->stream[i]->head;
		t->stream[i]->timer_ns = 0;
		t->stream[i]->check_ns = 0;
		t->stream[i]->retry_ns = 0;
	}
	for (r = t->reqs; r; r = r->next)
		if (!r->done)
			trib_req_done(r, err);
	/* Whoever drives has nothing to wait for any more. */
	pthread_cond_broadcast(&t->cond);
}

void trib_error_keep(const struct trib *t)
{
	thread_error = t->error;
}

void trib_error(const struct trib *t, struct trib_error *out)
{
	struct trib *m = (struct trib *)t;

	if (!t) {
		*out = thread_error;
		return;
	}
	pthread_mutex_lock(&m->lock);
	*out = t->error;
	pthread_mutex_unlock(&m->lock);
}

const char *trib_error_text(const struct trib *t)
{
	struct trib_error e;

	trib_error(t, &e);
	memcpy(thread_text, e.text, sizeof(thread_text));
	return thread_text;
}
