/* SPDX-License-Identifier: BSD-2-Clause */
/* Generic netlink without a library: requests that may be wrong, byte by byte. */
#ifndef NLSOCK_H
#define NLSOCK_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NL_REQUEST_MAX 4096

/**
 * struct nl_request - what is sent
 * @nlh:   begins it; @len bytes are sent, whatever it says.
 * @clear: it is one message of this family and no more, so that there must be
 *	   one verdict about it.
 */
struct nl_request {
	union {
		struct nlmsghdr nlh;
		uint8_t bytes[NL_REQUEST_MAX];
	};
	size_t len;
	bool clear;
};

/* A socket that gives texts with errors, and up after 20 seconds; -1 and errno. */
int nl_socket(void);
void nl_begin(struct nl_request *r, int family, int cmd, int flags,
	      uint32_t seq);
/* One attribute; none if there is no room. nlmsg_len is not changed. */
void nl_put(struct nl_request *r, int type, const void *data, size_t len);
bool nl_send(int fd, struct nl_request *r);
/* The number of a family that has one group at most, and its group's or 0; 0:
 * there is no such family. */
int nl_family(int fd, const char *name, int *group);

#endif /* NLSOCK_H */
