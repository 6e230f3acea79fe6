/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the planner computes with: paths, groups of workers that are alike,
 * and resources. A resource is anything that has a capacity and is loaded by
 * trees: a link, what a relay takes in (of all jobs, and of one job), and the
 * access links of a job's workers, which all carry the same.
 *
 * Results take the way of what went up, backwards: so both directions of a link
 * carry the same, what goes up one way and what goes up the other way together.
 */
#ifndef TRIB_PLAN_MODEL_H
#define TRIB_PLAN_MODEL_H

#include "jobs.h"
#include "plan/topo/paths.h"

/**
 * struct group - workers of a job with the same paths
 * @at:     where their paths begin: their switch, or the worker itself.
 * @n:      how many.
 * @worker: their ranks.
 */
struct group {
	int at;
	int n;
	int *worker;
};

struct model_job {
	const struct job *job;
	int ngroup;
	struct group *group;
	int *ranks; /* what the groups point into */
};

/**
 * struct model - see above. Capacities are in units of @unit bit/s.
 * @attach, @up: those of @paths.
 */
struct model {
	const struct plan_topology *t;
	const struct plan_jobs *js;
	double unit;
	int njobs;
	struct model_job *job;
	int nres;
	double *cap;
	struct paths *paths;
	const int *attach, *up;
	struct plan_error *err;
};

int model_new(struct model **out, const struct plan_jobs *js,
	      struct plan_error *err);
void model_free(struct model *n);

/* Arcs from @from to @to (nodes); -1 if there is no path. */
int model_path(struct model *n, int from, int to, int arcs[PATHS_HOPS]);
/* The same for a group, without the access links that all jobs count once. */
int model_group_path(struct model *n, const struct group *g, int to,
		     int arcs[PATHS_HOPS]);

/* The link of an arc. Those of odd numbers are the seed LP's, which has arcs. */
static inline int res_link(int arc)
{
	return arc & ~1;
}

static inline int res_relay(const struct model *n, int node)
{
	return 2 * n->t->nlinks + node;
}

static inline int res_job_relay(const struct model *n, int job, int node)
{
	return 2 * n->t->nlinks + (job + 1) * n->t->nnodes + node;
}

static inline int res_access(const struct model *n, int job)
{
	return 2 * n->t->nlinks + (n->njobs + 1) * n->t->nnodes + job;
}

#endif /* TRIB_PLAN_MODEL_H */
