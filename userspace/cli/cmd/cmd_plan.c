// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib plan: reads and writes files of the planner (userspace/plan). Needs no
 * tribd.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/core/plan_file.h"
#include "plan/plan.h"
#include "cmd.h"

/* Show progress after this time. */
#define PATIENCE 1.0

/**
 * struct progress - progress shown so far
 * @begun, @last: seconds. @tty: one line that changes, else one now and then.
 */
struct progress {
	double begun, last;
	bool tty, shown;
};

static int show_progress(void *arg, const char *what, double share)
{
	struct progress *p = arg;
	double now = clock_seconds();

	if (now - p->begun < PATIENCE || now - p->last < (p->tty ? 0.2 : 2))
		return 0;
	fprintf(stderr,
		p->tty ? "\rtrib: %s, %.0f %%, %.0f s \033[K" : "trib: %s, %.0f %%, %.0f s\n", what,
		100 * share, now - p->begun);
	fflush(stderr);
	p->last = now;
	p->shown = true;
	return 0;
}

/* Write a new file and rename it, so that no reader sees half a file. */
static int write_file(struct cli *c, const char *name, const char *text)
{
	size_t len = strlen(name) + 16;
	char *temp = malloc(len);
	FILE *f;
	int err = 0;

	if (!temp)
		return cli_error(c, "out of memory");
	snprintf(temp, len, "%s.%d", name, (int)getpid());
	f = fopen(temp, "we");
	if (!f) {
		err = cli_error(c, "cannot write \"%s\": %s", temp, strerror(errno));
		free(temp);
		return err;
	}
	fputs(text, f);
	if (*text && text[strlen(text) - 1] != '\n')
		fputc('\n', f);
	if (ferror(f) | fclose(f) || rename(temp, name)) {
		err = cli_error(c, "cannot write \"%s\": %s", name, strerror(errno));
		unlink(temp);
	}
	free(temp);
	return err;
}

/**
 * struct words - the command line
 * @file: argument with a fixed place.
 */
struct words {
	const char *file[2];
	int nfile;
	const char *builtin, *out;
	struct plan_options opt;
};

static int choice(struct cli *c, const char *word, const char *value, const char *const *names,
		  int *out)
{
	int i;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], value)) {
			*out = i;
			return CLI_OK;
		}
	return cli_usage(c, "%s \"%s\": %s or %s", word, value, names[0], names[1]);
}

static int parse_words(struct cli *c, int argc, char **argv, struct words *w)
{
	static const char *const objectives[] = {"trees", "seed", NULL};
	static const char *const searches[] = {"full", "greedy", NULL};
	int i, n = 0, err = CLI_OK;
	const char *word, *value;

	for (i = 0; !err && i < argc; i++) {
		word = argv[i];
		if (word[0] != '-' || !word[1]) {
			if (w->nfile == 2)
				return cli_usage(c, "\"%s\" is not expected here", word);
			w->file[w->nfile++] = word;
			continue;
		}
		if (!strcmp(word, "--no-rows")) {
			w->opt.no_rows = true;
			continue;
		}
		value = i + 1 < argc ? argv[i + 1] : NULL;
		if (strcmp(word, "-o") && strcmp(word, "--builtin") &&
		    strcmp(word, "--objective") && strcmp(word, "--search"))
			return cli_usage(c, "no option \"%s\"", word);
		if (!value)
			return cli_usage(c, "%s needs a value", word);
		i++;
		if (!strcmp(word, "-o")) {
			w->out = value;
		} else if (!strcmp(word, "--builtin")) {
			w->builtin = value;
		} else if (!strcmp(word, "--objective")) {
			err = choice(c, word, value, objectives, &n);
			w->opt.objective = (enum plan_objective)n;
		} else {
			err = choice(c, word, value, searches, &n);
			w->opt.search = (enum plan_search)n;
		}
	}
	return err;
}

static int load_topology(struct cli *c, const struct words *w, struct plan_topology **topo)
{
	struct plan_error e;

	if (!w->builtin)
		return plan_file_topology(c, w->file[0], topo);
	if (plan_topology_builtin(topo, w->builtin, &e))
		return cli_error(c, "%s", e.text);
	return CLI_OK;
}

static int load_jobs(struct cli *c, const char *name, const struct plan_topology *topo,
		     struct plan_jobs **jobs)
{
	struct plan_error e;
	size_t len;
	char *text;
	int err = plan_file_read(c, name, &text, &len);

	if (err)
		return err;
	if (plan_jobs_parse(jobs, topo, name, text, len, &e))
		err = cli_error(c, "%s", e.text);
	free(text);
	return err;
}

/* Write to a file and print a report, or write to standard output. */
static int hand_over(struct cli *c, const struct words *w, json_t *plan)
{
	char *text, *report;
	int err;

	if (!w->out) {
		text = plan_write(plan);
		err = text ? out_value(c, json_incref(plan), text) : cli_error(c, "out of memory");
		free(text);
		return err;
	}
	text = plan_write(plan);
	err = text ? write_file(c, w->out, text) : cli_error(c, "out of memory");
	free(text);
	if (err)
		return err;
	report = plan_explain(plan);
	if (!report)
		return cli_error(c, "out of memory");
	if (*report)
		report[strlen(report) - 1] = '\0';
	err = out_value(c, json_pack("{s:s}", "plan", w->out), report);
	free(report);
	return err;
}

