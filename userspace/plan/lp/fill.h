/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Weighted max-min rates by progressive filling of a linear program.
 */
#ifndef TRIB_PLAN_FILL_H
#define TRIB_PLAN_FILL_H

#include "lp.h"
#include "plan/plan.h"

/**
 * struct filling - a program that minimises -tau
 * @job_row: row of each job: rate - weight * tau >= 0. -1: the job is not in
 *           the program.
 * @tau:     column of tau.
 * @solve:   solve the program, adding columns as needed; 0 or -errno.
 * @favour:  give the rate columns their costs, for the last phase.
 * @frozen:  called when job @j's rate is final and the duals explain it. May
 *           be NULL.
 */
struct filling {
	struct lp *lp;
	int njobs;
	const double *weight;
	int job_row[PLAN_JOBS_MAX];
	int tau;
	void *arg;
	int (*solve)(void *arg);
	void (*favour)(void *arg);
	void (*frozen)(void *arg, int j);
};

/**
 * fill_rates() - raise all rates together, then hand out the rest
 * @g: rate of each job when it was frozen.
 *
 * Afterwards @f->lp holds the solution of the last phase. Returns 0 or -errno.
 */
int fill_rates(struct filling *f, double g[]);

#endif /* TRIB_PLAN_FILL_H */
