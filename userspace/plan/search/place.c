// SPDX-License-Identifier: BSD-2-Clause
/*
 * The placement search: a greedy start, a second start from the switches with
 * the most workers, swaps from both. The better result stays.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "search.h"

/* Estimates that differ by this share rank placements like the LP does. */
#define CLEAR 0.08
/* Limit of pairs of swaps. */
#define PAIRS_MAX 4000

static int tick(struct search *s)
{
	s->done++;
	return work_tick(s->w, "placing relays", fmin(0.99, s->done / s->todo));
}

/* Add the best relay until the set is full. */
static int greedy(struct search *s, struct sets *sets, int j, struct score *score)
{
	const struct job *job = &s->w->js->job[j];
	int want, pick, err;

	want = job->max + (job->tor_free && s->w->reach[j]->tor >= 0);
	if (want > s->w->reach[j]->n)
		want = s->w->reach[j]->n;
	while (sets->m[j] < want) {
		*score = (struct score){.soft = -1};
		err = search_best_at(s, sets, j, sets->m[j], false, score, &pick);
		if (err)
			return err;
		if (pick < 0)
			break;
		sets->s[j][sets->m[j]++] = pick;
		err = tick(s);
		if (err)
			return err;
	}
	return search_weigh(s, sets, score);
}

