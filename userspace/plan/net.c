// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns paths, groups and resources: see net.h.
 *
 * A path is a shortest one in hops. Where several next hops are as near, the
 * choice is a hash of the switches at its two ends and the node where it is
 * made, as equal-cost routing would spread it; README.md has the function.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

#define FAR 0xffff
/* Between candidates, and from workers to them. */
#define PATHS_MAX 1e7

static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static bool passes(const struct plan_topology *t, int node)
{
	return !t->node[node].host || t->forward;
}

/* Distances to @to, over nodes that pass things on. */
static int measure(struct net *n, int to)
{
	const struct plan_topology *t = n->t;
	unsigned short *d = malloc((size_t)t->nnodes * sizeof(*d));
	int *queue = malloc((size_t)t->nnodes * sizeof(int));
	int head = 0, tail = 0, i, v, u;

	if (!d || !queue) {
		free(d);
		free(queue);
		return -ENOMEM;
	}
	for (i = 0; i < t->nnodes; i++)
		d[i] = FAR;
	d[to] = 0;
	queue[tail++] = to;
	while (head < tail) {
		v = queue[head++];
		if (v != to && !passes(t, v))
			continue;
		for (i = t->first[v]; i < t->first[v + 1]; i++) {
			u = arc_to(t, t->out[i]);
			if (d[u] != FAR)
				continue;
			d[u] = (unsigned short)(d[v] + 1);
			queue[tail++] = u;
		}
	}
	free(queue);
	n->dist[to] = d;
	return 0;
}

/* Between nodes that are their own attachment. */
static int inner_path(struct net *n, int from, int to, int *arcs)
{
	const struct plan_topology *t = n->t;
	const unsigned short *d;
	int at = from, len = 0, i, v = from, k, pick;

	if (!n->dist[to] && measure(n, to))
		return -1;
	d = n->dist[to];
	if (d[from] == FAR || d[from] > NET_HOPS - 2)
		return -1;
	while (at != to) {
		k = 0;
		for (i = t->first[at]; i < t->first[at + 1]; i++) {
			v = arc_to(t, t->out[i]);
			k += d[v] + 1 == d[at] && (v == to || passes(t, v));
		}
		pick = k < 2 ? 0
			     : (int)(mix((uint64_t)from << 42 |
					 (uint64_t)to << 21 | (uint64_t)at) %
				     (uint64_t)k);
		for (i = t->first[at]; i < t->first[at + 1]; i++) {
			v = arc_to(t, t->out[i]);
			if (d[v] + 1 == d[at] && (v == to || passes(t, v)) &&
			    !pick--)
				break;
		}
		arcs[len++] = t->out[i];
		at = v;
	}
	return len;
}

int net_path(struct net *n, int from, int to, int arcs[NET_HOPS])
{
	int a = n->attach[from], b = n->attach[to], len = 0, more;

	if (from == to)
		return 0;
	if (n->up[from] >= 0)
		arcs[len++] = n->up[from];
	if (a != from && a == to)
		return len;
	more = inner_path(n, a, b, arcs + len);
	if (more < 0)
		return -1;
	len += more;
	if (n->up[to] >= 0)
		arcs[len++] = n->up[to] ^ 1;
	return len;
}

int net_group_path(struct net *n, const struct group *g, int to,
		   int arcs[NET_HOPS])
{
	return net_path(n, g->at, to, arcs);
}

static void attach(struct net *n)
{
	const struct plan_topology *t = n->t;
	int i, arc, to;

	for (i = 0; i < t->nnodes; i++) {
		n->attach[i] = i;
		n->up[i] = -1;
		if (!t->node[i].host || t->first[i + 1] - t->first[i] != 1)
			continue;
		arc = t->out[t->first[i]];
		to = arc_to(t, arc);
		if (t->node[to].host)
			continue;
		n->attach[i] = to;
		n->up[i] = arc;
	}
}

/*
 * How often each host appears as a worker, a PS, or one that may relay: those
 * with one appearance and one link need no row for their access link.
 */
static void count_uses(const struct net *n, unsigned char *uses)
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
static int make_groups(struct net *n, int j, const unsigned char *uses)
{
	struct net_job *nj = &n->job[j];
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

static int fill_caps(struct net *n)
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
			n->cap[res_job_relay(n, j, i)] =
				n->js->job[j].cap / n->unit;
	}
	return 0;
}

/* Everybody must reach the PS, or without one some relay that all reach. */
static int check_reach(struct net *n, int j)
{
	const struct job *job = n->job[j].job;
	const struct plan_topology *t = n->t;
	int arcs[NET_HOPS], i, root = job->ps >= 0 ? job->ps : -1;

	if ((double)job->nmay * (job->nmay + job->nworkers) > PATHS_MAX ||
	    (double)job->nmay * t->nnodes > 3 * PATHS_MAX)
		return plan_fail(
			n->err, -E2BIG,
			"job %s: %d of %d nodes may relay, for %d workers: too many paths; name fewer under relays",
			job->name, job->nmay, t->nnodes, job->nworkers);
	for (i = 0; root < 0 && i < job->nmay; i++)
		if (net_group_path(n, &n->job[j].group[0], job->may[i], arcs) >=
		    0)
			root = job->may[i];
	if (root < 0)
		return plan_fail(n->err, -ENETUNREACH,
				 "job %s: worker %s reaches nobody who may relay",
				 job->name, t->node[job->worker[0]].name);
	for (i = 0; i < job->nworkers; i++)
		if (net_path(n, job->worker[i], root, arcs) < 0)
			return plan_fail(
				n->err, -ENETUNREACH,
				"job %s: no path from worker %s to %s %s: the topology is not connected",
				job->name, t->node[job->worker[i]].name,
				job->ps >= 0 ? "the ps" : "relay",
				t->node[root].name);
	return 0;
}

static int build(struct net *n)
{
	const struct plan_topology *t = n->t;
	unsigned char *uses = calloc((size_t)t->nnodes, 1);
	int j, err = 0;

	n->nres = res_access(n, n->njobs);
	n->cap = calloc((size_t)n->nres, sizeof(double));
	n->attach = calloc((size_t)t->nnodes, sizeof(int));
	n->up = calloc((size_t)t->nnodes, sizeof(int));
	n->dist = calloc((size_t)t->nnodes, sizeof(*n->dist));
	n->job = calloc((size_t)n->njobs, sizeof(*n->job));
	if (!uses || !n->cap || !n->attach || !n->up || !n->dist || !n->job) {
		free(uses);
		return plan_fail(n->err, -ENOMEM, "out of memory");
	}
	fill_caps(n);
	attach(n);
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

int net_new(struct net **out, const struct plan_jobs *js,
	    struct plan_error *err)
{
	struct net *n = calloc(1, sizeof(*n));
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
		net_free(n);
		return rc;
	}
	*out = n;
	return 0;
}

void net_free(struct net *n)
{
	int i;

	if (!n)
		return;
	for (i = 0; n->dist && i < n->t->nnodes; i++)
		free(n->dist[i]);
	for (i = 0; n->job && i < n->njobs; i++) {
		free(n->job[i].group);
		free(n->job[i].ranks);
	}
	free(n->job);
	free(n->dist);
	free(n->up);
	free(n->attach);
	free(n->cap);
	free(n);
}
