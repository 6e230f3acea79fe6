/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An aggregation tree of one job: a column of the tree LP. A tree never changes
 * after it was built.
 */
#ifndef TRIB_PLAN_PLAN_TREE_H
#define TRIB_PLAN_PLAN_TREE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tree_part - workers of one group that share a parent
 * @to: index of the parent among the tree's relays, or -1: the PS.
 * @n:  number of workers.
 */
struct tree_part {
	int group;
	int to;
	int n;
};

/**
 * struct plan_tree - one way to sum a chunk
 * @job:    number of the job.
 * @rel:    candidates (of the job's reach) that relay.
 * @up:     parent of each relay as an index into @rel. -1: the PS; in a job
 *          without a PS, the relay is the root.
 * @part:   parents of the workers. A group's ranks fill its parts in order.
 * @res:    resources that the tree loads, ascending.
 * @amount: load of each of them per unit of rate.
 */
struct plan_tree {
	int job;
	int nrel;
	int *rel, *up;
	int npart;
	struct tree_part *part;
	int nres;
	int *res;
	double *amount;
	uint64_t hash;
};

void plan_tree_free(struct plan_tree *t);
/* True if @a and @b have the same relays, parents and parts. */
bool plan_tree_same(const struct plan_tree *a, const struct plan_tree *b);

#endif /* TRIB_PLAN_PLAN_TREE_H */
