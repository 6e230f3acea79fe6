// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the best candidate for one place of a set. Two sieves come before the
 * LP: the savings at the current prices, then the estimate.
 */
#include <errno.h>
#include <math.h>

#include "search.h"

/*
 * Price to join candidate @c to its nearest parent. Without a PS, the first
 * relay is the root and joins for free.
 */
static double join_price(const struct search *s, const struct sets *sets, int j, int c)
{
	const struct reach *r = s->w->reach[j];
	int m = sets->m[j], from = s->w->model->job[j].ngroup + c, k;
	bool has_ps = s->w->js->job[j].ps >= 0;
	double least = has_ps || m ? INFINITY : 0;

	for (k = 0; k < m + has_ps; k++)
		least = fmin(least,
			     reach_length(r, from, k < m ? sets->s[j][k] : r->n, s->w->price, 0));
	return least;
}

/*
 * First sieve: the savings by each candidate, at the prices with which the
 * estimate of the present set ends.
 */
static int gains(struct search *s, const struct sets *sets, int j)
{
	struct work *w = s->w;
	struct pricer *p = w->pricer[j];
	struct reach *r = w->reach[j];
	const struct model_job *nj = &w->model->job[j];
	int m = sets->m[j], c, g, k, width = m + 1;
	double soft, d, child, sum;

	if (estimate_rates(w, sets, s->steps, false, &soft) < 0)
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
		child = reach_child_price(r, c, w->price);
		sum = 0;
		for (g = 0; g < nj->ngroup; g++) {
			d = reach_length(r, g, c, w->price, child);
			if (isinf(p->best[g]))
				sum -= nj->group[g].n * d;
			else if (d < p->best[g])
				sum += nj->group[g].n * (p->best[g] - d);
		}
		s->gain[c] = sum - join_price(s, sets, j, c);
	}
	return 0;
}

void search_sort(const double *value, int *order, int n)
{
	int i, k, x;

	for (i = 1; i < n; i++) {
		x = order[i];
		for (k = i; k > 0 && value[order[k - 1]] < value[x]; k--)
			order[k] = order[k - 1];
		order[k] = x;
	}
}

bool search_has(const struct sets *sets, int j, int c)
{
	int i;

	for (i = 0; i < sets->m[j]; i++)
		if (sets->s[j][i] == c)
			return true;
	return false;
}

/* List the candidates that are not in the set, by descending gain. */
static int list_candidates(struct search *s, const struct sets *sets, int j, int at)
{
	struct reach *r = s->w->reach[j];
	struct sets trial = *sets;
	int n = 0, c, err;

	for (c = 0; c < r->n; c++)
		s->gain[c] = 0;
	if (r->n > s->sieve) {
		/* The relay that will be replaced does not count. */
		if (at < trial.m[j])
			trial.s[j][at] = trial.s[j][--trial.m[j]];
		err = gains(s, &trial, j);
		if (err)
			return err;
	}
	for (c = 0; c < r->n; c++)
		if (!search_has(sets, j, c))
			s->order[n++] = c;
	search_sort(s->gain, s->order, n);
	return n < s->sieve ? n : s->sieve;
}

int search_best_at(struct search *s, struct sets *sets, int j, int at, bool strict,
		   struct score *score, int *pick)
{
	int n = list_candidates(s, sets, j, at), i, c, err;
	struct sets trial = *sets;
	struct score now;

	*pick = -1;
	if (n < 0)
		return n;
	if (at == trial.m[j])
		trial.m[j]++;
	for (i = 0; i < n; i++) {
		c = s->order[i];
		trial.s[j][at] = c;
		if (estimate_rates(s->w, &trial, s->steps, false, &s->soft[c]) < 0)
			return -ENOMEM;
	}
	search_sort(s->soft, s->order, n);
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
		err = search_judge(s, &trial, s->soft[c], &now);
		if (err)
			return err;
		if (search_compare(s, &now, score) > 0 || (!strict && *pick < 0)) {
			*score = now;
			*pick = c;
		}
	}
	return 0;
}
