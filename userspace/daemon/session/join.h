/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joining: the session machine of each dedicated tree, what goes in and out of
 * it, and how join.c and join_out.c share it.
 */
#ifndef TRIBD_JOIN_H
#define TRIBD_JOIN_H

#include "base/session.h"
#include "daemon/tree/tree.h"
#include "udp.h"

#define RANK_RELAY32 0xffffffffU /* of a JOIN from a relay */

/* tree.join. @scan: next of the tree's @slots to look at. */
struct joining {
	struct tribd *d;
	struct tree *t;
	struct timer timer;
	struct session s;
	uint32_t scan;
	uint32_t slots;
};

/* Any packet of ours: as long as the longest JOIN. */
struct join_packet {
	struct trib_hdr h;
	union {
		struct trib_join join;
		struct trib_start start;
		uint8_t pad[TRIB_NVAL_LARGE * 4];
	} u;
};

/* join_out.c: of all machines; their ctx is a struct joining. */
extern const struct session_ops join_ops;
/* START(REFUSED) to somebody behind @via who is no child of the tree. */
void join_refuse(struct joining *j, const struct face *via,
		 const struct session_join *in);

/* A rank was told that @epoch runs. 0, or -ESTALE: not here, or not any more. */
int join_epoch(struct tribd *d, struct tree *t, uint32_t epoch);
/* The process of a rank ended without a good-bye. */
void join_rank_gone(struct tribd *d, struct tree *t, const struct local *l);
/* No rank of this host is attached to @t any more. */
void join_idle(struct tribd *d, struct tree *t);

void join_exit(struct tribd *d);
/* Hook: take a datagram. */
void join_packet(struct tribd *d, const struct udp_packet *p);
/* The row is in the map and used; @adopted: it was there before this tribd,
 * with its epoch and nonces. An error undoes the addition. */
int join_tree_added(struct tribd *d, struct tree *t, bool adopted);
/* The row is still in the map: tell whom it concerns (TRIB_ABORT_ADMIN). */
void join_tree_del(struct tree *t);
/* Frees what it kept for @t. */
void join_tree_free(struct tribd *d, struct tree *t);

#endif /* TRIBD_JOIN_H */
