/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to tribd with JSON answers. All return enum cli_code. */
#ifndef TRIB_CLI_REQUEST_H
#define TRIB_CLI_REQUEST_H

#include "cli/core/cli.h"
#include "client.h"

/* Make a request without attributes; NULL with an error set. */
struct nl_msg *cli_message(struct cli *c, int cmd, int flags);

/* Send a change and free it. */
int cli_change(struct cli *c, struct nl_msg *msg);

/**
 * cli_fetch() - send a request for objects, free it, and decode the answer
 * @top: enum trib_attr of the objects.
 * @out: array of objects, also for a request of one; a new reference. NULL after
 *       an error.
 */
int cli_fetch(struct cli *c, struct nl_msg *msg, int top, json_t **out);

/* Fetch all objects of a kind. */
int cli_fetch_all(struct cli *c, int cmd, int top, json_t **out);

/* Fetch the only object of its kind, by a request without attributes. */
int cli_fetch_one(struct cli *c, int cmd, int top, json_t **out);

#endif /* TRIB_CLI_REQUEST_H */
