// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tree LP: one column for each tree, one row for each resource and job.
 * Columns come from the pool, from a short descent, and then from pricing with
 * the duals, until pricing finds no tree that helps.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define TAU_MAX 1e9
#define ROUNDS 400
/* Large programs have larger gaps than this; each round then adds neighbours. */
#define FINE 1e-5
#define NEIGHBOURS 6
/*
 * Steps of the descent by groups times relays: many if pricing is too slow to
 * replace them.
 */
#define FIRST_STEPS(size) ((size) < 120 ? 16 : 256)
/* Limit of trees from the pool, for each job. */
#define FROM_POOL 400

struct master {
	struct work *w;
	const struct sets *sets;
	struct filling f;
	double gap;
	bool pricing;	/* find more trees */
	bool favouring; /* last phase: columns have costs */
	int ncol, room;
	struct plan_tree **col;
	int *lp_col;
	int nrow, *res; /* resources with a row */
	int *res_row;
	double *dual;
	int *idx;
	double *val;
};

static int add_tree(struct master *m, struct plan_tree *t)
{
	struct work *w = m->w;
	struct lp *lp = m->f.lp;
	int i, r, n = 0, room;
	void *p;

	if (m->ncol == m->room) {
		room = m->room ? m->room * 2 : 128;
		p = realloc(m->col, (size_t)room * sizeof(*m->col));
		if (!p)
			return -ENOMEM;
		m->col = p;
		p = realloc(m->lp_col, (size_t)room * sizeof(int));
		if (!p)
			return -ENOMEM;
		m->lp_col = p;
		m->room = room;
	}
	m->idx[n] = m->f.job_row[t->job];
	m->val[n++] = 1;
	for (i = 0; i < t->nres; i++) {
		r = t->res[i];
		if (w->row[r] < 0) {
			w->row[r] = lp_add_row(lp, -INFINITY, w->model->cap[r]);
			if (w->row[r] < 0)
				return -ENOMEM;
			m->res[m->nrow] = r;
			m->res_row[m->nrow++] = w->row[r];
		}
		m->idx[n] = w->row[r];
		m->val[n++] = t->amount[i];
	}
	m->col[m->ncol] = t;
	m->lp_col[m->ncol] = lp_add_col(lp, m->favouring ? -w->js->job[t->job].weight : 0, 0,
					INFINITY, n, m->idx, m->val);
	return m->lp_col[m->ncol++] < 0 ? -ENOMEM : 0;
}

static bool has_tree(const struct master *m, const struct plan_tree *t)
{
	int i;

	for (i = m->ncol - 1; i >= 0; i--)
		if (m->col[i] == t)
			return true;
	return false;
}

static void set_prices(struct master *m)
{
	struct work *w = m->w;
	int i;

	memset(w->price, 0, (size_t)w->model->nres * sizeof(double));
	for (i = 0; i < m->nrow; i++)
		w->price[m->res[i]] = fmax(0, -m->f.lp->y[m->res_row[i]]);
}

/* Add trees of job @j that help; *worst: the largest relative gain. */
static int price_job(struct master *m, int j, double *worst, int *added)
{
	struct work *w = m->w;
	double y = m->f.lp->y[m->f.job_row[j]], cost, gain;
	struct plan_tree *t;
	int start;

	if (m->favouring)
		y += w->js->job[j].weight;
	if (y <= 1e-12)
		return 0;
	if (pricer_set(w->pricer[j], m->sets->s[j], m->sets->m[j], w->price))
		return -ENOMEM;
	for (start = 0; start < PRICE__STARTS; start++) {
		t = pricer_tree(w->pricer[j], (enum pricer_start)start, &cost);
		if (!t && w->pricer[j]->no_memory)
			return -ENOMEM;
		if (!t)
			continue;
		gain = 1 - cost / y;
		t = gain > m->gap ? work_keep(w, t) : (plan_tree_free(t), NULL);
		if (!t)
			continue;
		if (has_tree(m, t))
			continue;
		*worst = fmax(*worst, gain);
		if (add_tree(m, t))
			return -ENOMEM;
		(*added)++;
	}
	return 0;
}

/*
 * Add neighbours of the last tree, each at higher prices for the resources of
 * the trees before. Rounds of large programs take long; this saves rounds.
 */
static int price_more(struct master *m, int j, int *added)
{
	struct work *w = m->w;
	int more, k, err = 0;
	struct plan_tree *t;
	double cost;

	for (more = 0; !err && more < NEIGHBOURS; more++) {
		t = m->col[m->ncol - 1];
		for (k = 0; k < t->nres; k++)
			w->price[t->res[k]] *= 1.3;
		if (pricer_set(w->pricer[j], m->sets->s[j], m->sets->m[j], w->price))
			return -ENOMEM;
		t = pricer_tree(w->pricer[j], PRICE_FROM_ALL, &cost);
		t = t ? work_keep(w, t) : NULL;
		if (!t || has_tree(m, t))
			continue;
		err = add_tree(m, t);
		(*added)++;
	}
	set_prices(m);
	return err;
}

static int solve_and_price(void *arg)
{
	struct master *m = arg;
	int round, j, added, before, err;
	double worst;

	for (round = 0; round < ROUNDS; round++) {
		err = lp_solve(m->f.lp);
		if (err || !m->pricing)
			return err;
		set_prices(m);
		worst = 0;
		added = 0;
		for (j = 0; !err && j < m->w->njobs; j++)
			if (work_by_lp(m->w, j)) {
				before = added;
				err = price_job(m, j, &worst, &added);
				if (!err && m->gap > FINE && added > before)
					err = price_more(m, j, &added);
			}
		if (err || !added)
			return err;
	}
	return 0;
}

