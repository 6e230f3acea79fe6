// SPDX-License-Identifier: BSD-2-Clause
/*
 * A handle's beginning and end: options and environment, place, transport,
 * joining; the barrier by which ranks leave together.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"
#include "tribd.h"

/* Options with the environment's and the defaults filled in. */
struct wish {
	const char *job;
	unsigned int rank;
	unsigned int transport;
	unsigned int join_timeout_ms;
	unsigned int timeout_ms;
	unsigned int spin_us;
};

/* A number from the environment. Return: 1 if @name is set, 0, or -EINVAL. */
static int env_number(const char *name, unsigned int max, unsigned int *out)
{
	const char *s = getenv(name);
	unsigned long v;
	char *end;

	if (!s || !*s)
		return 0;
	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || *end || *s < '0' || *s > '9' || v > max)
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "%s=%.80s is not a number up to %u", name, s,
				 max);
	*out = (unsigned int)v;
	return 1;
}

static int wish_rank(struct wish *w, unsigned int opt)
{
	int rc;

	if (opt) {
		w->rank = opt - 1;
		return w->rank < TRIB_WORLD_MAX
			       ? 0
			       : trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
					   "rank %u is too large", w->rank);
	}
	w->rank = TRIB_RANK_ANY;
	rc = env_number("TRIB_RANK", TRIB_WORLD_MAX - 1, &w->rank);
	if (!rc)
		rc = env_number("RANK", TRIB_WORLD_MAX - 1, &w->rank);
	return rc < 0 ? rc : 0;
}

static int wish_transport(struct wish *w, unsigned int opt)
{
	const char *s = getenv("TRIB_TRANSPORT");

	w->transport = opt;
	if (opt > TRIB_TRANSPORT_XDP)
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "no such transport: %u", opt);
	if (opt || !s || !*s || !strcmp(s, "auto"))
		return 0;
	if (!strcmp(s, "udp"))
		w->transport = TRIB_TRANSPORT_UDP;
	else if (!strcmp(s, "xdp"))
		w->transport = TRIB_TRANSPORT_XDP;
	else
		return trib_fail(
			NULL, TRIB_ERR_ARGUMENT, -EINVAL,
			"TRIB_TRANSPORT=%.80s is none of auto, udp, xdp", s);
	return 0;
}

static int make_wish(struct wish *w, const struct trib_options *given)
{
	struct trib_options o = {0};
	int rc;

	if (given)
		memcpy(&o, given,
		       given->size < sizeof(o) ? given->size : sizeof(o));
	*w = (struct wish){
		.job = o.job ? o.job : getenv("TRIB_JOB"),
		.join_timeout_ms = o.join_timeout_ms,
		.timeout_ms = o.timeout_ms,
		.spin_us = o.spin_us,
	};
	if (!w->job || !*w->job)
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "no job: give one, or set TRIB_JOB");
	rc = wish_rank(w, o.rank);
	if (!rc)
		rc = wish_transport(w, o.transport);
	if (!rc && !w->timeout_ms)
		rc = env_number("TRIB_TIMEOUT_MS", 86400000, &w->timeout_ms);
	if (rc >= 0 && !w->join_timeout_ms)
		rc = env_number("TRIB_JOIN_TIMEOUT_MS", 86400000,
				&w->join_timeout_ms);
	if (!w->join_timeout_ms)
		w->join_timeout_ms = TRIB_TUNE_JOIN_TIMEOUT_MS;
	return rc < 0 ? rc : 0;
}

static bool is_ticket(const char *job)
{
	return !strncmp(job, "trib://", 7);
}

