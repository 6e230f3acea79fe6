// SPDX-License-Identifier: BSD-2-Clause
/* trib group: multicast groups, sets of faces that get a copy of one packet. */
#include "cmd.h"

static const struct arg id_args[] = {
	ARG_NUM(NULL, "ID", ARG_U32, TRIB_A_GROUP_ID, 1, UINT32_MAX, ARG_NEEDED),
};

static const struct out_col table[] = {
	{.key = "id", .right = true},
	{.key = "tree", .right = true},
	{.key = "kind"},
	{.key = "faces"},
};

static const struct cli_kind kind = {
	.get = TRIB_CMD_GROUP_GET,
	.attr = TRIB_A_GROUP,
	.name = id_args,
	.table = table,
	.ntable = sizeof(table) / sizeof(table[0]),
	.details = table,
	.ndetails = sizeof(table) / sizeof(table[0]),
};

static int group_show(struct cli *c, int argc, char **argv)
{
	return kind_show(c, &kind, argc, argv);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[ID]", "List the groups, or show one.", group_show),
};

CLI_OBJECT(group, "multicast groups, made by tribd for its trees");
