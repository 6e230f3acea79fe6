/* SPDX-License-Identifier: BSD-2-Clause */
/* What attach.c tells join.c about the ranks of this host. */
#ifndef TRIBD_JOIN_H
#define TRIBD_JOIN_H

#include "tribd.h"

/* A rank was told that @epoch runs. 0, or -ESTALE: not here, or not any more. */
int join_epoch(struct tribd *d, struct tree *t, uint32_t epoch);
/* The process of a rank ended without a good-bye. */
void join_rank_gone(struct tribd *d, struct tree *t, const struct local *l);
/* No rank of this host is attached to @t any more. */
void join_idle(struct tribd *d, struct tree *t);

#endif /* TRIBD_JOIN_H */
