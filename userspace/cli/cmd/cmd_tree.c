// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib tree: this host's node in each aggregation tree of a job.
 */
#include <stdio.h>
#include <string.h>

#include "cli/object/tree_text.h"
#include "uapi/trib_attach.h"
#include "cmd.h"

static const struct arg add_args[] = {
	ARG_ROW(NULL, "JOB", ARG_NAME, TRIB_A_TREE_JOB, ARG_NEEDED),
	ARG_NUM("id", "T", ARG_U16, TRIB_A_TREE_ID, 1, 65535, 0),
	ARG_ROW("child", "FACE[:RANK]", ARG_CHILD, TRIB_A_TREE_CHILD, ARG_LIST),
	ARG_ROW("parent", "FACE", ARG_NAME, TRIB_A_TREE_PARENT, 0),
	ARG_NUM("index", "I", ARG_U16, TRIB_A_TREE_UP_CHILD, 0, TRIB_CHILDREN_MAX - 1, 0),
	ARG_ROW("local", "RANK[:INDEX|:PORT]", ARG_LOCAL, TRIB_A_TREE_LOCAL, ARG_LIST),
	ARG_ROW("down", "FACE", ARG_NAME, TRIB_A_TREE_DOWN, ARG_LIST),
	ARG_NUM("relay", "N", ARG_U16, TRIB_A_TREE_RELAY, 1, TRIB_RELAY_PS - 1, 0),
	ARG_NUM("next", "N", ARG_U16, TRIB_A_TREE_NEXT, 1, TRIB_RELAY_PS, 0),
	ARG_ROW("workers", "RANKS", ARG_RANKS, TRIB_A_TREE_WORKERS, 0),
	ARG_NUM("cap", "N", ARG_U32, TRIB_A_TREE_CAP, 1, 65536, 0),
	ARG_NUM("age", "MS", ARG_U32, TRIB_A_TREE_AGE_MS, 1, 60000, 0),
	ARG_ROW("held", "", ARG_FLAG, TRIB_A_TREE_HELD, 0),
	ARG_ROW("ps", "ADDR[:PORT]", ARG_HOST, TRIB_A_TREE_PS, 0),
	ARG_ROW("hop", "RELAY:FACE", ARG_HOP, TRIB_A_TREE_HOP, ARG_LIST),
	ARG_ROW("group", "ADDR", ARG_ADDR, TRIB_A_TREE_GROUP, 0),
};

static const struct arg id_args[] = {
	ARG_NUM(NULL, "ID", ARG_U16, TRIB_A_TREE_ID, 1, 65535, ARG_NEEDED),
};

static void role_text(const json_t *t, char *buf, size_t size)
{
	snprintf(buf, size, "%s", tree_role(t));
}

static void state_text(const json_t *t, char *buf, size_t size)
{
	snprintf(buf, size, "%s", tree_state(t));
}

static void joined_text(const json_t *t, char *buf, size_t size)
{
	if (tree_is_shared(t) || tree_is_worker(t)) {
		snprintf(buf, size, "-");
		return;
	}
	snprintf(buf, size, "%zu/%zu", json_array_size(json_object_get(t, "joined")),
		 json_array_size(json_object_get(t, "children")));
}

static void parent_text(const json_t *t, char *buf, size_t size)
{
	if (tree_is_shared(t))
		snprintf(buf, size, "%s", jstr(t, "parent"));
	else if (*jstr(t, "parent"))
		snprintf(buf, size, "%s:%u", jstr(t, "parent"), (unsigned int)jnum(t, "up_child"));
	else
		snprintf(buf, size, "-");
}

static void local_text(const json_t *t, char *buf, size_t size)
{
	const json_t *l;
	size_t i, at = 0;
	int n;

	snprintf(buf, size, "-");
	json_array_foreach(json_object_get(t, "local"), i, l) {
		n = snprintf(buf + at, size - at, "%s%u", at ? "," : "",
			     (unsigned int)jnum(l, "rank"));
		if (n < 0 || (size_t)n >= size - at)
			break;
		at += (size_t)n;
	}
}

static void missing_text(const json_t *t, char *buf, size_t size)
{
	tree_missing(t, buf, size);
	if (!*buf)
		snprintf(buf, size, "-");
}

static void groups_text(const json_t *t, char *buf, size_t size)
{
	snprintf(buf, size, "down %u, all %u, up %u", (unsigned int)jnum(t, "group_down"),
		 (unsigned int)jnum(t, "group_all"), (unsigned int)jnum(t, "group_up"));
}

static void slots_text(const json_t *t, char *buf, size_t size)
{
	snprintf(buf, size, "%u from %u", (unsigned int)jnum(t, "slots"),
		 (unsigned int)jnum(t, "slot0"));
}

