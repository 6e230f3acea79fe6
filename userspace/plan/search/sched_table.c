// SPDX-License-Identifier: BSD-2-Clause
/*
 * Searches for a better table. Each step replaces a few entries by the trees
 * that are cheapest without them, at prices that grow steeply with the load.
 * The step stays if the soft load does not grow. Noise on the prices keeps the
 * same trees from coming back.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sched_table.h"

/* Steepness of the prices. */
#define SHARP 30.0
/* Limit of entries replaced in a step, and price noise if there are several. */
#define OUT_MAX 3
#define NOISE 0.3
/* Share of the tree LP's rate at which the search ends. */
#define ENOUGH 0.99

int sched_table_init(struct sched_table *t, struct work *w, const struct sets *sets, int j)
{
	size_t nres = (size_t)w->model->nres;

	*t = (struct sched_table){
		.w = w, .sets = sets, .j = j, .limit = w->js->job[j].trees, .seed = 1};
	t->room = calloc(nres, sizeof(double));
	t->load = calloc(nres, sizeof(double));
	if (t->room && t->load)
		return 0;
	sched_table_free(t);
	return -ENOMEM;
}

void sched_table_free(struct sched_table *t)
{
	free(t->room);
	free(t->load);
	t->room = t->load = NULL;
}

void sched_table_clear(struct sched_table *t)
{
	memset(t->load, 0, (size_t)t->w->model->nres * sizeof(double));
	t->n = 0;
}

static void weigh(struct sched_table *t, const struct plan_tree *tree, double sign)
{
	int k;

	for (k = 0; k < tree->nres; k++)
		t->load[tree->res[k]] += sign * tree->amount[k];
}

void sched_table_add(struct sched_table *t, struct plan_tree *tree)
{
	t->entry[t->n++] = tree;
	weigh(t, tree, 1);
}

/* Remove entry @i; the last entry moves to its place. */
static struct plan_tree *take_out(struct sched_table *t, int i)
{
	struct plan_tree *tree = t->entry[i];

	t->entry[i] = t->entry[--t->n];
	weigh(t, tree, -1);
	return tree;
}

void sched_table_from_best(struct sched_table *t)
{
	int i;

	sched_table_clear(t);
	for (i = 0; i < t->nbest; i++)
		sched_table_add(t, t->best[i]);
}

void sched_table_note(struct sched_table *t)
{
	double least = INFINITY, rate;
	int i;

	for (i = 0; i < t->w->model->nres; i++)
		if (t->load[i] > 0)
			least = fmin(least, t->room[i] / t->load[i]);
	rate = isinf(least) ? 0 : least * t->n;
	if (t->nbest && rate <= t->rate * (1 + 1e-6))
		return;
	t->rate = rate;
	t->nbest = t->n;
	memcpy(t->best, t->entry, (size_t)t->n * sizeof(*t->best));
}

bool sched_table_is_good(const struct sched_table *t)
{
	return t->nbest && t->rate >= t->target * ENOUGH;
}

/* Price of a resource at the target rate with @n entries. */
static double soft_load(const struct sched_table *t, int res, int n)
{
	double u = t->load[res] / n / t->room[res] * t->target;

	return exp(fmin(SHARP * (u - 1), 300));
}

/* Sum of the soft loads: small if no resource is nearly full. */
static double strain(const struct sched_table *t)
{
	double sum = 0;
	int i;

	for (i = 0; i < t->w->model->nres; i++)
		if (t->load[i] > 0)
			sum += soft_load(t, i, t->n);
	return sum;
}

/* Pseudo-random number from 0 to 1. */
static double draw(struct sched_table *t)
{
	t->seed = t->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(t->seed >> 11) / 9007199254740992.0;
}

/* Set prices that are high for full resources. */
static void set_prices(struct sched_table *t, int n, double noise)
{
	double *price = t->w->price;
	int i;

	for (i = 0; i < t->w->model->nres; i++) {
		if (isinf(t->room[i])) {
			price[i] = 0;
			continue;
		}
		price[i] = t->load[i] > 0 ? soft_load(t, i, n) : exp(-SHARP);
		price[i] *= (1 + noise * draw(t)) / t->room[i];
	}
}

/* The cheapest tree for a table of @n entries; NULL: none, or no memory. */
static struct plan_tree *cheapest(struct sched_table *t, int n, double noise)
{
	struct pricer *p = t->w->pricer[t->j];
	struct plan_tree *best = NULL, *tree;
	double cost, least = INFINITY;
	int start;

	set_prices(t, n, noise);
	if (pricer_set(p, t->sets->s[t->j], t->sets->m[t->j], t->w->price))
		return NULL;
	for (start = 0; start < PRICE__STARTS; start++) {
		tree = pricer_tree(p, (enum pricer_start)start, &cost);
		if (tree && cost < least) {
			plan_tree_free(best);
			best = tree;
			least = cost;
		} else {
			plan_tree_free(tree);
		}
	}
	return best ? work_keep(t->w, best) : NULL;
}

/* Number of different trees among the entries. */
static int distinct(const struct sched_table *t)
{
	int i, k, n = 0;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < i && t->entry[k] != t->entry[i];)
			k++;
		n += k == i;
	}
	return n;
}

void sched_table_search(struct sched_table *t, int steps)
{
	struct plan_tree *out[OUT_MAX], *in;
	double now = strain(t), then;
	int n = t->n, step, k, nout;

	for (step = 0; step < steps && !sched_table_is_good(t); step++) {
		nout = 1 + (int)(draw(t) * (n < OUT_MAX ? n : OUT_MAX));
		for (k = 0; k < nout; k++)
			out[k] = take_out(t, (int)(draw(t) * t->n));
		for (k = 0; k < nout; k++) {
			in = cheapest(t, n, nout > 1 ? NOISE : 0);
			if (!in)
				break;
			sched_table_add(t, in);
		}
		then = k == nout && distinct(t) <= t->limit ? strain(t) : INFINITY;
		if (then <= now) {
			now = then;
			sched_table_note(t);
			continue;
		}
		while (t->n > n - nout)
			take_out(t, t->n - 1);
		for (k = 0; k < nout; k++)
			sched_table_add(t, out[k]);
	}
}
