// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the comparison of a plan with what its hosts have: the order of it, and
 * what its parts share.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"

void apply_step(json_t *list, json_t *run, json_t *undo)
{
	json_array_append_new(list, json_pack("{s:o, s:o}", "run", run, "undo",
					      undo ? undo : json_array()));
}

/* The first reason is kept. */
void apply_refuse(struct apply_host *h, const char *fmt, ...)
{
	va_list ap;

	if (*h->why)
		return;
	va_start(ap, fmt);
	vsnprintf(h->why, sizeof(h->why), fmt, ap);
	va_end(ap);
}

void apply_note(struct apply_host *h, char sign, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(h->diff, jfmt("%c %s %s", sign, h->name, text));
}

/* Words as one line; to be freed. */
char *apply_join(const json_t *words)
{
	size_t i, len = 1;
	const json_t *w;
	char *text, *at;

	json_array_foreach(words, i, w)
		len += json_string_length(w) + 1;
	text = at = calloc(1, len);
	json_array_foreach(words, i, w)
		if (text)
			at += sprintf(at, "%s%s", i ? " " : "",
				      json_string_value(w));
	return text;
}

const json_t *apply_named(const json_t *list, const char *name)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (!strcmp(jstr(v, "name"), name))
			return v;
	return NULL;
}

const json_t *apply_job_there(const struct apply_host *h, const char *job)
{
	return apply_named(json_object_get(h->look, "jobs"), job);
}

/* A value of the plan, which may be a number as text. */
uint64_t apply_number(const json_t *job, const char *key)
{
	const char *s = json_string_value(json_object_get(job, key));
	uint32_t uid;
	uint64_t v;

	if (!s)
		return jnum(job, key);
	if (!strcmp(key, "owner") && !parse_uid(s, &uid))
		return uid;
	return parse_rate(s, &v) ? 0 : v;
}

json_t *apply_all_jobs(struct apply *a)
{
	json_t *names = json_object();
	const json_t *j;
	size_t i, k;

	for (i = 0; i < a->nhost; i++)
		json_array_foreach(json_object_get(a->host[i].plan, "jobs"), k,
				   j)
			json_object_set_new(names, jstr(j, "name"),
					    json_true());
	return names;
}

/* New pools beside the old ones. */
static void check_slots(struct apply_host *h)
{
	const json_t *status = json_object_get(h->look, "status"), *step, *row;
	uint64_t need = 0, all = jnum(status, "slots"), window;
	uint64_t used = jnum(status, "slots_used");
	size_t i, k, n = 0;

	json_array_foreach(h->load, i, step)
		n += !strcmp(json_string_value(json_array_get(
				     json_object_get(step, "run"), 0)),
			     "tree");
	json_array_foreach(json_object_get(h->plan, "trees"), k, row) {
		const char *job = jstr(row, "job");
		const json_t *old = apply_job_there(h, job);
		const json_t *want =
			apply_named(json_object_get(h->plan, "jobs"), job);

		/* A shared pool has its slots once for all. */
		if (!json_array_size(json_object_get(row, "children")) ||
		    json_object_get(row, "relay"))
			continue;
		window = old ? jnum(old, "window")
			     : apply_number(want, "window");
		need += 2 * (window ? window : 256);
	}
	/* If jobs stay as they are, tribd's own judgement comes with loading. */
	if (n == json_array_size(json_object_get(h->plan, "trees")) &&
	    used + need > all)
		apply_refuse(
			h,
			"%llu slots are needed, %llu of %llu are used (smaller window, or tribd --slots)",
			(unsigned long long)need, (unsigned long long)used,
			(unsigned long long)all);
}

size_t apply_diff(struct apply *a)
{
	json_t *names = apply_all_jobs(a), *value;
	const json_t *v;
	const char *job;
	uint64_t cookie;
	size_t i, k, bad = 0;

	for (i = 0; i < a->nhost; i++) {
		struct apply_host *h = &a->host[i];

		h->faces = json_object();
		h->load = json_array();
		h->flip = json_array();
		h->diff = json_array();
		json_array_foreach(json_object_get(h->plan, "faces"), k, v)
			apply_diff_face(h, v);
		apply_ps_check(h);
	}
	json_object_foreach(names, job, value) {
		cookie = apply_cookie(a, job);
		for (i = 0; i < a->nhost; i++)
			apply_diff_job(&a->host[i], job, cookie);
		apply_diff_trees(a, job, cookie);
	}
	json_decref(names);
	for (i = 0; i < a->nhost; i++) {
		check_slots(&a->host[i]);
		bad += *a->host[i].why != '\0';
	}
	return bad;
}
