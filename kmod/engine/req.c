// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Life of requests: the engine's list, completion, freeing. */
#include "inner.h"

void trib_req_link(struct trib_req *r)
{
	struct trib_engine *eng = r->eng;

	r->next = eng->reqs;
	if (r->next)
		r->next->prev = r;
	eng->reqs = r;
	eng->unfinished++;
}

struct trib_req *trib_req_own(struct trib_engine *eng)
{
	struct trib_req *r = trib_alloc(sizeof(*r));

	if (!r)
		return NULL;
	r->eng = eng;
	trib_req_link(r);
	return r;
}

int trib_req_blame(const struct trib_req *r)
{
	struct trib_engine *eng = r->eng;

	if (r->status == -EDOM && r->bad)
		trib_fault_rank(eng, TRIB_SOCK_ERR_NONFINITE, -EDOM, (int)trib_exp_bad_rank(r->bad),
				(int64_t)trib_exp_bad_index(r->bad),
				"rank %u: element %llu is not finite", trib_exp_bad_rank(r->bad),
				(unsigned long long)trib_exp_bad_index(r->bad));
	else if (r->status == -ERANGE && r->over)
		trib_fault_rank(
			eng, TRIB_SOCK_ERR_OVERFLOW, -ERANGE, -1, (int64_t)r->over - 1,
			"the sum of element %llu exceeds the largest fp32: scale the values down, or average",
			(unsigned long long)r->over - 1);
	else if (r->status)
		eng->error = eng->death;
	return r->status;
}

void trib_req_done(struct trib_req *r, int status)
{
	r->status = status;
	r->done = true;
	trib_req_blame(r);
	r->eng->unfinished--;
	r->eng->host->done(r);
}

void trib_req_release(struct trib_req *r)
{
	unsigned int i;

	if (!r->held || r->done)
		return;
	r->held = false;
	for (i = 0; i < r->npart; i++)
		if (r->part[i].nchunk && !r->eng->dead)
			trib_stream_push(r->part[i].stream);
}

static void unlink_req(struct trib_req *r)
{
	if (r->prev)
		r->prev->next = r->next;
	else
		r->eng->reqs = r->next;
	if (r->next)
		r->next->prev = r->prev;
}

static void release(struct trib_req *r)
{
	unsigned int i;

	for (i = 0; i < r->npart; i++)
		trib_free(r->part[i].exp);
	trib_free(r);
}

void trib_req_drop(struct trib_req *r)
{
	unsigned int i;

	for (i = 0; i < r->npart; i++)
		if (r->part[i].stream)
			r->part[i].stream->assigned -= r->part[i].nchunk;
	release(r);
}

void trib_req_free(struct trib_req *r)
{
	unlink_req(r);
	release(r);
}

void trib_req_orphan(struct trib_req *r)
{
	unsigned int i;

	unlink_req(r);
	for (i = 0; i < r->npart; i++) {
		trib_free(r->part[i].exp);
		r->part[i].exp = NULL;
	}
	r->eng = NULL;
}
