/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run of trib(8): options, result and error. Every part of trib may use
 * this; it knows no commands and no messages.
 */
#ifndef TRIB_CLI_H
#define TRIB_CLI_H

#include <stdbool.h>
#include <jansson.h>

/* Exit codes. Command functions and most others return them. */
enum cli_code {
	CLI_OK = 0,
	CLI_ERROR = 1,
	CLI_USAGE = 2,
};

struct cli_object;
struct client;

/**
 * struct cli - one run of trib
 * @objects: table of objects in the order of help; ends with NULL.
 * @run:     runs a command line; for commands that run others.
 * @client:  the socket, opened by the first request.
 * @json:    -j: print JSON only.
 * @pretty:  -p: indent it.
 * @batch:   commands come from a batch: none may run for ever.
 * @result:  under -j, the answer of the command; owned.
 * @error:   one line about the failure; "" without one.
 * @refused: -errno of the last request if it failed, else 0.
 */
struct cli {
	const struct cli_object *const *objects;
	int (*run)(struct cli *c, int argc, char **argv);
	struct client *client;
	bool json;
	bool pretty;
	bool batch;
	json_t *result;
	char error[1024];
	int refused;
};

/* Set @c->error and return CLI_ERROR, or CLI_USAGE for a wrong command line. */
int cli_error(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_usage(struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Fail if arguments are left. */
int cli_no_args(struct cli *c, int argc, char **argv);

#endif /* TRIB_CLI_H */
