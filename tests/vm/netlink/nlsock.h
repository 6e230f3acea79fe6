/* SPDX-License-Identifier: BSD-2-Clause */
/* Generic netlink without a library, because any byte of a request may be wrong. */
#ifndef NLSOCK_H
#define NLSOCK_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NL_REQUEST_MAX 4096

/**
 * struct nl_request - a request
 * @nlh:   its header; @len bytes are sent, whatever the header says.
 * @clear: it is exactly one message of this family, so there must be one verdict.
 */
struct nl_request {
	union {
		struct nlmsghdr nlh;
		uint8_t bytes[NL_REQUEST_MAX];
	};
	size_t len;
	bool clear;
};

/* Open a socket with error texts and a timeout of 20 s. Return: -1 with errno. */
int nl_socket(void);
void nl_begin(struct nl_request *r, int family, int cmd, int flags, uint32_t seq);
/* Append an attribute if there is room. nlmsg_len stays unchanged. */
void nl_put(struct nl_request *r, int type, const void *data, size_t len);
bool nl_send(int fd, struct nl_request *r);
/* Find a family with at most one group. Return: its number, or 0; *group: number
 * of the group, or 0. */
int nl_family(int fd, const char *name, int *group);

#endif /* NLSOCK_H */
