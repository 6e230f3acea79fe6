/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Placement: which nodes relay for each job.
 */
#ifndef TRIB_PLAN_PLACE_H
#define TRIB_PLAN_PLACE_H

#include "plan/trees/work.h"

/* Find the relays of all jobs; 0 or -errno. */
int place_relays(struct work *w, struct sets *sets);

/**
 * place_one_more() - find the best relay to add to job @j
 * @cand: the candidate, -1: none.
 * @gap:  of the tree LP.
 * @g:    rates of all jobs with it; unset without a candidate.
 */
int place_one_more(struct work *w, const struct sets *sets, int j, int *cand, double gap,
		   double g[]);

#endif /* TRIB_PLAN_PLACE_H */
