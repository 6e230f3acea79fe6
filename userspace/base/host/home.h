/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses of a service. Any process may take one while the service is down,
 * so a service that finds one taken waits for a while, and says who has it.
 */
#ifndef TRIB_BASE_HOME_H
#define TRIB_BASE_HOME_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "base/addr.h"

#define HOME_WAIT_MS 30000

/**
 * struct home - an address: a UDP one, a netlink port, or an abstract name
 * @type, @protocol: for socket().
 * @what: for people: "UDP port 7417".
 * @name: for service_keep().
 */
struct home {
	union {
		struct sockaddr sa;
		struct sockaddr_nl nl;
		struct sockaddr_un un;
		union addr_sock ip;
	};
	socklen_t len;
	int type;
	int protocol;
	char what[ADDR_TEXT_MAX + 16];
	const char *name;
};

/* The addresses of tribd. The UDP one serves both versions of IP. */
enum home_tribd { HOME_NETLINK, HOME_UDP, HOME_ATTACH, HOME__MAX };

void home_tribd(enum home_tribd id, struct home *s);

/**
 * struct home_wait - how a service waits for its addresses
 * @until_ns: end of all waits together (CLOCK_MONOTONIC); 0: HOME_WAIT_MS from now
 *            on, set by the first wait.
 * @twin:     command of this service. A process of root's with this command is
 *            another instance, for which there is no wait.
 * @say:      prints one line.
 */
struct home_wait {
	uint64_t until_ns;
	const char *twin;
	void (*say)(const char *line);
};

/**
 * home_bind() - bind @fd to its address, and wait while another process has that
 *
 * The caller has blocked SIGTERM and SIGINT; if one is pending, the wait ends.
 *
 * Return: 0; -EADDRINUSE, which @w->say() explained; -EINTR; -errno.
 */
int home_bind(struct home_wait *w, int fd, const struct home *s);

#endif /* TRIB_BASE_HOME_H */
