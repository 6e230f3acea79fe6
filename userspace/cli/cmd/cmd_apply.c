// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib apply: brings a plan to all its hosts. It asks every host for its state,
 * compares the plan with it, loads the new objects beside the old ones,
 * switches, then drops what is unused. If a host fails before the last step,
 * all hosts undo.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/apply/apply.h"
#include "cli/apply/fanout.h"
#include "cli/core/cli.h"
#include "cli/core/plan_file.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"
#include "plan/plan.h"
#include "cmd.h"

#define HOST_SECONDS 60
#define HOST_SECONDS_MAX 3600
#define PATIENCE 1.0

/**
 * struct show - progress
 * @what: the step. @begun: seconds.
 */
struct show {
	const char *what;
	double begun, last;
	bool quiet, shown;
};

static void show_progress(void *arg, size_t done, size_t n)
{
	struct show *s = arg;
	bool tty = isatty(2);
	double now = clock_seconds();

	if (s->quiet || now - s->begun < PATIENCE || now - s->last < (tty ? 0.2 : 2))
		return;
	fprintf(stderr,
		tty ? "\rtrib: %s, %zu of %zu hosts \033[K" : "trib: %s, %zu of %zu hosts\n",
		s->what, done, n);
	fflush(stderr);
	s->last = now;
	s->shown = tty;
}

/**
 * struct run - an application under way
 * @a: must be first used after apply_hosts().
 */
struct run {
	struct apply a;
	struct fan *fan;
	const char *via;
	int ms; /* time for one host in a round */
};

/*
 * One round: @in of each host that has one, answers in @answer (a new
 * reference), reasons in apply_host.why. Returns how many failed.
 */
static size_t round_of(struct run *r, const char *what, json_t **in, json_t **answer)
{
	struct show show = {.what = what, .begun = clock_seconds(), .quiet = r->a.c->json};
	size_t i, bad = 0;

	for (i = 0; i < r->a.nhost; i++) {
		r->fan[i].host = r->a.host[i].name;
		r->fan[i].in = in[i] ? json_dumps(in[i], JSON_COMPACT) : NULL;
	}
	fan_run(r->via, r->fan, r->a.nhost, r->ms, show_progress, &show);
	if (show.shown)
		fprintf(stderr, "\r\033[K");
	for (i = 0; i < r->a.nhost; i++) {
		struct fan *f = &r->fan[i];
		struct apply_host *h = &r->a.host[i];
		const char *error;

		answer[i] = NULL;
		if (!in[i])
			continue;
		answer[i] = f->out ? json_loads(f->out, 0, NULL) : NULL;
		error = json_string_value(json_object_get(answer[i], "error"));
		if (!*f->error && json_is_object(answer[i]) && !error)
			continue;
		bad++;
		h->silent = *f->error;
		snprintf(h->why, sizeof(h->why), "%.500s",
			 *f->error ? f->error
			 : error   ? error
				   : "the answer is not JSON");
		text_one_line(h->why);
		json_decref(answer[i]);
		answer[i] = NULL;
	}
	fan_free(r->fan, r->a.nhost);
	return bad;
}

/* Print a line for each host that the plan does not fit. Returns CLI_ERROR. */
static int refused(struct run *r, const char *what)
{
	struct cli *c = r->a.c;
	char all[sizeof(c->error)] = "";
	size_t i, n = 0, at = 0;

	for (i = 0; i < r->a.nhost; i++) {
		if (!*r->a.host[i].why)
			continue;
		n++;
		if (!c->json)
			fprintf(stderr, "trib: %s: %s\n", r->a.host[i].name, r->a.host[i].why);
		else if (at < sizeof(all))
			at += (size_t)snprintf(all + at, sizeof(all) - at, "; %s: %s",
					       r->a.host[i].name, r->a.host[i].why);
	}
	return cli_error(c, "%zu of %zu hosts refuse: %s%.800s", n, r->a.nhost, what, all);
}

/* Ask all hosts for their state. */
static int look(struct run *r)
{
	size_t n = r->a.nhost, i, bad;
	json_t **in = calloc(n, sizeof(*in)), **out = calloc(n, sizeof(*out));

	if (!in || !out)
		return cli_error(r->a.c, "out of memory");
	for (i = 0; i < n; i++)
		if (!r->a.host[i].absent)
			in[i] = apply_question(&r->a.host[i]);
	bad = round_of(r, "asking", in, out);
	for (i = 0; i < n; i++) {
		struct apply_host *h = &r->a.host[i];

		json_decref(in[i]);
		json_decref(h->look);
		h->look = out[i];
		if (!in[i] || !*h->why || !apply_is_idle(h))
			continue;
		/* A host without work may be unreachable. */
		if (!r->a.c->json)
			fprintf(stderr, "trib: %s: left out: %s\n", h->name, h->why);
		h->why[0] = '\0';
		h->absent = true;
		bad--;
	}
	free(in);
	free(out);
	return bad ? refused(r, "nothing was changed") : CLI_OK;
}

