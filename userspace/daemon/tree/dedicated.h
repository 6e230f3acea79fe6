/* SPDX-License-Identifier: BSD-2-Clause */
/* Dedicated trees: slots of their own at every node, results for cells. */
#ifndef TRIBD_DEDICATED_H
#define TRIBD_DEDICATED_H

#include "daemon/core/tribd.h"

struct tree;
struct tree_ops;

struct tree_dedicated {
	uint32_t slots;	      /* 2W, or 0 for a leaf: row.slot0 on */
	struct timer wiped;   /* pending: its slots were wiped not long ago */
	struct joining *join; /* join.c's own */
	struct delivery *deliver; /* deliver.c's own */
};

struct dedicated_spec {
	uint32_t slot0; /* state file only */
};

extern const struct tree_ops dedicated_ops;

/* Slots that all trees use. */
uint32_t dedicated_slots_used(struct tribd *d);
/* Sums of floats stop for a while: see TRIB_TREE_WIPED. Row not stored. */
void dedicated_wiped(struct tribd *d, struct tree *t);

#endif /* TRIBD_DEDICATED_H */
