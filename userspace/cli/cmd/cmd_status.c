// SPDX-License-Identifier: BSD-2-Clause
/* trib status: the daemon, and the state of each tree. */
#include <stdio.h>

#include "cli/object/ndn.h"
#include "cli/object/tree_text.h"
#include "cmd.h"

static void daemon_text(const json_t *s, char *buf, size_t size)
{
	char up[32];

	out_ms(jnum(s, "uptime_ms"), up, sizeof(up));
	snprintf(buf, size, "%s, pid %u, up %s%s", jstr(s, "version"), (unsigned int)jnum(s, "pid"),
		 up, jbool(s, "adopted") ? ", took over pinned maps" : "");
}

static void slots_text(const json_t *s, char *buf, size_t size)
{
	snprintf(buf, size, "%u of %u used, %u values each", (unsigned int)jnum(s, "slots_used"),
		 (unsigned int)jnum(s, "slots"), (unsigned int)jnum(s, "nval"));
}

static void module_text(const json_t *s, char *buf, size_t size)
{
	snprintf(buf, size, "%s", jbool(s, "module") ? "in use" : "not in use");
}

static void ndn_text(const json_t *s, char *buf, size_t size)
{
	const json_t *n = json_object_get(s, "ndn");

	if (n)
		snprintf(buf, size, "%u of %u entries, %u routes",
			 (unsigned int)jnum(n, "entries_used"), (unsigned int)jnum(n, "entries"),
			 (unsigned int)jnum(n, "routes"));
	else
		snprintf(buf, size, "off");
}

static const struct out_col lines[] = {
	{.title = "tribd", .text = daemon_text},
	{.title = "pinned in", .key = "instance"},
	{.title = "slots", .text = slots_text},
	{.title = "kernel module", .text = module_text},
	{.title = "NDN forwarder", .text = ndn_text},
	{.key = "faces"},
	{.key = "jobs"},
	{.key = "trees"},
	{.title = "workers attached", .key = "workers"},
	{.title = "forged joins", .key = "unproven"},
};

static const struct cli_kind kind = {
	.attr = TRIB_A_STATUS,
	.details = lines,
	.ndetails = sizeof(lines) / sizeof(lines[0]),
	.shown = "version pid uptime_ms adopted slots slots_used nval module ndn "
		 "abi pool",
};

static const struct out_col state_cols[] = {
	{.key = "tree", .right = true},	 {.key = "job"},     {.key = "role"}, {.key = "state"},
	{.key = "epoch", .right = true}, {.key = "missing"},
};

static json_t *tree_states(const json_t *trees)
{
	json_t *list = json_array();
	char missing[OUT_CELL];
	const json_t *t;
	size_t i;

	json_array_foreach(trees, i, t) {
		tree_missing(t, missing, sizeof(missing));
		json_array_append_new(
			list, json_pack("{s:I, s:s, s:s, s:s, s:I, s:s}", "tree",
					(json_int_t)jnum(t, "id"), "job", jstr(t, "job"), "role",
					tree_role(t), "state", tree_state(t), "epoch",
					(json_int_t)jnum(t, "epoch"), "missing", missing));
	}
	return list;
}

static int cmd_status(struct cli *c, int argc, char **argv)
{
	json_t *status, *trees, *states, *names;
	int err;

	err = cli_no_args(c, argc, argv);
	if (err)
		return err;
	err = cli_fetch_one(c, TRIB_CMD_STATUS_GET, TRIB_A_STATUS, &status);
	if (err)
		return err;
	err = cli_fetch_all(c, TRIB_CMD_TREE_GET, TRIB_A_TREE, &trees);
	if (err)
		goto out;
	err = ndn_look(c, &names);
	if (err)
		goto out_trees;
	states = tree_states(trees);
	json_object_set(status, "tree_states", states);
	if (names)
		json_object_set_new(status, "ndn", names);
	err = kind_one(c, &kind, json_incref(status));
	if (!err && !c->json && json_array_size(states)) {
		putchar('\n');
		out_print_table(stdout, "", states, state_cols,
				sizeof(state_cols) / sizeof(state_cols[0]));
	}
	json_decref(states);
out_trees:
	json_decref(trees);
out:
	json_decref(status);
	return err;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("", "", "Show the daemon, and the state of each tree.", cmd_status),
};

CLI_OBJECT(status, "the daemon of this network namespace");
