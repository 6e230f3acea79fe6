// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the search for a placement: greedy, a second start from the switches
 * with the most workers, swaps from both; the better one stays. Candidates are
 * sieved twice, by what they would save at the prices of the moment and by the
 * estimate, before a few of them are judged by the LP.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define SAME 1e-6
#define SOFT_SAME 1e-3
/* Estimates that differ by so much are right about which one is better. */
#define CLEAR 0.08
#define MEMO 1024
#define PAIRS_MAX 4000

/**
 * struct score - how good a placement is
 * @v: rates over weights, the smallest first; @soft: decides between equals.
 */
struct score {
	double v[PLAN_JOBS_MAX];
	double soft;
};

struct memo {
	uint64_t key;
	struct score score;
};

/**
 * struct search - a search, and how much it may cost
 * @sieve:  candidates that the estimate looks at, @steps: how closely.
 * @judged: of these the LP judges so many, up to the gap @gap; 0: the
 *          estimate decides, and the LP only between the two starts.
 * @passes: of swaps.
 * @seed:   the seed LP judges.
 */
struct search {
	struct work *w;
	int sieve, steps, judged, passes;
	bool seed;
	double gap;
	struct memo *memo;
	double *gain; /* by candidate: first sieve */
	int *order;
	double *soft;
	double done, todo; /* for progress */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Of the parts that matter: positive if @a is better. */
static int compare(const struct search *s, const struct score *a,
		   const struct score *b)
{
	int j;

	for (j = 0; j < s->w->njobs; j++)
		if (fabs(a->v[j] - b->v[j]) >
		    SAME * (fabs(a->v[j]) + fabs(b->v[j])))
			return a->v[j] > b->v[j] ? 1 : -1;
	if (fabs(a->soft - b->soft) > SOFT_SAME * fabs(a->soft))
		return a->soft > b->soft ? 1 : -1;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static uint64_t key_of(const struct search *s, const struct sets *sets)
{
	const struct work *w = s->w;
	uint64_t h = 14695981039346656037ull + (uint64_t)(w->solo + 1) +
		     (s->seed ? 64 : 0);
	int j, i, copy[PLAN_RELAYS_MAX + 4];

	for (j = 0; j < w->njobs; j++) {
		memcpy(copy, sets->s[j], (size_t)sets->m[j] * sizeof(int));
		qsort(copy, (size_t)sets->m[j], sizeof(int), by_number);
		for (i = 0; i < sets->m[j]; i++)
			h = (h ^ (uint64_t)(unsigned int)(copy[i] + 1)) *
			    1099511628211ull;
		h = (h ^ 0x10001) * 1099511628211ull;
	}
	return h;
}

/* What the LP says; a placement in which nobody can sum is worth nothing. */
static int judge(struct search *s, const struct sets *sets, double soft,
		 struct score *out)
{
	struct work *w = s->w;
	struct outcome o = {0};
	double g[PLAN_JOBS_MAX] = {0};
	uint64_t key = key_of(s, sets);
	struct memo *m = &s->memo[key % MEMO];
	int j, err = 0;

	if (m->key == key) {
		*out = m->score;
		return 0;
	}
	if (s->seed) {
		err = seed_lp(w, sets, g);
	} else {
		err = tree_lp(w, sets, s->gap, NULL, 0, false, &o);
		memcpy(g, o.g, sizeof(g));
		outcome_free(&o);
	}
	if (err)
		return err;
	for (j = 0; j < w->njobs; j++)
		out->v[j] = by_lp(w, j) ? g[j] / w->js->job[j].weight : 0;
	qsort(out->v, (size_t)w->njobs, sizeof(double), by_value);
	if (isnan(soft) && estimate(w, sets, s->steps, false, &soft) < 0)
		soft = 0;
	out->soft = soft;
	m->key = key;
	m->score = *out;
	return 0;
}

/*
 * First sieve: what each candidate would save at the prices that the estimate
 * of the set as it is ends with, joined to its nearest parent.
 */
static int gains(struct search *s, const struct sets *sets, int j)
{
	struct work *w = s->w;
	struct pricer *p = w->pricer[j];
	struct reach *r = w->reach[j];
	const struct net_job *nj = &w->net->job[j];
	int m = sets->m[j], c, g, k, width = m + 1;
	double soft, d, child, sum, up;
	const int *a;

	if (estimate(w, sets, s->steps, false, &soft) < 0)
		return -ENOMEM;
	if (pricer_set(p, sets->s[j], m, w->price))
		return -ENOMEM;
	for (g = 0; g < nj->ngroup; g++) {
		p->best[g] = INFINITY;
		for (k = 0; k <= m; k++)
			p->best[g] = fmin(p->best[g], p->dg[g * width + k]);
	}
	for (c = 0; c < r->n; c++) {
		if (reach_want(r, c))
			return -ENOMEM;
		child = w->price[res_relay(w->net, r->node[c])] +
			w->price[res_job_relay(w->net, j, r->node[c])];
		sum = 0;
		for (g = 0; g < nj->ngroup; g++) {
			a = r->arcs[c] + r->off[c][g];
			for (d = child; a < r->arcs[c] + r->off[c][g + 1]; a++)
				d += w->price[res_link(*a)];
			if (isinf(p->best[g]))
				sum -= nj->group[g].n * d;
			else if (d < p->best[g])
				sum += nj->group[g].n * (p->best[g] - d);
		}
		up = nj->job->ps < 0 && !m ? 0 : INFINITY;
		for (k = 0; k <= m; k++) {
			int t = k < m ? sets->s[j][k] : r->n;

			if (k == m && nj->job->ps < 0)
				continue;
			d = 0;
			a = r->arcs[t] + r->off[t][nj->ngroup + c];
			for (; a < r->arcs[t] + r->off[t][nj->ngroup + c + 1];
			     a++)
				d += w->price[res_link(*a)];
			up = fmin(up, d);
		}
		s->gain[c] = sum - up;
	}
	return 0;
}

static int sort_by(const double *value, int *order, int n)
{
	int i, k, x;

	/* Stable: equals stay in the order of the topology. */
	for (i = 1; i < n; i++) {
		x = order[i];
		for (k = i; k > 0 && value[order[k - 1]] < value[x]; k--)
			order[k] = order[k - 1];
		order[k] = x;
	}
	return n;
}

static bool has(const struct sets *sets, int j, int c)
{
	int i;

	for (i = 0; i < sets->m[j]; i++)
		if (sets->s[j][i] == c)
			return true;
	return false;
}

/*
 * The best candidate to put at place @at of job @j's set (m: to append).
 * *score: in, what it must surpass (in its LP part, if @strict); out, the
 * best one's. *pick -1: none does.
 */
static int best_at(struct search *s, struct sets *sets, int j, int at,
		   bool strict, struct score *score, int *pick)
{
	struct work *w = s->w;
	struct reach *r = w->reach[j];
	int n = 0, i, c, err, old = at < sets->m[j] ? sets->s[j][at] : -1;
	struct score now;
	struct sets trial;

	*pick = -1;
	trial = *sets;
	if (r->n > s->sieve) {
		/* Judge the gains without the one that is to go. */
		if (old >= 0)
			trial.s[j][at] = trial.s[j][--trial.m[j]];
		err = gains(s, &trial, j);
		if (err)
			return err;
		trial = *sets;
	} else {
		for (c = 0; c < r->n; c++)
			s->gain[c] = 0;
	}
	for (c = 0; c < r->n; c++)
		if (!has(sets, j, c))
			s->order[n++] = c;
	sort_by(s->gain, s->order, n);
	if (n > s->sieve)
		n = s->sieve;
	if (at == trial.m[j])
		trial.m[j]++;
	for (i = 0; i < n; i++) {
		trial.s[j][at] = s->order[i];
		if (estimate(w, &trial, s->steps, false,
			     &s->soft[s->order[i]]) < 0)
			return -ENOMEM;
	}
	sort_by(s->soft, s->order, n);
	if (!s->judged && n) {
		now = (struct score){.soft = s->soft[s->order[0]]};
		if (!strict || now.soft > score->soft * (1 + SOFT_SAME)) {
			*score = now;
			*pick = s->order[0];
		}
		return 0;
	}
	for (i = 0; i < n && i < s->judged; i++) {
		c = s->order[i];
		trial.s[j][at] = c;
		err = judge(s, &trial, s->soft[c], &now);
		if (err)
			return err;
		if (compare(s, &now, score) > 0 || (!strict && *pick < 0)) {
			*score = now;
			*pick = c;
		}
	}
	return 0;
}

static int tick(struct search *s)
{
	s->done++;
	return work_tick(s->w, "placing relays", fmin(0.99, s->done / s->todo));
}

/* As closely as the search looks at candidates. */
static int weigh(struct search *s, const struct sets *sets, struct score *score)
{
	if (s->judged)
		return judge(s, sets, NAN, score);
	*score = (struct score){0};
	return estimate(s->w, sets, s->steps, false, &score->soft) < 0 ? -ENOMEM
								       : 0;
}

/* Add relays until there are as many as may be. */
static int greedy(struct search *s, struct sets *sets, int j,
		  struct score *score)
{
	const struct job *job = &s->w->js->job[j];
	int want, pick, err;

	want = job->max + (job->tor_free && s->w->reach[j]->tor >= 0);
	if (want > s->w->reach[j]->n)
		want = s->w->reach[j]->n;
	while (sets->m[j] < want) {
		*score = (struct score){.soft = -1};
		err = best_at(s, sets, j, sets->m[j], false, score, &pick);
		if (err)
			return err;
		if (pick < 0)
			break;
		sets->s[j][sets->m[j]++] = pick;
		err = tick(s);
		if (err)
			return err;
	}
	return weigh(s, sets, score);
}

/* Exchange one relay at a time for a better one. */
static int swaps(struct search *s, struct sets *sets, int j,
		 struct score *score)
{
	const struct job *job = &s->w->js->job[j];
	int pass, at, pick, err;
	bool better = true;

	for (pass = 0; better && pass < s->passes; pass++) {
		better = false;
		for (at = 0; at < sets->m[j]; at++) {
			if (job->tor_free &&
			    sets->s[j][at] == s->w->reach[j]->tor)
				continue;
			err = best_at(s, sets, j, at, true, score, &pick);
			if (!err)
				err = tick(s);
			if (err)
				return err;
			if (pick < 0)
				continue;
			sets->s[j][at] = pick;
			better = true;
		}
	}
	return 0;
}

/*
 * Exchange two relays at a time, where all pairs can be tried. Only the seed
 * LP needs it: it rewards a second relay in a pod, but not the first.
 */
static int pair_swaps(struct search *s, struct sets *sets, int j,
		      struct score *score)
{
	struct reach *r = s->w->reach[j];
	const bool keep_tor = s->w->js->job[j].tor_free;
	int m = sets->m[j], a, b, c, d, err;
	struct sets trial = *sets, best = *sets;
	struct score now;
	bool better = false;

	if ((double)m * m * r->n * r->n / 4 > PAIRS_MAX)
		return 0;
	for (a = 0; a < m; a++)
		for (b = a + 1; b < m; b++)
			for (c = 0; c < r->n; c++)
				for (d = c + 1; d < r->n; d++) {
					if (has(sets, j, c) || has(sets, j, d))
						continue;
					if (keep_tor &&
					    (sets->s[j][a] == r->tor ||
					     sets->s[j][b] == r->tor))
						continue;
					trial.s[j][a] = c;
					trial.s[j][b] = d;
					err = judge(s, &trial, NAN, &now);
					trial = *sets;
					if (err)
						return err;
					if (compare(s, &now, score) <= 0)
						continue;
					*score = now;
					best = *sets;
					best.s[j][a] = c;
					best.s[j][b] = d;
					better = true;
				}
	*sets = best;
	return better ? swaps(s, sets, j, score) : 0;
}

static void begin_set(const struct work *w, struct sets *sets, int j)
{
	sets->m[j] = 0;
	if (w->js->job[j].tor_free && w->reach[j]->tor >= 0)
		sets->s[j][sets->m[j]++] = w->reach[j]->tor;
}

/* The switches with the most workers behind them. */
static int crowded(struct search *s, struct sets *sets, int j)
{
	struct work *w = s->w;
	struct reach *r = w->reach[j];
	const struct job *job = &w->js->job[j];
	int i, c, n = 0, want = job->max;

	for (c = 0; c < r->n; c++)
		s->gain[c] = 0;
	for (i = 0; i < job->nworkers; i++)
		for (c = 0; c < r->n; c++)
			s->gain[c] +=
				w->net->attach[job->worker[i]] == r->node[c];
	begin_set(w, sets, j);
	for (c = 0; c < r->n; c++)
		if (!has(sets, j, c))
			s->order[n++] = c;
	sort_by(s->gain, s->order, n);
	for (i = 0; i < n && want > 0; i++) {
		if (s->gain[s->order[i]] <= 0)
			break;
		sets->s[j][sets->m[j]++] = s->order[i];
		want--;
	}
	return 0;
}

/* How closely to look, by how much there is to look at. */
static int plan_effort(struct search *s)
{
	struct work *w = s->w;
	double size = 0;
	int j, most = 1, relays = 0;

	for (j = 0; j < w->njobs; j++) {
		if (!by_lp(w, j))
			continue;
		size += (double)w->net->job[j].ngroup * (w->js->job[j].max + 1);
		if (w->reach[j]->n > most)
			most = w->reach[j]->n;
		relays += w->js->job[j].max;
	}
	if (size < 120) {
		s->sieve = 200;
		s->steps = 32;
		s->judged = s->seed ? 200 : 6;
		s->passes = 8;
		s->gap = 1e-6;
	} else {
		s->sieve = 8;
		s->steps = 96;
		s->judged = 0;
		s->passes = 2;
		s->gap = 1e-2;
	}
	s->todo = relays * 5 + 1;
	free(s->gain);
	free(s->order);
	free(s->soft);
	s->gain = calloc((size_t)most + 1, sizeof(double));
	s->order = calloc((size_t)most + 1, sizeof(int));
	s->soft = calloc((size_t)most + 1, sizeof(double));
	return s->gain && s->order && s->soft ? 0 : -ENOMEM;
}

/* From both starts; the better one. */
static int place_twice(struct search *s, struct sets *sets, int j)
{
	bool full = s->w->opt->search == PLAN_SEARCH_FULL;
	struct sets other = *sets;
	struct score a, b;
	int err;

	begin_set(s->w, sets, j);
	err = greedy(s, sets, j, &a);
	if (err || !full)
		return err;
	err = crowded(s, &other, j);
	if (!err)
		err = greedy(s, &other, j, &b);
	if (!err)
		err = swaps(s, sets, j, &a);
	if (!err)
		err = swaps(s, &other, j, &b);
	/* Where the estimate is clear the LP need not be asked. */
	if (!err && (s->judged || fabs(a.soft - b.soft) < CLEAR * a.soft)) {
		err = judge(s, sets, NAN, &a);
		if (!err)
			err = judge(s, &other, NAN, &b);
	}
	if (!err && compare(s, &b, &a) > 0)
		*sets = other;
	return err;
}

/*
 * One job by itself, or beside the others as they are. The seed LP has many
 * placements from which no single exchange leads on: a third start is what the
 * trees would have.
 */
static int place_job(struct search *s, struct sets *sets, int j)
{
	struct sets trees = *sets;
	struct score a, b;
	int err;

	if (!s->seed || s->w->opt->search != PLAN_SEARCH_FULL)
		return place_twice(s, sets, j);
	s->seed = false;
	err = place_twice(s, &trees, j);
	s->seed = true;
	if (!err)
		err = place_twice(s, sets, j);
	if (!err)
		err = judge(s, &trees, NAN, &b);
	if (!err)
		err = swaps(s, &trees, j, &b);
	if (!err)
		err = judge(s, sets, NAN, &a);
	if (!err && compare(s, &b, &a) > 0) {
		*sets = trees;
		a = b;
	}
	return err ? err : pair_swaps(s, sets, j, &a);
}

static int search_new(struct search *s, struct work *w)
{
	*s = (struct search){.w = w};
	s->seed = w->opt->objective == PLAN_BY_SEED;
	s->memo = calloc(MEMO, sizeof(*s->memo));
	return s->memo ? plan_effort(s) : -ENOMEM;
}

static void search_free(struct search *s)
{
	free(s->memo);
	free(s->gain);
	free(s->order);
	free(s->soft);
}

/* Each job alone, then in turns until nobody finds a better exchange. */
static int place_all(struct search *s, struct sets *sets)
{
	struct work *w = s->w;
	struct score score, before;
	int j, err = 0, round;

	for (j = 0; !err && j < w->njobs; j++) {
		if (!by_lp(w, j))
			continue;
		w->solo = w->njobs > 1 ? j : -1;
		err = place_job(s, sets, j);
		w->solo = -1;
	}
	if (err || w->njobs < 2 || w->opt->search != PLAN_SEARCH_FULL)
		return err;
	err = weigh(s, sets, &score);
	for (round = 0; !err && round < 2; round++) {
		before = score;
		for (j = 0; !err && j < w->njobs; j++)
			if (by_lp(w, j))
				err = swaps(s, sets, j, &score);
		if (err || compare(s, &score, &before) <= 0)
			break;
	}
	return err;
}

int place(struct work *w, struct sets *sets)
{
	struct search s;
	int err, j, any = 0;

	memset(sets, 0, sizeof(*sets));
	for (j = 0; j < w->njobs; j++)
		any |= by_lp(w, j);
	if (!any)
		return 0;
	err = search_new(&s, w);
	if (!err)
		err = place_all(&s, sets);
	search_free(&s);
	return err;
}

int place_one_more(struct work *w, const struct sets *sets, int j, int *cand,
		   double gap, double g[])
{
	struct sets trial = *sets;
	struct outcome o = {0};
	struct score score = {.soft = -1};
	struct search s;
	int err;

	*cand = -1;
	err = search_new(&s, w);
	if (!err && sets->m[j] < w->reach[j]->n)
		err = best_at(&s, &trial, j, sets->m[j], false, &score, cand);
	search_free(&s);
	if (err || *cand < 0)
		return err;
	trial.s[j][trial.m[j]++] = *cand;
	err = tree_lp(w, &trial, gap, NULL, 0, false, &o);
	memcpy(g, o.g, sizeof(o.g));
	outcome_free(&o);
	return err;
}
