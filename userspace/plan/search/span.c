// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trees in terms of the topology's nodes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "span.h"
#include "uapi/trib_wire.h"

int span_new(struct span *s, const struct job *job, int inner)
{
	*s = (struct span){.n = job->nworkers, .at = job->worker};
	s->worker_up = calloc((size_t)job->nworkers + 1, sizeof(int));
	s->inner = calloc((size_t)inner + 1, sizeof(int));
	s->up = calloc((size_t)inner + 1, sizeof(int));
	return s->worker_up && s->inner && s->up ? 0 : -ENOMEM;
}

void span_free(struct span *s)
{
	free(s->worker_up);
	free(s->inner);
	free(s->up);
	free(s->own);
}

/* Append the relays, parents first; place[i] is the index of relay i. */
static void add_relays(struct span *s, const struct work *w, const struct plan_tree *t, int *place)
{
	bool has_ps = w->js->job[t->job].ps >= 0;
	int i, round;

	for (i = 0; i < t->nrel; i++)
		place[i] = -1;
	for (round = 0; round <= t->nrel; round++)
		for (i = 0; i < t->nrel; i++) {
			if (place[i] >= 0 || (t->up[i] >= 0 && place[t->up[i]] < 0))
				continue;
			place[i] = s->ninner;
			s->inner[s->ninner] = w->reach[t->job]->node[t->rel[i]];
			s->up[s->ninner++] = t->up[i] >= 0 ? place[t->up[i]] : has_ps ? 0 : -1;
		}
}

/*
 * Put the ranks of each host below it: the host becomes an inner node, unless it is one
 * already. There is room for all.
 */
static int add_ranks(struct span *s, int ranks)
{
	int *up = calloc((size_t)(s->n * ranks) + 1, sizeof(int)), i, k, r;

	s->own = calloc((size_t)(s->n * ranks) + 1, sizeof(int));
	if (!up || !s->own) {
		free(up);
		return -ENOMEM;
	}
	for (i = 0; i < s->n; i++) {
		k = s->worker_up[i];
		if (s->inner[k] != s->at[i]) {
			s->inner[s->ninner] = s->at[i];
			s->up[s->ninner] = k;
			k = s->ninner++;
		}
		for (r = i * ranks; r < (i + 1) * ranks; r++) {
			s->own[r] = s->at[i];
			up[r] = k;
		}
	}
	free(s->worker_up);
	s->worker_up = up;
	s->at = s->own;
	s->n *= ranks;
	return 0;
}

int span_of_tree(struct span *s, const struct work *w, const struct plan_tree *t)
{
	const struct job *job = &w->js->job[t->job];
	int place[PLAN_RELAYS_MAX + 4], i, k;
	int used[TRIB_WORLD_MAX] = {0};

	if (span_new(s, job, t->nrel + 1 + job->nworkers))
		return -ENOMEM;
	if (job->ps >= 0) {
		s->inner[0] = job->ps;
		s->up[s->ninner++] = -1;
	}
	add_relays(s, w, t, place);
	for (i = 0; i < t->npart; i++) {
		const struct tree_part *p = &t->part[i];
		const struct group *g = &w->model->job[t->job].group[p->group];

		for (k = 0; k < p->n; k++)
			s->worker_up[g->worker[used[p->group]++]] = p->to >= 0 ? place[p->to] : 0;
	}
	return job->ranks > 1 ? add_ranks(s, job->ranks) : 0;
}

bool span_passes(const struct span *s, int rank, int at)
{
	int i = s->worker_up[rank];

	while (i > 0 && i != at)
		i = s->up[i];
	return i == at;
}

bool span_is_used(const struct span *s, int at)
{
	int i;

	for (i = 0; i < s->n; i++)
		if (span_passes(s, i, at))
			return true;
	return false;
}

bool span_is_child(const struct span *s, int at, int k)
{
	if (k < s->ninner)
		return s->up[k] == at && span_is_used(s, k);
	return s->worker_up[k - s->ninner] == at;
}

bool span_ps_relays(const struct span *s, const struct job *job)
{
	int k, n = 0;

	for (k = 0; job->ps_relay && k < s->ninner + s->n; k++)
		n += span_is_child(s, 0, k);
	return job->ps_relay && n <= TRIB_CHILDREN_MAX;
}
