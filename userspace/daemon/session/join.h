/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What attach.c tells join.c about the ranks of this host, and the line between
 * join.c and join_out.c.
 */
#ifndef TRIBD_JOIN_H
#define TRIBD_JOIN_H

#include "base/session.h"
#include "daemon/tribd.h"

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

#endif /* TRIBD_JOIN_H */
