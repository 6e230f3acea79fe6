/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the commands of trib(8) share: the tables by which they are found, how
 * they report errors and hand over output, and how they talk to tribd.
 */
#ifndef TRIB_CLI_H
#define TRIB_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "client.h"
#include "parse.h"
#include "out.h"

/* Exit codes, and what command functions return. */
enum cli_code {
	CLI_OK = 0,
	CLI_ERROR = 1,
	CLI_USAGE = 2,
};

/**
 * struct cli - one run of trib
 * @client: the socket, opened by the first command that needs it.
 * @json:   -j: print JSON only.
 * @pretty: -p: and indent it.
 * @batch:  commands come from a batch: nothing may run for ever.
 * @result: under -j: what the command answered.
 * @error:  one line about what went wrong.
 * @refused: -errno of the last request that failed, 0 if it did not.
 */
struct cli {
	struct client *client;
	bool json;
	bool pretty;
	bool batch;
	json_t *result;
	char error[1024];
	int refused;
};

/**
 * struct cli_cmd - one command of an object
 * @name: as typed; "" if the object has no commands.
 * @args: its arguments as help shows them. Lower-case words are keywords, and
 *        are what completion offers.
 * @text: one line of explanation.
 * @fn:   does it; argv[0] is the first argument. Returns enum cli_code.
 */
struct cli_cmd {
	const char *name;
	const char *args;
	const char *text;
	int (*fn)(struct cli *c, int argc, char **argv);
};

/**
 * struct cli_object - an object; its first command is what a bare name means
 */
struct cli_object {
	const char *name;
	const char *text;
	const struct cli_cmd *cmds;
	size_t ncmds;
};

#define CLI_OBJECT(object, about)                                              \
	const struct cli_object object_##object = {                            \
		.name = #object,                                               \
		.text = about,                                                 \
		.cmds = cmds,                                                  \
		.ncmds = sizeof(cmds) / sizeof(cmds[0]),                       \
	}

/* All objects, in the order of help; ends with NULL. */
extern const struct cli_object *const cli_objects[];

/* Find and do one command; @argv without program name and options. */
int cli_run(struct cli *c, int argc, char **argv);

/* Note what went wrong, and return CLI_ERROR or CLI_USAGE. */
int cli_error(struct cli *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int cli_usage(struct cli *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* No arguments (left) expected. */
int cli_no_args(struct cli *c, int argc, char **argv);

/* A request; NULL is noted as an error. */
struct nl_msg *cli_message(struct cli *c, int cmd, int flags);

/* Send a change and free it. Returns enum cli_code. */
int cli_change(struct cli *c, struct nl_msg *msg);

/**
 * cli_fetch() - send a request for objects, free it, decode the answer
 * @top: enum trib_attr of the objects.
 * @out: array, a new reference; also for a request of one object.
 *
 * Returns enum cli_code.
 */
int cli_fetch(struct cli *c, struct nl_msg *msg, int top, json_t **out);

/* The same for all objects of a kind. */
int cli_fetch_all(struct cli *c, int cmd, int top, json_t **out);

/* And for those below a name, attribute @attr, if the command line has one. */
int cli_fetch_below(struct cli *c, int cmd, int top, int attr, int argc,
		    char **argv, json_t **out);

/**
 * struct cli_kind - a kind of objects that tribd keeps
 * @get:     command that fetches one or all of them.
 * @attr:    attribute that an object is nested in.
 * @name:    the one argument that names an object.
 * @table:   columns of the list, @ntable of them.
 * @details: lines of one object in full, @ndetails of them.
 * @more:    what follows them for people; may be NULL.
 */
struct cli_kind {
	int get;
	int attr;
	const struct arg *name;
	const struct out_col *table;
	size_t ntable;
	const struct out_col *details;
	size_t ndetails;
	void (*more)(const json_t *obj);
};

/**
 * struct kind_args - a command's arguments
 * @args:  rows of parse_args(), @n of them.
 * @check: what the rows cannot say, of those that were given; may be NULL.
 */
struct kind_args {
	const struct arg *args;
	size_t n;
	int (*check)(struct cli *c, uint32_t seen);
};

/* kind.c. All return enum cli_code. */
int kind_message(struct cli *c, const struct cli_kind *k, int cmd, int flags,
		 int argc, char **argv, const struct kind_args *args,
		 struct nl_msg **out);
int kind_change(struct cli *c, const struct cli_kind *k, int cmd, int argc,
		char **argv, const struct kind_args *args);
/* show [NAME] */
int kind_show(struct cli *c, const struct cli_kind *k, int argc, char **argv);

/* names.c: whether the NDN forwarder is on: *@out is NULL, or what it says.
 * Returns enum cli_code. */
int ndn_look(struct cli *c, json_t **out);
/* Take its counters out of @stats. */
json_t *ndn_take_stats(json_t *stats);
/* Is it one to the forwarder? */
bool ndn_is_face(const json_t *face);
/* "host", "router", with the port if it is another one; "-": nothing. */
void ndn_face_text(const json_t *face, char *buf, size_t size);

/* cmd_help.c */
int help_all(struct cli *c);
int help_object(struct cli *c, const struct cli_object *o);

/* cmd_tree.c: "running", "waiting" (some joined) or "idle" (none did); of a tree
 * that is held "draining" (an epoch runs) or "held". */
const char *tree_state(const json_t *tree);
/* Which children have not joined: "rank 2 (w2), relay tor1"; "" if none. */
void tree_missing(const json_t *tree, char *buf, size_t size);
/* "root", "relay" or "leaf". */
const char *tree_role(const json_t *tree);

#endif /* TRIB_CLI_H */
