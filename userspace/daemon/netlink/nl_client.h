/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients that have not read all of their answers yet. */
#ifndef TRIBD_NL_CLIENT_H
#define TRIBD_NL_CLIENT_H

#include "nl.h"

/* Bounds of what clients that do not read can hold. */
#define NL_CLIENTS_MAX 32
#define NL_QUEUE_MAX 8 /* datagrams of at most TRIB_NL_MSG_MAX */
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
	uint64_t progress_ns; /* when it last read something */
	unsigned int queued;
	bool gone; /* answers are thrown away */
	TAILQ_HEAD(, nl_datagram) queue;
	/* The dump under way; cmd NULL: none. */
	const struct nl_command *cmd;
	struct nl_cursor cursor;
	uint32_t generation; /* when it began */
	struct nlmsghdr req;
	uint8_t genl_cmd;
};

struct nl_clients {
	TAILQ_HEAD(, nl_client) list;
	unsigned int count;
	int fd;
	struct timer retry;
};

void nl_clients_init(struct nl_clients *all);
void nl_clients_exit(struct tribd *d, struct nl_clients *all);

/* The client at netlink port @port; NULL: no memory. */
struct nl_client *nl_client_get(struct tribd *d, struct nl_clients *all,
				uint32_t port);
/* After its request: forgets it if it has read everything. */
void nl_client_put(struct tribd *d, struct nl_client *c);
/* Sends, or queues; a client with a full queue is given up. */
void nl_client_send(struct tribd *d, struct nl_client *c,
		    const struct nlmsghdr *nlh);
/* Starts a dump; the rest is sent as the client reads. Refused, @cursor->own is
 * still the caller's. */
int nl_client_dump(struct tribd *d, struct nl_client *c,
		   const struct nl_command *cmd, const struct nl_cursor *cursor,
		   const struct nlmsghdr *req, struct reason *why);

#endif /* TRIBD_NL_CLIENT_H */