static void ps_text(const json_t *t, char *buf, size_t size)
{
	const char *ps = jstr(t, "ps"), *group = jstr(t, "group");
	bool v6 = strchr(ps, ':');
	const json_t *h;
	size_t i, at;

	at = (size_t)snprintf(buf, size, "PS %s%s%s:%u", v6 ? "[" : "", ps, v6 ? "]" : "",
			      (unsigned int)jnum(t, "ps_port"));
	json_array_foreach(json_object_get(t, "hops"), i, h) {
		if (at >= size)
			return;
		at += (size_t)snprintf(buf + at, size - at, "%s%u (%s)", i ? ", " : ", relays ",
				       (unsigned int)jnum(h, "relay"), jstr(h, "face"));
	}
	if (*group && at < size)
		snprintf(buf + at, size - at, ", group %s", group);
}

static void shared_text(const json_t *t, char *buf, size_t size)
{
	char cap[32] = "", next[16] = "the PS";

	if (tree_is_worker(t)) {
		ps_text(t, buf, size);
		return;
	}
	if (!tree_is_shared(t)) {
		snprintf(buf, size, "-");
		return;
	}
	if (jnum(t, "cap"))
		snprintf(cap, sizeof(cap), ", cap %u", (unsigned int)jnum(t, "cap"));
	if (jnum(t, "next") != TRIB_RELAY_PS)
		snprintf(next, sizeof(next), "%u", (unsigned int)jnum(t, "next"));
	snprintf(buf, size, "relay %u, next %s, workers %s%s, age %u ms",
		 (unsigned int)jnum(t, "relay"), next, jstr(t, "workers"), cap,
		 (unsigned int)jnum(t, "age_ms"));
}

static const struct out_col table[] = {
	{.key = "id", .right = true},
	{.key = "job"},
	{.title = "role", .text = role_text},
	{.title = "state", .text = state_text},
	{.key = "epoch", .right = true},
	{.title = "joined", .text = joined_text, .right = true},
	{.title = "parent", .text = parent_text},
	{.title = "local", .text = local_text},
	{.key = "slots", .right = true},
};

static const struct out_col details[] = {
	{.key = "id"},
	{.key = "job"},
	{.title = "role", .text = role_text},
	{.title = "state", .text = state_text},
	{.key = "epoch"},
	{.title = "joined", .text = joined_text},
	{.title = "missing", .text = missing_text},
	{.title = "parent", .text = parent_text},
	{.title = "local ranks", .text = local_text},
	{.title = "down faces", .key = "down"},
	{.title = "slots", .text = slots_text},
	{.title = "groups", .text = groups_text},
	{.title = "shared", .text = shared_text},
};

static void lag_text(const json_t *ch, char *buf, size_t size)
{
	uint64_t n = jnum(ch, "samples");

	if (n)
		snprintf(buf, size, "%.1fus", (double)jnum(ch, "lag_ns") / (double)n / 1e3);
	else
		snprintf(buf, size, "-");
}

static void wait_text(const json_t *ch, const char *key, char *buf, size_t size)
{
	if (jnum(ch, "starts"))
		out_ms(jnum(ch, key) / 1000000, buf, size);
	else
		snprintf(buf, size, "-");
}

static void start_wait_text(const json_t *ch, char *buf, size_t size)
{
	wait_text(ch, "start_wait_ns", buf, size);
}

static void data_wait_text(const json_t *ch, char *buf, size_t size)
{
	wait_text(ch, "data_wait_ns", buf, size);
}

static const struct out_col children[] = {
	{.title = "child", .key = "index", .right = true},
	{.key = "face"},
	{.key = "rank", .right = true},
	{.key = "joined"},
	{.key = "samples", .right = true},
	{.title = "mean lag", .text = lag_text, .right = true},
	{.key = "last", .right = true},
	{.key = "starts", .right = true},
	{.title = "last to start", .key = "start_last", .right = true},
	{.title = "start wait", .text = start_wait_text, .right = true},
	{.title = "data wait", .text = data_wait_text, .right = true},
	{.key = "chunk", .right = true},
};

static void pid_text(const json_t *l, char *buf, size_t size)
{
	if (jnum(l, "pid"))
		snprintf(buf, size, "%u", (unsigned int)jnum(l, "pid"));
	else
		snprintf(buf, size, "-");
}

static void why_text(const json_t *l, char *buf, size_t size)
{
	snprintf(buf, size, "%s", *jstr(l, "why") ? jstr(l, "why") : "-");
}

