// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns making a plan: the order of the steps, and reading and writing plans.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/io/emit.h"
#include "uapi/trib_wire.h"

/*
 * Relative gaps at which looking for more trees ends, for the plan and for one
 * relay more, by groups of workers times relays: the last digits cost most.
 */
static const struct {
	double size, gap, more;
} gaps[] = {{120, 1e-6, 1e-6}, {1000, 5e-4, 2e-3}, {INFINITY, 3e-3, 6e-3}};

static double size_of(const struct work *w)
{
	double size = 0;
	int j;

	for (j = 0; j < w->njobs; j++)
		if (by_lp(w, j))
			size += (double)w->net->job[j].ngroup *
				(w->js->job[j].max + 1);
	return size;
}

/* What each job that has a PS would get without relays. */
static int find_direct(struct findings *f)
{
	struct outcome o = {0};
	struct sets none;
	int j, err = 0;

	memset(&none, 0, sizeof(none));
	for (j = 0; !err && j < f->w->njobs; j++) {
		f->direct[j] = -1;
		if (!by_lp(f->w, j) || f->w->js->job[j].ps < 0)
			continue;
		f->w->solo = j;
		err = tree_lp(f->w, &none, gaps[0].gap, NULL, 0, false, &o);
		/* With too many workers for one node there is no such tree. */
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
		if (!by_lp(f->w, j) || f->w->js->job[j].max >= PLAN_RELAYS_MAX)
			continue;
		err = work_tick(f->w, "trying one more relay",
				(double)j / f->w->njobs);
		if (!err)
			err = place_one_more(f->w, &f->sets, j, &cand, gap, g);
		if (err || cand < 0)
			continue;
		f->more[j] = f->w->reach[j]->node[cand];
		/* Column generation ends at a gap; a relay cannot harm. */
		f->more_rate[j] = fmax(g[j], f->best.g[j]);
	}
	return err;
}

static int check_rates(const struct findings *f)
{
	int j;

	for (j = 0; j < f->w->njobs; j++)
		if (by_lp(f->w, j) && !(f->best.g[j] > 0))
			return plan_fail(
				f->w->err, -EDOM,
				"job %s: no tree was found in which every worker reaches the root and no node has more than %d children",
				f->w->js->job[j].name, TRIB_CHILDREN_MAX);
	return 0;
}

static int find(struct findings *f)
{
	struct work *w = f->w;
	int j, err, any = 0, i = 0;

	for (j = 0; j < w->njobs; j++)
		any |= by_lp(w, j);
	if (!any)
		return 0;
	while (size_of(w) >= gaps[i].size)
		i++;
	err = place(w, &f->sets);
	if (!err)
		err = work_tick(w, "solving the tree LP", 0);
	if (!err)
		err = tree_lp(w, &f->sets, gaps[i].gap, NULL, 0, true,
			      &f->best);
	if (!err)
		err = check_rates(f);
	if (!err)
		err = make_schedules(w, &f->sets, &f->best, f->sched);
	if (!err)
		err = work_tick(w, "solving the seed LP", 0);
	if (!err)
		err = seed_lp(w, &f->sets, f->seed);
	if (!err)
		err = find_direct(f);
	return err ? err : find_more(f, gaps[i].more);
}

int plan_make(const struct plan_jobs *jobs, const struct plan_options *opt,
	      json_t **out, struct plan_error *err)
{
	static const struct plan_options none;
	struct findings *f = calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	*err->text = '\0';
	if (!f)
		return plan_fail(err, -ENOMEM, "out of memory");
	rc = work_new(&f->w, jobs, opt ? opt : &none, err);
	if (!rc) {
		rc = find(f);
		if (!rc)
			rc = emit_plan(f, out);
	}
	if (rc && !*err->text)
		plan_fail(err, rc, "%s",
			  rc == -EIO	? "the LP solver died again and again"
			  : rc == -EDOM ? "an LP has no solution"
					: strerror(-rc));
	outcome_free(&f->best);
	work_free(f->w);
	free(f);
	return rc;
}

char *plan_write(const json_t *plan)
{
	return json_dumps(plan, JSON_COMPACT | JSON_REAL_PRECISION(9));
}
