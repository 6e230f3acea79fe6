// SPDX-License-Identifier: BSD-2-Clause
/*
 * Scores placements by the LP and remembers the scores.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

/* Relative difference below which two rates are equal. */
#define SAME 1e-6

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int search_compare(const struct search *s, const struct score *a, const struct score *b)
{
	int j;

	for (j = 0; j < s->w->njobs; j++)
		if (fabs(a->v[j] - b->v[j]) > SAME * (fabs(a->v[j]) + fabs(b->v[j])))
			return a->v[j] > b->v[j] ? 1 : -1;
	if (fabs(a->soft - b->soft) > SOFT_SAME * fabs(a->soft))
		return a->soft > b->soft ? 1 : -1;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Hash of the placement, the jobs in question and the kind of LP. */
static uint64_t key_of(const struct search *s, const struct sets *sets)
{
	const struct work *w = s->w;
	uint64_t h = 14695981039346656037ull + (uint64_t)(w->solo + 1) + (s->seed ? 64 : 0);
	int j, i, copy[PLAN_RELAYS_MAX + 4];

	for (j = 0; j < w->njobs; j++) {
		memcpy(copy, sets->s[j], (size_t)sets->m[j] * sizeof(int));
		qsort(copy, (size_t)sets->m[j], sizeof(int), by_number);
		for (i = 0; i < sets->m[j]; i++)
			h = (h ^ (uint64_t)(unsigned int)(copy[i] + 1)) * 1099511628211ull;
		h = (h ^ 0x10001) * 1099511628211ull;
	}
	return h;
}

int search_judge(struct search *s, const struct sets *sets, double soft, struct score *out)
{
	struct work *w = s->w;
	struct outcome o = {0};
	double g[PLAN_JOBS_MAX] = {0};
	uint64_t key = key_of(s, sets);
	struct memo *m = &s->memo[key % SEARCH_MEMO];
	int j, err = 0;

	if (m->key == key) {
		*out = m->score;
		return 0;
	}
	if (s->seed) {
		err = seed_lp_solve(w, sets, g);
	} else {
		err = tree_lp_solve(w, sets, s->gap, NULL, 0, false, &o);
		memcpy(g, o.g, sizeof(g));
		outcome_free(&o);
	}
	if (err)
		return err;
	for (j = 0; j < w->njobs; j++)
		out->v[j] = work_by_lp(w, j) ? g[j] / w->js->job[j].weight : 0;
	qsort(out->v, (size_t)w->njobs, sizeof(double), by_value);
	if (isnan(soft) && estimate_rates(w, sets, s->steps, false, &soft) < 0)
		soft = 0;
	out->soft = soft;
	m->key = key;
	m->score = *out;
	return 0;
}

int search_weigh(struct search *s, const struct sets *sets, struct score *score)
{
	if (s->judged)
		return search_judge(s, sets, NAN, score);
	*score = (struct score){0};
	return estimate_rates(s->w, sets, s->steps, false, &score->soft) < 0 ? -ENOMEM : 0;
}
