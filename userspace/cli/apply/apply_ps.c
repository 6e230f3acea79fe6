// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the comparison of a plan with the job files of a trib-ps. A file has the
 * trees of both generations while workers may use either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/out.h"
#include "cli/parse/parse.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "apply.h"

/* File name of a job; a new reference. */
static json_t *file_name(const char *job)
{
	return jfmt("%s.json", job);
}

static const json_t *file_of(const struct apply_host *h, const char *job)
{
	const json_t *files = json_object_get(json_object_get(h->look, "ps"), "files");
	json_t *name = file_name(job);
	const json_t *doc = json_object_get(files, json_string_value(name));

	json_decref(name);
	return doc;
}

static const json_t *row_of(const struct apply_host *h, const char *job)
{
	const json_t *row;
	size_t i;

	json_array_foreach(h->ps, i, row)
		if (!strcmp(jstr(row, "job"), job))
			return row;
	return NULL;
}

static const json_t *tree_of(const json_t *doc, const char *key, uint64_t id)
{
	const json_t *t;
	size_t i;

	json_array_foreach(json_object_get(doc, "trees"), i, t)
		if (jnum(t, key) == id)
			return t;
	return NULL;
}

/*
 * True if a socket at @listen receives packets to @want. :: receives all,
 * 0.0.0.0 all of IPv4.
 */
static bool serves(const char *listen, const char *want)
{
	const char *port = strrchr(listen, ':');
	const char *wanted = strrchr(want, ':');
	size_t len = port ? (size_t)(port - listen) : 0;

	if (!port || !wanted || strcmp(port, wanted))
		return false;
	return (len == 7 && !strncmp(listen, "0.0.0.0", len) && *want != '[') ||
	       (len == 4 && !strncmp(listen, "[::]", len)) || !strcmp(listen, want);
}

void apply_ps_check(struct apply_host *h)
{
	const json_t *there = json_object_get(h->look, "ps"), *row;
	size_t i;

	json_array_foreach(h->ps, i, row)
		if (!jbool(there, "alive"))
			apply_refuse(
				h, "job %s: no trib-ps has its jobs from %s (trib-ps --listen %s)",
				jstr(row, "job"), jstr(there, "dir"), jstr(row, "listen"));
		else if (!serves(jstr(there, "listen"), jstr(row, "listen")))
			apply_refuse(h, "job %s: trib-ps listens on %s, workers would send to %s",
				     jstr(row, "job"), jstr(there, "listen"), jstr(row, "listen"));
}

void apply_ps_mark(const struct apply_host *h, uint8_t *taken)
{
	const json_t *files = json_object_get(json_object_get(h->look, "ps"), "files");
	const json_t *t;
	const char *name;
	json_t *doc;
	size_t i;

	json_object_foreach((json_t *)files, name, doc)
		json_array_foreach(json_object_get(doc, "trees"), i, t)
			taken[jnum(t, "tree") & 0xffff] = 1;
}

bool apply_ps_key(const struct apply_host *h, const char *job, struct trib_key *key)
{
	const json_t *doc = row_of(h, job) ? file_of(h, job) : NULL;

	return doc && !text_key(jstr(doc, "key"), key);
}

bool apply_ps_same(const struct apply_host *h, const char *job, uint64_t plan, uint64_t there)
{
	const json_t *row = row_of(h, job);
	const json_t *want = tree_of(row, "id", plan), *have;

	if (!row)
		return true;
	have = tree_of(file_of(h, job), "tree", there);
	return want && have &&
	       json_equal(json_object_get(want, "group"), json_object_get(have, "group"));
}

/*
 * Values of a job for which the plan has none: those of the hosts, or the
 * defaults.
 */
static uint64_t setting(struct apply *a, const char *job, const char *key, const char *there,
			uint64_t otherwise)
{
	const json_t *want, *old;
	uint64_t v = 0;
	size_t i;

	for (i = 0; !v && i < a->nhost; i++) {
		want = apply_named(json_object_get(a->host[i].plan, "jobs"), job);
		old = want ? apply_job_there(&a->host[i], job) : NULL;
		v = old ? jnum(old, there) : want ? apply_number(want, key) : 0;
	}
	return v ? v : otherwise;
}

/*
 * Largest number of values whose packet, with the bitmap of @world workers,
 * fits the MTU of @h.
 */
static uint64_t room_of(const struct apply_host *h, size_t world)
{
	const json_t *devices = json_object_get(h->look, "devices"), *f;
	uint64_t least = UINT64_MAX, over, mtu, fit;
	size_t i;

	json_array_foreach(json_object_get(h->plan, "faces"), i, f) {
		over = (strchr(jstr(f, "addr"), ':') ? 40 : 20) + 8 + sizeof(struct trib_hdr) +
		       8 * ((world + 63) / 64);
		mtu = jnum(devices, jstr(f, "dev"));
		fit = mtu > over ? (mtu - over) / 4 : 0;
		if (mtu && fit < least)
			least = fit;
	}
	return least / TRIB_NVAL_BLOCK * TRIB_NVAL_BLOCK;
}

