/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients that have not read all of their answers yet. */
#ifndef TRIBD_NL_CLIENT_H
#define TRIBD_NL_CLIENT_H

#include "nl.h"

/* Limits for clients that do not read. */
#define NL_CLIENTS_MAX 64
#define NL_CLIENTS_USER 32 /* of one user */
#define NL_QUEUE_MAX 8	   /* datagrams of at most TRIB_NL_MSG_MAX */
#define NL_RETRY_MS 5
#define NL_PATIENCE_MS 5000

struct nl_datagram {
	TAILQ_ENTRY(nl_datagram) link;
	size_t len;
	char data[];
};

struct nl_client {
	TAILQ_ENTRY(nl_client) link;
	struct nl_clients *all;
	uint32_t port;
	uint32_t uid;
	uint64_t progress_ns; /* time of its last read */
	unsigned int queued;
	bool gone; /* its answers are dropped */
	TAILQ_HEAD(, nl_datagram) queue;
	/* Current dump; cmd is NULL without one. */
	const struct nl_command *cmd;
	struct nl_cursor cursor;
	uint32_t generation; /* time of its begin */
	struct nlmsghdr req;
	uint8_t genl_cmd;
};

struct nl_clients {
	TAILQ_HEAD(, nl_client) list;
	unsigned int count;
	int fd;
	struct timer retry;
	struct nl_queue *queue; /* gives running dumps their turns */
};

void nl_clients_init(struct nl_clients *all, struct nl_queue *queue);
void nl_clients_exit(struct tribd *d, struct nl_clients *all);

/*
 * Find or add the client of @uid at netlink port @port; NULL without memory. A user
 * with too many loses the one that has not read for the longest time.
 */
struct nl_client *nl_client_get(struct nl_clients *all, uint32_t port, uint32_t uid);
/*
 * Make one step of one dump of @uid: send one datagram, or look at a bounded number of
 * rows. Return: false if none of the user's dumps can go on now.
 */
bool nl_clients_step(struct tribd *d, struct nl_clients *all, uint32_t uid);
/* Free the client after its request if it has read everything. */
void nl_client_put(struct tribd *d, struct nl_client *c);
/* Send or queue a message; a client with a full queue is dropped. */
void nl_client_send(struct tribd *d, struct nl_client *c, const struct nlmsghdr *nlh);
/*
 * Start a dump; it goes on in the user's turns, as the client reads. After an error,
 * @cursor->own belongs to the caller.
 */
int nl_client_dump(struct tribd *d, struct nl_client *c, const struct nl_command *cmd,
		   const struct nl_cursor *cursor, const struct nlmsghdr *req, struct reason *why);

#endif /* TRIBD_NL_CLIENT_H */
