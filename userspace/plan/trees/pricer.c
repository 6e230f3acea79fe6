// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses the relays of a cheap tree: a local search adds or removes one relay
 * at a time. Each worker then goes to the cheapest relay in use.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricer.h"

int pricer_new(struct pricer **out, struct reach *r)
{
	const struct model_job *nj = &r->model->job[r->j];
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
	p->load = calloc((size_t)r->model->nres, sizeof(double));
	p->touched = calloc((size_t)r->model->nres, sizeof(int));
	if (!p->s || !p->dg || !p->ds || !p->best || !p->next || !p->to || !p->mark || !p->count ||
	    !p->load || !p->touched) {
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

int pricer_set(struct pricer *p, const int *s, int m, const double *price)
{
	struct reach *r = p->r;
	const struct model_job *nj = pricer_job(p);
	int i, k, g, c, width = m + 1, has_ps = pricer_has_ps(p);
	double child;

	p->m = m;
	memcpy(p->s, s, (size_t)m * sizeof(int));
	for (i = 0; i < m + has_ps; i++) {
		c = i < m ? s[i] : r->n;
		if (reach_want(r, c))
			return -ENOMEM;
		child = i == m ? 0 : reach_child_price(r, c, price);
		for (g = 0; g < nj->ngroup; g++)
			p->dg[g * width + i] = child + reach_length(r, g, c, price, 0);
		for (k = 0; k < m; k++) {
			p->ds[k * width + i] =
				child + reach_length(r, nj->ngroup + s[k], c, price, 0);
			if (i == k || (nj->job->shared && i < m && s[i] != r->tor))
				p->ds[k * width + i] = INFINITY;
		}
	}
	for (g = 0; !has_ps && g < nj->ngroup; g++)
		p->dg[g * width + m] = INFINITY;
	for (k = 0; !has_ps && k < m; k++)
		p->ds[k * width + m] = INFINITY;
	return 0;
}

/* Find the nearest and second nearest target in use, for each group. */
static void assign(struct pricer *p)
{
	const struct model_job *nj = pricer_job(p);
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

static double workers_cost(const struct pricer *p)
{
	const struct model_job *nj = pricer_job(p);
	double sum = 0;
	int g;

	for (g = 0; g < nj->ngroup; g++)
		sum += nj->group[g].n * p->best[g];
	return sum;
}

/* Price if relay @i were toggled: added, or removed if it is in use. */
static double toggled(struct pricer *p, int i)
{
	const struct model_job *nj = pricer_job(p);
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
	sum += pricer_join_bound(p);
	p->used[i] = !p->used[i];
	return sum;
}

/* Toggle the relay that saves most, until none saves anything. */
static void choose(struct pricer *p)
{
	double now, then, least;
	int i, pick, steps;

	assign(p);
	now = workers_cost(p) + pricer_join_bound(p);
	for (steps = 0; steps < 4 * p->m + 4; steps++) {
		pick = -1;
		least = isinf(now) ? INFINITY : now - PRICER_EPS - 1e-9 * now;
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
		now = workers_cost(p) + pricer_join_bound(p);
	}
}

/* Remove relays without children: they only cost. */
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

/* Without a PS, the search needs one relay to start from. */
static void begin(struct pricer *p, enum pricer_start start)
{
	int k, i, g, width = p->m + 1, pick = -1;
	const struct model_job *nj = pricer_job(p);
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

struct plan_tree *pricer_tree(struct pricer *p, enum pricer_start start, double *cost)
{
	const struct model_job *nj = pricer_job(p);
	int g, i, k, width = p->m + 1;

	p->too_many = p->no_memory = false;
	begin(p, start);
	choose(p);
	assign(p);
	*cost = pricer_join(p) + workers_cost(p);
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
				*cost += p->count[g * width + i] * p->dg[g * width + i];
	for (k = 0; k < p->m; k++)
		if (p->used[k] && p->up[k] >= 0)
			*cost += p->ds[k * width + p->up[k]];
	return pricer_build(p);
}
