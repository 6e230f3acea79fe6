/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of a job while it is being made: which trees its entries have, what
 * they load, and a search for better ones.
 */
#ifndef TRIB_PLAN_SCHED_TABLE_H
#define TRIB_PLAN_SCHED_TABLE_H

#include "plan/trees/work.h"

/**
 * struct sched_table - entries of a job, in no order
 * @sets:   relays that trees may use.
 * @limit:  how many different trees there may be.
 * @target: the rate that the tree LP reaches with as many as it likes.
 * @room:   capacity that the other jobs leave, @load: of all entries, one unit
 *          of rate each; by resource.
 * @entry:  trees of the pool.
 * @best:   the entries that gave the most so far, @nbest of them, @rate.
 * @seed:   of the noise: equal input gives equal output.
 */
struct sched_table {
	struct work *w;
	const struct sets *sets;
	int j, limit;
	double target;
	double *room, *load;
	int n, nbest;
	struct plan_tree *entry[PLAN_SCHEDULE_MAX], *best[PLAN_SCHEDULE_MAX];
	double rate;
	uint64_t seed;
};

/* 0 or -ENOMEM; the caller fills in room and target. */
int sched_table_init(struct sched_table *t, struct work *w,
		     const struct sets *sets, int j);
void sched_table_free(struct sched_table *t);

/* Start anew with no entry, or with those of the best. */
void sched_table_clear(struct sched_table *t);
void sched_table_from_best(struct sched_table *t);
/* Append an entry. */
void sched_table_add(struct sched_table *t, struct plan_tree *tree);
/* Remember the entries if they give more than the best. */
void sched_table_note(struct sched_table *t);
/* Whether the best is so near the target that more work is not worth it. */
bool sched_table_will_do(const struct sched_table *t);

/**
 * sched_table_search() - exchange entries for better ones
 * @steps: of the search. The number of entries stays.
 *
 * What is best is noted on the way. Without memory all stays as it is.
 */
void sched_table_search(struct sched_table *t, int steps);

#endif /* TRIB_PLAN_SCHED_TABLE_H */
