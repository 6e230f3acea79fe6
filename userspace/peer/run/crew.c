// SPDX-License-Identifier: BSD-2-Clause
/* Life of a crew: workers, the queue of tasks, the list of those that are done. */
#include "crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "peer/error.h"

static void ring(int fd)
{
	uint64_t one = 1;

	/* A full counter is readable already. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/* --- the queue; the lock is held */

static void put(struct peer_task *t)
{
	if (t->plan)
		peer_plan_put(t->plan);
	peer_task_free(t);
}

/* Return: there is something to collect; the caller rings, best without the lock. */
static bool push_done(struct peer_crew *c, struct peer_task *t, int status)
{
	if (t->told)
		t->told(t->told_arg, status, t->detail);
	if (t->told || t->silent) {
		put(t);
		return false;
	}
	t->status = status;
	t->next = NULL;
	if (c->done)
		c->done_tail->next = t;
	else
		c->done = t;
	c->done_tail = t;
	return true;
}

static void ring_all(struct peer_crew *c)
{
	struct peer_worker *w;

	for (w = c->worker; w < c->worker + c->nworker; w++)
		ring(w->wake);
}

struct peer_task *peer_crew_next(struct peer_crew *c, struct peer_worker *w)
{
	struct peer_task *t;
	bool ready = false;

	pthread_mutex_lock(&c->lock);
	t = w->next;
	if (t && !t->ready && !t->waits && !w->lane) {
		pthread_mutex_unlock(&c->lock);
		peer_task_prepare(t);
		pthread_mutex_lock(&c->lock);
		t->ready = ready = true;
	}
	if (t && !t->ready)
		t = NULL;
	if (t)
		w->next = t->next;
	pthread_mutex_unlock(&c->lock);
	if (ready && c->nworker > 1)
		ring_all(c);
	return t;
}

void peer_crew_passed(struct peer_crew *c, struct peer_task *t)
{
	bool last, more, done;

	pthread_mutex_lock(&c->lock);
	last = !--t->left;
	pthread_mutex_unlock(&c->lock);
	if (!last)
		return;
	peer_task_finish(t);
	pthread_mutex_lock(&c->lock);
	/* All workers pass tasks in order, so this one is the oldest. */
	c->head = t->next;
	more = t->then;
	if (more)
		t->then->ready = true;
	done = push_done(c, t, t->status);
	pthread_mutex_unlock(&c->lock);
	/* Whoever wakes must not find the lock taken. */
	if (more)
		ring_all(c);
	if (done)
		ring(c->done_fd);
}

void peer_crew_give_up(struct peer_crew *c)
{
	struct peer_task *t;

	while ((t = c->head)) {
		c->head = t->next;
		if (push_done(c, t, c->verdict.err ? c->verdict.err : -ECANCELED))
			ring(c->done_fd);
	}
}

/* Return: the workers to wake, a bit each. */
static uint32_t push(struct peer_crew *c, struct peer_task *t)
{
	struct peer_worker *w;
	uint32_t wake = 0;

	t->left = c->nworker;
	if (c->head)
		c->tail->next = t;
	else
		c->head = t;
	c->tail = t;
	for (w = c->worker; w < c->worker + c->nworker; w++)
		if (!w->next) {
			w->next = t;
			wake |= 1u << (w - c->worker);
		}
	return wake;
}

static int issue(struct peer_crew *c, const struct trib_peer_call *call, unsigned int shape,
		 void *cookie, peer_told_fn told)
{
	struct peer_task *t = NULL, *then, *last;
	uint32_t wake = 0;
	bool done = false;
	unsigned int i;
	int rc;

	pthread_mutex_lock(&c->lock);
	rc = c->verdict.err;
	if (!rc && c->end)
		rc = -ECANCELED;
	if (!rc)
		t = peer_task_make(c, call, shape, cookie, &rc);
	c->calls += t && !told;
	for (last = t; last && last->then; last = last->then)
		;
	if (last && told) {
		last->told = told;
		last->told_arg = cookie;
	}
	for (; t; t = then) {
		then = t->then;
		if (c->nworker) {
			wake |= push(c, t);
			continue;
		}
		if (!t->ready && !t->waits)
			peer_task_prepare(t);
		peer_task_finish(t);
		done |= push_done(c, t, t->status);
	}
	pthread_mutex_unlock(&c->lock);
	for (i = 0; i < c->nworker; i++)
		if (wake >> i & 1)
			ring(c->worker[i].wake);
	if (done)
		ring(c->done_fd);
	return rc;
}

int peer_crew_issue(struct peer_crew *c, const struct trib_peer_call *call, unsigned int shape,
		    void *cookie)
{
	return issue(c, call, shape, cookie, NULL);
}

int peer_crew_issue_told(struct peer_crew *c, const struct trib_peer_call *call, unsigned int shape,
			 peer_told_fn told, void *arg)
{
	return issue(c, call, shape, arg, told);
}

struct peer_task *peer_crew_token(void *cookie)
{
	struct peer_task *t = calloc(1, sizeof(*t));

	if (t)
		t->cookie = cookie;
	return t;
}

void peer_crew_finish(struct peer_crew *c, struct peer_task *token, int status, int64_t detail)
{
	bool done;

	pthread_mutex_lock(&c->lock);
	token->detail = detail;
	c->calls++;
	done = push_done(c, token, status);
	pthread_mutex_unlock(&c->lock);
	if (done)
		ring(c->done_fd);
}

bool peer_crew_collect(struct peer_crew *c, struct trib_peer_done *done)
{
	struct peer_task *t;
	uint64_t events;

	pthread_mutex_lock(&c->lock);
	t = c->done;
	if (t) {
		c->done = t->next;
		*done = (struct trib_peer_done){t->cookie, t->status, t->detail};
		put(t);
	} else if (read(c->done_fd, &events, sizeof(events)) < 0) {
		errno = 0; /* nothing came since the last call */
	}
	pthread_mutex_unlock(&c->lock);
	return t != NULL;
}

void peer_crew_count(struct peer_crew *c, struct trib_peer_counters *out)
{
	const struct peer_worker *w;
	unsigned int i;

	*out = (struct trib_peer_counters){0};
	pthread_mutex_lock(&c->lock);
	out->calls = c->calls;
	pthread_mutex_unlock(&c->lock);
	for (w = c->worker; w < c->worker + c->nworker; w++) {
		out->chunks += w->tally.chunks;
		out->recv_bytes += w->tally.recv_bytes;
		out->in_place += w->tally.in_place;
		out->waits += w->waits;
		for (i = 0; i <= PEER_NICS_MAX; i++) {
			out->sent_bytes += w->tally.sent_by_nic[i];
			if (i < TRIB_PEER_NICS)
				out->sent_by_nic[i] += w->tally.sent_by_nic[i];
		}
	}
}

/* --- the end */

static void stop(struct peer_crew *c)
{
	struct peer_worker *w;

	c->end = true;
	pthread_cond_broadcast(&c->heard);
	for (w = c->worker; w < c->worker + c->nworker; w++)
		ring(w->wake);
	if (c->ended)
		c->ended(c->ended_arg);
}

void peer_crew_end(struct peer_crew *c, int code, int err, int rank, const char *text)
{
	pthread_mutex_lock(&c->lock);
	if (!c->verdict.err && !c->end) {
		peer_error(&c->verdict, code, err, rank, "%s", text);
		stop(c);
		if (!c->alive)
			peer_crew_give_up(c);
	}
	pthread_mutex_unlock(&c->lock);
}

static void worker_free(struct peer_crew *c, struct peer_worker *w)
{
	unsigned int s;
	uint32_t i;

	for (i = 0; i < w->nuse; i++) {
		if (w->use[i].port)
			w->use[i].port->ops->close(w->use[i].port);
		free(w->use[i].expected);
		free(w->peers[i]);
	}
	for (s = 0; s < c->conf.nshape; s++)
		free(w->link[s]);
	peer_walk_free(&w->walk);
	if (w->wake >= 0)
		close(w->wake);
}

void peer_crew_stop(struct peer_crew *c)
{
	unsigned int i;

	pthread_mutex_lock(&c->lock);
	stop(c);
	pthread_mutex_unlock(&c->lock);
	for (i = 0; i < c->nworker; i++) {
		if (c->worker[i].runs)
			pthread_join(c->worker[i].thread, NULL);
		c->worker[i].runs = false;
	}
	pthread_mutex_lock(&c->lock);
	peer_crew_give_up(c);
	pthread_mutex_unlock(&c->lock);
}

void peer_crew_close(struct peer_crew *c)
{
	struct peer_task *t;
	unsigned int i;

	peer_crew_stop(c);
	while ((t = c->done)) {
		c->done = t->next;
		put(t);
	}
	for (i = 0; i < c->nworker; i++)
		worker_free(c, &c->worker[i]);
	for (i = 0; i < c->conf.nshape; i++)
		free(c->edge[i]);
	peer_plans_free(&c->plans);
	if (c->done_fd >= 0)
		close(c->done_fd);
	pthread_cond_destroy(&c->heard);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* --- the beginning */

static int find_edges(struct peer_crew *c)
{
	unsigned int s, lanes = 0;
	uint32_t i;
	int n;

	for (s = 0; s < c->conf.nshape; s++) {
		n = peer_shape_edges(&c->conf.shape[s], c->conf.rank, &c->edge[s]);
		if (n < 0)
			return n;
		c->nedge[s] = (uint32_t)n;
		for (i = 0; i < c->nedge[s]; i++)
			if (c->edge[s][i].lane >= lanes)
				lanes = c->edge[s][i].lane + 1U;
	}
	c->nworker = lanes;
	return 0;
}

static int make_workers(struct peer_crew *c)
{
	unsigned int i;

	for (i = 0; i < c->nworker; i++) {
		c->worker[i].crew = c;
		c->worker[i].lane = i;
		c->worker[i].walk.tally = &c->worker[i].tally;
		c->worker[i].wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	}
	c->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	for (i = 0; i < c->nworker; i++)
		if (c->worker[i].wake < 0)
			return -errno;
	return c->done_fd < 0 ? -errno : 0;
}

int peer_crew_open(struct peer_crew **out, const struct peer_crew_conf *conf,
		   struct trib_peer_error *error)
{
	struct peer_crew *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	c->conf = *conf;
	c->chunk = conf->slot;
	c->done_fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->heard, NULL);
	rc = find_edges(c);
	if (!rc)
		rc = make_workers(c);
	rc = rc ? peer_error(error, TRIB_PEER_SYSTEM, rc, -1, "cannot make lanes: %s",
			     strerror(-rc))
		: peer_crew_ports(c, error);
	if (rc)
		peer_crew_close(c);
	else
		*out = c;
	return rc;
}

int peer_crew_start(struct peer_crew *c, struct trib_peer_error *error)
{
	struct peer_worker *w;
	int rc;

	for (w = c->worker; w < c->worker + c->nworker; w++) {
		pthread_mutex_lock(&c->lock);
		c->alive++;
		pthread_mutex_unlock(&c->lock);
		rc = pthread_create(&w->thread, NULL, peer_worker_main, w);
		if (!rc) {
			w->runs = true;
			continue;
		}
		pthread_mutex_lock(&c->lock);
		c->alive--;
		pthread_mutex_unlock(&c->lock);
		return peer_error(error, TRIB_PEER_SYSTEM, -rc, -1, "cannot start a thread: %s",
				  strerror(rc));
	}
	return 0;
}
