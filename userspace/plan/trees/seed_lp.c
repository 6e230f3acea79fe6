// SPDX-License-Identifier: BSD-2-Clause
/*
 * The seed LP, the published reference: workers send y to relays or to the PS,
 * relays send x to the PS or to the PS's relay, as much as their busiest worker
 * sends. It ignores chunks, so it can promise too much, and it has no trees of
 * more than two relays.
 *
 * A job without a PS is planned as if a PS were inside its root, behind a link
 * without limit; the best root counts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"
#include "uapi/trib_wire.h"

#define TAU_MAX 1e9
/* Limit of groups times relays for trying more than one root. */
#define ROOTS_MAX 20000

struct seed {
	struct work *w;
	struct filling f;
	int rate_col[PLAN_JOBS_MAX];
	int nused, *used; /* resources with a row */
	int *idx;
	double *val;
};

static int res_row(struct seed *s, int res)
{
	struct work *w = s->w;

	if (w->row[res] < 0) {
		w->row[res] = lp_add_row(s->f.lp, -INFINITY, w->model->cap[res]);
		s->used[s->nused++] = res;
	}
	return w->row[res];
}

/* Append the load of a flow of @amount to candidate @c; the new length. */
static int put_flow(struct seed *s, int j, int from, int c, double amount, int n)
{
	struct reach *r = s->w->reach[j];
	struct model *model = s->w->model;
	int i, res[2];

	for (i = r->off[c][from]; i < r->off[c][from + 1]; i++) {
		s->idx[n] = res_row(s, r->arcs[c][i]);
		s->val[n++] = amount;
	}
	if (c == r->n)
		return n;
	res[0] = res_relay(model, r->node[c]);
	res[1] = res_job_relay(model, j, r->node[c]);
	for (i = 0; i < 2; i++)
		if (!isinf(model->cap[res[i]])) {
			s->idx[n] = res_row(s, res[i]);
			s->val[n++] = amount;
		}
	return n;
}

static int put(struct seed *s, int n, int row, double val)
{
	s->idx[n] = row;
	s->val[n++] = val;
	return n;
}

static int col(struct seed *s, int n)
{
	return lp_add_col(s->f.lp, 0, 0, INFINITY, n, s->idx, s->val) < 0 ? -ENOMEM : 0;
}

static bool reachable(const struct reach *r, int from, int c)
{
	return r->off[c][from + 1] == r->off[c][from] || r->arcs[c][r->off[c][from]] >= 0;
}

/**
 * struct seed_job - rows of one job while its columns are added
 * @root:  candidate that stands for the PS, or -1. @ps: the destination.
 * @sd:    index of the PS's relay in the set, or -1.
 * @share: row of each group: what it sends, minus the job's rate, is >= 0.
 * @cover: [relay][group]: what the group sends to the relay, minus what the
 *         relay passes on, is <= 0.
 * @chain: row of each relay: what it sends to the PS's relay, minus what that
 *         passes on, is <= 0.
 */
struct seed_job {
	struct seed *s;
	int j, m, ng;
	const int *set;
	int root, ps, sd;
	int *share, *cover, *chain;
};

static int add_rows(struct seed_job *b)
{
	struct lp *lp = b->s->f.lp;
	int i, g;

	b->share = malloc((size_t)b->ng * sizeof(int));
	b->cover = malloc((size_t)b->ng * (size_t)b->m * sizeof(int) + 1);
	b->chain = malloc((size_t)b->m * sizeof(int) + 1);
	if (!b->share || !b->cover || !b->chain)
		return -ENOMEM;
	for (g = 0; g < b->ng; g++)
		b->share[g] = lp_add_row(lp, 0, INFINITY);
	for (i = 0; i < b->m; i++) {
		b->chain[i] = i == b->sd ? -1 : lp_add_row(lp, -INFINITY, 0);
		for (g = 0; g < b->ng; g++)
			b->cover[i * b->ng + g] = lp_add_row(lp, -INFINITY, 0);
	}
	return 0;
}

/* y of each group: to each relay and to the PS. */
static int add_group_flows(struct seed_job *b)
{
	struct seed *s = b->s;
	const struct reach *r = s->w->reach[b->j];
	const struct model_job *nj = &s->w->model->job[b->j];
	int g, i, c, n, err = 0;

	for (g = 0; !err && g < b->ng; g++)
		for (i = 0; !err && i <= b->m; i++) {
			c = i < b->m ? b->set[i] : b->ps;
			if ((i < b->m && c == b->root) || !reachable(r, g, c))
				continue;
			n = put(s, 0, b->share[g], 1);
			if (i < b->m)
				n = put(s, n, b->cover[i * b->ng + g], 1);
			n = put_flow(s, b->j, g, c, nj->group[g].n, n);
			err = col(s, n);
		}
	return err;
}

static int put_cover(struct seed_job *b, int i)
{
	int g, n = 0;

	for (g = 0; g < b->ng; g++)
		n = put(b->s, n, b->cover[i * b->ng + g], -1);
	return n;
}