static int find_place(struct trib *t, const struct wish *w)
{
	bool mapped = w->transport != TRIB_TRANSPORT_UDP;
	struct trib_place *p = &t->place;
	int rc;

	if (!is_ticket(w->job)) {
		rc = trib_tribd_attach(p, w->job, w->rank, mapped);
	} else {
		rc = trib_ticket_parse(p, w->job);
		if (!rc && w->rank != TRIB_RANK_ANY && w->rank != p->rep.rank)
			rc = trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				       "the ticket is for rank %u, not %u",
				       p->rep.rank, w->rank);
	}
	if (rc)
		return rc;
	t->ops = p->rep.flags & TRIB_ATTACH_MAPPED ? &trib_xdp : &trib_udp;
	if (w->transport == TRIB_TRANSPORT_XDP && t->ops != &trib_xdp)
		return trib_fail(
			NULL, TRIB_ERR_ARGUMENT, -EOPNOTSUPP,
			is_ticket(w->job)
				? "xdp needs a tribd on this host, not a ticket"
				: "tribd does not deliver to this rank by xdp");
	return 0;
}

static int make_streams(struct trib *t)
{
	const struct trib_attach_rep *rep = &t->place.rep;
	unsigned int i;

	t->rank = rep->rank;
	t->world = rep->world;
	for (i = 0; i < rep->ntree; i++) {
		struct trib_stream *s = calloc(1, sizeof(*s));

		if (!s)
			return trib_fail(NULL, TRIB_ERR_SYSTEM, -ENOMEM,
					 "out of memory");
		s->t = t;
		s->index = i;
		s->tree = rep->tree[i].tree;
		s->weight = rep->tree[i].weight ? rep->tree[i].weight : 1;
		s->child = rep->tree[i].child;
		s->join_nval = rep->nval ? rep->nval : TRIB_NVAL_SMALL;
		if (rep->tree[i].flags & TRIB_ATTACH_SHARED)
			trib_shared_init(s, &rep->tree[i]);
		s->tail = &s->head;
		t->stream[t->nstream++] = s;
		t->uneven |= s->weight != t->stream[0]->weight;
	}
	return 0;
}

static void destroy(struct trib *t, bool clean)
{
	unsigned int i;

	trib_progress_stop(t);
	if (t->ops)
		t->ops->close(t);
	trib_tribd_release(&t->place, clean);
	for (i = 0; i < t->nstream; i++)
		trib_stream_free(t->stream[i]);
	if (t->kick_fd >= 0)
		close(t->kick_fd);
	if (t->progress_fd >= 0)
		close(t->progress_fd);
	pthread_cond_destroy(&t->progress_cond);
	pthread_cond_destroy(&t->cond);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct trib *make_handle(const struct wish *w)
{
	struct trib *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;
	unsigned int i;

	if (!t)
		return NULL;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->cond, &attr);
	pthread_cond_init(&t->progress_cond, &attr);
	pthread_condattr_destroy(&attr);
	t->codec = trib_codec_best();
	t->error.rank = -1;
	t->error.index = -1;
	strcpy(t->error.text, "no error");
	t->count.size = sizeof(t->count);
	t->timeout_ns = w->timeout_ms * TRIB_MS;
	t->join_timeout_ns = w->join_timeout_ms * TRIB_MS;
	t->spin_ns = w->spin_us * 1000ULL;
	t->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	t->progress_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	t->place.sock = t->place.ring_fd = -1;
	for (i = 0; i < TRIB_ATTACH_TREES; i++)
		t->place.cells_fd[i] = -1;
	if (t->kick_fd >= 0 && t->progress_fd >= 0)
		return t;
	destroy(t, false);
	return NULL;
}

/* Open the transport, join all trees, and start. Errors are the handle's. */
static int begin(struct trib *t)
{
	unsigned int i;
	int rc;

	rc = t->ops->open(t);
	if (rc)
		return rc;
	t->npfd = (unsigned int)t->ops->pollfds(t, t->pfd);
	t->pfd[t->npfd++] = (struct pollfd){.events = POLLIN};
	/* Nobody else has the handle yet; the rules of the lock hold anyway. */
	pthread_mutex_lock(&t->lock);
	rc = trib_join(t);
	if (!rc && !t->timeout_ns)
		t->timeout_ns = t->place.rep.timeout_ms * TRIB_MS;
	if (!t->timeout_ns)
		t->timeout_ns = TRIB_TUNE_TIMEOUT_MS * TRIB_MS;
	if (!rc && t->ops->start)
		rc = t->ops->start(t);
	if (rc)
		trib_leave(t);
	for (i = 0; !rc && i < t->nstream; i++)
		trib_window_start(t->stream[i]);
	pthread_mutex_unlock(&t->lock);
	return rc ? rc : trib_progress_start(t);
}

