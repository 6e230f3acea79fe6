/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joining: one session machine per dedicated tree, and what join.c (input) and
 * join_out.c (output) share.
 */
#ifndef TRIBD_JOIN_H
#define TRIBD_JOIN_H

#include "base/session.h"
#include "daemon/tree/tree.h"
#include "udp.h"

#define RANK_RELAY32 0xffffffffU /* rank in a JOIN from a relay */

/* tree.dedicated.join. @scan: next of the tree's @slots to look at. */
struct joining {
	struct tribd *d;
	struct tree *t;
	struct timer timer;
	struct session s;
	uint32_t scan;
	uint32_t slots;
};

/* Any packet of joining; at most as long as the longest JOIN. */
struct join_packet {
	struct trib_hdr h;
	union {
		struct trib_join join;
		struct trib_start start;
		uint8_t pad[TRIB_NVAL_LARGE * 4];
	} u;
};

/* join_out.c: the same for all machines; ctx is a struct joining. */
extern const struct session_ops join_ops;
/* Send START(REFUSED) to a sender behind @via that is no child of the tree. */
void join_refuse(struct joining *j, const struct face *via, const struct session_join *in);

/*
 * A rank of this host reports that @epoch runs. Return: 0, or -ESTALE if it
 * does not run here.
 */
int join_epoch(struct tribd *d, struct tree *t, uint32_t epoch);
/* The process of rank @l ended without BYE. */
void join_rank_gone(struct tribd *d, struct tree *t, const struct local *l);
/* Call when the last rank of this host has detached from @t. */
void join_idle(struct tribd *d, struct tree *t);

void join_exit(struct tribd *d);
/* Hook: take a datagram. */
void join_packet(struct tribd *d, const struct udp_packet *p);
/*
 * Hook: start the machine. @adopted: the row has an epoch and nonces from
 * before this tribd. 0 or -errno.
 */
int join_tree_added(struct tribd *d, struct tree *t, bool adopted);
/*
 * Hook: tell all that take part (TRIB_ABORT_ADMIN). The row is still in the
 * map.
 */
void join_tree_del(struct tree *t);
/* Free the machine of @t. */
void join_tree_free(struct tribd *d, struct tree *t);

#endif /* TRIBD_JOIN_H */
