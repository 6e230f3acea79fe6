// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the choice of former trees to drop: a tree in use on one host stays on
 * all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"

#define IDS 65536

/**
 * struct use - use of a held tree on all hosts
 * @local:    ranks that attach to tribds, of @world.
 * @attached: number of them that are attached.
 * @epoch:    an epoch runs on some host.
 */
struct use {
	uint64_t world;
	unsigned int local, attached;
	bool epoch;
};

static void add_use(const struct apply_host *h, const json_t *t, struct use *u)
{
	const json_t *l, *job = apply_job_there(h, jstr(t, "job"));
	size_t i;

	json_array_foreach(json_object_get(t, "local"), i, l) {
		u->local++;
		u->attached += jnum(l, "pid") != 0;
	}
	u->epoch |= jnum(t, "epoch") != 0;
	u->world = job ? jnum(job, "world") : 0;
}

/*
 * If all workers attach to tribds, attached workers mean use: the epoch of
 * killed workers runs on until others join. Otherwise an epoch means use,
 * because some workers may have no tribd.
 */
static bool in_use(const struct use *u)
{
	return u->attached || (u->epoch && u->local < u->world);
}

void apply_drop(struct apply *a)
{
	json_t *names = apply_all_jobs(a);
	uint8_t *keep = calloc(1, IDS);
	struct use *use = calloc(IDS, sizeof(*use));
	const json_t *t;
	size_t i, k;

	/*
	 * Only held trees of the plan's jobs. A tree in use on one host stays
	 * on all.
	 */
	for (i = 0; use && i < a->nhost; i++)
		json_array_foreach(json_object_get(a->host[i].look, "trees"), k, t)
			if (jbool(t, "held"))
				add_use(&a->host[i], t, &use[jnum(t, "id") % IDS]);
	a->draining = 0;
	for (i = 0; use && keep && i < a->nhost; i++) {
		struct apply_host *h = &a->host[i];

		json_decref(h->drop);
		h->drop = json_array();
		json_array_foreach(json_object_get(h->look, "trees"), k, t) {
			uint32_t id = jnum(t, "id") % IDS;
			bool held = jbool(t, "held") && json_object_get(names, jstr(t, "job"));

			if (held && (a->now || !in_use(&use[id]))) {
				apply_step(h->drop, apply_words("tree del %u", id), NULL);
				continue;
			}
			a->draining += held;
			keep[id] = 1;
		}
	}
	for (i = 0; use && keep && i < a->nhost; i++)
		apply_ps_drop(&a->host[i], keep);
	free(keep);
	free(use);
	json_decref(names);
}
