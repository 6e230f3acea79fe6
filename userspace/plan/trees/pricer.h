/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pricing: finds a cheap tree of one job under given prices of the resources.
 */
#ifndef TRIB_PLAN_PRICER_H
#define TRIB_PLAN_PRICER_H

#include "plan/jobs/reach.h"
#include "plan_tree.h"

/* Prices that differ by less are equal. */
#define PRICER_EPS 1e-12

/**
 * struct pricer - workspace for one job's trees
 * @m, @s: candidates that a tree may use; "target i" is s[i], target m the PS.
 * @room:  capacity of the arrays in targets.
 * @dg:    [group][target]: price from a group to a target; m + 1 in a row.
 * @ds:    [relay][target]: price from a relay to a target.
 * @best, @next, @to: by group: price of the nearest and of the second nearest
 *         target in use, and the nearest target itself.
 * @mark:  scratch by target.
 * @load:  scratch by resource; zero between calls. @touched: resources in use.
 * @lenient:   accept trees with too many children at a node.
 * @too_many:  the last tree had too many children.
 * @no_memory: the last tree failed for lack of memory.
 * @used, @up, @count: the tree that is being built: relays in use, their
 *         parents (targets, -1: root), children of [group][target].
 */
struct pricer {
	struct reach *r;
	int m, room;
	int *s;
	double *dg, *ds;
	double *best, *next;
	int *to, *mark;
	double *load;
	int *touched;
	bool lenient, too_many, no_memory;
	bool used[PLAN_RELAYS_MAX + 4];
	int up[PLAN_RELAYS_MAX + 4];
	int *count;
};

int pricer_new(struct pricer **out, struct reach *r);
void pricer_free(struct pricer *p);

/**
 * pricer_set() - choose candidates and compute all path prices
 * @s, @m:  candidates that a tree may use.
 * @price: by resource.
 *
 * Returns 0 or -ENOMEM.
 */
int pricer_set(struct pricer *p, const int *s, int m, const double *price);

/* Relays at the start of the local search. */
enum pricer_start {
	PRICE_FROM_ALL,	 /* all; the search removes useless ones */
	PRICE_FROM_NONE, /* none; the search adds useful ones */
	PRICE__STARTS,
};

/**
 * pricer_tree() - find a cheap tree from one start
 * @cost: its price.
 *
 * The caller owns the tree. Returns NULL if there is no tree, or if memory ran
 * out (then @no_memory is set).
 */
struct plan_tree *pricer_tree(struct pricer *p, enum pricer_start start, double *cost);

static inline const struct model_job *pricer_job(const struct pricer *p)
{
	return &p->r->model->job[p->r->j];
}

static inline bool pricer_has_ps(const struct pricer *p)
{
	return pricer_job(p)->job->ps >= 0;
}

/* pricer_join.c */
/* Lower bound of the price of joining the relays in use. */
double pricer_join_bound(const struct pricer *p);
/* Join the relays in use to the PS or to the best root; returns the price. */
double pricer_join(struct pricer *p);
/* True if target @i is relay @k or below it. */
bool pricer_below(const struct pricer *p, int i, int k);

/* pricer_fit.c */
/* Number of children of target @i. */
int pricer_children(const struct pricer *p, int i);
/* Move children away from nodes that have too many; false: no room anywhere. */
bool pricer_fit(struct pricer *p);

/* pricer_build.c: Make a plan_tree of the pricer's state; NULL: no memory. */
struct plan_tree *pricer_build(struct pricer *p);

#endif /* TRIB_PLAN_PRICER_H */
