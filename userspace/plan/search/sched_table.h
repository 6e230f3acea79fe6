/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job's schedule table while it is made: its entries, their loads, and a
 * search for better entries.
 */
#ifndef TRIB_PLAN_SCHED_TABLE_H
#define TRIB_PLAN_SCHED_TABLE_H

#include "plan/trees/work.h"

/**
 * struct sched_table - entries of job @j, in no order
 * @limit:  limit of different trees.
 * @target: the tree LP's rate with any number of trees. The caller sets it.
 * @room:   by resource: capacity that the other jobs leave. The caller sets it.
 * @load:   by resource: load of all entries, one unit of rate each.
 * @entry:  @n trees, owned by the run's pool.
 * @best:   the @nbest entries with the highest rate so far, which is @rate.
 * @seed:   of the noise. Constant at the start: equal input, equal output.
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

/* 0 or -ENOMEM. */
int sched_table_init(struct sched_table *t, struct work *w, const struct sets *sets, int j);
void sched_table_free(struct sched_table *t);

/* Remove all entries, or replace them by the best ones. */
void sched_table_clear(struct sched_table *t);
void sched_table_from_best(struct sched_table *t);
void sched_table_add(struct sched_table *t, struct plan_tree *tree);
/* Copy the entries to the best ones if their rate is higher. */
void sched_table_note(struct sched_table *t);
/* True if the best rate is so near the target that the search can end. */
bool sched_table_is_good(const struct sched_table *t);

/* Exchange entries for better ones in @steps steps, keeping the best ones. */
void sched_table_search(struct sched_table *t, int steps);

#endif /* TRIB_PLAN_SCHED_TABLE_H */
