// SPDX-License-Identifier: BSD-2-Clause
/*
 * Progressive filling: raise all rates together until some jobs cannot follow,
 * freeze the rates of those, raise the others. The last phase hands out the
 * capacity that is left.
 */
#include <errno.h>
#include <math.h>

#include "fill.h"

/* Frozen rates are rounded down, so that the next phase has a solution. */
#define KEPT (1 - 1e-7)
#define DUAL_EPS 1e-6

static int unfrozen(const struct filling *f, const bool *done)
{
	int j, n = 0;

	for (j = 0; j < f->njobs; j++)
		n += f->job_row[j] >= 0 && !done[j];
	return n;
}

/* Freeze the jobs that hold the others back; at least one. */
static void freeze(struct filling *f, bool *done, double *g)
{
	double tau = f->lp->x[f->tau], most = 0, dual;
	bool now[PLAN_JOBS_MAX] = {false};
	int j, pick = -1;

	for (j = 0; j < f->njobs; j++) {
		if (f->job_row[j] < 0 || done[j])
			continue;
		dual = f->lp->y[f->job_row[j]] * f->weight[j];
		now[j] = dual > DUAL_EPS;
		if (pick < 0 || dual > most) {
			pick = j;
			most = dual;
		}
	}
	now[pick] = true;
	for (j = 0; j < f->njobs; j++) {
		if (!now[j])
			continue;
		done[j] = true;
		g[j] = f->weight[j] * tau;
		if (f->frozen)
			f->frozen(f->arg, j);
	}
}

int fill_rates(struct filling *f, double g[])
{
	bool done[PLAN_JOBS_MAX] = {false};
	int j, err;

	for (;;) {
		err = f->solve(f->arg);
		if (err)
			return err;
		freeze(f, done, g);
		for (j = 0; j < f->njobs; j++)
			if (done[j]) {
				lp_set_row(f->lp, f->job_row[j], g[j] * KEPT, INFINITY);
				lp_set_value(f->lp, f->tau, f->job_row[j], 0);
			}
		if (!unfrozen(f, done))
			break;
	}
	if (f->njobs == 1)
		return 0; /* its rate is the optimum */
	lp_set_cost(f->lp, f->tau, 0);
	f->favour(f->arg);
	return f->solve(f->arg);
}
