// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes groups and resources, and checks that all workers reach the root.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* Limit of paths between candidates and from workers to them. */
#define PATHS_MAX 1e7

/*
 * Count the roles of each host: worker, PS, relay. A host with one role and one
 * link needs no resource for that link.
 */
static void count_uses(const struct model *n, unsigned char *uses)
{
	int j, i;

	for (j = 0; j < n->njobs; j++) {
		const struct job *job = &n->js->job[j];

		for (i = 0; i < job->nworkers; i++)
			uses[job->worker[i]]++;
		for (i = 0; i < job->nmay && job->max; i++)
			uses[job->may[i]]++;
		if (job->ps >= 0)
			uses[job->ps]++;
	}
}

/* Groups in the order of their first rank. */
static int make_groups(struct model *n, int j, const unsigned char *uses)
{
	struct model_job *nj = &n->job[j];
	const struct job *job = nj->job;
	int *of = malloc((size_t)n->t->nnodes * sizeof(int));
	int *key = malloc((size_t)job->nworkers * sizeof(int)), i, w, k = 0;
	double *access = &n->cap[res_access(n, j)];

	nj->group = calloc((size_t)job->nworkers, sizeof(*nj->group));
	nj->ranks = calloc((size_t)job->nworkers, sizeof(int));
	if (!of || !key || !nj->group || !nj->ranks) {
		free(of);
		free(key);
		return -ENOMEM;
	}
	for (i = 0; i < n->t->nnodes; i++)
		of[i] = -1;
	for (i = 0; i < job->nworkers; i++) {
		w = job->worker[i];
		key[i] = w;
		if (n->up[w] >= 0 && uses[w] == 1) {
			key[i] = n->attach[w];
			*access = fmin(*access, n->cap[n->up[w]]);
		}
		if (of[key[i]] < 0) {
			of[key[i]] = nj->ngroup++;
			nj->group[of[key[i]]].at = key[i];
		}
		nj->group[of[key[i]]].n++;
	}
	for (i = 0; i < nj->ngroup; i++) {
		nj->group[i].worker = nj->ranks + k;
		k += nj->group[i].n;
		nj->group[i].n = 0;
	}
	for (i = 0; i < job->nworkers; i++) {
		struct group *g = &nj->group[of[key[i]]];

		g->worker[g->n++] = i;
	}
	free(of);
	free(key);
	return 0;
}

static int fill_caps(struct model *n)
{
	const struct plan_topology *t = n->t;
	int i, j;

	n->unit = 0;
	for (i = 0; i < t->nlinks; i++)
		n->unit = fmax(n->unit, t->link[i].cap);
	if (!(n->unit > 0))
		n->unit = 1;
	for (i = 0; i < n->nres; i++)
		n->cap[i] = INFINITY;
	for (i = 0; i < 2 * t->nlinks; i++)
		n->cap[i] = t->link[i / 2].cap / n->unit;
	for (i = 0; i < t->nnodes; i++) {
		n->cap[res_relay(n, i)] = t->node[i].rate / n->unit;
		for (j = 0; j < n->njobs; j++)
			n->cap[res_job_relay(n, j, i)] = n->js->job[j].cap / n->unit;
	}
	return 0;
}

/* All workers must reach the PS, or without one the same relay. */
static int check_reach(struct model *n, int j)
{
	const struct job *job = n->job[j].job;
	const struct plan_topology *t = n->t;
	int arcs[PATHS_HOPS], i, root = job->ps >= 0 ? job->ps : -1;

	if ((double)job->nmay * (job->nmay + job->nworkers) > PATHS_MAX ||
	    (double)job->nmay * t->nnodes > 3 * PATHS_MAX)
		return plan_fail(
			n->err, -E2BIG,
			"job %s: %d of %d nodes may relay for %d workers: too many paths; list fewer under \"relays\"",
			job->name, job->nmay, t->nnodes, job->nworkers);
	for (i = 0; root < 0 && i < job->nmay; i++)
		if (paths_arcs(n->paths, n->job[j].group[0].at, job->may[i], arcs) >= 0)
			root = job->may[i];
	if (root < 0)
		return plan_fail(
			n->err, -ENETUNREACH,
			"job %s: worker %s reaches no node that may relay; check the links",
			job->name, t->node[job->worker[0]].name);
	for (i = 0; i < job->nworkers; i++)
		if (paths_arcs(n->paths, job->worker[i], root, arcs) < 0)
			return plan_fail(
				n->err, -ENETUNREACH,
				"job %s: no path from worker %s to %s %s: check the links between them",
				job->name, t->node[job->worker[i]].name,
				job->ps >= 0 ? "the ps" : "relay", t->node[root].name);
	return 0;
}

static int build(struct model *n)
{
	const struct plan_topology *t = n->t;
	unsigned char *uses = calloc((size_t)t->nnodes, 1);
	int j, err = 0;

	n->nres = res_access(n, n->njobs);
	n->cap = calloc((size_t)n->nres, sizeof(double));
	n->paths = paths_new(t);
	n->job = calloc((size_t)n->njobs, sizeof(*n->job));
	if (!uses || !n->cap || !n->paths || !n->job) {
		free(uses);
		return plan_fail(n->err, -ENOMEM, "out of memory");
	}
	n->attach = n->paths->attach;
	n->up = n->paths->up;
	fill_caps(n);
	count_uses(n, uses);
	for (j = 0; !err && j < n->njobs; j++) {
		n->job[j].job = &n->js->job[j];
		if (make_groups(n, j, uses))
			err = plan_fail(n->err, -ENOMEM, "out of memory");
		if (!err && n->job[j].job->way == JOB_TREE)
			err = check_reach(n, j);
	}
	free(uses);
	return err;
}

int model_new(struct model **out, const struct plan_jobs *js, struct plan_error *err)
{
	struct model *n = calloc(1, sizeof(*n));
	int rc;

	*out = NULL;
	if (!n)
		return plan_fail(err, -ENOMEM, "out of memory");
	n->t = js->topo;
	n->js = js;
	n->njobs = js->n;
	n->err = err;
	rc = build(n);
	if (rc) {
		model_free(n);
		return rc;
	}
	*out = n;
	return 0;
}

void model_free(struct model *n)
{
	int i;

	if (!n)
		return;
	for (i = 0; n->job && i < n->njobs; i++) {
		free(n->job[i].group);
		free(n->job[i].ranks);
	}
	free(n->job);
	paths_free(n->paths);
	free(n->cap);
	free(n);
}
