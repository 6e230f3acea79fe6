/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree in terms of the topology's nodes, as plans and rows describe it.
 */
#ifndef TRIB_PLAN_SPAN_H
#define TRIB_PLAN_SPAN_H

#include "plan/trees/work.h"

/**
 * struct span - one tree
 * @id:        tree number, unique in the plan.
 * @weight:    share of messages; 0: all trees of the job have the same.
 * @n, @at:    number of ranks, and the node of each; borrowed from the job, or @own.
 * @own:       NULL, or the memory of @at.
 * @worker_up: parent of each rank as an index into @inner. A worker that is
 *             an inner node itself points to it.
 * @inner:     nodes that sum, root first, parents before children.
 * @up:        parent of each of them as an index into @inner, -1: the root.
 */
struct span {
	int id, weight;
	int n;
	const int *at;
	int *own;
	int *worker_up;
	int ninner;
	int *inner, *up;
};

/* Room for @inner inner nodes; 0 or -ENOMEM. Free it in both cases. */
int span_new(struct span *s, const struct job *job, int inner);
void span_free(struct span *s);

/*
 * Make the span of a tree of the LP: the PS, if any, then the relays, then hosts that add
 * up their ranks.
 */
int span_of_tree(struct span *s, const struct work *w, const struct plan_tree *t);

/*
 * True if the PS's host relays in this tree of a shared pool: the job wants it,
 * and the PS has no more children than a relay may have.
 */
bool span_ps_relays(const struct span *s, const struct job *job);
/* True if number @k is a child of inner node @at: inner nodes, then ranks. */
bool span_is_child(const struct span *s, int at, int k);
/* True if @rank's packets pass inner node @at on the way to the root. */
bool span_passes(const struct span *s, int rank, int at);
/* True if any rank's packets do. */
bool span_is_used(const struct span *s, int at);

#endif /* TRIB_PLAN_SPAN_H */
