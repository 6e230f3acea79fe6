// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jobs that come, change and go while others run. A job keeps all but its list
 * of trees for life, and a tree all there is, so what is in flight is not
 * touched: a new generation of trees is added beside the old one, which goes
 * when its workers have.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ps.h"

static bool same_addrs(const struct ps_addr *a, const struct ps_addr *b, unsigned int n)
{
	while (n--)
		if (a[n].port != b[n].port || a[n].local != b[n].local ||
		    !IN6_ARE_ADDR_EQUAL(&a[n].ip, &b[n].ip))
			return false;
	return true;
}

/* The field in which two versions of a job differ, or NULL. */
static const char *other_field(const struct ps_job *a, const struct ps_job *b)
{
	return a->number != b->number						     ? "job"
	       : memcmp(&a->key, &b->key, sizeof(a->key))			     ? "key"
	       : a->window != b->window						     ? "window"
	       : a->nval != b->nval						     ? "nval"
	       : a->timeout_ms != b->timeout_ms					     ? "timeout_ms"
	       : a->world != b->world || !same_addrs(a->worker, b->worker, a->world) ? "workers"
										     : NULL;
}

static int job_check(const struct ps *ps, const struct ps_job *old, const struct ps_job *job,
		     char *why, size_t size)
{
	const char *field = old ? other_field(old, job) : NULL;
	unsigned int i;

	if (field)
		return text_fail(why, size, -EBUSY,
				 "%s: a job keeps it for life: remove its file first", field);
	for (i = 0; i < ps->njob; i++)
		if (ps->job[i] != old && ps->job[i]->number == job->number)
			return text_fail(why, size, -EEXIST, "job: there is a job %u already",
					 job->number);
	if (!old && ps->njob == PS_TREES_MAX)
		return text_fail(why, size, -E2BIG, "more than %d jobs", PS_TREES_MAX);
	return 0;
}

static int trees_check(const struct ps *ps, const struct ps_job *old, const struct ps *from,
		       char *why, size_t size)
{
	unsigned int i, total = ps->ntree;

	for (i = 0; i < ps->ntree; i++)
		total -= old && ps->tree[i]->job == old;
	if (total + from->ntree > PS_TREES_MAX)
		return text_fail(why, size, -E2BIG, "more than %d trees", PS_TREES_MAX);
	for (i = 0; i < from->ntree; i++) {
		const struct ps_tree *t = from->tree[i];
		const struct ps_tree *there = ps->by_tree[t->number];

		if (!there)
			continue;
		if (there->job != old)
			return text_fail(why, size, -EEXIST,
					 "trees[%u].tree: there is a tree %u already, of job %u", i,
					 t->number, there->job->number);
		if (there->ngroup != t->ngroup || !same_addrs(there->group, t->group, t->ngroup))
			return text_fail(
				why, size, -EBUSY,
				"trees[%u].group: a tree keeps it for life: give tree %u another number",
				i, t->number);
	}
	return 0;
}

static void tree_drop(struct ps *ps, struct ps_tree *t)
{
	unsigned int i = 0;

	while (ps->tree[i] != t)
		i++;
	ps->tree[i] = ps->tree[--ps->ntree];
	ps->by_tree[t->number] = NULL;
	ps_tree_free(t);
}

/* Trees of @job that are not among @from's. */
static void trees_drop(struct ps *ps, const struct ps_job *job, const struct ps *from)
{
	unsigned int i = 0;

	while (i < ps->ntree) {
		struct ps_tree *t = ps->tree[i];

		if (t->job == job && !(from && from->by_tree[t->number]))
			tree_drop(ps, t);
		else
			i++;
	}
}

int ps_job_put(struct ps *ps, struct ps_job **slot, struct ps *from, char *why, size_t size)
{
	struct ps_job *old = *slot, *job = from->job[0];
	unsigned int i;
	int err = job_check(ps, old, job, why, size);

	if (!err)
		err = trees_check(ps, old, from, why, size);
	if (err)
		return err;
	trees_drop(ps, old, from);
	if (!old) {
		ps->job[ps->njob++] = *slot = job;
		from->njob = 0;
	}
	for (i = 0; i < from->ntree;) {
		struct ps_tree *t = from->tree[i];

		if (ps->by_tree[t->number]) {
			i++; /* is there, and runs */
			continue;
		}
		from->tree[i] = from->tree[--from->ntree];
		from->by_tree[t->number] = NULL;
		t->ps = ps;
		t->job = *slot;
		ps->by_tree[t->number] = ps->tree[ps->ntree++] = t;
	}
	return 0;
}

void ps_job_drop(struct ps *ps, struct ps_job *job)
{
	unsigned int i = 0;

	trees_drop(ps, job, NULL);
	while (ps->job[i] != job)
		i++;
	ps->job[i] = ps->job[--ps->njob];
	free(job->worker);
	free(job);
}
