/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kinds of objects: requests with arguments from the command line, and show. A
 * plain attribute of kmod/trib.yaml appears here without a row: as an argument
 * where kind_args.rest names its set, and in show.
 */
#ifndef TRIB_CLI_KIND_H
#define TRIB_CLI_KIND_H

#include "cli/core/cli.h"
#include "cli/out/out.h"
#include "cli/parse/parse.h"

struct nl_msg;

/**
 * struct cli_kind - a kind of objects
 * @get:     command that fetches one or all of them.
 * @attr:    enum trib_attr that an object is nested in.
 * @name:    argument that names an object; NULL if there is only one.
 * @table:   columns of the list, @ntable of them.
 * @details: lines of one object in full, @ndetails of them.
 * @shown:   keys, separated by blanks, of members that a column with .text
 *           shows, or that nothing must show. A member that is neither here nor
 *           a column's .key gets a column of its own if some object has it.
 * @more:    prints more about one object; may be NULL.
 */
struct cli_kind {
	int get;
	int attr;
	const struct arg *name;
	const struct out_col *table;
	size_t ntable;
	const struct out_col *details;
	size_t ndetails;
	const char *shown;
	void (*more)(const json_t *obj);
};

/**
 * struct kind_args - arguments of a command
 * @args:  rows of parse_args(), @n of them.
 * @check: checks what the rows cannot, from the bits ARG_BIT() of attributes
 *         that were given; may be NULL.
 * @rest:  enum trib_attr of a set whose other plain attributes are arguments,
 *         too; 0 for none. Attributes with a row in @apart are not.
 * @apart: arguments of another command of the kind; may be NULL.
 */
struct kind_args {
	const struct arg *args;
	size_t n;
	int (*check)(struct cli *c, uint32_t seen);
	int rest;
	const struct kind_args *apart;
};

/* Make a request whose attributes are on the command line. All of these return
 * enum cli_code. */
int kind_message(struct cli *c, const struct cli_kind *k, int cmd, int flags, int argc, char **argv,
		 const struct kind_args *args, struct nl_msg **out);
/* Make it, send it, and report success. */
int kind_change(struct cli *c, const struct cli_kind *k, int cmd, int argc, char **argv,
		const struct kind_args *args);
/* show [NAME] */
int kind_show(struct cli *c, const struct cli_kind *k, int argc, char **argv);
/* show [PREFIX]: the objects whose name, attribute 1, is below it. */
int kind_show_below(struct cli *c, const struct cli_kind *k, int argc, char **argv);
/*
 * Put a column into @out for each member that some object of @list has and that no
 * column of @k shows. Return: columns, at most @max.
 */
size_t kind_more_cols(const struct cli_kind *k, const json_t *list, struct out_col *out,
		      size_t max);
/* Print objects as a list, or one in full; both take over the reference. */
int kind_list(struct cli *c, const struct cli_kind *k, json_t *list);
int kind_one(struct cli *c, const struct cli_kind *k, json_t *obj);

/* Write " [KEYWORD VALUE]" for each argument that @rest adds. */
void kind_usage(const struct kind_args *args, char *buf, size_t size);

#endif /* TRIB_CLI_KIND_H */
