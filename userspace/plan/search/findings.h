/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All results of a planning run.
 */
#ifndef TRIB_PLAN_FINDINGS_H
#define TRIB_PLAN_FINDINGS_H

#include "schedule.h"

/**
 * struct findings - what a plan reports
 * @best:   solution of the tree LP, with duals.
 * @seed:   rate of each job by the seed LP.
 * @direct: rate of each job without relays; < 0: does not apply.
 * @more:   node that is the best relay to add, -1: none. @more_rate: the rate
 *          with it.
 * Rates are in units.
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

/**
 * findings_make() - run all steps of planning
 * @jobs, @opt, @err: must outlive the findings. @err has a text on most errors.
 *
 * The caller frees @out with findings_free(), also after an error.
 */
int findings_make(struct findings *out, const struct plan_jobs *jobs,
		  const struct plan_options *opt, struct plan_error *err);
void findings_free(struct findings *f);

#endif /* TRIB_PLAN_FINDINGS_H */
