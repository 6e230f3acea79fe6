// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib apply: a plan, and what its hosts said of themselves. An input is the plan's
 * text; behind a NUL byte follows a list of answers, which the hosts get in turns.
 * Every step is a command that apply may give, of words that cannot be more than
 * words; a job's file has a safe name; texts for people have no control characters.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "cli/apply/apply.h"
#include "plan/plan.h"
#include "uapi/trib.h"
#include "mutate.h"

const size_t mutate_from = 0;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "apply: %s\n", what);
	abort();
}

static bool is_line(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return false;
	return true;
}

static const char *word_of(const json_t *words, size_t i)
{
	return json_string_value(json_array_get(words, i)) ?: "";
}

/* {"ps", "put", FILE, TEXT} or {"ps", "del", FILE} */
static void file_holds(const json_t *words)
{
	const char *name = word_of(words, 2), *dot = strrchr(name, '.');
	char job[TRIB_NAME_MAX] = "", why[NAME_WHY_MAX];
	bool put = !strcmp(word_of(words, 1), "put");

	must(put || !strcmp(word_of(words, 1), "del"), "a file is neither put nor deleted");
	must(json_array_size(words) == (put ? 4 : 3), "words of a file");
	must(dot && !strcmp(dot, ".json") && dot - name < TRIB_NAME_MAX, "name of a file");
	memcpy(job, name, (size_t)(dot - name));
	must(!name_check(job, why), "a file of no job");
}

static bool is_command(const char *object, const char *verb)
{
	static const char *const may[][2] = {
		{"face", "add"}, {"face", "del"}, {"face", "set"},
		{"job", "add"},	 {"job", "del"},  {"job", "set"},
		{"tree", "add"}, {"tree", "del"}, {"tree", "switch"},
	};

	for (size_t i = 0; i < sizeof(may) / sizeof(may[0]); i++)
		if (!strcmp(object, may[i][0]) && !strcmp(verb, may[i][1]))
			return true;
	return false;
}

static void command_holds(const json_t *words)
{
	const json_t *w;
	size_t i;

	if (!strcmp(word_of(words, 0), "ps")) {
		file_holds(words);
		return;
	}
	must(is_command(word_of(words, 0), word_of(words, 1)), "no command of apply's");
	json_array_foreach(words, i, w) {
		const char *s = json_string_value(w);

		must(s && *s, "an empty word");
		must(is_line(s) && !strchr(s, ' '), "a word that is several");
	}
}

static void steps_hold(const json_t *list)
{
	const json_t *step, *undo;
	size_t i;

	json_array_foreach(list, i, step) {
		command_holds(json_object_get(step, "run"));
		undo = json_object_get(step, "undo");
		if (json_array_size(undo))
			command_holds(undo);
	}
}

static void texts_hold(const struct apply_host *h)
{
	const json_t *line;
	size_t i;

	must(is_line(h->why), "a reason has control characters");
	json_array_foreach(h->diff, i, line)
		must(is_line(json_string_value(line) ?: "\n"), "a change has control characters");
}

static void compare(struct apply *a, const json_t *looks)
{
	size_t i, n = json_array_size(looks), bad = 0;

	for (i = 0; i < a->nhost; i++) {
		json_t *q = apply_question(&a->host[i]);

		must(q != NULL, "no question");
		json_decref(q);
		/* cmd_apply.c takes objects only. */
		a->host[i].look = n ? json_incref(json_array_get(looks, i % n)) : json_object();
		if (!json_is_object(a->host[i].look)) {
			json_decref(a->host[i].look);
			a->host[i].look = json_object();
		}
	}
	bad = apply_diff(a);
	for (i = 0; i < a->nhost; i++) {
		texts_hold(&a->host[i]);
		steps_hold(a->host[i].load);
		steps_hold(a->host[i].flip);
	}
	if (bad)
		return;
	apply_drop(a);
	for (i = 0; i < a->nhost; i++)
		steps_hold(a->host[i].drop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	size_t len = end ? (size_t)(end - data) : size;
	struct plan_error e;
	struct cli c = {0};
	struct apply a = {.c = &c, .now = size & 1};
	json_t *looks = NULL;

	if (plan_read(&a.plan, "f", (const char *)data, len, &e))
		return 0;
	if (end)
		looks = json_loadb((const char *)end + 1, size - len - 1, 0, NULL);
	if (apply_hosts(&a))
		must(*c.error && is_line(c.error), "no reason, or not one line");
	else
		compare(&a, looks);
	json_decref(looks);
	apply_free(&a);
	return 0;
}
