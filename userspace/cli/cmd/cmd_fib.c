// SPDX-License-Identifier: BSD-2-Clause
/* trib fib: routes of NDN names. */
#include "cmd.h"

static const struct arg add_args[] = {
	ARG_ROW(NULL, "PREFIX", ARG_PREFIX, TRIB_A_ROUTE_PREFIX, ARG_NEEDED),
	ARG_ROW("via", "FACE", ARG_NAME, TRIB_A_ROUTE_FACE, ARG_NEEDED),
};

static const struct out_col table[] = {
	{.key = "prefix"},
	{.title = "via", .key = "face"},
};

static const struct cli_kind kind = {
	.get = TRIB_CMD_ROUTE_GET,
	.attr = TRIB_A_ROUTE,
	.name = add_args,
	.table = table,
	.ntable = sizeof(table) / sizeof(table[0]),
	.details = table,
	.ndetails = sizeof(table) / sizeof(table[0]),
};

static int fib_show(struct cli *c, int argc, char **argv)
{
	return kind_show(c, &kind, argc, argv);
}

static int fib_add(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {add_args, 2, NULL, 0, NULL};

	return kind_change(c, &kind, TRIB_CMD_ROUTE_NEW, argc, argv, &args);
}

static int fib_del(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {add_args, 1, NULL, 0, NULL};

	return kind_change(c, &kind, TRIB_CMD_ROUTE_DEL, argc, argv, &args);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[PREFIX]", "List NDN routes, or show one.", fib_show),
	CLI_CMD("add", "PREFIX via FACE",
		"Send Interests for names with this prefix to a face; replaces the route.",
		fib_add),
	CLI_CMD("del", "PREFIX", "Remove a route.", fib_del),
};

CLI_OBJECT(fib, "routes of NDN names");
