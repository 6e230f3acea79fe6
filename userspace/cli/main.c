// SPDX-License-Identifier: BSD-2-Clause
/* trib(8): parses options, runs a command, and prints its result and error. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/cmd.h"
#include "cli/netlink/client.h"
#include "cli/netlink/schema.h"

static int version(struct cli *c)
{
	json_t *j = json_pack("{s:s, s:i}", "version", TRIB_VERSION, "netlink", TRIB_GENL_VERSION);

	return out_value(c, j, "trib " TRIB_VERSION);
}

/* Options end at the object; the rest belongs to the command. */
static int options(struct cli *c, int argc, char **argv, bool *done)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"pretty", no_argument, NULL, 'p'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	bool show_version = false, show_help = false;
	const char *word;
	int opt;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, "+jpVh", longs, NULL)) != -1) {
		switch (opt) {
		case 'p':
			c->pretty = true;
			/* fall through */
		case 'j':
			c->json = true;
			break;
		case 'V':
			show_version = true;
			break;
		case 'h':
			show_help = true;
			break;
		default:
			*done = true;
			word = argv[optind - 1];
			if (optopt && !strchr(word, '='))
				return cli_usage(c, "no option \"-%c\"", optopt);
			return cli_usage(c, "no option \"%s\"", word);
		}
	}
	*done = show_version || show_help;
	if (show_version)
		return version(c);
	return show_help ? help_all(c) : CLI_OK;
}

/* Print the result under -j, then the error. */
static int finish(struct cli *c, int code)
{
	json_t *text;

	if (c->json && c->result)
		out_json(c, c->result);
	if (*c->error && c->json) {
		text = schema_string(c->error, strlen(c->error));
		json_decref(c->result);
		c->result = json_pack("{s:o, s:i}", "error", text, "code", code);
		out_json(c, c->result);
	} else if (*c->error) {
		fflush(stdout);
		fprintf(stderr, "trib: %s\n", c->error);
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "trib: cannot write: %s\n", strerror(errno));
		return code ? code : CLI_ERROR;
	}
	return code;
}

int main(int argc, char **argv)
{
	struct cli c = {.objects = cli_objects, .run = cli_run};
	bool done = false;
	int code;

	code = options(&c, argc, argv, &done);
	if (!done && code == CLI_OK)
		code = cli_run(&c, argc - optind, argv + optind);
	code = finish(&c, code);
	json_decref(c.result);
	client_close(c.client);
	return code;
}
