// SPDX-License-Identifier: BSD-2-Clause
/* Finds the command that a command line names, and runs it. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* Index of @word in a table: exact, or the only name that begins with it. -1 if
 * there is none, -2 if there are several. */
static int match(const char *word, const char *(*name)(const void *, size_t), const void *table,
		 size_t n)
{
	size_t i, len = strlen(word);
	int found = -1;

	for (i = 0; i < n; i++) {
		if (!strcmp(name(table, i), word))
			return (int)i;
		if (!strncmp(name(table, i), word, len))
			found = found == -1 ? (int)i : -2;
	}
	return len ? found : -1;
}

static const char *object_name(const void *table, size_t i)
{
	return ((const struct cli_object *const *)table)[i]->name;
}

static const char *cmd_name(const void *table, size_t i)
{
	return ((const struct cli_cmd *)table)[i].name;
}

/* Run a command; a wrong command line is answered with the way to its help. */
static int run_cmd(struct cli *c, const struct cli_object *o, const struct cli_cmd *cmd, int argc,
		   char **argv)
{
	int code = cmd->fn(c, argc, argv);
	size_t len = strlen(c->error);

	if (code == CLI_USAGE && !strstr(c->error, "help\""))
		snprintf(c->error + len, sizeof(c->error) - len, ": see \"trib %s help\"", o->name);
	return code;
}

static int run_object(struct cli *c, const struct cli_object *o, int argc, char **argv)
{
	int i;

	if (argc > 0 &&
	    (!strcmp(argv[0], "help") || !strcmp(argv[0], "-h") || !strcmp(argv[0], "--help")))
		return help_object(c, o);
	if (argc < 1 || !*o->cmds[0].name)
		return run_cmd(c, o, &o->cmds[0], argc, argv);
	i = match(argv[0], cmd_name, o->cmds, o->ncmds);
	if (i == -2)
		return cli_usage(
			c, "%s command \"%s\" is ambiguous: type more of it, see \"trib %s help\"",
			o->name, argv[0], o->name);
	if (i < 0)
		return cli_usage(c, "%s has no command \"%s\": see \"trib %s help\"", o->name,
				 argv[0], o->name);
	return run_cmd(c, o, &o->cmds[i], argc - 1, argv + 1);
}

int cli_run(struct cli *c, int argc, char **argv)
{
	size_t n = 0;
	int i;

	while (c->objects[n])
		n++;
	if (argc < 1)
		return run_object(c, c->objects[0], argc, argv);
	i = match(argv[0], object_name, c->objects, n);
	if (i == -2)
		return cli_usage(c,
				 "object \"%s\" is ambiguous: type more of it, see \"trib help\"",
				 argv[0]);
	if (i < 0)
		return cli_usage(c, "no object \"%s\": see \"trib help\"", argv[0]);
	return run_object(c, c->objects[i], argc - 1, argv + 1);
}
