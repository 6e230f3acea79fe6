// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attach: read options and environment, find the place, open the transport, join.
 * Detach: a barrier, after which all ranks leave together.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/text.h"
#include "lib/handle/handle.h"
#include "lib/place/tribd.h"
#include "lib/way/carrier.h"

/*
 * The caller's options. The environment and then the defaults replace those that
 * are not set.
 */
struct wish {
	const char *job;
	unsigned int rank;
	unsigned int transport;
	unsigned int join_timeout_ms;
	unsigned int timeout_ms;
	unsigned int spin_us;
};

/*
 * Read a number from the environment variable @name.
 * Return: 1 if it is set, 0 if not, or -EINVAL.
 */
static int env_number(const char *name, unsigned int max, unsigned int *out)
{
	const char *s = getenv(name);
	uint64_t v;

	if (!s || !*s)
		return 0;
	if (text_number(s, 0, max, &v))
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "%s=%.80s: want a number from 0 to %u", name, s, max);
	*out = (unsigned int)v;
	return 1;
}

static int wish_rank(struct wish *w, unsigned int opt)
{
	int rc;

	if (opt) {
		w->rank = opt - 1;
		return w->rank < TRIB_WORLD_MAX ? 0
						: trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
							    "rank %u is too large: want at most %u",
							    w->rank, TRIB_WORLD_MAX - 1);
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
	if (opt > TRIB_TRANSPORT_PEER)
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "transport %u does not exist: use one of enum trib_transport",
				 opt);
	if (opt || !s || !*s || !strcmp(s, "auto"))
		return 0;
	if (!strcmp(s, "udp"))
		w->transport = TRIB_TRANSPORT_UDP;
	else if (!strcmp(s, "xdp"))
		w->transport = TRIB_TRANSPORT_XDP;
	else if (!strcmp(s, "kernel"))
		w->transport = TRIB_TRANSPORT_KERNEL;
	else if (!strcmp(s, "peer"))
		w->transport = TRIB_TRANSPORT_PEER;
	else
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "TRIB_TRANSPORT=%.80s: want auto, udp, xdp, kernel or peer", s);
	return 0;
}

static int make_wish(struct wish *w, const struct trib_options *given)
{
	struct trib_options o = {0};
	int rc;

	if (given)
		memcpy(&o, given, given->size < sizeof(o) ? given->size : sizeof(o));
	*w = (struct wish){
		.job = o.job ? o.job : getenv("TRIB_JOB"),
		.join_timeout_ms = o.join_timeout_ms,
		.timeout_ms = o.timeout_ms,
		.spin_us = o.spin_us,
	};
	if (!w->job || !*w->job)
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "no job: set options.job, or the environment variable TRIB_JOB");
	rc = wish_rank(w, o.rank);
	if (!rc)
		rc = wish_transport(w, o.transport);
	if (!rc && !w->timeout_ms)
		rc = env_number("TRIB_TIMEOUT_MS", 86400000, &w->timeout_ms);
	if (rc >= 0 && !w->join_timeout_ms)
		rc = env_number("TRIB_JOIN_TIMEOUT_MS", 86400000, &w->join_timeout_ms);
	if (rc >= 0 && !w->spin_us)
		rc = env_number("TRIB_SPIN_US", 1000000, &w->spin_us);
	if (!w->join_timeout_ms)
		w->join_timeout_ms = TRIB_TUNE_JOIN_TIMEOUT_MS;
	return rc < 0 ? rc : 0;
}

/* No name of a job has such a byte: a ticket with a mistake must not be sent, or shown. */
static bool is_ticket(const char *job)
{
	return strpbrk(job, "/?&=");
}

/* A place without trees is for peers. */
static const struct trib_way *choose_way(const struct wish *w, const struct trib_place *p)
{
	if (w->transport == TRIB_TRANSPORT_KERNEL)
		return &trib_by_ksock;
	if (w->transport == TRIB_TRANSPORT_PEER || !p->rep.ntree)
		return &trib_by_peer;
	return &trib_by_engine;
}

/* The environment overrides the ticket, or tribd. */
static int find_peers(struct trib_place *p)
{
	const char *s = getenv("TRIB_PEERS");

	if (!s || !*s)
		return 0;
	if (strlen(s) >= sizeof(p->peers))
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "TRIB_PEERS=%.80s: want ADDR:PORT, where rank 0 listens", s);
	memcpy(p->peers, s, strlen(s) + 1);
	return 0;
}