int trib_attach(struct trib **out, const struct trib_options *opts)
{
	struct trib *t;
	struct wish w;
	int rc;

	rc = make_wish(&w, opts);
	if (rc)
		return rc;
	t = make_handle(&w);
	if (!t)
		return trib_fail(NULL, TRIB_ERR_SYSTEM, -ENOMEM,
				 "out of memory or descriptors");
	rc = find_place(t, &w);
	if (!rc)
		rc = make_streams(t);
	if (!rc) {
		rc = begin(t);
		if (rc)
			trib_error_keep(t);
	}
	if (rc) {
		destroy(t, true);
		return rc;
	}
	*out = t;
	return 0;
}

/* When somebody last showed that it lacks what we have. */
static uint64_t last_lack(const struct trib *t)
{
	uint64_t when = 0;
	unsigned int i;

	for (i = 0; i < t->nstream; i++)
		if (t->stream[i]->lacks_ns > when)
			when = t->stream[i]->lacks_ns;
	return when;
}

/*
 * How long nobody must have lacked anything. In shared pools NEED comes to one
 * rank after the other, with time-outs between.
 */
static uint64_t listens_for(const struct trib *t)
{
	uint64_t ns = t->timeout_ns, longest = trib_window_longest(t);
	unsigned int i;

	for (i = 0; i < t->nstream; i++)
		if (t->stream[i]->shared &&
		    ns < TRIB_TUNE_DETACH_TIMEOUTS * longest)
			ns = TRIB_TUNE_DETACH_TIMEOUTS * longest;
	return ns;
}

/*
 * The barrier of those who leave. Its result may be nowhere to be had, because
 * those who had it have left; but as long as others fetch results before it,
 * we may be the only one left who has them.
 */
static void wait_for_others(struct trib *t, const struct trib_req *barrier)
{
	uint64_t patience = listens_for(t);
	uint64_t until, next = trib_now() + patience;

	do {
		until = next;
		trib_drive_until(t, barrier, until);
		next = last_lack(t) + patience;
	} while (!barrier->done && !t->dead && next > until);
}

/*
 * Wait until all ranks leave: then nobody lacks anything that we have. If they
 * do not, or requests are left, the others must know that we are gone.
 */
static void leave_together(struct trib *t)
{
	struct trib_req *r = NULL;
	unsigned int i;

	t->now = trib_now();
	if (!t->unfinished) {
		r = trib_req_leave(t);
		if (r)
			wait_for_others(t, r);
	}
	if (t->dead || (r && r->done))
		return;
	for (i = 0; i < TRIB_TUNE_ABORT_COPIES; i++)
		trib_stream_control(t->stream[0], TRIB_T_ABORT, 0,
				    TRIB_ABORT_GONE, (uint16_t)t->rank);
	trib_die_rank(t, TRIB_ERR_GONE, -ECANCELED, (int)t->rank,
		      "this rank detached");
}

/* Requests that nobody waited for live on, each with its result alone. */
static void orphan_requests(struct trib *t)
{
	struct trib_req *r, *next;
	unsigned int i;

	for (r = t->reqs; r; r = next) {
		next = r->next;
		r->t = NULL;
		for (i = 0; i < r->npart; i++)
			free(r->part[i].exp);
		if (r->part[0].kind == TRIB_KIND_LEAVE)
			free(r);
	}
}

int trib_detach(struct trib *t)
{
	if (!t)
		return 0;
	pthread_mutex_lock(&t->lock);
	t->leaving = true;
	leave_together(t);
	trib_leave(t);
	/* Threads in trib_wait() have their results; let them go. */
	trib_drive_interrupt(t);
	while (t->inside)
		pthread_cond_wait(&t->cond, &t->lock);
	orphan_requests(t);
	pthread_mutex_unlock(&t->lock);
	destroy(t, true);
	return 0;
}