static void favour(void *arg)
{
	struct master *m = arg;
	int i;

	m->favouring = true;
	for (i = 0; i < m->ncol; i++)
		lp_set_cost(m->f.lp, m->lp_col[i], -m->w->js->job[m->col[i]->job].weight);
}

static void frozen(void *arg, int j)
{
	struct master *m = arg;
	struct work *w = m->w;
	double *dual, v;
	int i;

	if (!m->dual)
		return;
	dual = m->dual + (size_t)j * (size_t)w->model->nres;
	for (i = 0; i < m->nrow; i++) {
		v = -m->f.lp->y[m->res_row[i]] * w->js->job[j].weight;
		dual[m->res[i]] = v > 1e-9 ? v : 0;
	}
}

/* True if the set has all relays of a tree. */
static bool tree_fits(const struct plan_tree *t, const struct sets *sets)
{
	const int *s = sets->s[t->job];
	int i, k;

	for (i = 0; i < t->nrel; i++) {
		for (k = 0; k < sets->m[t->job] && s[k] != t->rel[i];)
			k++;
		if (k == sets->m[t->job])
			return false;
	}
	return true;
}

static int first_trees(struct master *m)
{
	int have[PLAN_JOBS_MAX] = {0}, i, j, err = 0, before;
	struct work *w = m->w;
	bool lack = false;
	double soft, size = 0;

	for (i = w->npool - 1; !err && i >= 0; i--) {
		j = w->pool[i]->job;
		if (!work_by_lp(w, j) || have[j] >= FROM_POOL || !tree_fits(w->pool[i], m->sets))
			continue;
		have[j]++;
		err = add_tree(m, w->pool[i]);
	}
	for (j = 0; j < w->njobs; j++) {
		if (!work_by_lp(w, j))
			continue;
		size += (double)w->model->job[j].ngroup * m->sets->m[j];
		lack |= have[j] < 4;
	}
	if (err || !lack)
		return err;
	before = w->npool;
	soft = estimate_rates(w, m->sets, FIRST_STEPS(size), true, &soft);
	if (soft < 0)
		return (int)soft;
	for (i = before; !err && i < w->npool; i++)
		err = add_tree(m, w->pool[i]);
	return err;
}

static int begin(struct master *m, struct plan_tree *const *only, int nonly)
{
	struct work *w = m->w;
	int j, i, n = 0, rows[PLAN_JOBS_MAX], err = 0;
	double vals[PLAN_JOBS_MAX];

	m->f.lp = lp_new(&w->solver);
	m->idx = malloc(((size_t)w->model->nres + 1) * sizeof(int));
	m->val = malloc(((size_t)w->model->nres + 1) * sizeof(double));
	m->res = malloc((size_t)w->model->nres * sizeof(int));
	m->res_row = malloc((size_t)w->model->nres * sizeof(int));
	if (!m->f.lp || !m->idx || !m->val || !m->res || !m->res_row)
		return -ENOMEM;
	for (j = 0; j < w->njobs; j++) {
		m->f.job_row[j] = -1;
		if (!work_by_lp(w, j))
			continue;
		m->f.job_row[j] = lp_add_row(m->f.lp, 0, INFINITY);
		if (m->f.job_row[j] < 0)
			return -ENOMEM;
		rows[n] = m->f.job_row[j];
		vals[n++] = -w->js->job[j].weight;
	}
	m->f.tau = lp_add_col(m->f.lp, -1, 0, TAU_MAX, n, rows, vals);
	if (m->f.tau < 0)
		return -ENOMEM;
	if (!only)
		return first_trees(m);
	for (i = 0; !err && i < nonly; i++)
		err = add_tree(m, only[i]);
	return err;
}

/* Move the solution to @out. */
static int put_outcome(struct master *m, struct outcome *out)
{
	int i;

	out->col = calloc((size_t)m->ncol + 1, sizeof(*out->col));
	out->z = calloc((size_t)m->ncol + 1, sizeof(double));
	if (!out->col || !out->z)
		return -ENOMEM;
	memset(out->g, 0, sizeof(out->g));
	for (i = 0; i < m->ncol; i++) {
		double z = m->f.lp->x[m->lp_col[i]];

		if (z < 1e-9)
			continue;
		out->col[out->ncol] = m->col[i];
		out->z[out->ncol++] = z;
		out->g[m->col[i]->job] += z;
	}
	out->dual = m->dual;
	m->dual = NULL;
	return 0;
}

int tree_lp_solve(struct work *w, const struct sets *sets, double gap,
		  struct plan_tree *const *only, int nonly, bool duals, struct outcome *out)
{
	struct master m = {.w = w, .sets = sets, .gap = gap, .pricing = !only};
	double weight[PLAN_JOBS_MAX], g[PLAN_JOBS_MAX];
	int j, i, err;

	*out = (struct outcome){0};
	for (j = 0; j < w->njobs; j++)
		weight[j] = w->js->job[j].weight;
	m.f.njobs = w->njobs;
	m.f.weight = weight;
	m.f.arg = &m;
	m.f.solve = solve_and_price;
	m.f.favour = favour;
	m.f.frozen = frozen;
	err = begin(&m, only, nonly);
	if (!err && duals) {
		m.dual = calloc((size_t)w->model->nres * (size_t)w->njobs, sizeof(double));
		err = m.dual ? 0 : -ENOMEM;
	}
	if (!err)
		err = fill_rates(&m.f, g);
	if (!err)
		err = put_outcome(&m, out);
	if (err)
		outcome_free(out);
	for (i = 0; i < m.nrow; i++)
		w->row[m.res[i]] = -1;
	lp_free(m.f.lp);
	free(m.idx);
	free(m.val);
	free(m.res);
	free(m.res_row);
	free(m.col);
	free(m.lp_col);
	free(m.dual);
	return err;
}
