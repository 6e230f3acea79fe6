// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib strategy: times and markers of the NDN forwarder.
 */
#include <stdio.h>

#include "cmd.h"

/*
 * Limits of a lease: the least of tribd, and a day, because a longer lease
 * hides dead workers.
 */
#define TIME_MIN_MS 100
#define TIME_MAX_MS 86400000

static const struct arg set_args[] = {
	ARG_NUM("lease", "TIME", ARG_TIME, TRIB_A_NDN_LEASE_MS, TIME_MIN_MS, TIME_MAX_MS, 0),
	ARG_NUM("leave", "TIME", ARG_TIME, TRIB_A_NDN_LEAVE_MS, 1, TIME_MAX_MS, 0),
	ARG_ROW("insert", "C", ARG_MARK, TRIB_A_NDN_MARK_INSERT, 0),
	ARG_ROW("distribute", "C", ARG_MARK, TRIB_A_NDN_MARK_DISTRIBUTE, 0),
	ARG_ROW("delete", "C", ARG_MARK, TRIB_A_NDN_MARK_DELETE, 0),
};

static void entries_text(const json_t *n, char *buf, size_t size)
{
	snprintf(buf, size, "%u of %u", (unsigned int)jnum(n, "entries_used"),
		 (unsigned int)jnum(n, "entries"));
}

static void cache_text(const json_t *n, char *buf, size_t size)
{
	if (jnum(n, "cache"))
		snprintf(buf, size, "%u of %u segments", (unsigned int)jnum(n, "cache_used"),
			 (unsigned int)jnum(n, "cache"));
	else
		snprintf(buf, size, "none");
}

static void lease_text(const json_t *n, char *buf, size_t size)
{
	out_ms(jnum(n, "lease_ms"), buf, size);
}

static void leave_text(const json_t *n, char *buf, size_t size)
{
	out_ms(jnum(n, "leave_ms"), buf, size);
}

static const struct out_col details[] = {
	{.title = "entries", .text = entries_text},
	{.title = "cache", .text = cache_text},
	{.key = "routes"},
	{.title = "lease", .text = lease_text},
	{.title = "leave", .text = leave_text},
	{.key = "insert"},
	{.key = "distribute"},
	{.key = "delete"},
};

static const struct cli_kind kind = {
	.get = TRIB_CMD_NDN_GET,
	.attr = TRIB_A_NDN,
	.details = details,
	.ndetails = sizeof(details) / sizeof(details[0]),
	.shown = "entries entries_used cache cache_used lease_ms leave_ms",
};

static int strategy_show(struct cli *c, int argc, char **argv)
{
	return kind_show(c, &kind, argc, argv);
}

static int check_set(struct cli *c, uint32_t seen)
{
	return seen ? CLI_OK
		    : cli_usage(
			      c,
			      "nothing to change: give lease, leave, insert, distribute or delete");
}

static int strategy_set(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {set_args, sizeof(set_args) / sizeof(set_args[0]), check_set, 0,
				 NULL};

	return kind_change(c, &kind, TRIB_CMD_NDN_SET, argc, argv, &args);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "", "Show times, markers, and the use of the tables.", strategy_show),
	CLI_CMD("set", "[lease TIME] [leave TIME] [insert C] [distribute C] [delete C]",
		"Change the lease of subscriptions, and the markers.", strategy_set),
};

CLI_OBJECT(strategy, "times and markers of the NDN forwarder");
