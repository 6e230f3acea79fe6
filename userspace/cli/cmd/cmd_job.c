// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib job: jobs, and the tickets by which workers without tribd join them.
 */
#include <stdio.h>

#include "cmd.h"

static const struct arg add_args[] = {
	ARG_ROW(NULL, "NAME", ARG_NEW_JOB, TRIB_A_JOB_NAME, ARG_NEEDED),
	ARG_NUM("world", "N", ARG_U32, TRIB_A_JOB_WORLD, 1, TRIB_WORLD_MAX, ARG_NEEDED),
	ARG_NUM("id", "I", ARG_U16, TRIB_A_JOB_ID, 1, 65535, 0),
	ARG_ROW("key", "HEX|FILE|-", ARG_KEY, TRIB_A_JOB_KEY, 0),
	ARG_NUM("window", "W", ARG_U32, TRIB_A_JOB_WINDOW, 1, TRIB_JOB_WINDOW_MAX, ARG_POW2),
	ARG_ROW("owner", "UID", ARG_UID, TRIB_A_JOB_OWNER, 0),
	ARG_NUM("timeout", "MS", ARG_U32, TRIB_A_JOB_TIMEOUT_MS, 1, UINT32_MAX, 0),
	ARG_ROW("rate", "BPS", ARG_RATE, TRIB_A_JOB_RATE, 0),
	ARG_ROW("dtype", "int, f32, f16 or bf16", ARG_DTYPE, TRIB_A_JOB_FMT, 0),
	ARG_ROW("peers", "ADDR:PORT", ARG_MEETING, TRIB_A_JOB_PEERS, 0),
};

static const struct arg name_args[] = {
	ARG_ROW(NULL, "NAME", ARG_NAME, TRIB_A_JOB_NAME, ARG_NEEDED),
};

static void owner_text(const json_t *job, char *buf, size_t size)
{
	out_user((uint32_t)jnum(job, "owner"), buf, size);
}

static void timeout_text(const json_t *job, char *buf, size_t size)
{
	out_ms(jnum(job, "timeout_ms"), buf, size);
}

static void rate_text(const json_t *job, char *buf, size_t size)
{
	char rate[32];

	if (!jnum(job, "rate")) {
		snprintf(buf, size, "-");
		return;
	}
	out_rate((double)jnum(job, "rate"), rate, sizeof(rate));
	snprintf(buf, size, "%sbit/s", rate);
}

static const struct out_col table[] = {
	{.key = "name"},
	{.key = "id", .right = true},
	{.key = "world", .right = true},
	{.key = "window", .right = true},
	{.title = "owner", .text = owner_text},
	{.title = "timeout", .text = timeout_text, .right = true},
	{.title = "rate", .text = rate_text, .right = true},
	{.key = "dtype"},
	{.key = "trees", .right = true},
	{.key = "attached", .right = true},
};

static const struct out_col details[] = {
	{.key = "name"},
	{.key = "id"},
	{.key = "key"},
	{.key = "world"},
	{.key = "window"},
	{.title = "owner", .text = owner_text},
	{.title = "timeout", .text = timeout_text},
	{.title = "rate", .text = rate_text},
	{.key = "dtype"},
	{.key = "trees"},
	{.title = "attached here", .key = "attached"},
	{.title = "cannot start", .key = "blocked"},
};

static const struct cli_kind kind = {
	.get = TRIB_CMD_JOB_GET,
	.attr = TRIB_A_JOB,
	.name = name_args,
	.table = table,
	.ntable = sizeof(table) / sizeof(table[0]),
	.details = details,
	.ndetails = sizeof(details) / sizeof(details[0]),
	.shown = "owner timeout_ms rate",
};

static int job_show(struct cli *c, int argc, char **argv)
{
	return kind_show(c, &kind, argc, argv);
}

static const struct kind_args add = {add_args, sizeof(add_args) / sizeof(add_args[0]), NULL,
				     TRIB_A_JOB, NULL};

static int job_add(struct cli *c, int argc, char **argv)
{
	return kind_change(c, &kind, TRIB_CMD_JOB_NEW, argc, argv, &add);
}

static int job_del(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {name_args, 1, NULL, 0, NULL};

	return kind_change(c, &kind, TRIB_CMD_JOB_DEL, argc, argv, &args);
}

static const struct arg set_args[] = {
	ARG_ROW(NULL, "NAME", ARG_NAME, TRIB_A_JOB_NAME, ARG_NEEDED),
	ARG_ROW("rate", "BPS", ARG_RATE, TRIB_A_JOB_RATE, ARG_NEEDED),
};

static int job_set(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {set_args, sizeof(set_args) / sizeof(set_args[0]), NULL, 0, NULL};

	return kind_change(c, &kind, TRIB_CMD_JOB_SET, argc, argv, &args);
}

static const struct arg rank_args[] = {
	ARG_NUM("rank", "R", ARG_U16, TRIB_A_TICKET_RANK, 0, TRIB_WORLD_MAX - 1, ARG_NEEDED),
};

static int job_ticket(struct cli *c, int argc, char **argv)
{
	struct kind_args name = {name_args, 1, NULL, 0, NULL};
	struct nl_msg *msg;
	struct nlattr *nest;
	json_t *tickets, *t;
	int err;

	/* The name and the rank are attributes of two sets. */
	err = kind_message(c, &kind, TRIB_CMD_TICKET_GET, 0, argc ? 1 : 0, argv, &name, &msg);
	if (err)
		return err;
	nest = nla_nest_start(msg, TRIB_A_TICKET);
	err = parse_args(c, argc - 1, argv + 1, rank_args, 1, msg, NULL);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	nla_nest_end(msg, nest);
	err = cli_fetch(c, msg, TRIB_A_TICKET, &tickets);
	if (err)
		return err;
	t = json_array_get(tickets, 0);
	err = out_value(c, json_incref(t), jstr(t, "ticket"));
	json_decref(tickets);
	return err;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[NAME]", "List the jobs, or show one in full.", job_show),
	{"add",
	 "NAME world N [id I] [key HEX|FILE|-] [window W] [owner UID] [timeout MS] [rate BPS] [dtype int|f32|f16|bf16] [peers ADDR:PORT]",
	 "Add a job of N workers. Sums of floats travel as dtype: f32, f16 and bf16 need the kernel module and their bits depend on the order of arrival; int, the default, gives the same bits every time. Rank 0 listens at peers for ranks that exchange without relays.",
	 job_add, &add},
	CLI_CMD("set", "NAME rate BPS", "Change the planned rate of workers that attach later.",
		job_set),
	CLI_CMD("del", "NAME", "Remove a job and its trees, and tell its workers.", job_del),
	CLI_CMD("ticket", "NAME rank R", "Print TRIB_JOB for a worker on a host without tribd.",
		job_ticket),
};

CLI_OBJECT(job, "jobs: sets of workers that sum together");
