/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a job while it is being made: which trees its entries have, what
 * they load, and a search for better ones.
 */
#ifndef TRIB_PLAN_TABLE_H
#define TRIB_PLAN_TABLE_H

#include "plan/search/work.h"

/**
 * struct table - entries of a job, in no order
 * @sets:   relays that trees may use.
 * @limit:  how many different trees there may be.
 * @target: the rate that the tree LP reaches with as many as it likes.
 * @room:   capacity that the other jobs leave, @load: of all entries, one unit
 *          of rate each; by resource.
 * @entry:  trees of the pool.
 * @best:   the entries that gave the most so far, @nbest of them, @rate.
 * @seed:   of the noise: equal input gives equal output.
 */
struct table {
	struct work *w;
	const struct sets *sets;
	int j, limit;
	double target;
	double *room, *load;
	int n, nbest;
	struct tree *entry[PLAN_SCHEDULE_MAX], *best[PLAN_SCHEDULE_MAX];
	double rate;
	uint64_t seed;
};

/* 0 or -ENOMEM; the caller fills in room and target. */
int table_init(struct table *t, struct work *w, const struct sets *sets, int j);
void table_free(struct table *t);

/* Start anew with no entry, or with those of the best. */
void table_clear(struct table *t);
void table_from_best(struct table *t);
/* Append an entry. */
void table_add(struct table *t, struct tree *tree);
/* Remember the entries if they give more than the best. */
void table_note(struct table *t);
/* Whether the best is so near the target that more work is not worth it. */
bool table_will_do(const struct table *t);

/**
 * table_search() - exchange entries for better ones
 * @steps: of the search. The number of entries stays.
 *
 * What is best is noted on the way. Without memory all stays as it is.
 */
void table_search(struct table *t, int steps);

#endif /* TRIB_PLAN_TABLE_H */