/* Values of a packet that all tribds and all networks of the job carry. */
static uint64_t values(struct apply *a, const char *job, size_t world)
{
	uint64_t v = TRIB_NVAL_LARGE, here;
	size_t i;

	for (i = 0; i < a->nhost; i++) {
		const struct apply_host *h = &a->host[i];

		if (!apply_named(json_object_get(h->plan, "jobs"), job))
			continue;
		here = jnum(json_object_get(h->look, "status"), "nval");
		v = here < v ? here : v;
		here = room_of(h, world);
		v = here < v ? here : v;
	}
	return v;
}

/* Make the job's file, without trees. */
static json_t *new_doc(struct apply *a, const char *job, const json_t *row,
		       const struct trib_key *key)
{
	char hex[TRIB_KEY_HEX + 1];

	text_key_put(key, hex);
	return json_pack(
		"{s:s, s:I, s:s, s:I, s:I, s:I, s:O, s:[]}", "name", job, "job",
		(json_int_t)jnum(row, "number"), "key", hex, "window",
		(json_int_t)setting(a, job, "window", "window", TRIB_JOB_WINDOW_DEFAULT), "nval",
		(json_int_t)values(a, job, json_array_size(json_object_get(row, "workers"))),
		"timeout_ms",
		(json_int_t)setting(a, job, "timeout", "timeout_ms", TRIB_JOB_TIMEOUT_DEFAULT),
		"workers", json_object_get(row, "workers"), "trees");
}

/* Append a step that writes @doc, or removes the file if @doc is NULL. */
static json_t *put_step(const char *job, const json_t *doc)
{
	char *text = doc ? json_dumps(doc, JSON_INDENT(1)) : NULL;
	json_t *name = file_name(job), *step;

	step = text ? json_pack("[s, s, O, s]", "ps", "put", name, text)
		    : json_pack("[s, s, O]", "ps", "del", name);
	json_decref(name);
	free(text);
	return step;
}

/* Members that a job keeps for life; the others are trees. */
static bool keeps(struct apply_host *h, const char *job, const json_t *doc, const json_t *old)
{
	static const char *const keys[] = {"job", "window", "nval", "timeout_ms", "workers"};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!json_equal(json_object_get(doc, keys[i]), json_object_get(old, keys[i]))) {
			apply_refuse(
				h,
				"job %s: trib-ps has another %s for it, which a job keeps for life: remove %s/%s.json",
				job, keys[i], jstr(json_object_get(h->look, "ps"), "dir"), job);
			return false;
		}
	return true;
}

void apply_ps_load(struct apply *a, struct apply_host *h, const char *job,
		   const struct trib_key *key, const struct apply_ids *ids)
{
	const json_t *row = row_of(h, job), *old = file_of(h, job), *want;
	json_t *doc, *trees;
	size_t i;
	char *text;

	if (!row)
		return;
	doc = new_doc(a, job, row, key);
	if (old && !keeps(h, job, doc, old)) {
		json_decref(doc);
		return;
	}
	if (!old)
		apply_note(h, '+', "ps job %s world %zu listen %s", job,
			   json_array_size(json_object_get(row, "workers")), jstr(row, "listen"));
	trees = json_object_get(doc, "trees");
	json_array_extend(trees, json_object_get(old, "trees"));
	for (i = 0; i < ids->n; i++) {
		want = tree_of(row, "id", ids->plan[i]);
		json_array_append_new(trees,
				      json_pack("{s:I, s:O}", "tree", (json_int_t)ids->there[i],
						"group", json_object_get(want, "group")));
		text = apply_join(json_object_get(want, "group"));
		apply_note(h, '+', "ps tree %u of %s group %s", ids->there[i], job,
			   text ? text : "");
		free(text);
	}
	apply_step(h->load, put_step(job, doc), put_step(job, old));
	json_decref(doc);
}

/* Copy the file without the trees that @keep does not mark. */
void apply_ps_drop(struct apply_host *h, const uint8_t *keep)
{
	const json_t *row, *old, *t;
	json_t *doc, *trees;
	const char *job;
	size_t i, k;

	json_array_foreach(h->ps, i, row) {
		job = jstr(row, "job");
		old = file_of(h, job);
		if (!old)
			continue;
		doc = json_copy((json_t *)old);
		trees = json_array();
		json_array_foreach(json_object_get(old, "trees"), k, t)
			if (keep[jnum(t, "tree") & 0xffff])
				json_array_append(trees, (json_t *)t);
		k = json_array_size(json_object_get(old, "trees"));
		json_object_set_new(doc, "trees", trees);
		if (json_array_size(trees) < k)
			apply_step(h->drop, put_step(job, json_array_size(trees) ? doc : NULL),
				   NULL);
		json_decref(doc);
	}
}
