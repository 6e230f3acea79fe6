/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that have been read and not served. Each user has a queue, and users
 * are served in turn, so one user's requests delay those of the others by one
 * request, or one step of a dump.
 */
#ifndef TRIBD_NL_QUEUE_H
#define TRIBD_NL_QUEUE_H

#include <sys/socket.h>

#include "nl.h"

struct nl_clients;

/*
 * Limits of what waits. A user who exceeds them is answered with EBUSY; root is not
 * refused: its oldest request is served at once.
 */
#define NL_USERS_MAX 64
#define NL_USER_REQUESTS 64
#define NL_USER_BYTES (256 * 1024)

/* struct nl_waiting - one request; the queue owns it until it is served */
struct nl_waiting {
	TAILQ_ENTRY(nl_waiting) link;
	uint32_t port;
	uint32_t uid;
	pid_t pid;
	struct nlmsghdr msg[]; /* whole */
};

/*
 * struct nl_user - a user with requests that wait, or with dumps under way
 * The queue owns it, until it has neither.
 */
struct nl_user {
	TAILQ_ENTRY(nl_user) link;
	uint32_t uid;
	unsigned int count; /* requests that wait */
	size_t bytes;
	TAILQ_HEAD(, nl_waiting) waiting;
};

/**
 * struct nl_queue - all users; the netlink server owns it
 * @users:   in the order of their next turns.
 * @turn:    runs one turn whenever the loop has looked at its descriptors.
 * @clients: their dumps are continued in turn, too.
 * @serve:   serves one request, which is freed afterwards.
 */
struct nl_queue {
	TAILQ_HEAD(, nl_user) users;
	unsigned int count;
	struct timer turn;
	struct nl_clients *clients;
	void (*serve)(struct tribd *d, const struct nl_waiting *w);
};

void nl_queue_init(struct nl_queue *q, struct nl_clients *clients,
		   void (*serve)(struct tribd *d, const struct nl_waiting *w));
void nl_queue_exit(struct tribd *d, struct nl_queue *q);

/*
 * Add a copy of @msg. May serve another request of root's. Return: 0; -EBUSY beyond the
 * user's limits; -ENOMEM.
 */
int nl_queue_add(struct tribd *d, struct nl_queue *q, const struct nlmsghdr *msg, uint32_t port,
		 const struct ucred *from);

/* A client of @uid has a dump to go on with: the user has turns until it ends. */
void nl_queue_wake(struct tribd *d, struct nl_queue *q, uint32_t uid);

#endif /* TRIBD_NL_QUEUE_H */
