// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns looking for cheap trees. Which relays a tree uses is found by local
 * search; the workers then go where it is cheapest, and the relays are joined
 * by growing a tree from the root and improving one parent at a time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define EPS 1e-12

void tree_free(struct tree *t)
{
	if (!t)
		return;
	free(t->rel);
	free(t->up);
	free(t->part);
	free(t->res);
	free(t->amount);
	free(t);
}

bool tree_same(const struct tree *a, const struct tree *b)
{
	return a->hash == b->hash && a->job == b->job && a->nrel == b->nrel &&
	       a->npart == b->npart &&
	       !memcmp(a->rel, b->rel, (size_t)a->nrel * sizeof(int)) &&
	       !memcmp(a->up, b->up, (size_t)a->nrel * sizeof(int)) &&
	       !memcmp(a->part, b->part,
		       (size_t)a->npart * sizeof(struct tree_part));
}

int pricer_new(struct pricer **out, struct reach *r)
{
	const struct net_job *nj = &r->net->job[r->j];
	struct pricer *p = calloc(1, sizeof(*p));
	size_t g = (size_t)nj->ngroup;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->r = r;
	p->room = nj->job->max + 2;
	p->s = calloc((size_t)p->room, sizeof(int));
	p->dg = calloc(g * ((size_t)p->room + 1), sizeof(double));
	p->ds = calloc((size_t)p->room * ((size_t)p->room + 1), sizeof(double));
	p->best = calloc(g, sizeof(double));
	p->next = calloc(g, sizeof(double));
	p->to = calloc(g, sizeof(int));
	p->mark = calloc((size_t)p->room + 1, sizeof(int));
	p->count = calloc(g * ((size_t)p->room + 1), sizeof(int));
	p->load = calloc((size_t)r->net->nres, sizeof(double));
	p->touched = calloc((size_t)r->net->nres, sizeof(int));
	if (!p->s || !p->dg || !p->ds || !p->best || !p->next || !p->to ||
	    !p->mark || !p->count || !p->load || !p->touched) {
		pricer_free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void pricer_free(struct pricer *p)
{
	if (!p)
		return;
	free(p->s);
	free(p->dg);
	free(p->ds);
	free(p->best);
	free(p->next);
	free(p->to);
	free(p->mark);
	free(p->count);
	free(p->load);
	free(p->touched);
	free(p);
}

static double length(const int *arc, const int *end, const double *price)
{
	double sum = 0;

	if (arc < end && *arc < 0)
		return INFINITY;
	for (; arc < end; arc++)
		sum += price[res_link(*arc)];
	return sum;
}

int pricer_set(struct pricer *p, const int *s, int m, const double *price)
{
	struct reach *r = p->r;
	struct net *net = r->net;
	const struct net_job *nj = &net->job[r->j];
	int i, k, g, c, width = m + 1, has_ps = nj->job->ps >= 0;
	double child;

	p->m = m;
	memcpy(p->s, s, (size_t)m * sizeof(int));
	for (i = 0; i < m + has_ps; i++) {
		c = i < m ? s[i] : r->n;
		if (reach_want(r, c))
			return -ENOMEM;
		child = i == m ? 0
			       : price[res_relay(net, r->node[c])] +
					 price[res_job_relay(net, r->j,
							     r->node[c])];
		for (g = 0; g < nj->ngroup; g++)
			p->dg[g * width + i] =
				child + length(r->arcs[c] + r->off[c][g],
					       r->arcs[c] + r->off[c][g + 1],
					       price);
		for (k = 0; k < m; k++) {
			g = nj->ngroup + s[k];
			p->ds[k * width + i] =
				child + length(r->arcs[c] + r->off[c][g],
					       r->arcs[c] + r->off[c][g + 1],
					       price);
			if (i == k ||
			    (nj->job->shared && i < m && s[i] != r->tor))
				p->ds[k * width + i] = INFINITY;
		}
	}
	for (g = 0; !has_ps && g < nj->ngroup; g++)
		p->dg[g * width + m] = INFINITY;
	for (k = 0; !has_ps && k < m; k++)
		p->ds[k * width + m] = INFINITY;
	return 0;
}

/* The nearest and second nearest used target of each group. */
static void assign(struct pricer *p)
{
	const struct net_job *nj = pricer_job(p);
	int g, i, width = p->m + 1;
	double d;

	for (g = 0; g < nj->ngroup; g++) {
		p->best[g] = p->next[g] = INFINITY;
		p->to[g] = -1;
		for (i = 0; i <= p->m; i++) {
			if (i < p->m && !p->used[i])
				continue;
			d = p->dg[g * width + i];
			if (d < p->best[g]) {
				p->next[g] = p->best[g];
				p->best[g] = d;
				p->to[g] = i;
			} else if (d < p->next[g]) {
				p->next[g] = d;
			}
		}
	}
}

/*
 * What joining the used relays costs at least: each its nearest parent. The
 * exact price of a tree is found at the end. Without a PS the one that saves
 * most by it is the root.
 */
static double join_bound(const struct pricer *p)
{
	double sum = 0, d, most = 0;
	int k, i, width = p->m + 1;

	for (k = 0; k < p->m; k++) {
		if (!p->used[k])
			continue;
		d = p->ds[k * width + p->m];
		for (i = 0; i < p->m; i++)
			if (p->used[i] && p->ds[k * width + i] < d)
				d = p->ds[k * width + i];
		if (pricer_has_ps(p)) {
			sum += d;
			continue;
		}
		if (isinf(d)) {
			/* At most one may be without a parent. */
			sum += isinf(most) ? INFINITY : 0;
			most = INFINITY;
			continue;
		}
		sum += d;
		if (!isinf(most))
			most = fmax(most, d);
	}
	return isinf(most) ? sum : sum - most;
}

static double workers_cost(const struct pricer *p)
{
	const struct net_job *nj = pricer_job(p);
	double sum = 0;
	int g;

	for (g = 0; g < nj->ngroup; g++)
		sum += nj->group[g].n * p->best[g];
	return sum;
}

/* The cost if relay @i were added to or taken from those that are used. */
static double toggled(struct pricer *p, int i)
{
	const struct net_job *nj = pricer_job(p);
	int g, width = p->m + 1;
	double sum = 0, d;

	for (g = 0; g < nj->ngroup; g++) {
		d = p->best[g];
		if (p->used[i] && p->to[g] == i)
			d = p->next[g];
		else if (!p->used[i] && p->dg[g * width + i] < d)
			d = p->dg[g * width + i];
		sum += nj->group[g].n * d;
	}
	p->used[i] = !p->used[i];
	sum += join_bound(p);
	p->used[i] = !p->used[i];
	return sum;
}

/* Add or drop whichever relay saves most, until none does. */
static void choose(struct pricer *p)
{
	double now, then, least;
	int i, pick, steps;

	assign(p);
	now = workers_cost(p) + join_bound(p);
	for (steps = 0; steps < 4 * p->m + 4; steps++) {
		pick = -1;
		least = isinf(now) ? INFINITY : now - EPS - 1e-9 * now;
		for (i = 0; i < p->m; i++) {
			then = toggled(p, i);
			if (then < least) {
				least = then;
				pick = i;
			}
		}
		if (pick < 0)
			return;
		p->used[pick] = !p->used[pick];
		assign(p);
		now = workers_cost(p) + join_bound(p);
	}
}

/* Join all used relays to @root (m: the PS); the cost, INFINITY if it cannot
 * be done. */
static double join(struct pricer *p, int root)
{
	int i, k, width = p->m + 1, pick, from = -1, left = 0, better;
	double least, sum = 0, d;

	for (k = 0; k < p->m; k++) {
		p->mark[k] = k == root;
		p->up[k] = -1;
		left += p->used[k] && k != root;
	}
	while (left--) {
		least = INFINITY;
		pick = -1;
		for (k = 0; k < p->m; k++) {
			if (!p->used[k] || p->mark[k])
				continue;
			for (i = 0; i <= p->m; i++) {
				if (i == p->m ? root != p->m : !p->mark[i])
					continue;
				d = p->ds[k * width + i];
				if (d < least) {
					least = d;
					pick = k;
					from = i;
				}
			}
		}
		if (pick < 0)
			return INFINITY;
		p->mark[pick] = 1;
		p->up[pick] = from;
	}
	do {
		better = 0;
		for (k = 0; k < p->m; k++)
			for (i = 0; p->used[k] && k != root && i <= p->m; i++) {
				if (i == p->m ? root != p->m : !p->used[i])
					continue;
				if (p->ds[k * width + i] + EPS >=
					    p->ds[k * width + p->up[k]] ||
				    pricer_below(p, i, k))
					continue;
				p->up[k] = i;
				better = 1;
			}
	} while (better);
	for (k = 0; k < p->m; k++)
		if (p->used[k] && k != root)
			sum += p->ds[k * width + p->up[k]];
	return sum;
}

/* With the best root; the root's parent is -1. */
static double join_best(struct pricer *p)
{
	double cost, least = INFINITY;
	int k, root = -1;

	if (pricer_has_ps(p))
		return join(p, p->m);
	for (k = 0; k < p->m; k++) {
		if (!p->used[k])
			continue;
		cost = join(p, k);
		if (cost < least) {
			least = cost;
			root = k;
		}
	}
	return root < 0 ? INFINITY : join(p, root);
}

static void touch(struct pricer *p, int *n, int res, double amount)
{
	if (isinf(p->r->net->cap[res]))
		return;
	if (p->load[res] == 0)
		p->touched[(*n)++] = res;
	p->load[res] += amount;
}

static void touch_path(struct pricer *p, int *n, int from, int target,
		       double amount)
{
	const struct reach *r = p->r;
	int c = target == p->m ? r->n : p->s[target], i;

	for (i = r->off[c][from]; i < r->off[c][from + 1]; i++)
		touch(p, n, res_link(r->arcs[c][i]), amount);
	if (target == p->m)
		return;
	touch(p, n, res_relay(r->net, r->node[c]), amount);
	touch(p, n, res_job_relay(r->net, r->j, r->node[c]), amount);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static bool tree_alloc(struct tree *t, int nrel, int npart, int nres)
{
	t->rel = calloc((size_t)nrel + 1, sizeof(int));
	t->up = calloc((size_t)nrel + 1, sizeof(int));
	t->part = calloc((size_t)npart + 1, sizeof(*t->part));
	t->res = calloc((size_t)nres + 1, sizeof(int));
	t->amount = calloc((size_t)nres + 1, sizeof(double));
	return t->rel && t->up && t->part && t->res && t->amount;
}

static uint64_t hash_int(uint64_t h, int v)
{
	return (h ^ (uint64_t)(unsigned int)v) * 1099511628211ull;
}

/* Collect the loads of what was built into p->load; how many are touched. */
static int collect_loads(struct pricer *p, int *npart)
{
	const struct net_job *nj = pricer_job(p);
	int g, i, k, n = 0, width = p->m + 1;

	*npart = 0;
	for (g = 0; g < nj->ngroup; g++)
		for (i = 0; i <= p->m; i++)
			if (p->count[g * width + i]) {
				(*npart)++;
				touch_path(p, &n, g, i,
					   p->count[g * width + i]);
			}
	for (k = 0; k < p->m; k++)
		if (p->used[k] && p->up[k] >= 0)
			touch_path(p, &n, nj->ngroup + p->s[k], p->up[k], 1);
	touch(p, &n, res_access(p->r->net, p->r->j), 1);
	qsort(p->touched, (size_t)n, sizeof(int), by_number);
	return n;
}

static struct tree *finish(struct pricer *p)
{
	const struct net_job *nj = pricer_job(p);
	int g, i, k, n, npart, width = p->m + 1, at[PLAN_RELAYS_MAX + 4];
	struct tree *t = calloc(1, sizeof(*t));
	bool good;

	n = collect_loads(p, &npart);
	good = t && tree_alloc(t, p->m, npart, n);
	for (i = 0; i < n; i++) {
		if (good) {
			t->res[i] = p->touched[i];
			t->amount[i] = p->load[p->touched[i]];
		}
		p->load[p->touched[i]] = 0;
	}
	if (!good) {
		p->no_memory = true;
		tree_free(t);
		return NULL;
	}
	t->nres = n;
	t->job = p->r->j;
	t->hash = 14695981039346656037ull;
	for (k = 0; k < p->m; k++)
		at[k] = p->used[k] ? t->nrel++ : -1;
	at[p->m] = -1;
	for (k = 0; k < p->m; k++)
		if (p->used[k]) {
			t->rel[at[k]] = p->s[k];
			t->up[at[k]] = p->up[k] < 0 ? -1 : at[p->up[k]];
			t->hash = hash_int(hash_int(t->hash, p->s[k]),
					   t->up[at[k]]);
		}
	for (g = 0; g < nj->ngroup; g++)
		for (i = 0; i <= p->m; i++)
			if (p->count[g * width + i]) {
				t->part[t->npart] = (struct tree_part){
					g, at[i], p->count[g * width + i]};
				t->hash = hash_int(
					hash_int(hash_int(t->hash, g), at[i]),
					t->part[t->npart++].n);
			}
	return t;
}

/* A relay without children only costs. */
static void prune(struct pricer *p)
{
	bool again = true;
	int k;

	while (again) {
		again = false;
		for (k = 0; k < p->m; k++)
			if (p->used[k] && !pricer_children(p, k)) {
				p->used[k] = false;
				again = true;
			}
	}
}

/* Without a PS one relay must be there from the beginning. */
static void begin(struct pricer *p, enum pricer_start start)
{
	int k, i, g, width = p->m + 1, pick = -1;
	const struct net_job *nj = pricer_job(p);
	double sum, least = INFINITY;

	for (k = 0; k < p->m; k++)
		p->used[k] = start == PRICE_FROM_ALL;
	if (start == PRICE_FROM_ALL || pricer_has_ps(p))
		return;
	for (i = 0; i < p->m; i++) {
		sum = 0;
		for (g = 0; g < nj->ngroup; g++)
			sum += nj->group[g].n * p->dg[g * width + i];
		if (sum < least) {
			least = sum;
			pick = i;
		}
	}
	if (pick >= 0)
		p->used[pick] = true;
}

struct tree *pricer_tree(struct pricer *p, enum pricer_start start,
			 double *cost)
{
	const struct net_job *nj = pricer_job(p);
	int g, i, k, width = p->m + 1;

	p->too_many = p->no_memory = false;
	begin(p, start);
	choose(p);
	assign(p);
	*cost = join_best(p) + workers_cost(p);
	if (isinf(*cost))
		return NULL;
	memset(p->count, 0, (size_t)(nj->ngroup * width) * sizeof(int));
	for (g = 0; g < nj->ngroup; g++)
		p->count[g * width + p->to[g]] = nj->group[g].n;
	prune(p);
	p->too_many = !pricer_fit(p);
	if (p->too_many && !p->lenient)
		return NULL;
	*cost = 0;
	for (g = 0; g < nj->ngroup; g++)
		for (i = 0; i <= p->m; i++)
			if (p->count[g * width + i])
				*cost += p->count[g * width + i] *
					 p->dg[g * width + i];
	for (k = 0; k < p->m; k++)
		if (p->used[k] && p->up[k] >= 0)
			*cost += p->ds[k * width + p->up[k]];
	return finish(p);
}
