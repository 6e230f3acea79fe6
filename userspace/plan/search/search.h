/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of a placement search, private to place.c, judge.c and candidates.c.
 */
#ifndef TRIB_PLAN_SEARCH_H
#define TRIB_PLAN_SEARCH_H

#include "plan/trees/work.h"

/* Relative difference below which two soft scores are equal. */
#define SOFT_SAME 1e-3

/**
 * struct score - value of a placement
 * @v:    rates over weights, ascending.
 * @soft: estimate; decides between equal rates.
 */
struct score {
	double v[PLAN_JOBS_MAX];
	double soft;
};

/* A remembered score; @key is a hash of the placement. */
struct memo {
	uint64_t key;
	struct score score;
};

#define SEARCH_MEMO 1024

/**
 * struct search - a placement search and its effort
 * @sieve:  number of candidates that the estimate judges.
 * @steps:  of each estimate.
 * @judged: number of those that the LP judges too. 0: the estimate decides,
 *          and the LP only chooses between the two starts.
 * @passes: limit of passes of swaps.
 * @seed:   the seed LP judges, not the tree LP.
 * @gap:    of the tree LP.
 * @memo:   SEARCH_MEMO remembered scores, by hash.
 * @gain, @soft: by candidate: results of the first and of the second sieve.
 * @order:  scratch: candidates.
 * @done, @todo: for progress.
 */
struct search {
	struct work *w;
	int sieve, steps, judged, passes;
	bool seed;
	double gap;
	struct memo *memo;
	double *gain, *soft;
	int *order;
	double done, todo;
};

int search_new(struct search *s, struct work *w);
void search_free(struct search *s);

/* judge.c */
/* > 0 if @a is better than @b, < 0 if it is worse. */
int search_compare(const struct search *s, const struct score *a, const struct score *b);
/**
 * search_judge() - score a placement by the LP
 * @soft: its estimate, NAN: not known yet.
 *
 * Scores are remembered. A placement without a tree scores 0.
 */
int search_judge(struct search *s, const struct sets *sets, double soft, struct score *out);
/* Score a placement as candidates are scored: by the LP or by the estimate. */
int search_weigh(struct search *s, const struct sets *sets, struct score *score);

/* candidates.c */
/* True if candidate @c is among job @j's relays. */
bool search_has(const struct sets *sets, int j, int c);
/* Sort @order by descending @value; equals keep their order. */
void search_sort(const double *value, int *order, int n);
/**
 * search_best_at() - find the best candidate for place @at of job @j's set
 * @at:     the number of relays: append.
 * @strict: the candidate must be better than *@score.
 * @score:  in: the score to beat. out: the candidate's.
 * @pick:   the candidate, -1: none.
 */
int search_best_at(struct search *s, struct sets *sets, int j, int at, bool strict,
		   struct score *score, int *pick);

#endif /* TRIB_PLAN_SEARCH_H */
