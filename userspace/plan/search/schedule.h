/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules: a table of bounded size that assigns a tree to each chunk.
 */
#ifndef TRIB_PLAN_SCHEDULE_H
#define TRIB_PLAN_SCHEDULE_H

#include "plan/trees/work.h"

/**
 * struct schedule - schedule of one job
 * @rate:   rate that the table reaches, in units; at most the tree LP's.
 * @tree:   @ntree different trees, owned by the run's pool.
 * @weight: number of entries of each tree.
 * @entry:  @n entries; chunk c takes tree[entry[c % n]].
 */
struct schedule {
	double rate;
	int ntree;
	struct plan_tree *tree[PLAN_TREES_MAX];
	int weight[PLAN_TREES_MAX];
	int n;
	int entry[PLAN_SCHEDULE_MAX];
};

/* Make the schedules of all jobs from the LP's solution; 0 or -errno. */
int schedule_make(struct work *w, const struct sets *sets, const struct outcome *best,
		  struct schedule *out);

#endif /* TRIB_PLAN_SCHEDULE_H */