static int find_place(struct trib *t, const struct wish *w)
{
	bool mapped = w->transport != TRIB_TRANSPORT_UDP;
	struct trib_place *p = &t->place;
	int rc;

	if (!is_ticket(w->job)) {
		/* A module of an older version has no cells. */
		if (w->transport == TRIB_TRANSPORT_KERNEL && !trib_ksock_takes_cells())
			mapped = false;
		rc = trib_tribd_attach(p, w->job, w->rank, mapped);
	} else {
		rc = trib_ticket_parse(p, w->job);
		if (!rc && w->rank != TRIB_RANK_ANY && w->rank != p->rep.rank)
			rc = trib_fail(
				NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				"the ticket is for rank %u, but rank %u is wanted: drop the rank, or use that rank's ticket",
				p->rep.rank, w->rank);
	}
	if (!rc)
		rc = find_peers(p);
	if (rc)
		return rc;
	if (!p->rep.ntree && w->transport != TRIB_TRANSPORT_AUTO &&
	    w->transport != TRIB_TRANSPORT_PEER)
		return trib_fail(
			NULL, TRIB_ERR_ARGUMENT, -EOPNOTSUPP,
			is_ticket(w->job)
				? "the ticket names no relay: use transport auto or peer"
				: "the job has no tree on this host: use transport auto or peer");
	t->way = choose_way(w, p);
	t->transport = p->rep.flags & TRIB_ATTACH_MAPPED ? &trib_xdp : &trib_udp;
	if (w->transport == TRIB_TRANSPORT_XDP && t->transport != &trib_xdp)
		return trib_fail(
			NULL, TRIB_ERR_ARGUMENT, -EOPNOTSUPP,
			is_ticket(w->job)
				? "transport xdp does not work with a ticket: attach by the job's name at this host's tribd"
				: "tribd does not deliver results to this rank by xdp: use transport auto or udp");
	return 0;
}

static void req_done(struct trib_req *r)
{
	struct trib *t = trib_of(r->eng);

	if (r->notify)
		r->notify(r);
	if (t->waiters)
		pthread_cond_broadcast(&t->cond);
}

/*
 * The handle is dead: wake the driver, and let the other threads see the error.
 */
static void died(struct trib_engine *eng)
{
	struct trib *t = trib_of(eng);
	struct trib_guest *g;

	if (t->way->died)
		t->way->died(t);
	pthread_cond_broadcast(&t->cond);
	for (g = t->guests; g; g = g->next)
		g->died(g);
}

const struct trib_host_ops trib_host = {.done = req_done, .died = died};

static int make_engine(struct trib *t)
{
	int rc = trib_engine_init(&t->eng, &t->transport->ops, &trib_host, trib_codec_best(),
				  &t->place.rep);

	if (rc)
		trib_error_keep(t);
	return rc;
}

static void destroy(struct trib *t, bool clean)
{
	trib_progress_stop(t);
	if (t->way)
		t->way->close(t);
	trib_tribd_release(&t->place, clean);
	trib_engine_free(&t->eng);
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
	t->eng.timeout_ns = w->timeout_ms * TRIB_MS;
	t->eng.join_timeout_ns = w->join_timeout_ms * TRIB_MS;
	trib_spin_init(&t->spin, w->spin_us);
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

/* Open the way and join. The caller reads errors from the handle. */
static int begin(struct trib *t)
{
	int rc;

	rc = t->way->open(t);
	if (rc)
		return rc;
	t->npfd = (unsigned int)t->way->pollfds(t, t->pfd);
	t->pfd[t->npfd++] = (struct pollfd){.events = POLLIN};
	/*
	 * No other thread has the handle yet; the functions below require the
	 * lock all the same.
	 */
	pthread_mutex_lock(&t->lock);
	rc = t->way->join(t);
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
				 "out of memory or file descriptors: see ulimit -n");
	rc = find_place(t, &w);
	if (!rc)
		rc = make_engine(t);
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

/*
 * The handle goes. Requests that no thread has waited for stay, with only their
 * result.
 */
static void orphan_requests(struct trib *t)
{
	struct trib_req *r, *next;

	for (r = t->eng.reqs; r; r = next) {
		next = r->next;
		if (r != t->eng.barrier)
			trib_req_orphan(r);
	}
}

int trib_detach(struct trib *t)
{
	struct trib_guest *g;

	if (!t)
		return 0;
	pthread_mutex_lock(&t->lock);
	for (g = t->guests; g; g = g->next)
		g->leave(g);
	t->way->leave(t);
	/*
	 * Let the threads in trib_wait() return their results before the handle
	 * is freed.
	 */
	trib_drive_interrupt(t);
	while (t->inside)
		pthread_cond_wait(&t->cond, &t->lock);
	while ((g = t->guests)) {
		t->guests = g->next;
		g->gone(g);
	}
	orphan_requests(t);
	pthread_mutex_unlock(&t->lock);
	destroy(t, true);
	return 0;
}