/* x of each relay: to the PS and to the PS's relay. */
static int add_relay_flows(struct seed_job *b)
{
	struct seed *s = b->s;
	int i, k, n, from, err = 0;

	for (i = 0; !err && i < b->m; i++) {
		if (b->set[i] == b->root)
			continue;
		from = b->ng + b->set[i];
		n = put_cover(b, i);
		for (k = 0; i == b->sd && k < b->m; k++)
			if (k != b->sd)
				n = put(s, n, b->chain[k], -1);
		err = col(s, put_flow(s, b->j, from, b->ps, 1, n));
		if (err || b->sd < 0 || i == b->sd)
			continue;
		n = put(s, put_cover(b, i), b->chain[i], 1);
		err = col(s, put_flow(s, b->j, from, s->w->reach[b->j]->tor, 1, n));
	}
	return err;
}

/* The job's rate: every group sends at least as much. */
static int add_rate(struct seed_job *b)
{
	struct seed *s = b->s;
	int access = res_access(s->w->model, b->j), g, n;

	n = put(s, 0, s->f.job_row[b->j], 1);
	if (!isinf(s->w->model->cap[access]))
		n = put(s, n, res_row(s, access), 1);
	for (g = 0; g < b->ng; g++)
		n = put(s, n, b->share[g], -1);
	s->rate_col[b->j] = lp_add_col(s->f.lp, 0, 0, INFINITY, n, s->idx, s->val);
	return s->rate_col[b->j] < 0 ? -ENOMEM : 0;
}

static int add_job(struct seed *s, const struct sets *sets, int j, int root)
{
	struct reach *r = s->w->reach[j];
	struct seed_job b = {.s = s,
			     .j = j,
			     .m = sets->m[j],
			     .ng = s->w->model->job[j].ngroup,
			     .set = sets->s[j],
			     .root = root,
			     .ps = root >= 0 ? root : r->n,
			     .sd = -1};
	int i, err = 0;

	for (i = 0; root < 0 && i < b.m; i++)
		if (b.set[i] == r->tor)
			b.sd = i;
	for (i = 0; !err && i <= b.m; i++)
		err = reach_want(r, i < b.m ? b.set[i] : b.ps);
	if (!err)
		err = add_rows(&b);
	if (!err)
		err = add_group_flows(&b);
	if (!err)
		err = add_relay_flows(&b);
	if (!err)
		err = add_rate(&b);
	free(b.share);
	free(b.cover);
	free(b.chain);
	return err;
}

static int solve(void *arg)
{
	struct seed *s = arg;

	return lp_solve(s->f.lp);
}

static void favour(void *arg)
{
	struct seed *s = arg;
	int j;

	for (j = 0; j < s->w->njobs; j++)
		if (work_by_lp(s->w, j))
			lp_set_cost(s->f.lp, s->rate_col[j], -s->w->js->job[j].weight);
}

static int run(struct work *w, const struct sets *sets, const int *root, double g[])
{
	struct seed s = {.w = w};
	double weight[PLAN_JOBS_MAX];
	size_t room = (size_t)w->model->nres + 4 * TRIB_WORLD_MAX;
	int j, i, n, err = 0;

	s.f.lp = lp_new(&w->solver);
	s.used = malloc((size_t)w->model->nres * sizeof(int));
	s.idx = malloc(room * sizeof(int));
	s.val = malloc(room * sizeof(double));
	if (!s.f.lp || !s.used || !s.idx || !s.val)
		err = -ENOMEM;
	for (j = 0; !err && j < w->njobs; j++) {
		weight[j] = w->js->job[j].weight;
		s.f.job_row[j] = -1;
		if (work_by_lp(w, j)) {
			s.f.job_row[j] = lp_add_row(s.f.lp, 0, INFINITY);
			err = add_job(&s, sets, j, root[j]);
		}
	}
	for (j = n = 0; !err && j < w->njobs; j++)
		if (work_by_lp(w, j))
			n = put(&s, n, s.f.job_row[j], -weight[j]);
	if (!err) {
		s.f.tau = lp_add_col(s.f.lp, -1, 0, TAU_MAX, n, s.idx, s.val);
		s.f.njobs = w->njobs;
		s.f.weight = weight;
		s.f.arg = &s;
		s.f.solve = solve;
		s.f.favour = favour;
		err = fill_rates(&s.f, g);
	}
	for (j = 0; !err && j < w->njobs; j++)
		g[j] = work_by_lp(w, j) ? s.f.lp->x[s.rate_col[j]] : 0;
	for (i = 0; i < s.nused; i++)
		w->row[s.used[i]] = -1;
	lp_free(s.f.lp);
	free(s.used);
	free(s.idx);
	free(s.val);
	return err;
}

/* Try each root of each job without a PS while the others stay. */
int seed_lp_solve(struct work *w, const struct sets *sets, double g[])
{
	int root[PLAN_JOBS_MAX], j, i, best, err, tries;
	double most, h[PLAN_JOBS_MAX];

	for (j = 0; j < w->njobs; j++) {
		root[j] = -1;
		if (work_by_lp(w, j) && w->js->job[j].ps < 0)
			root[j] = sets->s[j][0];
	}
	for (j = 0; j < w->njobs; j++) {
		tries = work_by_lp(w, j) ? w->model->job[j].ngroup * sets->m[j] : 0;
		if (root[j] < 0 || sets->m[j] < 2 || tries > ROOTS_MAX)
			continue;
		most = -1;
		best = root[j];
		for (i = 0; i < sets->m[j]; i++) {
			root[j] = sets->s[j][i];
			err = run(w, sets, root, h);
			if (err)
				return err;
			if (h[j] > most + 1e-9) {
				most = h[j];
				best = root[j];
			}
		}
		root[j] = best;
	}
	return run(w, sets, root, g);
}
