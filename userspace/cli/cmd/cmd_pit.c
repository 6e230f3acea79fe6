// SPDX-License-Identifier: BSD-2-Clause
/* trib pit: the persistent PIT, names and their subscribers. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static const struct arg name_args[] = {
	ARG_ROW(NULL, "NAME", ARG_PREFIX, TRIB_A_PIT_NAME, ARG_NEEDED),
};

static void age_at(const json_t *e, const char *key, char *buf, size_t size)
{
	if (json_object_get(e, key))
		out_ms(jnum(e, key), buf, size);
	else
		snprintf(buf, size, "-");
}

static void acked_text(const json_t *e, char *buf, size_t size)
{
	age_at(e, "acked_ms", buf, size);
}

static void taken_text(const json_t *e, char *buf, size_t size)
{
	age_at(e, "taken_ms", buf, size);
}

/* Show a version as the PS's incarnation and its count. */
static void version_text(const json_t *e, char *buf, size_t size)
{
	unsigned long long v = jnum(e, "version");

	if (v)
		snprintf(buf, size, "%llu.%llu/%llu", v >> 32, v & 0xffffffff,
			 (unsigned long long)jnum(e, "segment"));
	else
		snprintf(buf, size, "-");
}

static const struct out_col table[] = {
	{.key = "name"},
	{.key = "state"},
	{.key = "up"},
	{.title = "subscribers", .key = "faces"},
	{.title = "acked", .text = acked_text, .right = true},
	{.title = "version", .text = version_text, .right = true},
	{.title = "taken", .text = taken_text, .right = true},
};

static const struct cli_kind kind = {
	.get = TRIB_CMD_PIT_GET,
	.attr = TRIB_A_PIT,
	.name = name_args,
	.table = table,
	.ntable = sizeof(table) / sizeof(table[0]),
	.shown = "acked_ms version segment taken_ms",
};

static int pit_show(struct cli *c, int argc, char **argv)
{
	return kind_show_below(c, &kind, argc, argv);
}

static int pit_del(struct cli *c, int argc, char **argv)
{
	struct kind_args args = {name_args, 1, NULL, 0, NULL};

	return kind_change(c, &kind, TRIB_CMD_PIT_DEL, argc, argv, &args);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("show", "[PREFIX]", "List the entries, or those of names with this prefix.",
		pit_show),
	CLI_CMD("del", "NAME", "Remove an entry and its subscribers.", pit_del),
};

CLI_OBJECT(pit, "persistent PIT: names and their subscribers");
