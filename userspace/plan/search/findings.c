// SPDX-License-Identifier: BSD-2-Clause
/*
 * The steps of planning, in their order.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "place.h"
#include "uapi/trib_wire.h"

/*
 * Relative gaps of the tree LP by work_size(), for the plan and for one more
 * relay. Large problems get larger gaps: the last digits take the most time.
 */
static const struct {
	double size, gap, more;
} gaps[] = {{120, 1e-6, 1e-6}, {1000, 5e-4, 2e-3}, {INFINITY, 3e-3, 6e-3}};

/* Find the rate of each job with a PS as if it had no relays. */
static int find_direct(struct findings *f)
{
	struct outcome o = {0};
	struct sets none;
	int j, err = 0;

	memset(&none, 0, sizeof(none));
	for (j = 0; !err && j < f->w->njobs; j++) {
		f->direct[j] = -1;
		if (!work_by_lp(f->w, j) || f->w->js->job[j].ps < 0)
			continue;
		f->w->solo = j;
		err = tree_lp_solve(f->w, &none, gaps[0].gap, NULL, 0, false, &o);
		/* More workers than one node takes: there is no tree. */
		if (!err && o.g[j] > 0)
			f->direct[j] = o.g[j];
		outcome_free(&o);
		f->w->solo = -1;
	}
	return err;
}

static int find_more(struct findings *f, double gap)
{
	double g[PLAN_JOBS_MAX] = {0};
	int j, err = 0, cand;

	for (j = 0; j < f->w->njobs; j++)
		f->more[j] = -1;
	for (j = 0; !err && j < f->w->njobs; j++) {
		if (!work_by_lp(f->w, j) || f->w->js->job[j].max >= PLAN_RELAYS_MAX)
			continue;
		err = work_tick(f->w, "trying one more relay", (double)j / f->w->njobs);
		if (!err)
			err = place_one_more(f->w, &f->sets, j, &cand, gap, g);
		if (err || cand < 0)
			continue;
		f->more[j] = f->w->reach[j]->node[cand];
		/* The gap can hide the gain; a relay never harms. */
		f->more_rate[j] = fmax(g[j], f->best.g[j]);
	}
	return err;
}

static int check_rates(const struct findings *f)
{
	int j;

	for (j = 0; j < f->w->njobs; j++)
		if (work_by_lp(f->w, j) && !(f->best.g[j] > 0))
			return plan_fail(
				f->w->err, -EDOM,
				"job %s: no tree reaches every worker with at most %d children a node; allow more relays",
				f->w->js->job[j].name, TRIB_CHILDREN_MAX);
	return 0;
}

static int find(struct findings *f)
{
	struct work *w = f->w;
	int err, i = 0;

	if (!work_any_lp(w))
		return 0;
	while (work_size(w) >= gaps[i].size)
		i++;
	err = place_relays(w, &f->sets);
	if (!err)
		err = work_tick(w, "solving the tree LP", 0);
	if (!err)
		err = tree_lp_solve(w, &f->sets, gaps[i].gap, NULL, 0, true, &f->best);
	if (!err)
		err = check_rates(f);
	if (!err)
		err = schedule_make(w, &f->sets, &f->best, f->sched);
	if (!err)
		err = work_tick(w, "solving the seed LP", 0);
	if (!err)
		err = seed_lp_solve(w, &f->sets, f->seed);
	if (!err)
		err = find_direct(f);
	return err ? err : find_more(f, gaps[i].more);
}

int findings_make(struct findings *out, const struct plan_jobs *jobs,
		  const struct plan_options *opt, struct plan_error *err)
{
	int rc;

	*out = (struct findings){0};
	rc = work_new(&out->w, jobs, opt, err);
	return rc ? rc : find(out);
}

void findings_free(struct findings *f)
{
	outcome_free(&f->best);
	work_free(f->w);
}
