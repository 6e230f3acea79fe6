// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the comparison of trees. The trees of a job are one generation: if one
 * differs on one host, all are made anew beside the old ones, with numbers that
 * are free on every host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"

#define IDS 65536

/*
 * Find the tree on the host among those that new workers get; NULL without one.
 */
static const json_t *live_tree(const struct apply_host *h, uint64_t id)
{
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(h->look, "trees"), i, t)
		if (jnum(t, "id") == id)
			return jbool(t, "held") ? NULL : t;
	return NULL;
}

static const json_t *plan_tree(const struct apply_host *h, uint64_t id, const char *job)
{
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(h->plan, "trees"), i, t)
		if (jnum(t, "id") == id && !strcmp(jstr(t, "job"), job))
			return t;
	return NULL;
}

/* True if tree @there of @h equals @want. Both may be missing. */
static bool same_tree(struct apply_host *h, const json_t *want, const json_t *there,
		      const char *job)
{
	json_t *a, *b;
	bool same;

	if (there && strcmp(jstr(there, "job"), job))
		return !want;
	if (!want || !there)
		return !want && !there;
	a = apply_row_words(want, h->faces, h->why, sizeof(h->why));
	b = apply_tree_words(there);
	same = a && json_equal(a, b);
	json_decref(a);
	json_decref(b);
	return same;
}

static bool is_there(struct apply *a, const char *job, uint32_t plan, uint32_t there)
{
	size_t i;

	for (i = 0; i < a->nhost; i++)
		if (!same_tree(&a->host[i], plan_tree(&a->host[i], plan, job),
			       live_tree(&a->host[i], there), job) ||
		    !apply_ps_same(&a->host[i], job, plan, there))
			return false;
	return true;
}

/* Match the plan's trees with @nlive live ones; false if one is missing. */
static bool find_trees(struct apply *a, const char *job, struct apply_ids *ids,
		       const uint32_t *live, size_t nlive)
{
	bool *used = calloc(nlive + 1, sizeof(*used));
	bool all = used && nlive == ids->n;
	size_t i, k;

	for (i = 0; all && i < ids->n; i++) {
		for (k = 0; k < nlive; k++)
			if (!used[k] && is_there(a, job, ids->plan[i], live[k]))
				break;
		all = k < nlive;
		if (all) {
			used[k] = true;
			ids->there[i] = live[k];
		}
	}
	free(used);
	return all;
}

static bool choose_ids(struct apply_ids *ids, uint8_t *taken)
{
	uint32_t id, next = 1;
	size_t i;

	for (i = 0; i < ids->n; i++) {
		id = ids->plan[i];
		if (taken[id]) {
			while (next < IDS && taken[next])
				next++;
			id = next;
		}
		if (id >= IDS)
			return false;
		taken[id] = 1;
		ids->there[i] = id;
	}
	return true;
}

