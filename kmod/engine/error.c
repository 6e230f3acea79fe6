// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The newest error, and the end of an engine when the job cannot go on. */
#include "inner.h"

static void __attribute__((format(printf, 6, 0)))
note(struct trib_engine *eng, int code, int err, int rank, int64_t index, const char *fmt,
     va_list ap)
{
	struct trib_sock_error *e = &eng->error;

	e->code = code;
	e->err = -err;
	e->rank = rank;
	e->index = index;
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
}

int trib_fault(struct trib_engine *eng, int code, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(eng, code, err, -1, -1, fmt, ap);
	va_end(ap);
	return err;
}

int trib_fault_rank(struct trib_engine *eng, int code, int err, int rank, int64_t index,
		    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(eng, code, err, rank, index, fmt, ap);
	va_end(ap);
	return err;
}

void trib_die_rank(struct trib_engine *eng, int code, int err, int rank, const char *fmt, ...)
{
	struct trib_req *r;
	unsigned int i;
	va_list ap;

	if (eng->dead)
		return;
	va_start(ap, fmt);
	note(eng, code, err, rank, -1, fmt, ap);
	va_end(ap);
	eng->dead = err;
	eng->death = eng->error;
	/* Hosts may free finished requests: drop all pointers into them. */
	for (i = 0; i < eng->nstream; i++) {
		eng->stream[i]->head = NULL;
		eng->stream[i]->tail = &eng->stream[i]->head;
		eng->stream[i]->timer_ns = 0;
		eng->stream[i]->check_ns = 0;
		eng->stream[i]->retry_ns = 0;
		trib_cells_end(eng->stream[i]);
	}
	for (r = eng->reqs; r; r = r->next)
		if (!r->done && !r->kept)
			trib_req_done(r, err);
	eng->host->died(eng);
}
