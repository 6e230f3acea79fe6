// SPDX-License-Identifier: BSD-2-Clause
/* Owns requests that wait, and serves their users in turn. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nl_client.h"
#include "nl_queue.h"

static struct nl_user *user_find(struct nl_queue *q, uint32_t uid)
{
	struct nl_user *u;

	TAILQ_FOREACH(u, &q->users, link)
		if (u->uid == uid)
			return u;
	return NULL;
}

/* Find or add a user. Root always finds a place. */
static struct nl_user *user_get(struct nl_queue *q, uint32_t uid)
{
	struct nl_user *u = user_find(q, uid);

	if (u || (uid && q->count >= NL_USERS_MAX))
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->uid = uid;
	TAILQ_INIT(&u->waiting);
	TAILQ_INSERT_TAIL(&q->users, u, link);
	q->count++;
	return u;
}

static void user_drop(struct nl_queue *q, struct nl_user *u)
{
	struct nl_waiting *w;

	while ((w = TAILQ_FIRST(&u->waiting))) {
		TAILQ_REMOVE(&u->waiting, w, link);
		free(w);
	}
	TAILQ_REMOVE(&q->users, u, link);
	q->count--;
	free(u);
}

static void wake(struct tribd *d, struct nl_queue *q)
{
	if (!q->turn.at_ns)
		timer_set(d, &q->turn, 0);
}

/* Serve the oldest request of @u. */
static void serve_one(struct tribd *d, struct nl_queue *q, struct nl_user *u)
{
	struct nl_waiting *w = TAILQ_FIRST(&u->waiting);

	if (!w)
		return;
	TAILQ_REMOVE(&u->waiting, w, link);
	u->count--;
	u->bytes -= w->msg->nlmsg_len;
	q->serve(d, w);
	free(w);
}

/* One request and one step of a dump of the next user. */
static void turn(struct tribd *d, struct timer *t)
{
	struct nl_queue *q = t->arg;
	struct nl_user *u = TAILQ_FIRST(&q->users);

	if (!u)
		return;
	TAILQ_REMOVE(&q->users, u, link);
	TAILQ_INSERT_TAIL(&q->users, u, link);
	serve_one(d, q, u);
	if (!nl_clients_step(d, q->clients, u->uid) && TAILQ_EMPTY(&u->waiting))
		user_drop(q, u);
	if (!TAILQ_EMPTY(&q->users))
		wake(d, q);
}

void nl_queue_init(struct nl_queue *q, struct nl_clients *clients,
		   void (*serve)(struct tribd *d, const struct nl_waiting *w))
{
	TAILQ_INIT(&q->users);
	q->turn.fn = turn;
	q->turn.arg = q;
	q->clients = clients;
	q->serve = serve;
}

void nl_queue_exit(struct tribd *d, struct nl_queue *q)
{
	timer_cancel(d, &q->turn);
	while (!TAILQ_EMPTY(&q->users))
		user_drop(q, TAILQ_FIRST(&q->users));
}

int nl_queue_add(struct tribd *d, struct nl_queue *q, const struct nlmsghdr *msg, uint32_t port,
		 const struct ucred *from)
{
	struct nl_user *u = user_get(q, from->uid);
	struct nl_waiting *w;

	if (!u)
		return -EBUSY;
	while (u->count >= NL_USER_REQUESTS || u->bytes + msg->nlmsg_len > NL_USER_BYTES) {
		if (from->uid)
			return -EBUSY;
		serve_one(d, q, u);
	}
	w = malloc(sizeof(*w) + msg->nlmsg_len);
	if (!w)
		return -ENOMEM;
	w->port = port;
	w->uid = from->uid;
	w->pid = from->pid;
	memcpy(w->msg, msg, msg->nlmsg_len);
	TAILQ_INSERT_TAIL(&u->waiting, w, link);
	u->count++;
	u->bytes += msg->nlmsg_len;
	wake(d, q);
	return 0;
}

void nl_queue_wake(struct tribd *d, struct nl_queue *q, uint32_t uid)
{
	if (user_get(q, uid))
		wake(d, q);
}
