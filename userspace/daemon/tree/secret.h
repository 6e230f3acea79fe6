/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Secrets of a tree's packets, from the job's key (uapi/trib_auth.h). Pure. Addresses are
 * those that the packets come from, IPv4 mapped.
 */
#ifndef TRIBD_SECRET_H
#define TRIBD_SECRET_H

#include <netinet/in.h>

#include "tree.h"

/* @auth: of data packets, as on the wire. @key: of control packets. */
struct secret {
	struct trib_key key;
	__be64 auth;
};

/*
 * Derive the secret of a child, for what it sends up: of worker @rank, or with RANK_NONE
 * of the relay that sends from @addr.
 */
void secret_up(const struct tree *t, uint16_t rank, const struct in6_addr *addr,
	       struct secret *out);
/* Derive the secret of what goes down, from the node that sends from @addr. */
void secret_down(const struct tree *t, const struct in6_addr *addr, struct secret *out);
/*
 * Number a control packet of tribd's own, as on the wire: larger than those before,
 * also of a tribd before a restart.
 */
__be32 secret_number(struct tree *t);

#endif /* TRIBD_SECRET_H */
