/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A planning run: the memory that its steps share, and the three ways to judge
 * a placement: the tree LP, the seed LP, and a quick estimate.
 */
#ifndef TRIB_PLAN_WORK_H
#define TRIB_PLAN_WORK_H

#include "plan/lp/fill.h"
#include "pricer.h"

/**
 * struct sets - the placement: relays of each job, as candidates of its reach
 * @m: number of relays. Includes the PS's switch where it relays for free.
 */
struct sets {
	int m[PLAN_JOBS_MAX];
	int s[PLAN_JOBS_MAX][PLAN_RELAYS_MAX + 4];
};

/**
 * struct work - a planning run
 * @solo:  the only job to look at for now, or -1: all jobs.
 * @pool:  all trees found so far, each once. @head, @chain: hash table.
 * @price, @load, @inv, @touched, @row: by resource. inv is 1 / capacity, the
 *         others are scratch; row is -1 and load 0 between calls.
 */
struct work {
	const struct plan_topology *t;
	const struct plan_jobs *js;
	const struct plan_options *opt;
	struct plan_error *err;
	struct model *model;
	int njobs;
	int solo;
	struct reach *reach[PLAN_JOBS_MAX];
	struct pricer *pricer[PLAN_JOBS_MAX];
	struct lp_solver solver;
	struct plan_tree **pool;
	int npool, pool_room;
	int *head, *chain;
	double *price, *load, *inv;
	int *touched, *row;
};

/* 0 or -errno with a text in @err. @js, @opt and @err must outlive the run. */
int work_new(struct work **out, const struct plan_jobs *js, const struct plan_options *opt,
	     struct plan_error *err);
void work_free(struct work *w);

/**
 * work_keep() - put a tree into the pool
 * @t: owned by the pool from now on; freed if the pool has the same tree.
 *
 * Returns the pool's tree, which lives as long as @w. NULL: no memory.
 */
struct plan_tree *work_keep(struct work *w, struct plan_tree *t);

/* Report progress to the caller; -ECANCELED if the caller gives up. */
int work_tick(struct work *w, const char *what, double share);

/* True if job @j is looked at and the LP, not a formula, makes its trees. */
static inline bool work_by_lp(const struct work *w, int j)
{
	return w->js->job[j].way == JOB_TREE && (w->solo < 0 || w->solo == j);
}

/**
 * work_size() - size of the problem
 *
 * The sum of groups of workers times relays over all jobs that the LP plans.
 */
double work_size(const struct work *w);

/* True if the LP plans any job. */
bool work_any_lp(const struct work *w);

/**
 * estimate_rates() - about what the tree LP would say, quickly
 * @steps: of the descent.
 * @keep:  put the trees that it finds into the pool.
 * @soft:  a smoothed value that also rewards fewer saturated resources; ranks
 *         placements with the same bottleneck.
 *
 * Returns a lower bound of the least rate over weight, in units; 0 if no tree
 * fits. < 0: -errno. @w->price keeps the last prices.
 */
double estimate_rates(struct work *w, const struct sets *sets, int steps, bool keep, double *soft);

/**
 * struct outcome - solution of the tree LP
 * @g:    rate of each job, in units.
 * @col:  trees with a rate (@ncol of them); the pool owns them. @z: their rates.
 * @dual: [job][resource]: gain of the job's rate per unit of capacity. NULL if
 *        not asked for.
 */
struct outcome {
	double g[PLAN_JOBS_MAX];
	int ncol;
	struct plan_tree **col;
	double *z;
	double *dual;
};

void outcome_free(struct outcome *o);

/**
 * tree_lp_solve() - weighted max-min rates over trees, by column generation
 * @gap:   relative gap at which the search for more trees ends.
 * @only:  the only trees to use (@nonly of them), or NULL: all that exist.
 * @duals: fill in @out->dual.
 *
 * The caller frees @out with outcome_free(). Returns 0 or -errno.
 */
int tree_lp_solve(struct work *w, const struct sets *sets, double gap,
		  struct plan_tree *const *only, int nonly, bool duals, struct outcome *out);

/* Fill @g with the joint rates of all jobs by the seed LP, in units. */
int seed_lp_solve(struct work *w, const struct sets *sets, double g[]);

#endif /* TRIB_PLAN_WORK_H */