static const struct out_col locals[] = {
	{.title = "local rank", .key = "rank", .right = true},
	{.title = "pid", .text = pid_text, .right = true},
	{.title = "sends by", .key = "way"},
	{.title = "XDP sent (it says)", .key = "carried", .right = true},
	{.title = "why not XDP", .text = why_text},
};

static void show_list(const json_t *list, const struct out_col *cols, size_t n)
{
	if (!json_array_size(list))
		return;
	putchar('\n');
	out_print_table(stdout, "", list, cols, n);
}

static void show_more(const json_t *tree)
{
	show_list(json_object_get(tree, "children"), children,
		  sizeof(children) / sizeof(children[0]));
	show_list(json_object_get(tree, "local"), locals, sizeof(locals) / sizeof(locals[0]));
}

static const struct cli_kind kind = {
	.get = TRIB_CMD_TREE_GET,
	.attr = TRIB_A_TREE,
	.name = id_args,
	.table = table,
	.ntable = sizeof(table) / sizeof(table[0]),
	.details = details,
	.ndetails = sizeof(details) / sizeof(details[0]),
	.shown = "children parent up_child local slot0 slots group_down group_all "
		 "group_up joined relay next workers cap age_ms held live ps "
		 "ps_port hops group weight",
	.more = show_more,
};

static int tree_show(struct cli *c, int argc, char **argv)
{
	return kind_show(c, &kind, argc, argv);
}

static int check_add(struct cli *c, uint32_t seen)
{
	bool child = seen & ARG_BIT(TRIB_A_TREE_CHILD);
	bool parent = seen & ARG_BIT(TRIB_A_TREE_PARENT);
	bool index = seen & ARG_BIT(TRIB_A_TREE_UP_CHILD);
	bool relay = seen & ARG_BIT(TRIB_A_TREE_RELAY);

	if (!child && !parent && !(seen & ARG_BIT(TRIB_A_TREE_PS)))
		return cli_usage(c, "child FACE[:RANK], parent FACE or ps ADDR is missing");
	if (index && !parent)
		return cli_usage(c, "index needs parent FACE");
	if (relay && !(seen & ARG_BIT(TRIB_A_TREE_NEXT)))
		return cli_usage(c, "relay needs next N, the next hop's number");
	/* A leaf may give the index of each rank instead, local RANK:INDEX. */
	if (parent && child && !index && !relay)
		return cli_usage(c, "parent needs index I, our place among its children");
	return CLI_OK;
}

static const struct kind_args add = {add_args, sizeof(add_args) / sizeof(add_args[0]), check_add,
				     TRIB_A_TREE, NULL};

static int tree_add(struct cli *c, int argc, char **argv)
{
	return kind_change(c, &kind, TRIB_CMD_TREE_NEW, argc, argv, &add);
}

static const struct kind_args by_id = {id_args, 1, NULL, 0, NULL};

static int tree_del(struct cli *c, int argc, char **argv)
{
	return kind_change(c, &kind, TRIB_CMD_TREE_DEL, argc, argv, &by_id);
}

static int tree_wipe(struct cli *c, int argc, char **argv)
{
	return kind_change(c, &kind, TRIB_CMD_TREE_WIPE, argc, argv, &by_id);
}

static const struct arg switch_args[] = {
	ARG_ROW(NULL, "JOB", ARG_NAME, TRIB_A_TREE_JOB, ARG_NEEDED),
	ARG_NUM("live", "ID", ARG_U16, TRIB_A_TREE_LIVE, 1, 65535, ARG_LIST),
};

static int tree_switch(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {switch_args, sizeof(switch_args) / sizeof(switch_args[0]), NULL, 0,
				 NULL};

	return kind_change(c, &kind, TRIB_CMD_TREE_SWITCH, argc, argv, &args);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[ID]", "List the trees, or show one and its children.", tree_show),
	{"add",
	 "JOB [id T] [child FACE[:RANK] ...] [parent FACE [index I]] [local RANK[:INDEX|:PORT] ...] [down FACE ...] [held] [relay N next N [workers RANKS] [cap N] [age MS]] [ps ADDR[:PORT] [hop RELAY:FACE ...] [group ADDR]]",
	 "Add this host's node of a tree; without parent or ps it is the root.", tree_add, &add},
	CLI_CMD("del", "ID", "Remove a tree.", tree_del),
	CLI_CMD("wipe", "ID", "Empty the slots of a tree; sums in flight recover by themselves.",
		tree_wipe),
	CLI_CMD("switch", "JOB [live ID ...]",
		"Set the trees of a job that workers get if they attach later.", tree_switch),
};

CLI_OBJECT(tree, "aggregation trees: this host's nodes");
