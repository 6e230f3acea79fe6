/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From rates of trees to a table of bounded size that says which tree each
 * chunk takes.
 */
#ifndef TRIB_PLAN_SCHEDULE_H
#define TRIB_PLAN_SCHEDULE_H

#include "plan/trees/work.h"

/**
 * struct schedule - of one job
 * @rate:  what it gives, in units; at most the tree LP's.
 * @n:     entries; chunk c takes tree[entry[c % n]].
 * @weight: entries of each tree.
 */
struct schedule {
	double rate;
	int ntree;
	struct plan_tree *tree[PLAN_TREES_MAX];
	int weight[PLAN_TREES_MAX];
	int n;
	int entry[PLAN_SCHEDULE_MAX];
};

/* Schedules of all jobs (njobs of them) that come near @best. */
int schedule_make(struct work *w, const struct sets *sets,
		  const struct outcome *best, struct schedule *out);

#endif /* TRIB_PLAN_SCHEDULE_H */
