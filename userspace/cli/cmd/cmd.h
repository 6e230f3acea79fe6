/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands: each cmd_<object>.c has the table of its commands; table.c has the
 * table of objects; run.c finds a command. Help and completion are made from
 * these tables.
 */
#ifndef TRIB_CLI_CMD_H
#define TRIB_CLI_CMD_H

#include <stddef.h>

#include "cli/core/cli.h"
#include "cli/netlink/request.h"
#include "cli/object/kind.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"

/**
 * struct cli_cmd - one command of an object
 * @name: as typed; "" if the object has no commands.
 * @args: its arguments as help shows them. Lower-case words are keywords, and
 *        are what completion offers.
 * @text: one line of explanation.
 * @fn:   runs it; argv[0] is the first argument. Returns enum cli_code.
 * @plus: arguments that help adds to @args (kind_usage()); may be NULL.
 */
struct cli_cmd {
	const char *name;
	const char *args;
	const char *text;
	int (*fn)(struct cli *c, int argc, char **argv);
	const struct kind_args *plus;
};

/* An object. Its first command runs if none is named. */
struct cli_object {
	const char *name;
	const char *text;
	const struct cli_cmd *cmds;
	size_t ncmds;
};

/* Faces as `trib face` shows them. */
extern const struct cli_kind cmd_face_kind;

#define CLI_CMD(name, args, text, fn)                                                              \
	{                                                                                          \
		name, args, text, fn, NULL                                                         \
	}

#define CLI_OBJECT(object, about)                                                                  \
	const struct cli_object object_##object = {                                                \
		.name = #object,                                                                   \
		.text = about,                                                                     \
		.cmds = cmds,                                                                      \
		.ncmds = sizeof(cmds) / sizeof(cmds[0]),                                           \
	}

/* table.c */
extern const struct cli_object *const cli_objects[];

/* Find a command in @c->objects and run it; @argv without program name and
 * options. Returns enum cli_code. */
int cli_run(struct cli *c, int argc, char **argv);

/* cmd_help.c: print all objects, or the commands of one. */
int help_all(struct cli *c);
int help_object(struct cli *c, const struct cli_object *o);

#endif /* TRIB_CLI_CMD_H */
