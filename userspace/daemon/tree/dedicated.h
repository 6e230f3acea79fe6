/* SPDX-License-Identifier: BSD-2-Clause */
/* Dedicated trees: each node has slots of its own; results go to cells. */
#ifndef TRIBD_DEDICATED_H
#define TRIBD_DEDICATED_H

#include "daemon/core/tribd.h"

struct tree;
struct tree_ops;

struct tree_dedicated {
	uint32_t slots;		  /* 2W, from row.slot0 on; 0: a leaf */
	struct timer wiped;	  /* pending while sums of floats are stopped after a wipe */
	struct joining *join;	  /* join.c's own */
	struct delivery *deliver; /* deliver.c's own */
};

struct dedicated_spec {
	uint32_t slot0; /* state file only */
};

extern const struct tree_ops dedicated_ops;

/* Count the slots that all trees use. */
uint32_t dedicated_slots_used(struct tribd *d);
/*
 * Stop sums of floats for a while: see TRIB_TREE_WIPED. The caller stores the
 * row.
 */
void dedicated_wiped(struct tribd *d, struct tree *t);

#endif /* TRIBD_DEDICATED_H */
