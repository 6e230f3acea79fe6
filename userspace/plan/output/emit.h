/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes findings as the plan's JSON.
 */
#ifndef TRIB_PLAN_EMIT_H
#define TRIB_PLAN_EMIT_H

#include "plan/search/findings.h"
#include "rows.h"

/* The plan as JSON; 0, or -errno with a text in the run's error. */
int emit_plan(const struct findings *f, json_t **out);

/**
 * emit_job() - the plan's object of job @j
 * @rows:      collects the job's rows; NULL: no rows.
 * @next_tree: in and out: the number of the next tree.
 * @relay_number: by node: relay number in shared pools.
 *
 * Returns a new reference, or NULL with a text in the run's error.
 */
json_t *emit_job(const struct findings *f, int j, struct rows *rows, int *next_tree,
		 const int *relay_number);

#endif /* TRIB_PLAN_EMIT_H */