/* Exchange one relay at a time for a better one, for some passes. */
static int swaps(struct search *s, struct sets *sets, int j, struct score *score)
{
	const struct job *job = &s->w->js->job[j];
	int pass, at, pick, err;
	bool better = true;

	for (pass = 0; better && pass < s->passes; pass++) {
		better = false;
		for (at = 0; at < sets->m[j]; at++) {
			if (job->tor_free && sets->s[j][at] == s->w->reach[j]->tor)
				continue;
			err = search_best_at(s, sets, j, at, true, score, &pick);
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
 * Score the set with the relays at places @a and @b replaced by @c and @d, and
 * keep it in @best if it is better.
 */
static int try_pair(struct search *s, const struct sets *sets, int j, const int at[2],
		    const int with[2], struct sets *best, struct score *score)
{
	struct sets trial = *sets;
	struct score now;
	int err;

	trial.s[j][at[0]] = with[0];
	trial.s[j][at[1]] = with[1];
	err = search_judge(s, &trial, NAN, &now);
	if (err || search_compare(s, &now, score) <= 0)
		return err;
	*score = now;
	*best = trial;
	return 0;
}

/*
 * Exchange two relays at a time, if there are few enough pairs to try them all.
 * Only the seed LP needs this: it rewards the second relay of a pod, but not
 * the first.
 */
static int pair_swaps(struct search *s, struct sets *sets, int j, struct score *score)
{
	struct reach *r = s->w->reach[j];
	const bool keep_tor = s->w->js->job[j].tor_free;
	struct sets best = *sets;
	int m = sets->m[j], a, b, c, d, err;

	if ((double)m * m * r->n * r->n / 4 > PAIRS_MAX)
		return 0;
	for (a = 0; a < m; a++)
		for (b = a + 1; b < m; b++)
			for (c = 0; c < r->n; c++)
				for (d = c + 1; d < r->n; d++) {
					if (search_has(sets, j, c) || search_has(sets, j, d))
						continue;
					if (keep_tor &&
					    (sets->s[j][a] == r->tor || sets->s[j][b] == r->tor))
						continue;
					err = try_pair(s, sets, j, (int[]){a, b}, (int[]){c, d},
						       &best, score);
					if (err)
						return err;
				}
	if (!memcmp(&best, sets, sizeof(best)))
		return 0;
	*sets = best;
	return swaps(s, sets, j, score);
}

static void begin_set(const struct work *w, struct sets *sets, int j)
{
	sets->m[j] = 0;
	if (w->js->job[j].tor_free && w->reach[j]->tor >= 0)
		sets->s[j][sets->m[j]++] = w->reach[j]->tor;
}

/* Start from the switches with the most workers behind them. */
static void crowded(struct search *s, struct sets *sets, int j)
{
	struct work *w = s->w;
	struct reach *r = w->reach[j];
	const struct job *job = &w->js->job[j];
	int i, c, n = 0, want = job->max;

	for (c = 0; c < r->n; c++)
		s->gain[c] = 0;
	for (i = 0; i < job->nworkers; i++)
		for (c = 0; c < r->n; c++)
			s->gain[c] += w->model->attach[job->worker[i]] == r->node[c];
	begin_set(w, sets, j);
	for (c = 0; c < r->n; c++)
		if (!search_has(sets, j, c))
			s->order[n++] = c;
	search_sort(s->gain, s->order, n);
	for (i = 0; i < n && want > 0; i++) {
		if (s->gain[s->order[i]] <= 0)
			break;
		sets->s[j][sets->m[j]++] = s->order[i];
		want--;
	}
}

/* Set the effort by the size of the problem. */
static int set_effort(struct search *s)
{
	struct work *w = s->w;
	int j, most = 1, relays = 0;

	for (j = 0; j < w->njobs; j++) {
		if (!work_by_lp(w, j))
			continue;
		if (w->reach[j]->n > most)
			most = w->reach[j]->n;
		relays += w->js->job[j].max;
	}
	if (work_size(w) < 120) {
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

/* Search from both starts and keep the better result. */
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
	crowded(s, &other, j);
	err = greedy(s, &other, j, &b);
	if (!err)
		err = swaps(s, sets, j, &a);
	if (!err)
		err = swaps(s, &other, j, &b);
	/* A clear difference of the estimates needs no LP. */
	if (!err && (s->judged || fabs(a.soft - b.soft) < CLEAR * a.soft)) {
		err = search_judge(s, sets, NAN, &a);
		if (!err)
			err = search_judge(s, &other, NAN, &b);
	}
	if (!err && search_compare(s, &b, &a) > 0)
		*sets = other;
	return err;
}

/*
 * Place one job, alone or beside the others. The seed LP has many placements
 * that no single exchange improves, so it gets a third start: the placement
 * that the tree LP would choose.
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
		err = search_judge(s, &trees, NAN, &b);
	if (!err)
		err = swaps(s, &trees, j, &b);
	if (!err)
		err = search_judge(s, sets, NAN, &a);
	if (!err && search_compare(s, &b, &a) > 0) {
		*sets = trees;
		a = b;
	}
	return err ? err : pair_swaps(s, sets, j, &a);
}

int search_new(struct search *s, struct work *w)
{
	*s = (struct search){.w = w};
	s->seed = w->opt->objective == PLAN_BY_SEED;
	s->memo = calloc(SEARCH_MEMO, sizeof(*s->memo));
	return s->memo ? set_effort(s) : -ENOMEM;
}

void search_free(struct search *s)
{
	free(s->memo);
	free(s->gain);
	free(s->order);
	free(s->soft);
}

/* Place each job alone, then swap in turns until no job improves. */
static int place_all(struct search *s, struct sets *sets)
{
	struct work *w = s->w;
	struct score score, before;
	int j, err = 0, round;

	for (j = 0; !err && j < w->njobs; j++) {
		if (!work_by_lp(w, j))
			continue;
		w->solo = w->njobs > 1 ? j : -1;
		err = place_job(s, sets, j);
		w->solo = -1;
	}
	if (err || w->njobs < 2 || w->opt->search != PLAN_SEARCH_FULL)
		return err;
	err = search_weigh(s, sets, &score);
	for (round = 0; !err && round < 2; round++) {
		before = score;
		for (j = 0; !err && j < w->njobs; j++)
			if (work_by_lp(w, j))
				err = swaps(s, sets, j, &score);
		if (err || search_compare(s, &score, &before) <= 0)
			break;
	}
	return err;
}

int place_relays(struct work *w, struct sets *sets)
{
	struct search s;
	int err;

	memset(sets, 0, sizeof(*sets));
	if (!work_any_lp(w))
		return 0;
	err = search_new(&s, w);
	if (!err)
		err = place_all(&s, sets);
	search_free(&s);
	return err;
}

int place_one_more(struct work *w, const struct sets *sets, int j, int *cand, double gap,
		   double g[])
{
	struct sets trial = *sets;
	struct outcome o = {0};
	struct score score = {.soft = -1};
	struct search s;
	int err;

	*cand = -1;
	err = search_new(&s, w);
	if (!err && sets->m[j] < w->reach[j]->n)
		err = search_best_at(&s, &trial, j, sets->m[j], false, &score, cand);
	search_free(&s);
	if (err || *cand < 0)
		return err;
	trial.s[j][trial.m[j]++] = *cand;
	err = tree_lp_solve(w, &trial, gap, NULL, 0, false, &o);
	memcpy(g, o.g, sizeof(o.g));
	outcome_free(&o);
	return err;
}
