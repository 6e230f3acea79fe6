// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Life of an engine, and one turn: timers, losses, sending. The driver calls it
 * after the transport has delivered received packets. The newest error, and the end when the
 * job cannot go on.
 */
#include "inner.h"

static int add_stream(struct trib_engine *eng, unsigned int i)
{
	const struct trib_attach_tree *tree = &eng->rep->tree[i];
	struct trib_stream *s = trib_alloc(sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->eng = eng;
	s->index = i;
	s->tree = tree->tree;
	s->weight = tree->weight ? tree->weight : 1;
	s->child = tree->child;
	s->join_nval = eng->rep->nval ? eng->rep->nval : TRIB_NVAL_SMALL;
	if (tree->flags & TRIB_ATTACH_SHARED)
		trib_shared_init(s, tree);
	trib_auth_init(s, tree);
	s->hold = UINT64_MAX;
	s->tail = &s->head;
	eng->stream[eng->nstream++] = s;
	eng->uneven |= s->weight != eng->stream[0]->weight;
	return 0;
}

/* Check the sizes of arrays. Joining checks whether relays are reachable. */
static bool place_ok(const struct trib_attach_rep *rep)
{
	unsigned int i;

	if (rep->ntree > TRIB_ATTACH_TREES || !rep->world || rep->world > TRIB_WORLD_MAX ||
	    rep->rank >= rep->world || rep->nval > TRIB_NVAL_LARGE)
		return false;
	for (i = 0; i < rep->ntree; i++)
		if (rep->tree[i].nhop > TRIB_ATTACH_HOPS)
			return false;
	return true;
}

int trib_engine_init(struct trib_engine *eng, const struct trib_transport_ops *ops,
		     const struct trib_host_ops *host, const struct trib_codec *codec,
		     const struct trib_attach_rep *rep)
{
	unsigned int i;
	int rc = 0;

	eng->ops = ops;
	eng->host = host;
	eng->codec = codec;
	eng->rep = rep;
	eng->rank = rep->rank;
	eng->world = rep->world;
	trib_fault(eng, TRIB_SOCK_ERR_NONE, 0, "no error");
	if (!place_ok(rep))
		return trib_fault(
			eng, TRIB_SOCK_ERR_ARGUMENT, -EINVAL,
			"the place is invalid: trees, ranks, values or relays exceed the limits");
	eng->scratch = trib_alloc(sizeof(*eng->scratch));
	if (!eng->scratch)
		rc = -ENOMEM;
	for (i = 0; !rc && i < rep->ntree; i++)
		rc = add_stream(eng, i);
	return rc ? trib_fault(eng, TRIB_SOCK_ERR_SYSTEM, rc, "out of memory") : 0;
}

void trib_engine_start(struct trib_engine *eng)
{
	unsigned int i;

	if (!eng->timeout_ns)
		eng->timeout_ns = eng->rep->timeout_ms * TRIB_MS;
	if (!eng->timeout_ns)
		eng->timeout_ns = TRIB_TUNE_TIMEOUT_MS * TRIB_MS;
	for (i = 0; i < eng->nstream; i++)
		trib_window_start(eng->stream[i]);
	eng->running = true;
}

void trib_engine_free(struct trib_engine *eng)
{
	unsigned int i;

	while (eng->reqs)
		trib_req_free(eng->reqs);
	eng->barrier = NULL;
	for (i = 0; i < eng->nstream; i++)
		trib_stream_free(eng->stream[i]);
	eng->nstream = 0;
	trib_free(eng->scratch);
	eng->scratch = NULL;
}

void trib_engine_run(struct trib_engine *eng)
{
	unsigned int i;

	/* Each stream in turn is first to use what the planned rate allows. */
	eng->turn++;
	for (i = 0; i < eng->nstream && !eng->dead; i++) {
		struct trib_stream *s = eng->stream[(eng->turn + i) % eng->nstream];

		if (!s->epoch)
			continue;
		if (s->check_ns && eng->now >= s->check_ns)
			trib_silence_check(s);
		if (!s->lanes.reflex && !s->detour.state) {
			trib_loss_gaps(s);
			trib_loss_timer(s);
		}
		trib_shared_timer(s);
		if (!eng->dead)
			trib_stream_push(s);
	}
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

uint64_t trib_engine_deadline(const struct trib_engine *eng)
{
	uint64_t when = 0;
	unsigned int i;

	for (i = 0; i < eng->nstream; i++) {
		when = sooner(when, eng->stream[i]->timer_ns);
		when = sooner(when, eng->stream[i]->check_ns);
		when = sooner(when, eng->stream[i]->retry_ns);
		when = sooner(when, eng->stream[i]->paced_ns);
		when = sooner(when, eng->stream[i]->probe_ns);
	}
	return when;
}

void trib_engine_path(const struct trib_engine *eng, struct trib_path *out)
{
	unsigned int i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < eng->nstream; i++) {
		const struct trib_cong *g = &eng->stream[i]->cong;

		if (g->srtt / 1000 > out->rtt_us)
			out->rtt_us = g->srtt / 1000;
		if (g->rtt_min / 1000 > out->rtt_min_us)
			out->rtt_min_us = g->rtt_min / 1000;
		out->window += g->cwnd / TRIB_CHUNK_ONE;
	}
}

/* --- errors */

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