enum part { LOAD, FLIP, DROP };

static json_t *part_of(struct apply_host *h, enum part part)
{
	return part == LOAD ? h->load : part == FLIP ? h->flip : h->drop;
}

/* Make the list of steps that undo @list. */
static json_t *reversed(const json_t *list)
{
	json_t *back = json_array();
	size_t n = json_array_size(list);

	while (n--)
		json_array_append_new(back,
				      json_pack("{s:O}", "run",
						json_object_get(json_array_get(list, n), "undo")));
	return back;
}

/*
 * With @done NULL, run the step on all hosts. Otherwise undo it on the hosts
 * that @done marks. Marks hosts that ran it.
 */
static size_t make(struct run *r, const char *what, enum part part, bool undo, bool *done)
{
	size_t n = r->a.nhost, i, bad;
	json_t **in = calloc(n, sizeof(*in)), **out = calloc(n, sizeof(*out));
	json_t *list;

	if (!in || !out) {
		snprintf(r->a.host[0].why, sizeof(r->a.host[0].why), "out of memory");
		free(in);
		free(out);
		return 1;
	}
	for (i = 0; i < n; i++) {
		list = part_of(&r->a.host[i], part);
		if (!json_array_size(list) || (undo && !done[i]))
			continue;
		in[i] = json_pack("{s:o}", "do", undo ? reversed(list) : json_incref(list));
	}
	bad = round_of(r, what, in, out);
	for (i = 0; i < n; i++) {
		/* A silent host may have run the step. */
		done[i] = out[i] != NULL;
		json_decref(in[i]);
		json_decref(out[i]);
	}
	free(in);
	free(out);
	return bad;
}

/* The rounds that undo must not overwrite the reasons of failures. */
static int back_out(struct run *r, bool *loaded, bool *flipped)
{
	struct apply_host *h;
	char(*why)[sizeof(h->why)] = calloc(r->a.nhost, sizeof(*why));
	size_t bad = 0, i;

	for (i = 0; why && i < r->a.nhost; i++) {
		memcpy(why[i], r->a.host[i].why, sizeof(*why));
		r->a.host[i].why[0] = '\0';
	}
	/* A silent host may have switched. Undoing twice is harmless. */
	for (i = 0; flipped && i < r->a.nhost; i++)
		flipped[i] |= r->a.host[i].silent;
	if (flipped)
		bad += make(r, "switching back", FLIP, true, flipped);
	bad += make(r, "undoing", LOAD, true, loaded);
	for (i = 0; why && i < r->a.nhost; i++) {
		h = &r->a.host[i];
		if (*h->why && *why[i])
			snprintf(why[i] + strlen(why[i]), sizeof(*why) - strlen(why[i]),
				 "; and undoing: %.200s", h->why);
		if (*why[i])
			memcpy(h->why, why[i], sizeof(*why));
	}
	free(why);
	return refused(r, bad ? "what was done could not be undone everywhere"
			      : "nothing was changed");
}

static int load_and_switch(struct run *r)
{
	bool *loaded = calloc(r->a.nhost, 1), *flipped = calloc(r->a.nhost, 1);
	int err = CLI_OK;

	if (!loaded || !flipped)
		err = cli_error(r->a.c, "out of memory");
	else if (make(r, "loading", LOAD, false, loaded))
		err = back_out(r, loaded, NULL);
	else if (make(r, "switching", FLIP, false, flipped))
		err = back_out(r, loaded, flipped);
	free(loaded);
	free(flipped);
	return err;
}

static int drop(struct run *r)
{
	bool *done;
	size_t i, n = 0, bad;

	apply_drop(&r->a);
	for (i = 0; i < r->a.nhost; i++)
		n += json_array_size(r->a.host[i].drop);
	if (!n)
		return CLI_OK;
	done = calloc(r->a.nhost, 1);
	if (!done)
		return cli_error(r->a.c, "out of memory");
	bad = make(r, "removing", DROP, false, done);
	free(done);
	return bad ? refused(r, "the plan is in force, but trees of the former generation are left")
		   : CLI_OK;
}

/* Held trees that would be dropped count as changes. */
static void note_drops(struct run *r)
{
	size_t i, k;
	json_t *step;

	apply_drop(&r->a);
	for (i = 0; i < r->a.nhost; i++)
		json_array_foreach(r->a.host[i].drop, k, step) {
			const json_t *run = json_object_get(step, "run");
			const char *what = json_string_value(json_array_get(run, 0));

			json_array_append_new(r->a.host[i].diff,
					      jfmt(strcmp(what, "ps") ? "- %s tree %s, held"
								      : "- %s ps trees of %s",
						   r->a.host[i].name,
						   json_string_value(json_array_get(run, 2))));
		}
}

