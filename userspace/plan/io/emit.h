/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From what was found to the plan's JSON.
 */
#ifndef TRIB_PLAN_EMIT_H
#define TRIB_PLAN_EMIT_H

#include "rows.h"
#include "plan/search/schedule.h"

/**
 * struct findings - all that a plan tells
 * @best:   the tree LP's outcome, with duals. @seed, @direct: rates by the
 *          seed LP and without any relay; < 0: does not apply.
 * @more, @more_rate: by job: node to add, -1: none, and the rate then.
 */
struct findings {
	struct work *w;
	struct sets sets;
	struct outcome best;
	struct schedule sched[PLAN_JOBS_MAX];
	double seed[PLAN_JOBS_MAX], direct[PLAN_JOBS_MAX];
	int more[PLAN_JOBS_MAX];
	double more_rate[PLAN_JOBS_MAX];
};

int emit_plan(const struct findings *f, json_t **out);

/* The share of a wire's bits that are values: headers, frame gaps, exponents. */
double emit_goodput(const struct plan_topology *t, const struct job *job);

/* emit_job.c: the object of one job; *next_tree: number of its first tree. */
json_t *emit_job(const struct findings *f, int j, struct rows *rows,
		 int *next_tree, const int *relay_number);

#endif /* TRIB_PLAN_EMIT_H */