static const json_t *trees_of(const struct apply_host *h, bool live)
{
	return json_object_get(live ? h->look : h->plan, "trees");
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * List the trees of @job, each once and ascending: the plan's, or (@live) those that new
 * workers get. Return: how many; *@out is the caller's, and NULL without memory.
 */
static size_t list_ids(struct apply *a, const char *job, bool live, uint32_t **out)
{
	size_t i, k, n = 0, room = 1;
	const json_t *t;

	for (i = 0; i < a->nhost; i++)
		room += json_array_size(trees_of(&a->host[i], live));
	*out = calloc(room, sizeof(**out));
	for (i = 0; *out && i < a->nhost; i++)
		json_array_foreach(trees_of(&a->host[i], live), k, t) {
			uint32_t id = jnum(t, "id") % IDS;

			if (id && !strcmp(jstr(t, "job"), job) && !(live && jbool(t, "held")))
				(*out)[n++] = id;
		}
	if (!n)
		return 0;
	qsort(*out, n, sizeof(**out), by_number);
	for (i = k = 1; i < n; i++)
		if ((*out)[i] != (*out)[k - 1])
			(*out)[k++] = (*out)[i];
	return k;
}

static void mark_taken(struct apply *a, uint8_t *taken)
{
	const json_t *t;
	size_t i, k;

	for (i = 0; i < a->nhost; i++) {
		json_array_foreach(trees_of(&a->host[i], true), k, t)
			taken[jnum(t, "id") % IDS] = 1;
		apply_ps_mark(&a->host[i], taken);
		/* Numbers chosen for other jobs of the plan. */
		json_array_foreach(a->host[i].load, k, t) {
			const json_t *w = json_object_get(t, "undo");

			if (!strcmp(json_string_value(json_array_get(w, 0)) ?: "", "tree"))
				taken[strtoul(json_string_value(json_array_get(w, 2)), NULL, 10) %
				      IDS] = 1;
		}
	}
}

static void add_tree(struct apply_host *h, const json_t *row, uint32_t id)
{
	json_t *words = apply_row_words(row, h->faces, h->why, sizeof(h->why));
	json_t *run = apply_words("tree add"), *more;
	char *text;

	if (!words) {
		json_decref(run);
		return;
	}
	text = apply_join(words);
	apply_note(h, '+', "tree %u of %s", id, text ? text : "");
	free(text);
	json_array_extend(run, words);
	json_decref(words);
	more = apply_words("id %u held", id);
	json_array_extend(run, more);
	json_decref(more);
	apply_step(h->load, run, apply_words("tree del %u", id));
}

static void put_id(json_t *words, uint64_t id)
{
	if (json_array_size(words) == 3)
		json_array_append_new(words, json_string("live"));
	json_array_append_new(words, jfmt("%llu", (unsigned long long)id));
}

/* Add the steps that load the new trees of a job, and the switch to them. */
static void replace_on(struct apply_host *h, const char *job, const struct apply_ids *ids)
{
	json_t *to = apply_words("tree switch %s", job);
	json_t *back = apply_words("tree switch %s", job);
	const json_t *row, *t;
	size_t i;
	char *text;

	for (i = 0; i < ids->n; i++) {
		row = plan_tree(h, ids->plan[i], job);
		if (!row)
			continue;
		add_tree(h, row, ids->there[i]);
		put_id(to, ids->there[i]);
	}
	json_array_foreach(json_object_get(h->look, "trees"), i, t)
		if (!strcmp(jstr(t, "job"), job) && !jbool(t, "held")) {
			json_t *words = apply_tree_words(t);

			text = apply_join(words);
			apply_note(h, '-', "tree %llu of %s", (unsigned long long)jnum(t, "id"),
				   text ? text : "");
			free(text);
			json_decref(words);
			put_id(back, jnum(t, "id"));
		}
	if (json_array_size(to) > 3 || json_array_size(back) > 3) {
		apply_step(h->flip, to, back);
		return;
	}
	json_decref(to);
	json_decref(back);
}

/* Two relays of a tree with the same number would both add the same packets. */
static void check_numbers(struct apply *a, const char *job, uint32_t id)
{
	uint32_t *number = calloc(a->nhost, sizeof(*number));
	size_t i, k;

	for (i = 0; number && i < a->nhost; i++) {
		number[i] = jnum(plan_tree(&a->host[i], id, job), "relay") % IDS;
		if (!number[i])
			continue;
		for (k = i; k-- && number[k] != number[i];)
			;
		if (k < i)
			apply_refuse(&a->host[i],
				     "tree %u: is relay %u, as %s is: their pools overlap", id,
				     number[i], a->host[k].name);
	}
	free(number);
}

void apply_diff_trees(struct apply *a, const char *job, const struct trib_key *key)
{
	uint8_t *taken = calloc(1, IDS);
	struct apply_ids ids = {0};
	uint32_t *live = NULL;
	size_t i, nlive;

	ids.n = list_ids(a, job, false, &ids.plan);
	nlive = list_ids(a, job, true, &live);
	ids.there = calloc(ids.n + 1, sizeof(*ids.there));
	if (!taken || !live || !ids.plan || !ids.there) {
		apply_refuse(&a->host[0], "out of memory");
		goto out;
	}
	for (i = 0; i < ids.n; i++)
		check_numbers(a, job, ids.plan[i]);
	if (find_trees(a, job, &ids, live, nlive))
		goto out;
	mark_taken(a, taken);
	if (!choose_ids(&ids, taken)) {
		apply_refuse(&a->host[0], "no %zu numbers of trees are free", ids.n);
		goto out;
	}
	for (i = 0; i < a->nhost; i++) {
		replace_on(&a->host[i], job, &ids);
		apply_ps_load(a, &a->host[i], job, key, &ids);
	}
out:
	free(taken);
	free(live);
	free(ids.plan);
	free(ids.there);
}
