// SPDX-License-Identifier: BSD-2-Clause
/* Owns the memory of jobs and trees: all of it comes and goes here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ps.h"

static bool same_addr(const struct ps_addr *a, const struct ps_addr *b)
{
	return a->port == b->port && a->local == b->local && IN6_ARE_ADDR_EQUAL(&a->ip, &b->ip);
}

static void mark_direct(struct ps_tree *t)
{
	unsigned int i, r;

	for (r = 0; r < t->job->world; r++)
		for (i = 0; i < t->ngroup && !t->direct[r]; i++)
			t->direct[r] = same_addr(&t->job->worker[r], &t->group[i]);
}

static int allocate(struct ps_tree *t)
{
	unsigned int world = t->job->world, r;

	t->bmwords = (world + 63) / 64;
	for (r = 0; r < world; r++)
		t->all[r / 64] |= 1ULL << r % 64;
	t->mask = 2u * t->job->window - 1;
	t->stride = (uint32_t)sizeof(struct ps_place) + trib_payload_len(t->job->nval);
	t->direct = calloc(world, sizeof(*t->direct));
	t->lease_ms = calloc(world, sizeof(*t->lease_ms));
	t->alive_ms = calloc(world, sizeof(*t->alive_ms));
	t->place = calloc(t->mask + 1, t->stride);
	if (!t->direct || !t->lease_ms || !t->alive_ms || !t->place)
		return -ENOMEM;
	return ps_auth_new(t) ? -ENOMEM : ps_members_new(t);
}

int ps_tree_new(struct ps *ps, struct ps_job *job, uint16_t number, struct ps_addr *group,
		unsigned int n)
{
	struct ps_tree *t;

	if (ps->by_tree[number])
		return -EEXIST;
	if (ps->ntree == PS_TREES_MAX)
		return -E2BIG;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->ps = ps;
	t->job = job;
	t->number = number;
	if (allocate(t)) {
		ps_tree_free(t);
		return -ENOMEM;
	}
	t->group = group;
	t->ngroup = n;
	mark_direct(t);
	ps->by_tree[number] = ps->tree[ps->ntree++] = t;
	return 0;
}

void ps_tree_free(struct ps_tree *t)
{
	ps_members_free(t);
	free(t->group);
	free(t->direct);
	free(t->lease_ms);
	free(t->alive_ms);
	free(t->place);
	free(t->rank);
	free(t);
}

void ps_free(struct ps *ps)
{
	while (ps->ntree) {
		struct ps_tree *t = ps->tree[--ps->ntree];

		ps->by_tree[t->number] = NULL;
		ps_tree_free(t);
	}
	while (ps->njob) {
		struct ps_job *j = ps->job[--ps->njob];

		free(j->worker);
		free(j);
	}
}
