// SPDX-License-Identifier: BSD-2-Clause
/*
 * The newest error: of a handle (kept in its engine), or of this thread's last
 * attach.
 */
#include "handle.h"

#define SAME(a, b) _Static_assert((int)TRIB_##a == (int)TRIB_SOCK_##b, #a)
SAME(ERR_NONE, ERR_NONE);
SAME(ERR_ARGUMENT, ERR_ARGUMENT);
SAME(ERR_SYSTEM, ERR_SYSTEM);
SAME(ERR_NONFINITE, ERR_NONFINITE);
SAME(ERR_DEAD, ERR_DEAD);
SAME(ERR_GONE, ERR_GONE);
SAME(ERR_REJOIN, ERR_REJOIN);
SAME(ERR_RELAY, ERR_RELAY);
SAME(ERR_MISSING, ERR_MISSING);
SAME(ERR_REMOVED, ERR_REMOVED);
SAME(ERR_OVERFLOW, ERR_OVERFLOW);
SAME(F32, F32);
SAME(I32, I32);
SAME(SUM, SUM);
SAME(AVG, AVG);
SAME(MAX, MAX);
SAME(MIN, MIN);

static _Thread_local struct trib_error thread_error = {
	.rank = -1,
	.index = -1,
	.text = "no error",
};
static _Thread_local char thread_text[sizeof(thread_error.text)];

int trib_fail(struct trib *t, int code, int err, const char *fmt, ...)
{
	char text[sizeof(thread_error.text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (t)
		return trib_fault(&t->eng, code, err, "%s", text);
	thread_error = (struct trib_error){.code = code, .err = err, .rank = -1, .index = -1};
	memcpy(thread_error.text, text, sizeof(text));
	return err;
}

static void copy(const struct trib *t, struct trib_error *out)
{
	const struct trib_sock_error *e = &t->eng.error;

	out->code = e->code;
	out->err = -e->err;
	out->rank = e->rank;
	out->index = e->index;
	memset(out->text, 0, sizeof(out->text));
	memcpy(out->text, e->text, sizeof(e->text));
}

void trib_error_keep(const struct trib *t)
{
	copy(t, &thread_error);
}

void trib_error(const struct trib *t, struct trib_error *out)
{
	struct trib *m = (struct trib *)t;

	if (!t) {
		*out = thread_error;
		return;
	}
	pthread_mutex_lock(&m->lock);
	copy(t, out);
	pthread_mutex_unlock(&m->lock);
}

const char *trib_error_text(const struct trib *t)
{
	struct trib_error e;

	trib_error(t, &e);
	memcpy(thread_text, e.text, sizeof(thread_text));
	return thread_text;
}
