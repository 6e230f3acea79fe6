// SPDX-License-Identifier: BSD-2-Clause
/* trib cs: the content store of the NDN forwarder. */
#include <stdio.h>

#include "cmd.h"

static const struct arg prefix_args[] = {
	ARG_ROW(NULL, "PREFIX", ARG_PREFIX, TRIB_A_CS_NAME, ARG_NEEDED),
};

static const struct out_col table[] = {
	{.key = "name"},
	{.key = "bytes", .right = true},
};

static const struct cli_kind kind = {
	.get = TRIB_CMD_CS_GET,
	.attr = TRIB_A_CS,
	.name = prefix_args,
	.table = table,
	.ntable = sizeof(table) / sizeof(table[0]),
};

static int cs_show(struct cli *c, int argc, char **argv)
{
	return kind_show_below(c, &kind, argc, argv);
}

static int cs_wipe(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {prefix_args, 1, NULL, 0, NULL};

	return kind_change(c, &kind, TRIB_CMD_CS_WIPE, argc, argv, &args);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[PREFIX]",
		"List the Data in the cache, or that of names with this prefix.", cs_show),
	CLI_CMD("wipe", "PREFIX", "Remove the Data of names with this prefix; / is all.", cs_wipe),
};

CLI_OBJECT(cs, "content store of the NDN forwarder");
