// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns weighted max-min by progressive filling: raise all rates together until
 * some job cannot follow, keep what that job has, raise the others; at the end
 * hand out what is left.
 */
#include <errno.h>
#include <math.h>

#include "work.h"

/* A rate is kept up to rounding, so that the next phase has a solution. */
#define KEPT (1 - 1e-7)
#define DUAL_EPS 1e-6

static int left(const struct filling *f, const bool *done)
{
	int j, n = 0;

	for (j = 0; j < f->njobs; j++)
		n += f->job_row[j] >= 0 && !done[j];
	return n;
}

/* Those that hold the others back; at least one. */
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

int fill(struct filling *f, double g[])
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
				lp_set_row(f->lp, f->job_row[j], g[j] * KEPT,
					   INFINITY);
				lp_set_value(f->lp, f->tau, f->job_row[j], 0);
			}
		if (!left(f, done))
			break;
	}
	if (f->njobs == 1)
		return 0; /* nothing is left */
	lp_set_cost(f->lp, f->tau, 0);
	f->favour(f->arg);
	return f->solve(f->arg);
}
