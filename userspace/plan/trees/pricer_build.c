// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes trees of what the pricer has chosen: their parts, loads and hash.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pricer.h"

void plan_tree_free(struct plan_tree *t)
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

bool plan_tree_same(const struct plan_tree *a, const struct plan_tree *b)
{
	return a->hash == b->hash && a->job == b->job && a->nrel == b->nrel &&
	       a->npart == b->npart && !memcmp(a->rel, b->rel, (size_t)a->nrel * sizeof(int)) &&
	       !memcmp(a->up, b->up, (size_t)a->nrel * sizeof(int)) &&
	       !memcmp(a->part, b->part, (size_t)a->npart * sizeof(struct tree_part));
}

/* Add @amount to the load of @res; *n counts the resources in use. */
static void touch(struct pricer *p, int *n, int res, double amount)
{
	if (isinf(p->r->model->cap[res]))
		return;
	if (p->load[res] == 0)
		p->touched[(*n)++] = res;
	p->load[res] += amount;
}

static void touch_path(struct pricer *p, int *n, int from, int target, double amount)
{
	const struct reach *r = p->r;
	int c = target == p->m ? r->n : p->s[target], i;

	for (i = r->off[c][from]; i < r->off[c][from + 1]; i++)
		touch(p, n, res_link(r->arcs[c][i]), amount);
	if (target == p->m)
		return;
	touch(p, n, res_relay(r->model, r->node[c]), amount);
	touch(p, n, res_job_relay(r->model, r->j, r->node[c]), amount);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static bool tree_alloc(struct plan_tree *t, int nrel, int npart, int nres)
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

/* Sum the loads in p->load; returns how many resources are in use. */
static int collect_loads(struct pricer *p, int *npart)
{
	const struct model_job *nj = pricer_job(p);
	int g, i, k, n = 0, width = p->m + 1;

	*npart = 0;
	for (g = 0; g < nj->ngroup; g++)
		for (i = 0; i <= p->m; i++)
			if (p->count[g * width + i]) {
				(*npart)++;
				touch_path(p, &n, g, i, p->count[g * width + i]);
			}
	for (k = 0; k < p->m; k++)
		if (p->used[k] && p->up[k] >= 0)
			touch_path(p, &n, nj->ngroup + p->s[k], p->up[k], 1);
	touch(p, &n, res_access(p->r->model, p->r->j), 1);
	qsort(p->touched, (size_t)n, sizeof(int), by_number);
	return n;
}

/* Number the relays in use and copy them with their parents. */
static void copy_relays(const struct pricer *p, struct plan_tree *t, int *at)
{
	int k;

	for (k = 0; k < p->m; k++)
		at[k] = p->used[k] ? t->nrel++ : -1;
	at[p->m] = -1;
	for (k = 0; k < p->m; k++)
		if (p->used[k]) {
			t->rel[at[k]] = p->s[k];
			t->up[at[k]] = p->up[k] < 0 ? -1 : at[p->up[k]];
			t->hash = hash_int(hash_int(t->hash, p->s[k]), t->up[at[k]]);
		}
}

static void copy_parts(const struct pricer *p, struct plan_tree *t, const int *at)
{
	int g, i, n, width = p->m + 1;

	for (g = 0; g < pricer_job(p)->ngroup; g++)
		for (i = 0; i <= p->m; i++) {
			n = p->count[g * width + i];
			if (!n)
				continue;
			t->part[t->npart++] = (struct tree_part){g, at[i], n};
			t->hash = hash_int(hash_int(hash_int(t->hash, g), at[i]), n);
		}
}

struct plan_tree *pricer_build(struct pricer *p)
{
	int i, n, npart, at[PLAN_RELAYS_MAX + 4];
	struct plan_tree *t = calloc(1, sizeof(*t));
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
		plan_tree_free(t);
		return NULL;
	}
	t->nres = n;
	t->job = p->r->j;
	t->hash = 14695981039346656037ull;
	copy_relays(p, t, at);
	copy_parts(p, t, at);
	return t;
}
