// SPDX-License-Identifier: BSD-2-Clause
/* A worker: takes tasks in order, walks its lane of each, sleeps on its ports. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "crew.h"
#include "peer/error.h"

/* Waits of a port that has no descriptor, and of the verdict after a fault. */
#define POLL_US 50
#define POLL_MS 100 /* port.h: the longest sleep */
#define VERDICT_MS 500

/* --- the end of a crew */

void peer_crew_fail(struct peer_crew *c, const struct peer_fault *f)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += VERDICT_MS % 1000 * 1000000L;
	until.tv_sec += VERDICT_MS / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&c->lock);
	while (!c->verdict.err && !c->end)
		if (pthread_cond_timedwait(&c->heard, &c->lock, &until))
			break;
	pthread_mutex_unlock(&c->lock);
	if (c->end)
		return;
	peer_crew_end(c, f->peer >= 0 ? TRIB_PEER_GONE : TRIB_PEER_SYSTEM, f->err, f->peer,
		      f->text);
	if (c->tell)
		c->tell(c->tell_arg, f->peer, f->text);
}

static void close_ports(struct peer_worker *w)
{
	uint32_t i;

	for (i = 0; i < w->nuse; i++) {
		if (w->use[i].port)
			w->use[i].port->ops->close(w->use[i].port);
		w->use[i].port = NULL;
	}
}

/* The last worker without ports ends the calls: no peer reaches their memory now. */
static void leave(struct peer_worker *w)
{
	struct peer_crew *c = w->crew;

	close_ports(w);
	pthread_mutex_lock(&c->lock);
	if (!--c->alive)
		peer_crew_give_up(c);
	pthread_mutex_unlock(&c->lock);
}

/* --- waiting */

static int poll_ports(struct peer_worker *w)
{
	struct peer_fault f = {.peer = -1};
	int n = 0, rc;
	uint32_t i;

	for (i = 0; i < w->nuse; i++) {
		struct peer_port *p = w->use[i].port;

		rc = p->ops->poll(p);
		if (rc < 0) {
			p->ops->fault(p, &f);
			peer_crew_fail(w->crew, &f);
			return rc;
		}
		n += rc;
	}
	return n;
}

static void sleep_on_ports(struct peer_worker *w)
{
	struct pollfd pfd[PEER_NICS_MAX + 2];
	bool blind = false;
	uint32_t i, n = 0;
	uint64_t events;

	pfd[n++] = (struct pollfd){.fd = w->wake, .events = POLLIN};
	for (i = 0; i < w->nuse; i++) {
		struct peer_port *p = w->use[i].port;

		if (!p->ops->rest(p))
			return;
		pfd[n] = (struct pollfd){.fd = p->ops->fd(p), .events = POLLIN};
		blind |= pfd[n].fd < 0;
		n++;
	}
	w->waits++;
	if (blind) {
		usleep(POLL_US);
		poll(pfd, n, 0);
	} else {
		poll(pfd, n, POLL_MS);
	}
	if (pfd[0].revents && read(w->wake, &events, sizeof(events)) < 0)
		return; /* another turn finds out why it woke */
}

static struct peer_task *next_task(struct peer_worker *w)
{
	struct peer_task *t;

	while (!w->crew->end) {
		t = peer_crew_next(w->crew, w);
		if (t)
			return t;
		if (poll_ports(w) < 0)
			break;
		sleep_on_ports(w);
	}
	return NULL;
}

/* --- working */

static void other_call(struct peer_worker *w)
{
	struct peer_fault f = {.err = -EPROTO, .peer = (int)w->walk.wrong_peer};

	snprintf(
		f.text, sizeof(f.text),
		"rank %u makes another call than this rank: all ranks must issue the same collectives in the same order",
		w->walk.wrong_peer);
	peer_crew_fail(w->crew, &f);
}

static int walk(struct peer_worker *w, struct peer_task *t)
{
	int rc = peer_walk_begin(&w->walk, &t->plan->path[w->lane], &t->job, w->link[t->shape],
				 w->use, w->nuse);
	struct peer_fault f = {.err = rc, .peer = -1, .text = "cannot register memory"};
	bool any;

	if (rc) {
		peer_crew_fail(w->crew, &f);
		return rc;
	}
	while (!w->crew->end) {
		any = peer_walk_step(&w->walk);
		if (w->walk.wrong) {
			other_call(w);
			return -EPROTO;
		}
		if (peer_walk_over(&w->walk)) {
			peer_walk_end(&w->walk);
			return 0;
		}
		rc = poll_ports(w);
		if (rc < 0)
			return rc;
		if (!any && !rc)
			sleep_on_ports(w);
	}
	return -ECANCELED;
}

void *peer_worker_main(void *worker)
{
	struct peer_worker *w = worker;
	struct peer_task *t;

	while ((t = next_task(w))) {
		if (w->lane < t->plan->sched.nlane && !t->skip && walk(w, t))
			break;
		peer_crew_passed(w->crew, t);
	}
	leave(w);
	return NULL;
}
