// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that all kinds of trees share. Nothing changes until all are passed.
 */
#include <errno.h>

#include "base/dtype.h"
#include "tree.h"

static const struct tree_ops *const kind[] = {
	[TREE_DEDICATED] = &dedicated_ops,
	[TREE_SHARED] = &pool_ops,
	[TREE_WORKERS] = &worker_ops,
};

enum tree_kind tree_spec_kind(const struct tree_spec *s)
{
	return s->workers.ps_port ? TREE_WORKERS : s->shared.relay ? TREE_SHARED : TREE_DEDICATED;
}

/* A host has one row of a tree: data plane and ranks know it by its number. */
static int id_check(struct tribd *d, const struct tree_spec *s, struct reason *why)
{
	const struct tree *there = s->id ? tree_find(d, s->id) : NULL;

	bool worker = tree_spec_kind(s) == TREE_WORKERS;

	if (there && tree_is_node(there) == worker)
		return reason_set(
			why, -EEXIST,
			"tree %u exists, %s: a host is a relay of a tree or has workers of it, not both",
			s->id, worker ? "a node of the data plane" : "a row of workers");
	if (there)
		return reason_set(why, -EEXIST, "tree %u exists", s->id);
	if (s->id >= d->config.ntrees)
		return reason_set(why, -ERANGE, "tree %u: want 1 to %u (tribd --trees)", s->id,
				  d->config.ntrees - 1);
	return 0;
}

/*
 * Relays of shared pools merge parts of a chunk in any order: floats would
 * differ.
 */
static int floats_check(const struct tree_spec *s, const struct job *job, struct reason *why)
{
	if (!trib_fmt_is_float(job->fmt) || tree_spec_kind(s) == TREE_DEDICATED)
		return 0;
	return reason_set(
		why, -EOPNOTSUPP,
		"job %s sums %s: shared pools add up integers only (trees without relay and ps, or a job of dtype int)",
		job->name, trib_dtype_name(job->fmt));
}

int tree_check(struct tribd *d, const struct tree_spec *s, struct tree *t, struct reason *why)
{
	int err = id_check(d, s, why);

	if (err)
		return err;
	t->id = s->id;
	if (s->weight > TRIB_TREE_WEIGHT_MAX)
		return reason_set(why, -ERANGE, "weight %u: 1 to %u", s->weight,
				  TRIB_TREE_WEIGHT_MAX);
	if (!s->job[0])
		return reason_set(why, -EINVAL, "the tree has no job");
	t->job = job_find(d, s->job);
	if (!t->job)
		return reason_set(why, -ENOENT, "no job %s", s->job);
	err = floats_check(s, t->job, why);
	if (err)
		return err;
	t->kind = tree_spec_kind(s);
	t->ops = kind[t->kind];
	err = t->ops->check(d, s, t, why);
	if (err)
		return err;
	t->last_epoch = s->last_epoch;
	t->held = s->held;
	t->weight = s->weight ? (uint8_t)s->weight : 1;
	return 0;
}
