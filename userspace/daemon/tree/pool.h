/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared trees: what is asked for, and their rows, marks and slots. */
#ifndef TRIBD_POOL_H
#define TRIBD_POOL_H

#include "tree.h"

#define POOL_DEFAULT 1024 /* slots */
#define POOL_MAX 4096
#define POOL_MARKS 131072 /* rows of pool_marks */
#define POOL_FACES 8192	  /* entries of pool_faces */
#define POOL_AGE_MS 100	  /* two first time-outs of a worker */

static inline bool tree_is_shared(const struct tree *t)
{
	return t->relay != 0;
}

/* Rows of pool_table for so many slots: shares differ by a quarter or so. */
uint32_t pool_buckets(uint32_t slots);
/* The slot of a bucket, if the pool has so many. Pure. */
uint32_t pool_slot_of(uint32_t bucket, uint32_t slots);

/* pool_spec.c: as tree_check(), what shared trees have beyond others. */
int pool_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
	       struct reason *why);
/* The row of pools. Pure. */
void pool_row_fill(const struct tribd *d, const struct tree *t,
		   struct trib_pool *row);

/* pool.c: the table for the slots that d->pool says. 0 or -errno, logged. */
int pool_table_write(struct tribd *d);
/* Marks for a new tree, or those it had. */
int pool_marks_choose(struct tribd *d, struct tree *t, struct reason *why);
int pool_marks_keep(struct tribd *d, struct tree *t, uint32_t mark0,
		    struct reason *why);
/* Before the tree's row is visible. 0 or -errno, logged. */
int pool_show(struct tribd *d, struct tree *t, bool adopted);
/* After it is gone, and bpf_quiesce(). */
void pool_hide(struct tribd *d, struct tree *t);
/* While the tree's row is gone: no slot or mark of it remains. */
int pool_wipe(struct tribd *d, struct tree *t);
/* A face of the tree changed. */
int pool_faces_store(struct tribd *d, const struct tree *t);
/* Entries of trees that are not there. */
void pool_sweep(struct tribd *d);

#endif /* TRIBD_POOL_H */
