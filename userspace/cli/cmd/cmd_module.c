// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib module: the kernel module: capabilities, counters of its functions,
 * collective sockets, events.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/netlink/family.h"
#include "cmd.h"
#include "module.h"

/* Indexed by enum trib_fmt. */
static const char *const formats[TRIB_FMT__MAX] = {
	[TRIB_FMT_NONE] = "none", [TRIB_FMT_Q32] = "q32", [TRIB_FMT_I32] = "i32",
	[TRIB_FMT_W64] = "w64",	  [TRIB_FMT_F32] = "f32", [TRIB_FMT_F16] = "f16",
	[TRIB_FMT_BF16] = "bf16", [TRIB_FMT_Q16] = "q16", [TRIB_FMT_Q8] = "q8",
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* Replace numbers of formats by names; unknown ones stay numbers. */
static void name_formats(json_t *module)
{
	json_t *bits = json_object_get(module, "formats"), *v;
	json_t *names = json_array();
	json_int_t bit;
	size_t i;

	json_array_foreach(bits, i, v) {
		bit = json_integer_value(v);
		json_array_append_new(names, bit < TRIB_FMT__MAX ? json_string(formats[bit])
								 : json_integer(bit));
	}
	json_object_set_new(module, "formats", names);
}

static void level_text(const json_t *m, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", jstr(m, "level"),
		 jbool(m, "fpu_busy") ? ", but parameter fpu_busy makes every call scalar" : "");
}

static const struct out_col lines[] = {
	{.title = "version", .key = "version"},	       {.title = "function api", .key = "api"},
	{.title = "instructions", .text = level_text}, {.title = "codec", .key = "codec"},
	{.title = "formats", .key = "formats"},	       {.title = "calls", .key = "calls"},
	{.title = "fall-backs", .key = "fallbacks"},
};

static const struct out_col table[] = {
	{.title = "function", .key = "name"},
	{.key = "calls", .right = true},
	{.key = "bytes", .right = true},
	{.title = "fall-backs", .key = "fallbacks", .right = true},
	{.key = "refused", .right = true},
};

static int module_status(struct cli *c, int argc, char **argv)
{
	json_t *list, *m;
	int err;

	err = cli_no_args(c, argc, argv);
	if (!err)
		err = family_ask(c, TRIB_CMD_MODULE_GET, 0, TRIB_A_MODULE, &list);
	if (err)
		return err;
	m = json_incref(json_array_get(list, 0));
	json_decref(list);
	name_formats(m);
	return out_list(c, m, lines, sizeof(lines) / sizeof(lines[0]));
}

static int module_stats(struct cli *c, int argc, char **argv)
{
	json_t *list;
	int err;

	err = cli_no_args(c, argc, argv);
	if (!err)
		err = family_ask(c, TRIB_CMD_KFUNC_GET, NLM_F_DUMP, TRIB_A_KFUNC, &list);
	if (err)
		return err;
	return out_table(c, list, table, sizeof(table) / sizeof(table[0]));
}

static int module_reset(struct cli *c, int argc, char **argv)
{
	int err;

	err = cli_no_args(c, argc, argv);
	if (!err)
		err = family_ask(c, TRIB_CMD_MODULE_RESET, NLM_F_ACK, TRIB_A_UNSPEC, NULL);
	return err ? err : out_done(c);
}

static void show_event(struct cli *c, json_t *e)
{
	time_t now = time(NULL);
	char when[32], text[OUT_CELL];
	struct tm tm;

	module_event_text(e, text, sizeof(text));
	module_event_name(e);
	if (c->json) {
		json_object_set_new(e, "time", json_integer((json_int_t)now));
		out_json(c, e);
		return;
	}
	strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&now, &tm));
	printf("%s  %s\n", when, text);
}

static int watch(struct cli *c, struct family *f, bool once)
{
	json_t *list, *e;
	bool lost;
	size_t i;
	int err;

	/* Wait briefly: a signal may arrive just before the wait. */
	while (!stop && !ferror(stdout)) {
		err = family_event(c, f, 500, &list, &lost);
		if (err)
			return err;
		if (lost)
			fprintf(stderr, "trib: events were lost\n");
		json_array_foreach(list, i, e) {
			if (once && c->json) {
				module_event_name(e);
				c->result = json_incref(e);
				break;
			}
			show_event(c, e);
		}
		fflush(stdout);
		i = json_array_size(list);
		json_decref(list);
		if (once && i)
			break;
	}
	return CLI_OK;
}

static int module_watch(struct cli *c, int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	bool once = argc > 0 && !strcmp(argv[0], "--once");
	struct family *f;
	int err;

	err = cli_no_args(c, argc - once, argv + once);
	if (err)
		return err;
	if (c->batch)
		return cli_error(c, "watch is not for a batch: it waits");
	err = family_open(c, &f);
	if (err)
		return err;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	err = family_listen(c, f);
	if (!err)
		err = watch(c, f, once);
	family_close(f);
	return err;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("status", "", "Show the module: version, instructions, formats, calls.",
		module_status),
	CLI_CMD("stats", "", "Show the functions that XDP programs call, with counters.",
		module_stats),
	CLI_CMD("reset", "", "Set the module's counters to zero.", module_reset),
	CLI_CMD("sock", "", "List the collective sockets of this network namespace.", module_sock),
	CLI_CMD("claim", "[list] | add JOB UID | del JOB",
		"List or change the jobs that are reserved for one user's sockets.", module_claim),
	CLI_CMD("watch", "[--once]", "Print the events of the module, one a line.", module_watch),
};

CLI_OBJECT(module, "the kernel module: sums of floats, collective sockets");
