/* SPDX-License-Identifier: BSD-2-Clause */
/* Random requests to the module's netlink family: see nlgen.c. */
#ifndef NLGEN_H
#define NLGEN_H

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

void nl_begin(struct nl_request *r, int family, int cmd, int flags,
	      uint32_t seq);
/* Mostly what makes sense, with mistakes; sometimes none at all. */
void nl_make(struct nl_request *r, int family, uint32_t seq);

#endif /* NLGEN_H */
