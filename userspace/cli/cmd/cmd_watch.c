// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib watch: samples tribd at intervals and shows rates. A terminal gets one
 * screen, redrawn; other outputs get a block, or under -j one JSON object, per
 * interval.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/object/ndn.h"
#include "cli/watch/watch.h"
#include "cmd.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int look(struct cli *c, struct watch_sample *s)
{
	int err;

	memset(s, 0, sizeof(*s));
	err = cli_fetch_one(c, TRIB_CMD_STATUS_GET, TRIB_A_STATUS, &s->status);
	if (err)
		return err;
	err = cli_fetch_all(c, TRIB_CMD_JOB_GET, TRIB_A_JOB, &s->jobs);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_TREE_GET, TRIB_A_TREE, &s->trees);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_STATS_GET, TRIB_A_STAT, &s->stats);
	if (!err)
		err = cli_fetch_all(c, TRIB_CMD_FACE_GET, TRIB_A_FACE, &s->faces);
	if (!err)
		err = ndn_look(c, &s->ndn);
	s->ndn_stats = ndn_take_stats(s->stats);
	s->seconds = clock_seconds();
	if (err)
		watch_free(s);
	return err;
}

static void rate_at(const json_t *o, const char *key, char *buf, size_t size)
{
	const json_t *v = json_object_get(o, key);

	if (v)
		out_rate(json_number_value(v), buf, size);
	else
		snprintf(buf, size, "-");
}

static void gbps_text(const json_t *o, char *buf, size_t size)
{
	const json_t *v = json_object_get(o, "gbps");

	if (v)
		snprintf(buf, size, "%.2f", json_number_value(v));
	else
		snprintf(buf, size, "-");
}

static void results_text(const json_t *o, char *buf, size_t size)
{
	rate_at(o, "results", buf, size);
}

static void packets_text(const json_t *o, char *buf, size_t size)
{
	rate_at(o, "packets", buf, size);
}

static void lag_text(const json_t *o, char *buf, size_t size)
{
	const json_t *v = json_object_get(o, "lag_us");

	if (v)
		snprintf(buf, size, "%.1fus", json_number_value(v));
	else
		snprintf(buf, size, "-");
}

static void share_at(const json_t *o, const char *key, char *buf, size_t size)
{
	const json_t *v = json_object_get(o, key);

	if (v)
		snprintf(buf, size, "%.0f%%", json_number_value(v) * 100);
	else
		snprintf(buf, size, "-");
}

static void last_text(const json_t *o, char *buf, size_t size)
{
	share_at(o, "last_share", buf, size);
}

static void start_text(const json_t *o, char *buf, size_t size)
{
	share_at(o, "start_wait", buf, size);
}

static void data_text(const json_t *o, char *buf, size_t size)
{
	share_at(o, "data_wait", buf, size);
}

static void age_text(const json_t *o, char *buf, size_t size)
{
	if (json_object_get(o, "age_ms"))
		out_ms(jnum(o, "age_ms"), buf, size);
	else
		snprintf(buf, size, "-");
}

static void mark_text(const json_t *o, char *buf, size_t size)
{
	if (!strcmp(jstr(o, "mark"), "silent") && jnum(o, "behind"))
		snprintf(buf, size, "silent, %llu chunks behind",
			 (unsigned long long)jnum(o, "behind"));
	else
		snprintf(buf, size, "%s", jstr(o, "mark"));
}

static const struct out_col tree_cols[] = {
	{.title = "tree", .key = "id", .right = true},
	{.key = "job"},
	{.key = "role"},
	{.key = "state"},
	{.key = "epoch", .right = true},
	{.title = "gb/s", .text = gbps_text, .right = true},
	{.title = "results/s", .text = results_text, .right = true},
	{.title = "packets/s", .text = packets_text, .right = true},
};

static const struct out_col child_cols[] = {
	{.title = "child", .key = "index", .right = true},
	{.key = "face"},
	{.key = "rank", .right = true},
	{.title = "lag", .text = lag_text, .right = true},
	{.title = "last", .text = last_text, .right = true},
	{.title = "start", .text = start_text, .right = true},
	{.title = "data", .text = data_text, .right = true},
	{.title = "age", .text = age_text, .right = true},
	{.title = "", .text = mark_text},
};

static void show_host(FILE *f, const json_t *r)
{
	static const char *const keys[] = {"packets", "results", "delivered",
					   "resends", "needs",	 "drops"};
	const json_t *host = json_object_get(r, "host"), *v;
	const char *name;
	char text[32];
	size_t i;

	gbps_text(host, text, sizeof(text));
	fprintf(f, "values in %s Gb/s", text);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		rate_at(host, keys[i], text, sizeof(text));
		fprintf(f, ", %s %s/s", keys[i], text);
	}
	fputc('\n', f);
	json_object_foreach(json_object_get(r, "drops"), name, v) {
		out_rate(json_number_value(v), text, sizeof(text));
		fprintf(f, "  %s %s/s\n", name, text);
	}
}

static void show_jobs(FILE *f, const json_t *r)
{
	const json_t *jobs = json_object_get(r, "jobs"), *job;
	char gbps[32], results[32];
	size_t i;

	json_array_foreach(jobs, i, job) {
		gbps_text(job, gbps, sizeof(gbps));
		results_text(job, results, sizeof(results));
		fprintf(f, "job %s: world %llu, %s Gb/s, results %s/s\n", jstr(job, "name"),
			(unsigned long long)jnum(job, "world"), gbps, results);
	}
}

#define CHILD_COLS (sizeof(child_cols) / sizeof(child_cols[0]))
#define FACE_COLS 8

