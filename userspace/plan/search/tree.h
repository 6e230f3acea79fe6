/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees of a job over a set of relays, and the one that is cheapest under
 * given prices of the resources: the columns of the tree LP.
 */
#ifndef TRIB_PLAN_TREE_H
#define TRIB_PLAN_TREE_H

#include "plan/topo/net.h"

/**
 * struct reach - how a job's workers and relays reach each other
 * @node: candidates: those that may relay, and the PS's relay. Number @n
 *        stands for the PS in what follows.
 * @tor:  which of them is the PS's relay, -1.
 * @off, @arcs: of candidate c, made when first needed: the arcs of group g
 *        are arcs[c][off[c][g]] to arcs[c][off[c][g + 1] - 1]. off[c][ngroup]
 *        to the next ones: from each candidate, likewise. A path that does
 *        not exist has the single arc -1.
 */
struct reach {
	struct net *net;
	int j;
	int n;
	int *node;
	int tor;
	int **off, **arcs;
};

int reach_new(struct reach **out, struct net *net, int j);
void reach_free(struct reach *r);
/* Make the lists of candidate @c (or r->n) now; 0 or -ENOMEM. */
int reach_want(struct reach *r, int c);

/* Some of a group go to relay @to (index into the tree's relays; -1: PS). */
struct tree_part {
	int group;
	int to;
	int n;
};

/**
 * struct tree - one way for a chunk to be summed
 * @rel:   candidates that relay, @up: the parent of each among them, -1: the
 *         PS, or nobody if there is none (then it is the root).
 * @part:  where the workers go. Ranks of a group are taken in order.
 * @res:   resources that it loads, @amount: with how much per unit of rate.
 */
struct tree {
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

void tree_free(struct tree *t);
bool tree_same(const struct tree *a, const struct tree *b);

/**
 * struct pricer - room for looking for trees
 * @load: scratch by resource, all zeros between calls.
 */
struct pricer {
	struct reach *r;
	int m, room;
	int *s;
	double *dg, *ds; /* group to target, relay to target; target m is PS */
	double *best, *next;
	int *to, *mark;
	double *load;
	int *touched;
	bool lenient;	/* trees with too many children at a node will do */
	bool too_many;	/* the last tree was one, or would have been */
	bool no_memory; /* the last tree failed for that */
	/* the tree being built */
	bool used[PLAN_RELAYS_MAX + 4];
	int up[PLAN_RELAYS_MAX + 4];
	int *count; /* children of group g at target i */
};

int pricer_new(struct pricer **out, struct reach *r);
void pricer_free(struct pricer *p);

/**
 * pricer_set() - measure all paths under prices
 * @s, @m: relays that may be used, as candidates of the reach.
 * @price: by resource.
 */
int pricer_set(struct pricer *p, const int *s, int m, const double *price);

/* Where the search for a tree begins. */
enum pricer_start {
	PRICE_FROM_ALL,	 /* all relays, leaving out the useless */
	PRICE_FROM_NONE, /* none, adding the useful */
	PRICE__STARTS,
};

/* A cheap tree: its cost in @cost. NULL: no memory (it says so), or there is
 * none. */
struct tree *pricer_tree(struct pricer *p, enum pricer_start start,
			 double *cost);

static inline const struct net_job *pricer_job(const struct pricer *p)
{
	return &p->r->net->job[p->r->j];
}

static inline bool pricer_has_ps(const struct pricer *p)
{
	return pricer_job(p)->job->ps >= 0;
}

/* tree_fit.c, of the tree being built: whether target @i is below relay @k, or
 * is it; the workers and relays that are children of target @i. */
bool pricer_below(const struct pricer *p, int i, int k);
int pricer_children(const struct pricer *p, int i);
/* See to it that no node has more children than it may; false: no way. */
bool pricer_fit(struct pricer *p);

#endif /* TRIB_PLAN_TREE_H */