static int make(struct cli *c, struct words *w)
{
	struct progress p = {.begun = clock_seconds(), .tty = isatty(2)};
	struct plan_topology *topo = NULL;
	struct plan_jobs *jobs = NULL;
	struct plan_error e;
	json_t *plan = NULL;
	int err;

	if (w->nfile + (w->builtin != NULL) > 2)
		return cli_usage(c, "both --builtin and TOPOLOGY");
	if (!w->nfile)
		return cli_usage(c, w->builtin ? "JOBS is missing" : "TOPOLOGY is missing");
	if (w->nfile + (w->builtin != NULL) < 2)
		return cli_usage(c, "JOBS is missing");
	err = load_topology(c, w, &topo);
	if (!err)
		err = load_jobs(c, w->file[w->nfile - 1], topo, &jobs);
	if (!c->json) {
		w->opt.progress = show_progress;
		w->opt.progress_arg = &p;
	}
	if (!err && plan_make(jobs, &w->opt, &plan, &e))
		err = cli_error(c, "%s", e.text);
	if (p.shown && p.tty)
		fprintf(stderr, "\r\033[K");
	if (!err)
		err = hand_over(c, w, plan);
	json_decref(plan);
	plan_jobs_free(jobs);
	plan_topology_free(topo);
	return err;
}

static int load_plan(struct cli *c, const struct words *w, json_t **plan)
{
	if (!w->nfile)
		return cli_usage(c, "PLAN is missing");
	if (w->nfile > 1)
		return cli_usage(c, "\"%s\" is not expected here", w->file[1]);
	return plan_file_plan(c, w->file[0], plan);
}

static int show(struct cli *c, const struct words *w, const char *key, char *(*fn)(const json_t *))
{
	json_t *plan;
	char *text;
	int err = load_plan(c, w, &plan);

	if (err)
		return err;
	text = fn(plan);
	json_decref(plan);
	if (!text)
		return cli_error(c, "out of memory");
	if (w->out) {
		err = write_file(c, w->out, text);
		if (!err)
			err = out_done(c);
	} else {
		text[strlen(text) - 1] = '\0';
		err = out_value(c, json_pack("{s:s}", key, text), text);
	}
	free(text);
	return err;
}

static int explain(struct cli *c, struct words *w)
{
	return show(c, w, "text", plan_explain);
}

static int draw(struct cli *c, struct words *w)
{
	return show(c, w, "svg", plan_draw);
}

/* Print devices, addresses and routes of a network like the topology. */
static int network(struct cli *c, struct words *w)
{
	struct plan_topology *topo = NULL;
	json_t *net = NULL;
	struct plan_error e;
	char *text;
	int err;

	if (w->nfile + (w->builtin != NULL) != 1)
		return cli_usage(c, "one of TOPOLOGY and --builtin SPEC");
	err = load_topology(c, w, &topo);
	if (!err && plan_network(topo, &net, &e))
		err = cli_error(c, "%s", e.text);
	if (!err) {
		text = plan_write(net);
		if (!text)
			err = cli_error(c, "out of memory");
		else if (w->out)
			err = write_file(c, w->out, text);
		else
			err = out_value(c, json_incref(net), text);
		if (!err && w->out)
			err = out_done(c);
		free(text);
	}
	json_decref(net);
	plan_topology_free(topo);
	return err;
}

/* One function gets all: a first word that is no command is a file name. */
static const struct {
	const char *name;
	int (*run)(struct cli *c, struct words *w);
	bool builtin; /* takes --builtin */
} others[] = {
	{"explain", explain, false},
	{"draw", draw, false},
	{"network", network, true},
};

static int cmd_plan(struct cli *c, int argc, char **argv)
{
	size_t n = sizeof(others) / sizeof(others[0]), i;
	struct words w = {0};
	int err;

	for (i = 0; i < n; i++)
		if (argc > 0 && !strcmp(argv[0], others[i].name))
			break;
	err = parse_words(c, argc - (i < n), argv + (i < n), &w);
	if (err)
		return err;
	if (i == n)
		return make(c, &w);
	if ((w.builtin && !others[i].builtin) || w.opt.no_rows || w.opt.objective || w.opt.search)
		return cli_usage(c, "only -o goes with %s", others[i].name);
	return others[i].run(c, &w);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("",
		"TOPOLOGY | --builtin SPEC JOBS [-o PLAN] [--no-rows] [--objective trees|seed] [--search full|greedy]",
		"Place relays, choose trees, and say what each host is to be told.", cmd_plan),
	CLI_CMD("explain", "PLAN [-o FILE]",
		"What each job gets, why not more, and what would help.", cmd_plan),
	CLI_CMD("draw", "PLAN [-o FILE]", "The topology as SVG, with relays and the load of links.",
		cmd_plan),
	CLI_CMD("network", "TOPOLOGY | --builtin SPEC [-o FILE]",
		"Devices, addresses and routes that make a network's paths the planner's.",
		cmd_plan),
};

CLI_OBJECT(plan, "place relays, and choose the trees of chunks");