/* Print all lines of the comparison; returns their number. */
static json_t *changes(const struct run *r)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < r->a.nhost; i++)
		json_array_extend(all, r->a.host[i].diff);
	return all;
}

static int report(struct run *r, bool diff)
{
	struct cli *c = r->a.c;
	json_t *all = changes(r), *v;
	size_t i, n = json_array_size(all);
	char text[160];

	if (!c->json && diff) {
		json_array_foreach(all, i, v)
			puts(json_string_value(v));
		json_decref(all);
		return CLI_OK;
	}
	if (!n)
		snprintf(text, sizeof(text), "%zu hosts: nothing to do", r->a.nhost);
	else
		snprintf(text, sizeof(text), "%zu hosts: %zu changes", r->a.nhost, n);
	i = strlen(text);
	if (r->a.draining)
		snprintf(
			text + i, sizeof(text) - i,
			"; %u former trees go on until their workers end: apply again to remove them",
			r->a.draining);
	return out_value(c,
			 json_pack("{s:I, s:o, s:i}", "hosts", (json_int_t)r->a.nhost, "changes",
				   all, "draining", (int)r->a.draining),
			 text);
}

static bool work_left(const struct run *r)
{
	size_t i;

	for (i = 0; i < r->a.nhost; i++)
		if (json_array_size(r->a.host[i].load) || json_array_size(r->a.host[i].flip))
			return true;
	return false;
}

static int apply(struct run *r, bool diff)
{
	int err = look(r);

	if (err)
		return err;
	if (apply_diff(&r->a))
		return refused(r, "nothing was changed");
	note_drops(r);
	if (diff)
		return report(r, true);
	/* From here on, all steps are done or undone. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (work_left(r)) {
		err = load_and_switch(r);
		if (!err)
			err = look(r);
	}
	if (!err)
		err = drop(r);
	return err ? err : report(r, false);
}

/**
 * struct words - the command line
 */
struct words {
	const char *plan, *via, *timeout;
	uint64_t seconds;
	bool diff, now, local;
};

static int parse_words(struct cli *c, int argc, char **argv, struct words *w)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--diff"))
			w->diff = true;
		else if (!strcmp(argv[i], "--now"))
			w->now = true;
		else if (!strcmp(argv[i], "--local"))
			w->local = true;
		else if (!strcmp(argv[i], "--via") && i + 1 < argc)
			w->via = argv[++i];
		else if (!strcmp(argv[i], "--timeout") && i + 1 < argc)
			w->timeout = argv[++i];
		else if (!strcmp(argv[i], "--via") || !strcmp(argv[i], "--timeout"))
			return cli_usage(c, "%s needs a value", argv[i]);
		else if (argv[i][0] == '-' && argv[i][1])
			return cli_usage(c, "no option \"%s\"", argv[i]);
		else if (w->plan)
			return cli_usage(c, "\"%s\" is not expected here", argv[i]);
		else
			w->plan = argv[i];
	}
	if (w->local && argc > 1)
		return cli_usage(c, "nothing goes with --local");
	if (!w->local && !w->plan)
		return cli_usage(c, "PLAN is missing");
	w->seconds = HOST_SECONDS;
	if (w->timeout && text_number(w->timeout, 1, HOST_SECONDS_MAX, &w->seconds))
		return cli_usage(c, "--timeout %s: 1 to %d seconds", w->timeout, HOST_SECONDS_MAX);
	if (w->via && !strstr(w->via, "{}"))
		return cli_usage(c, "--via \"%s\": {} for the host is missing", w->via);
	return CLI_OK;
}

static int cmd_apply(struct cli *c, int argc, char **argv)
{
	struct run r = {.a = {.c = c}};
	struct words w = {0};
	int err = parse_words(c, argc, argv, &w);

	if (err)
		return err;
	if (c->batch)
		return cli_error(c, "a batch cannot apply plans");
	if (w.local)
		return apply_local(c);
	r.via = w.via ? w.via : "ssh {} --";
	r.ms = (int)w.seconds * 1000;
	r.a.now = w.now;
	err = plan_file_plan(c, w.plan, &r.a.plan);
	if (!err)
		err = apply_hosts(&r.a);
	if (!err) {
		r.fan = calloc(r.a.nhost, sizeof(*r.fan));
		err = r.fan ? apply(&r, w.diff) : cli_error(c, "out of memory");
	}
	free(r.fan);
	apply_free(&r.a);
	return err;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("", "PLAN [--diff] [--now] [--via TEMPLATE] [--timeout S]",
		"Make all hosts of a plan do what it says, or none.", cmd_apply),
};

CLI_OBJECT(apply, "bring a plan to all its hosts, or to none");
