// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds the lists of arcs between a job's workers, relays and PS.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reach.h"

/* True if the first group reaches @node, and @node reaches the PS. */
static bool is_useful(struct model *model, int j, int node)
{
	const struct job *job = model->job[j].job;
	int path[PATHS_HOPS];

	return paths_arcs(model->paths, model->job[j].group[0].at, node, path) >= 0 &&
	       (job->ps < 0 || paths_arcs(model->paths, node, job->ps, path) >= 0);
}

int reach_new(struct reach **out, struct model *model, int j)
{
	const struct job *job = model->job[j].job;
	struct reach *r = calloc(1, sizeof(*r));
	int i;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->model = model;
	r->j = j;
	r->tor = -1;
	r->node = calloc((size_t)job->nmay + 2, sizeof(int));
	r->off = calloc((size_t)job->nmay + 2, sizeof(*r->off));
	r->arcs = calloc((size_t)job->nmay + 2, sizeof(*r->arcs));
	if (!r->node || !r->off || !r->arcs) {
		reach_free(r);
		return -ENOMEM;
	}
	for (i = 0; i < job->nmay; i++) {
		if (!is_useful(model, j, job->may[i]))
			continue;
		if (job->may[i] == job->tor)
			r->tor = r->n;
		r->node[r->n++] = job->may[i];
	}
	if (job->tor_free && r->tor < 0) {
		r->tor = r->n;
		r->node[r->n++] = job->tor;
	}
	r->node[r->n] = job->ps;
	*out = r;
	return 0;
}

void reach_free(struct reach *r)
{
	int i;

	if (!r)
		return;
	for (i = 0; r->off && r->arcs && i <= r->n; i++) {
		free(r->off[i]);
		free(r->arcs[i]);
	}
	free(r->off);
	free(r->arcs);
	free(r->node);
	free(r);
}

int reach_want(struct reach *r, int c)
{
	const struct model_job *nj = &r->model->job[r->j];
	int total = nj->ngroup + r->n, i, len, used = 0, room = total * 8 + 64;
	int path[PATHS_HOPS], *off, *arcs, *p;

	if (r->off[c])
		return 0;
	off = malloc(((size_t)total + 1) * sizeof(int));
	arcs = malloc((size_t)room * sizeof(int));
	for (i = 0; off && arcs && i < total; i++) {
		off[i] = used;
		len = paths_arcs(r->model->paths,
				 i < nj->ngroup ? nj->group[i].at : r->node[i - nj->ngroup],
				 r->node[c], path);
		if (len < 0) {
			path[0] = -1;
			len = 1;
		}
		if (used + len > room) {
			room = room * 2 + len;
			p = realloc(arcs, (size_t)room * sizeof(int));
			if (!p)
				break;
			arcs = p;
		}
		memcpy(arcs + used, path, (size_t)len * sizeof(int));
		used += len;
	}
	if (!off || !arcs || i < total) {
		free(off);
		free(arcs);
		return -ENOMEM;
	}
	off[total] = used;
	r->off[c] = off;
	r->arcs[c] = arcs;
	return 0;
}

double reach_child_price(const struct reach *r, int c, const double *price)
{
	return price[res_relay(r->model, r->node[c])] +
	       price[res_job_relay(r->model, r->j, r->node[c])];
}
