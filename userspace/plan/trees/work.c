// SPDX-License-Identifier: BSD-2-Clause
/*
 * A planning run: its memory and its pool of trees.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define BUCKETS 4096

int work_new(struct work **out, const struct plan_jobs *js, const struct plan_options *opt,
	     struct plan_error *err)
{
	struct work *w = calloc(1, sizeof(*w));
	size_t n;
	int rc, j, i;

	*out = NULL;
	if (!w)
		return plan_fail(err, -ENOMEM, "out of memory");
	w->t = js->topo;
	w->js = js;
	w->opt = opt;
	w->err = err;
	w->njobs = js->n;
	w->solo = -1;
	rc = model_new(&w->model, js, err);
	if (rc) {
		work_free(w);
		return rc;
	}
	n = (size_t)w->model->nres;
	w->head = malloc(BUCKETS * sizeof(int));
	w->price = calloc(n, sizeof(double));
	w->load = calloc(n, sizeof(double));
	w->inv = calloc(n, sizeof(double));
	w->touched = calloc(n, sizeof(int));
	w->row = malloc(n * sizeof(int));
	rc = w->head && w->price && w->load && w->inv && w->touched && w->row ? 0 : -ENOMEM;
	for (j = 0; !rc && j < w->njobs; j++) {
		if (!work_by_lp(w, j))
			continue;
		rc = reach_new(&w->reach[j], w->model, j);
		if (!rc)
			rc = pricer_new(&w->pricer[j], w->reach[j]);
	}
	if (rc) {
		work_free(w);
		return plan_fail(err, rc, "out of memory");
	}
	for (i = 0; i < BUCKETS; i++)
		w->head[i] = -1;
	for (i = 0; i < w->model->nres; i++) {
		w->row[i] = -1;
		w->inv[i] = isinf(w->model->cap[i]) ? 0 : 1 / w->model->cap[i];
	}
	*out = w;
	return 0;
}

void work_free(struct work *w)
{
	int i;

	if (!w)
		return;
	lp_solver_close(&w->solver);
	for (i = 0; i < w->npool; i++)
		plan_tree_free(w->pool[i]);
	for (i = 0; i < w->njobs; i++) {
		pricer_free(w->pricer[i]);
		reach_free(w->reach[i]);
	}
	free(w->pool);
	free(w->chain);
	free(w->head);
	free(w->price);
	free(w->load);
	free(w->inv);
	free(w->touched);
	free(w->row);
	model_free(w->model);
	free(w);
}

struct plan_tree *work_keep(struct work *w, struct plan_tree *t)
{
	int *head = &w->head[t->hash % BUCKETS], i, room;
	void *p;

	for (i = *head; i >= 0; i = w->chain[i])
		if (plan_tree_same(w->pool[i], t)) {
			plan_tree_free(t);
			return w->pool[i];
		}
	if (w->npool == w->pool_room) {
		room = w->pool_room ? w->pool_room * 2 : 256;
		p = realloc(w->pool, (size_t)room * sizeof(*w->pool));
		if (!p)
			goto full;
		w->pool = p;
		p = realloc(w->chain, (size_t)room * sizeof(int));
		if (!p)
			goto full;
		w->chain = p;
		w->pool_room = room;
	}
	w->chain[w->npool] = *head;
	*head = w->npool;
	w->pool[w->npool++] = t;
	return t;
full:
	plan_tree_free(t);
	return NULL;
}

int work_tick(struct work *w, const char *what, double share)
{
	if (!w->opt->progress || !w->opt->progress(w->opt->progress_arg, what, share))
		return 0;
	return plan_fail(w->err, -ECANCELED, "stopped by the caller while %s", what);
}

void outcome_free(struct outcome *o)
{
	free(o->col);
	free(o->z);
	free(o->dual);
	*o = (struct outcome){0};
}

double work_size(const struct work *w)
{
	double size = 0;
	int j;

	for (j = 0; j < w->njobs; j++)
		if (work_by_lp(w, j))
			size += (double)w->model->job[j].ngroup * (w->js->job[j].max + 1);
	return size;
}

bool work_any_lp(const struct work *w)
{
	int j;

	for (j = 0; j < w->njobs; j++)
		if (work_by_lp(w, j))
			return true;
	return false;
}
