/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The jobs on the topology, as the LPs see them: groups of workers with the
 * same paths, and resources. A resource has a capacity and a load: a link, the
 * intake of a relay (from all jobs, and from one job), and the access links of
 * a job's workers, which all carry the same load.
 *
 * Results return along the reversed tree. So both directions of a link carry
 * the same: the contributions of one direction and the results of the other.
 */
#ifndef TRIB_PLAN_MODEL_H
#define TRIB_PLAN_MODEL_H

#include "jobs.h"
#include "plan/topo/paths.h"

/**
 * struct group - workers of a job with the same paths
 * @at:     start of the paths: the workers' switch, or the only worker.
 * @worker: ranks, @n of them.
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
	int *ranks; /* storage of group->worker */
};

/**
 * struct model - groups and resources of all jobs
 * @unit: bit/s in a unit of capacity: the largest link.
 * @cap:  capacity of each resource, in units.
 * @attach, @up: borrowed from @paths.
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

int model_new(struct model **out, const struct plan_jobs *js, struct plan_error *err);
void model_free(struct model *n);

/* Resource of a link. The seed LP uses arcs instead: even and odd numbers. */
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
