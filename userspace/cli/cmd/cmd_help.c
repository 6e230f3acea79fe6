// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib help: prints the tables of objects and commands. The shell completion
 * reads its JSON.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

#define ARGS_MAX 1024

/* Arguments of a command, with those that only the spec names. */
static const char *args_text(const struct cli_cmd *cmd, char buf[ARGS_MAX])
{
	size_t len = (size_t)snprintf(buf, ARGS_MAX, "%s", cmd->args);

	if (cmd->plus && len < ARGS_MAX)
		kind_usage(cmd->plus, buf + len, ARGS_MAX - len);
	return buf;
}

static int add_cmds(json_t *list, const struct cli_object *o)
{
	char args[ARGS_MAX];
	size_t i;
	int err = 0;

	for (i = 0; i < o->ncmds; i++)
		err |= json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "object",
							     o->name, "command", o->cmds[i].name,
							     "args", args_text(&o->cmds[i], args),
							     "text", o->cmds[i].text));
	return err;
}

int help_object(struct cli *c, const struct cli_object *o)
{
	json_t *list = json_array();
	char args[ARGS_MAX];
	size_t i;

	if (!list || add_cmds(list, o))
		return cli_error(c, "out of memory");
	if (!c->json) {
		printf("%s: %s\n\n", o->name, o->text);
		for (i = 0; i < o->ncmds; i++)
			printf("trib %s%s%s%s%s\n        %s\n", o->name,
			       *o->cmds[i].name ? " " : "", o->cmds[i].name,
			       *o->cmds[i].args ? " " : "", args_text(&o->cmds[i], args),
			       o->cmds[i].text);
	}
	return out_value(c, list, "\nSee also trib(8).");
}

int help_all(struct cli *c)
{
	json_t *list = json_array();
	size_t i, k;

	for (i = 0; list && c->objects[i]; i++)
		if (add_cmds(list, c->objects[i]))
			return cli_error(c, "out of memory");
	if (!c->json) {
		puts("trib [-j | -p] [-V] OBJECT [COMMAND [ARGUMENTS]]\n");
		for (i = 0; c->objects[i]; i++) {
			printf("  %-9s", c->objects[i]->name);
			for (k = 0; k < c->objects[i]->ncmds; k++)
				printf("%s%s", k ? " | " : "", c->objects[i]->cmds[k].name);
			printf("\n           %s\n", c->objects[i]->text);
		}
	}
	return out_value(c, list,
			 "\n  -j  JSON, -p  indented JSON, -V  version\n"
			 "\"trib OBJECT help\" shows the arguments; words and objects may be\n"
			 "shortened as long as they are unique. Without an object: status.");
}

static int cmd_help(struct cli *c, int argc, char **argv)
{
	size_t i;

	if (argc < 1)
		return help_all(c);
	if (argc > 1)
		return cli_no_args(c, argc - 1, argv + 1);
	for (i = 0; c->objects[i]; i++)
		if (!strcmp(c->objects[i]->name, argv[0]))
			return help_object(c, c->objects[i]);
	return cli_usage(c, "no object \"%s\": see \"trib help\"", argv[0]);
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("", "[OBJECT]", "Show the objects, or the commands of one.", cmd_help),
};

CLI_OBJECT(help, "objects and commands");
