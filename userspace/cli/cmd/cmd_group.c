// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib group: the sets of faces that one packet is multicast to.
 */
#include "cli/core/cli.h"

static const struct arg id_args[] = {
	ARG_NUM(NULL, "ID", ARG_U32, TRIB_A_GROUP_ID, 1, UINT32_MAX,
		ARG_NEEDED),
};

static const struct out_col table[] = {
	{.key = "id", .right = true},
	{.key = "tree", .right = true},
	{.key = "kind"},
	{.key = "faces"},
};

static int group_show(struct cli *c, int argc, char **argv)
{
	struct nl_msg *msg;
	struct nlattr *nest;
	json_t *groups;
	int err;

	if (argc < 1) {
		err = cli_fetch_all(c, TRIB_CMD_GROUP_GET, TRIB_A_GROUP,
				    &groups);
		return err ? err
			   : out_table(c, groups, table,
				       sizeof(table) / sizeof(table[0]));
	}
	msg = cli_message(c, TRIB_CMD_GROUP_GET, 0);
	if (!msg)
		return CLI_ERROR;
	nest = nla_nest_start(msg, TRIB_A_GROUP);
	err = parse_args(c, argc, argv, id_args, 1, msg, NULL);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	nla_nest_end(msg, nest);
	err = cli_fetch(c, msg, TRIB_A_GROUP, &groups);
	if (err)
		return err;
	err = out_list(c, json_incref(json_array_get(groups, 0)), table,
		       sizeof(table) / sizeof(table[0]));
	json_decref(groups);
	return err;
}

static const struct cli_cmd cmds[] = {
	{"show", "[ID]", "List the groups, or show one.", group_show},
};

CLI_OBJECT(group, "multicast groups of the trees (made by tribd)");
