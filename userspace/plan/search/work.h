/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A planning run: what its steps share, and what each of them answers.
 */
#ifndef TRIB_PLAN_WORK_H
#define TRIB_PLAN_WORK_H

#include "plan/lp/lp.h"
#include "tree.h"

/**
 * struct sets - the relays of each job, as candidates of its reach
 * The PS's relay is among them also where it does not count.
 */
struct sets {
	int m[PLAN_JOBS_MAX];
	int s[PLAN_JOBS_MAX][PLAN_RELAYS_MAX + 4];
};

/**
 * struct work - a run
 * @pool:  trees that were found, without doubles; @head, @chain: by hash.
 * @price, @load, @touched, @row: scratch by resource.
 * @solo:  -1, or the only job that is looked at for now.
 */
struct work {
	const struct plan_topology *t;
	const struct plan_jobs *js;
	const struct plan_options *opt;
	struct plan_error *err;
	struct net *net;
	int njobs;
	int solo;
	struct reach *reach[PLAN_JOBS_MAX];
	struct pricer *pricer[PLAN_JOBS_MAX];
	struct solver solver;
	struct tree **pool;
	int npool, pool_room;
	int *head, *chain;
	double *price, *load, *inv;
	int *touched, *row;
};

int work_new(struct work **out, const struct plan_jobs *js,
	     const struct plan_options *opt, struct plan_error *err);
void work_free(struct work *w);
/* Takes over @t; the tree in the pool that is the same, or NULL. */
struct tree *work_keep(struct work *w, struct tree *t);

/* Whether the trees of the LP, not the emission by formula, serve a job. */
static inline bool by_lp(const struct work *w, int j)
{
	return w->js->job[j].way == JOB_TREE && (w->solo < 0 || w->solo == j);
}

/**
 * estimate() - about what the tree LP would say, quickly
 * @steps: of the descent.
 * @keep:  trees that it finds go to the pool.
 * @soft:  a smoothed value, by which placements are ranked that share a
 *         bottleneck: fewer saturated resources count as better.
 *
 * The value is the least g_j / w_j (in units), a lower bound. < 0: -errno.
 */
double estimate(struct work *w, const struct sets *sets, int steps, bool keep,
		double *soft);

/**
 * struct outcome - what an LP found
 * @g:    rate of each job, in units.
 * @ncol: trees with a weight, @col borrowed from the pool, @z their rates.
 * @dual: by job and resource (njobs * nres): what the job's rate would gain
 *        per unit of capacity. NULL if not asked for.
 */
struct outcome {
	double g[PLAN_JOBS_MAX];
	int ncol;
	struct tree **col;
	double *z;
	double *dual;
};

void outcome_free(struct outcome *o);

/**
 * tree_lp() - weighted max-min rates over trees, by column generation
 * @gap:  relative gap at which looking for more trees ends.
 * @only: trees that may be used (@nonly of them), NULL: all there are.
 */
int tree_lp(struct work *w, const struct sets *sets, double gap,
	    struct tree *const *only, int nonly, bool duals,
	    struct outcome *out);

/* The seed LP's rate of each job, jointly; in units. */
int seed_lp(struct work *w, const struct sets *sets, double g[]);

/**
 * fill() - weighted max-min by progressive filling, on a program that has a
 * row for each job: its rate - weight * tau >= 0, and minimises -tau.
 * @job_row: of each job, -1: not in this program. @tau: its column.
 * @rate_col: one column's cost per job's rate in the last phase is set by
 *            @favour(arg, weights on or off).
 * @solve: optimises, more columns included; 0 or -errno.
 * @frozen: told when a job's rate is final, while the program's duals say why.
 */
struct filling {
	struct lp *lp;
	int njobs;
	const double *weight;
	int job_row[PLAN_JOBS_MAX];
	int tau;
	void *arg;
	int (*solve)(void *arg);
	void (*favour)(void *arg);
	void (*frozen)(void *arg, int j);
};

int fill(struct filling *f, double g[]);

/**
 * place() - find the relays of all jobs
 * @sets: filled in.
 */
int place(struct work *w, struct sets *sets);

/* The best relay to add to job @j: its candidate, -1: none. @g: all rates. */
int place_one_more(struct work *w, const struct sets *sets, int j, int *cand,
		   double gap, double g[]);

/* Ask the caller whether to go on; -ECANCELED if not. */
int work_tick(struct work *w, const char *what, double share);

#endif /* TRIB_PLAN_WORK_H */
