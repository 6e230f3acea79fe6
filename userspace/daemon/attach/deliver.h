/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells and rings of the ranks of this host. */
#ifndef TRIBD_DELIVER_H
#define TRIBD_DELIVER_H

#include "daemon/tree/tree.h"

struct place_fds;

/*
 * Give @rank a new ring buffer and new arrays of cells, take older ones away, and enter
 * them in all trees of @job on this host that are not held. 0, or -errno. @fds: the
 * arrays by ascending tree, then the ring; also after an error, the caller closes its own.
 */
int deliver_rank_add(struct tribd *d, struct job *job, uint16_t rank, struct place_fds *fds);
/* Take ring and arrays of @rank away, if it has them. Its process may keep them mapped. */
void deliver_rank_del(struct tribd *d, struct job *job, uint16_t rank);
/* N of the arrays of @t, the same for all trees of a job with an attached rank. */
uint32_t deliver_cells(const struct tree *t);
/* GRADs that XDP sent for rank @l of @t, as the rank's own desk has it; 0: not attached. */
uint64_t deliver_carried(struct tribd *d, const struct tree *t, const struct local *l);

int deliver_init(struct tribd *d);
void deliver_exit(struct tribd *d);
/*
 * Hook: write the deliver row and set row.deliver (number = tree id) before the row is
 * visible, for dedicated trees with local ranks. @adopted: row.deliver is what
 * the map holds, and ranks may be attached. 0 or -errno.
 */
int deliver_tree_prepare(struct tribd *d, struct tree *t, bool adopted);
/* Hook: a face of @t changed; write the deliver row again. */
void deliver_tree_changed(struct tribd *d, struct tree *t);
/* Hook: forget the ranks, after the row was cleared and bpf_quiesce(). */
void deliver_tree_gone(struct tribd *d, struct tree *t);

#endif /* TRIBD_DELIVER_H */
