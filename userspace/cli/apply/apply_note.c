// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the parts of a comparison that its files share: steps, refusals, lines
 * for people, and look-ups in the plan and in a host's state. The lines may quote
 * what a host said: it must not control the terminal.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "apply.h"

void apply_step(json_t *list, json_t *run, json_t *undo)
{
	json_array_append_new(
		list, json_pack("{s:o, s:o}", "run", run, "undo", undo ? undo : json_array()));
}

void apply_refuse(struct apply_host *h, const char *fmt, ...)
{
	va_list ap;

	if (*h->why)
		return;
	va_start(ap, fmt);
	vsnprintf(h->why, sizeof(h->why), fmt, ap);
	va_end(ap);
	text_one_line(h->why);
}

void apply_note(struct apply_host *h, char sign, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text_one_line(text);
	json_array_append_new(h->diff, jfmt("%c %s %s", sign, h->name, text));
}

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
			at += sprintf(at, "%s%s", i ? " " : "", json_string_value(w) ?: "");
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
		json_array_foreach(json_object_get(a->host[i].plan, "jobs"), k, j)
			json_object_set_new(names, jstr(j, "name"), json_true());
	return names;
}
