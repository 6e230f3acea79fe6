/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells of trees and rings of ranks of this host. */
#ifndef TRIBD_DELIVER_H
#define TRIBD_DELIVER_H

#include "daemon/tree/tree.h"

/*
 * Give @rank a new ring buffer, free an older one, and enter it in all trees of
 * @job on this host. Return: a descriptor, owned by deliver.c; -errno.
 */
int deliver_rank_add(struct tribd *d, struct job *job, uint16_t rank);
/* Free the ring buffer of @rank, if it has one. */
void deliver_rank_del(struct tribd *d, struct job *job, uint16_t rank);
/* The frozen cells of @t; deliver.c owns the descriptor. -1: none. */
int deliver_cells_fd(const struct tree *t);

int deliver_init(struct tribd *d);
void deliver_exit(struct tribd *d);
/*
 * Hook: make the cells and set row.deliver (number = tree id) before the row is
 * visible, for dedicated trees with local ranks. @adopted: row.deliver is what
 * the map holds. 0 or -errno.
 */
int deliver_tree_prepare(struct tribd *d, struct tree *t, bool adopted);
/* Hook: free the cells, after the row was cleared and bpf_quiesce(). */
void deliver_tree_gone(struct tribd *d, struct tree *t);

#endif /* TRIBD_DELIVER_H */
