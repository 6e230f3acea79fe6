// SPDX-License-Identifier: BSD-2-Clause
/* trib batch: runs one command a line, up to the first that fails. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/netlink/schema.h"
#include "cmd.h"

#define WORDS_MAX 512

/*
 * Split a line at blanks, in place. "..." and '...' keep blanks; # at the start
 * of a word begins a comment. Returns the number of words, -1 for an open
 * quote, -2 for too many words.
 */
static int split(char *line, char **argv)
{
	char *in = line, *out = line, quote;
	int n = 0;

	for (;;) {
		in += strspn(in, " \t\r\n");
		if (!*in || *in == '#')
			return n;
		if (n == WORDS_MAX)
			return -2;
		argv[n++] = out;
		while (*in && !strchr(" \t\r\n", *in)) {
			if (*in != '"' && *in != '\'') {
				*out++ = *in++;
				continue;
			}
			quote = *in++;
			while (*in && *in != quote)
				*out++ = *in++;
			if (!*in)
				return -1;
			in++;
		}
		/* The end of this word may be where the next one begins. */
		if (*in)
			in++;
		*out++ = '\0';
	}
}

static json_t *entry(struct cli *c, int line, int argc, char **argv, int code)
{
	json_t *words = json_array(), *e;
	int i;

	for (i = 0; i < argc; i++)
		json_array_append_new(words, schema_string(argv[i], strlen(argv[i])));
	e = json_pack("{s:i, s:o}", "line", line, "command", words);
	if (code) {
		json_object_set_new(e, "error", schema_string(c->error, strlen(c->error)));
		json_object_set_new(e, "code", json_integer(code));
	} else {
		json_object_set(e, "output", c->result ? c->result : json_null());
	}
	return e;
}

static int run_line(struct cli *c, char *text, int line, json_t *list)
{
	char *argv[WORDS_MAX];
	int argc = split(text, argv), code;

	if (!argc)
		return CLI_OK;
	c->result = NULL;
	if (argc == -1)
		code = cli_usage(c, "a quote is not closed");
	else if (argc < 0)
		code = cli_usage(c, "more than %d words", WORDS_MAX);
	else
		code = cli_run(c, argc, argv);
	if (c->json)
		json_array_append_new(list, entry(c, line, argc > 0 ? argc : 0, argv, code));
	json_decref(c->result);
	c->result = NULL;
	return code;
}

static int run_file(struct cli *c, FILE *f, const char *name, json_t *list)
{
	char *text = NULL, error[sizeof(c->error)];
	size_t size = 0;
	ssize_t len;
	int line = 0, code = CLI_OK;

	while (!code && (len = getline(&text, &size, f)) > 0) {
		line++;
		if (strlen(text) != (size_t)len)
			code = cli_usage(c, "the line holds a NUL byte");
		else
			code = run_line(c, text, line, list);
		/* Output of earlier commands comes before the error. */
		fflush(stdout);
	}
	if (code) {
		snprintf(error, sizeof(error), "%s", c->error);
		cli_error(c, "%s:%d: %s", name, line, error);
	} else if (ferror(f)) {
		code = cli_error(c, "%s: %s", name, strerror(errno));
	}
	free(text);
	return code;
}

static int cmd_batch(struct cli *c, int argc, char **argv)
{
	json_t *list;
	FILE *f = stdin;
	int err;

	if (argc < 1)
		return cli_usage(c, "FILE is missing (- is standard input)");
	err = cli_no_args(c, argc - 1, argv + 1);
	if (err)
		return err;
	if (c->batch)
		return cli_error(c, "a batch cannot run a batch");
	if (strcmp(argv[0], "-")) {
		f = fopen(argv[0], "re");
		if (!f)
			return cli_error(c, "cannot open \"%s\": %s", argv[0], strerror(errno));
	}
	list = json_array();
	c->batch = true;
	err = run_file(c, f, f == stdin ? "standard input" : argv[0], list);
	if (f != stdin)
		fclose(f);
	json_decref(c->result);
	c->result = list;
	/* Under -j the entry of the failed line has the error. */
	if (c->json && json_object_get(json_array_get(list, json_array_size(list) - 1), "error"))
		c->error[0] = '\0';
	return err;
}

static const struct cli_cmd cmds[] = {
	CLI_CMD("", "FILE | -", "Run the commands in a file, up to the first error.", cmd_batch),
};

CLI_OBJECT(batch, "run the commands in a file");
