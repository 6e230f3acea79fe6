/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells of trees and rings of ranks of this host. */
#ifndef TRIBD_DELIVER_H
#define TRIBD_DELIVER_H

#include "daemon/tree/tree.h"

/*
 * Gives @rank a new ring buffer (what it had is gone) and has results of all
 * trees of @job on this host ring it. Returns a file descriptor that deliver.c
 * keeps, or -errno.
 */
int deliver_rank_add(struct tribd *d, struct job *job, uint16_t rank);
/* Takes it away again; harmless if there is none. */
void deliver_rank_del(struct tribd *d, struct job *job, uint16_t rank);
/* The frozen cells of @t; deliver.c keeps the descriptor. */
int deliver_cells_fd(const struct tree *t);

int deliver_init(struct tribd *d);
void deliver_exit(struct tribd *d);
/*
 * Called with @t->nlocal > 0, before the row is made visible and before
 * join_tree_added(): makes the cells and sets @t->row.deliver (number = tree
 * id). With @adopted, row.deliver is what the map holds. An error undoes.
 */
int deliver_tree_prepare(struct tribd *d, struct tree *t, bool adopted);
/* After the row was cleared and bpf_quiesce(). */
void deliver_tree_gone(struct tribd *d, struct tree *t);

#endif /* TRIBD_DELIVER_H */
