// SPDX-License-Identifier: BSD-2-Clause
/*
 * A quick estimate of a placement by conditional gradient descent: each step
 * moves a share of every job onto the tree that is cheapest at the current
 * prices, which lowers the soft maximum of the utilisations.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

/* Sharpness of the soft maximum: at the start, and at the end. */
#define SHARP_FIRST 6.0
#define SHARP_LAST 40.0

struct descent {
	struct work *w;
	int ntouched;
	double most;   /* largest utilisation */
	bool too_many; /* a node of some tree has too many children */
};

/* Factor of the soft value of placements in which no tree fits. */
#define MISFIT 1e-3

static void find_most(struct descent *d)
{
	struct work *w = d->w;
	int i, r;

	d->most = 0;
	for (i = 0; i < d->ntouched; i++) {
		r = w->touched[i];
		d->most = fmax(d->most, w->load[r] * w->inv[r]);
	}
}

static void set_prices(struct descent *d, double sharp)
{
	struct work *w = d->w;
	double least = exp(-sharp);
	int i, r;

	for (i = 0; i < w->model->nres; i++)
		w->price[i] = least * w->inv[i];
	for (i = 0; i < d->ntouched; i++) {
		r = w->touched[i];
		w->price[r] = exp(sharp * (w->load[r] * w->inv[r] / d->most - 1)) * w->inv[r];
	}
}

/* Add @share of a unit of rate on @t. */
static void blend(struct descent *d, const struct plan_tree *t, double share)
{
	struct work *w = d->w;
	int i, r;

	for (i = 0; i < t->nres; i++) {
		r = t->res[i];
		if (w->load[r] == 0)
			w->touched[d->ntouched++] = r;
		w->load[r] += share * t->amount[i];
	}
}

/* The cheaper tree of the two starts. With many relays, the starts alternate. */
static struct plan_tree *cheapest(struct descent *d, int j, const struct sets *sets, int k,
				  bool keep)
{
	struct work *w = d->w;
	struct pricer *p = w->pricer[j];
	struct plan_tree *a = NULL, *b = NULL;
	double ca = INFINITY, cb = INFINITY;

	if (pricer_set(p, sets->s[j], sets->m[j], w->price))
		return NULL;
	p->lenient = !keep;
	if (sets->m[j] <= 6 || k % 2 == 0)
		a = pricer_tree(p, PRICE_FROM_ALL, &ca);
	d->too_many |= p->too_many;
	if (sets->m[j] <= 6 || !a)
		b = pricer_tree(p, PRICE_FROM_NONE, &cb);
	d->too_many |= p->too_many;
	p->lenient = false;
	if (!b || (a && ca <= cb)) {
		plan_tree_free(b);
		return a;
	}
	plan_tree_free(a);
	return b;
}

static int step(struct descent *d, const struct sets *sets, int k, bool keep)
{
	struct work *w = d->w;
	struct plan_tree *t[PLAN_JOBS_MAX] = {0};
	double share = k ? 2.0 / (k + 2) : 1;
	int j, i, err = 0;

	for (j = 0; !err && j < w->njobs; j++)
		if (work_by_lp(w, j)) {
			t[j] = cheapest(d, j, sets, k, keep);
			err = t[j] ? 0 : w->pricer[j]->no_memory ? -ENOMEM : -EDOM;
		}
	for (i = 0; !err && i < d->ntouched; i++)
		w->load[w->touched[i]] *= 1 - share;
	for (j = 0; j < w->njobs; j++) {
		if (!t[j])
			continue;
		if (!err)
			blend(d, t[j], share * w->js->job[j].weight);
		if (!keep || err)
			plan_tree_free(t[j]);
		else if (!work_keep(w, t[j]))
			err = -ENOMEM;
	}
	find_most(d);
	return err;
}

static double soft_value(struct descent *d)
{
	struct work *w = d->w;
	double sum = 0;
	int i, r;

	for (i = 0; i < d->ntouched; i++) {
		r = w->touched[i];
		sum += exp(SHARP_LAST * (w->load[r] * w->inv[r] / d->most - 1));
	}
	return 1 / (d->most * (1 + log(sum) / SHARP_LAST));
}

double estimate_rates(struct work *w, const struct sets *sets, int steps, bool keep, double *soft)
{
	struct descent d = {.w = w};
	double best = 0, sharp, value;
	int k, i, err = 0;

	memcpy(w->price, w->inv, (size_t)w->model->nres * sizeof(double));
	*soft = 0;
	for (k = 0; !err && k < steps; k++) {
		err = step(&d, sets, k, keep);
		if (err || !(d.most > 0))
			break;
		best = fmax(best, 1 / d.most);
		value = soft_value(&d);
		*soft = fmax(*soft, value);
		sharp = SHARP_FIRST + (SHARP_LAST - SHARP_FIRST) * k / (steps > 1 ? steps : 1);
		set_prices(&d, sharp);
	}
	for (i = 0; i < d.ntouched; i++)
		w->load[w->touched[i]] = 0;
	/* "No tree with these relays" is a valid result: 0. */
	if (err == -EDOM)
		err = 0;
	if (d.too_many)
		*soft *= MISFIT;
	return err ? err : d.too_many ? 0 : best;
}
