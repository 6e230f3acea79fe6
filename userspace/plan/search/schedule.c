// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes schedules: rounds the rates of the trees by largest remainder for the
 * best table size, searches for a better table, and interleaves the entries.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "sched_table.h"

/* Steps of the search: for each size, and for the best size. */
#define STEPS_EACH 100
#define STEPS_BEST 500

/* Fill the table by largest remainder. Of equal remainders the first wins. */
static void apportion(struct sched_table *t, const struct outcome *o, int entries)
{
	int count[PLAN_JOBS_MAX * PLAN_TREES_MAX], i, k, pick, left = entries;
	double most, rest, whole = entries / o->g[t->j];

	sched_table_clear(t);
	for (i = 0; i < o->ncol; i++) {
		count[i] = 0;
		if (o->col[i]->job == t->j)
			count[i] = (int)floor(o->z[i] * whole + 1e-9);
		left -= count[i];
	}
	for (; left > 0; left--) {
		most = -INFINITY;
		pick = 0;
		for (i = 0; i < o->ncol; i++) {
			rest = o->z[i] * whole - count[i];
			if (o->col[i]->job == t->j && rest > most + 1e-9) {
				most = rest;
				pick = i;
			}
		}
		count[pick]++;
	}
	for (i = 0; i < o->ncol; i++)
		for (k = 0; k < count[i]; k++)
			sched_table_add(t, o->col[i]);
}

/* Spread the entries of each tree evenly. */
static void interleave(struct schedule *s)
{
	int credit[PLAN_TREES_MAX] = {0}, i, k, pick;

	for (k = 0; k < s->n; k++) {
		pick = 0;
		for (i = 0; i < s->ntree; i++) {
			credit[i] += s->weight[i];
			if (credit[i] > credit[pick])
				pick = i;
		}
		credit[pick] -= s->n;
		s->entry[k] = pick;
	}
}

static int gcd(int a, int b)
{
	return b ? gcd(b, a % b) : a;
}

/* Copy the best entries, with weights divided by their common factor. */
static void put_schedule(const struct sched_table *t, struct schedule *s)
{
	int i, k, common = 0;

	*s = (struct schedule){.rate = fmin(t->rate, t->target)};
	for (i = 0; i < t->nbest; i++) {
		for (k = 0; k < s->ntree && s->tree[k] != t->best[i];)
			k++;
		s->tree[k] = t->best[i];
		s->weight[k]++;
		s->ntree += k == s->ntree;
	}
	for (i = 0; i < s->ntree; i++)
		common = gcd(common, s->weight[i]);
	for (i = 0; i < s->ntree; i++) {
		s->weight[i] /= common;
		s->n += s->weight[i];
	}
	interleave(s);
}

/*
 * Loads are whole numbers of packets, so tables whose sizes differ by one can
 * differ much in rate. Try all sizes from the limit of trees down to half of it.
 */
static int search(struct sched_table *t, const struct outcome *o)
{
	int n, least = (t->limit + 1) / 2, err = 0;

	for (n = t->limit; !err && n >= least; n--) {
		apportion(t, o, n);
		sched_table_search(t, STEPS_EACH);
		err = work_tick(t->w, "making schedules",
				(double)(t->limit - n) / (t->limit - least + 2));
	}
	if (err)
		return err;
	sched_table_from_best(t);
	sched_table_search(t, STEPS_BEST);
	return 0;
}

/* Load of the other jobs: schedules of jobs before @j, else the LP's rates. */
static void others_load(const struct outcome *o, int j, const struct schedule *made, double *load)
{
	int i, k, t;

	for (i = 0; i < o->ncol; i++)
		for (k = 0; o->col[i]->job > j && k < o->col[i]->nres; k++)
			load[o->col[i]->res[k]] += o->z[i] * o->col[i]->amount[k];
	for (i = 0; i < j; i++)
		for (t = 0; t < made[i].ntree; t++)
			for (k = 0; k < made[i].tree[t]->nres; k++)
				load[made[i].tree[t]->res[k]] += made[i].rate * made[i].weight[t] /
								 made[i].n *
								 made[i].tree[t]->amount[k];
}

/* Select the heaviest trees of each job, up to its limit; their number. */
static int heaviest(const struct work *w, const struct outcome *o, struct plan_tree **out)
{
	int *order = malloc(((size_t)o->ncol + 1) * sizeof(int));
	int have[PLAN_JOBS_MAX] = {0}, i, k, x, n = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < o->ncol; i++) {
		x = i;
		for (k = i; k > 0 && o->z[order[k - 1]] < o->z[x]; k--)
			order[k] = order[k - 1];
		order[k] = x;
	}
	for (i = 0; i < o->ncol; i++) {
		struct plan_tree *t = o->col[order[i]];

		if (have[t->job]++ < w->js->job[t->job].trees)
			out[n++] = t;
	}
	free(order);
	return n;
}

/*
 * Make the table of job @j in the capacity that the tables of the jobs before
 * it leave. Those keep the LP's rates of later jobs possible.
 */
static int make_one(struct work *w, const struct sets *sets, const struct outcome *o, int j,
		    double target, struct schedule *made)
{
	struct sched_table t;
	int i, n, err = o->g[j] > 0 ? sched_table_init(&t, w, sets, j) : -EDOM;

	if (err)
		return err;
	t.target = target;
	others_load(o, j, made, t.room);
	for (i = 0; i < w->model->nres; i++)
		t.room[i] = fmax(w->model->cap[i] - t.room[i], w->model->cap[i] * 1e-9);
	for (n = 1; n <= PLAN_SCHEDULE_MAX; n++) {
		apportion(&t, o, n);
		sched_table_note(&t);
	}
	if (!sched_table_is_good(&t))
		err = search(&t, o);
	if (!err)
		put_schedule(&t, &made[j]);
	sched_table_free(&t);
	return err;
}

int schedule_make(struct work *w, const struct sets *sets, const struct outcome *best,
		  struct schedule *out)
{
	struct plan_tree **few = calloc((size_t)best->ncol + 1, sizeof(*few));
	struct outcome o = {0};
	int j, n, err;

	if (!few)
		return -ENOMEM;
	n = heaviest(w, best, few);
	/* Solve again with the selected trees. */
	err = n < 0 ? n : tree_lp_solve(w, sets, 0, few, n, false, &o);
	for (j = 0; !err && j < w->njobs; j++)
		if (work_by_lp(w, j))
			err = make_one(w, sets, &o, j, best->g[j], out);
	outcome_free(&o);
	free(few);
	return err;
}
