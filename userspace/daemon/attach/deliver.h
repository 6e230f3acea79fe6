/* SPDX-License-Identifier: BSD-2-Clause */
/* What attach.c needs of deliver.c: cells and rings of ranks. */
#ifndef TRIBD_DELIVER_H
#define TRIBD_DELIVER_H

#include "daemon/tribd.h"

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

#endif /* TRIBD_DELIVER_H */
