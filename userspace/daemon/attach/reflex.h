/* SPDX-License-Identifier: BSD-2-Clause */
/* Reflex: whether the XDP program of this host sends for its ranks. Pure. */
#ifndef TRIBD_REFLEX_H
#define TRIBD_REFLEX_H

#include "daemon/tree/tree.h"

/* Can XDP send for the ranks of @t? 0; or -errno and @why (NULL: not wanted). */
int reflex_fits(const struct tribd *d, const struct tree *t, struct reason *why);
/*
 * Fill in how XDP sends for the ranks of @t: @row->reflex at a leaf, @row->host and
 * @row->child where all children of this node are ranks here. As reflex_fits(); with an error
 * there are zeros, and the ranks of @t send by sockets.
 */
int reflex_fill(const struct tribd *d, const struct tree *t, struct trib_deliver *row,
		struct reason *why);
/* The same for one rank as it is attached; only the reason. */
int reflex_rank(const struct tribd *d, const struct tree *t, const struct local *l,
		struct reason *why);

#endif /* TRIBD_REFLEX_H */