/* The children of a tree, and about their faces what no column of `face` shows. */
static void show_children(FILE *f, const json_t *children, const json_t *faces)
{
	struct out_col cols[CHILD_COLS + FACE_COLS];
	json_t *rows = json_deep_copy(children), *child;
	const json_t *face;
	size_t i, k, n;

	memcpy(cols, child_cols, sizeof(child_cols));
	n = CHILD_COLS + kind_more_cols(&cmd_face_kind, faces, cols + CHILD_COLS, FACE_COLS);
	json_array_foreach(rows, i, child) {
		json_array_foreach(faces, k, face)
			if (!strcmp(jstr(face, "name"), jstr(child, "face")))
				json_object_update_missing(child, (json_t *)face);
	}
	out_print_table(f, "      ", rows, cols, n);
	json_decref(rows);
}

static void show(FILE *f, const json_t *r)
{
	const json_t *tree, *children;
	json_t *one;
	size_t i;

	show_host(f, r);
	watch_show_ndn(f, json_object_get(r, "ndn"));
	show_jobs(f, r);
	json_array_foreach(json_object_get(r, "trees"), i, tree) {
		one = json_pack("[O]", tree);
		fputc('\n', f);
		out_print_table(f, "", one, tree_cols, sizeof(tree_cols) / sizeof(tree_cols[0]));
		json_decref(one);
		if (!strcmp(jstr(tree, "state"), "waiting"))
			fprintf(f, "      waiting for %s\n", jstr(tree, "missing"));
		children = json_object_get(tree, "children");
		if (json_array_size(children))
			show_children(f, children, json_object_get(r, "faces"));
	}
}

/* Overwrite the last screen; cut lines and columns that do not fit. */
static void show_screen(const char *text)
{
	struct winsize ws = {0};
	int row, rows = 24, cols = 80;
	const char *end;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col) {
		rows = ws.ws_row;
		cols = ws.ws_col;
	}
	fputs("\033[H", stdout);
	for (row = 0; *text && row < rows - 1; row++) {
		end = strchrnul(text, '\n');
		printf("%.*s\033[K\n", end - text > cols ? cols : (int)(end - text), text);
		text = *end ? end + 1 : end;
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static void show_plain(struct cli *c, const json_t *r, bool screen)
{
	time_t now = time(NULL);
	char *text = NULL, when[32];
	size_t size;
	struct tm tm;
	FILE *f;

	(void)c;
	f = open_memstream(&text, &size);
	if (!f)
		return;
	strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&now, &tm));
	fprintf(f, "%s  ", when);
	if (json_object_get(r, "error"))
		fprintf(f, "%s\n", jstr(r, "error"));
	else
		show(f, r);
	fclose(f);
	if (screen) {
		show_screen(text);
	} else {
		printf("%s\n", text);
		fflush(stdout);
	}
	free(text);
}

/* Sleep until @when; false after a signal. */
static bool pause_until(double when)
{
	double left;

	while (!stop && (left = when - clock_seconds()) > 0)
		poll(NULL, 0, (int)(left * 1000) + 1);
	return !stop;
}

static void report(struct cli *c, json_t *r, bool screen, bool once)
{
	json_object_set_new(r, "time", json_integer((json_int_t)time(NULL)));
	if (!c->json) {
		show_plain(c, r, screen);
		json_decref(r);
	} else if (once) {
		c->result = r;
	} else {
		out_json(c, r);
		fflush(stdout);
		json_decref(r);
	}
}

static int loop(struct cli *c, uint32_t ms, bool once, bool screen)
{
	struct watch_sample a, b;
	double next = clock_seconds();
	int err;

	err = look(c, &a);
	if (err)
		return err;
	while (pause_until(next += ms / 1e3)) {
		err = look(c, &b);
		if (err && once)
			break;
		if (err) {
			/* Go on: tribd may be restarting, and its maps stay. */
			report(c, json_pack("{s:s}", "error", c->error), screen, false);
			c->error[0] = '\0';
			err = CLI_OK;
		} else {
			report(c, watch_rates(&a, &b), screen, once);
			watch_free(&a);
			a = b;
		}
		if (once || ferror(stdout))
			break;
		if (next < clock_seconds())
			next = clock_seconds();
	}
	watch_free(&a);
	return err;
}

static int options(struct cli *c, int argc, char **argv, uint32_t *ms, bool *once)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--once")) {
			*once = true;
		} else if (!strcmp(argv[i], "-n")) {
			if (++i == argc)
				return cli_usage(c, "-n needs SEC");
			if (parse_seconds(argv[i], 100, 3600000, ms))
				return cli_error(
					c, "-n \"%s\" is not a number of seconds from 0.1 to 3600",
					argv[i]);
		} else {
			return cli_no_args(c, 1, argv + i);
		}
	}
	return CLI_OK;
}

static int cmd_watch(struct cli *c, int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	bool once = false, screen;
	uint32_t ms = 1000;
	int err;

	err = options(c, argc, argv, &ms, &once);
	if (err)
		return err;
	if (c->batch && !once)
		return cli_error(c, "in a batch, watch needs --once");
	screen = !c->json && !once && isatty(STDOUT_FILENO);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* Use the alternate screen without cursor until the loop ends. */
	if (screen)
		fputs("\033[?1049h\033[?25l\033[2J", stdout);
	err = loop(c, ms, once, screen);
	if (screen)
		fputs("\033[?25h\033[?1049l", stdout);
	return err;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("", "[--once] [-n SEC]",
		"Show rates, and for which worker the others wait, every SEC seconds.", cmd_watch),
};

CLI_OBJECT(watch, "live rates");
