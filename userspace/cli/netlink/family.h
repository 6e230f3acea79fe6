/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Client of the kernel module's generic netlink family (trib.h). Answers come
 * from the kernel and need no check of credentials.
 */
#ifndef TRIB_CLI_FAMILY_H
#define TRIB_CLI_FAMILY_H

#include <stdbool.h>
#include <jansson.h>

struct cli;
struct family;
struct nl_msg;

/**
 * family_open() - find the family; try to load the module without it
 *
 * Returns enum cli_code; @out is for family_close().
 */
int family_open(struct cli *c, struct family **out);
void family_close(struct family *f);

/**
 * family_message() - make a request without attributes
 * @cmd:   enum trib_cmd.
 * @flags: NLM_F_ACK for a change, NLM_F_DUMP for a list, 0 for one object.
 *
 * Return: the message, or NULL with an error set.
 */
struct nl_msg *family_message(struct cli *c, struct family *f, int cmd, int flags);

/**
 * family_request() - send @msg, free it, and collect its answer
 * @top:   enum trib_attr of the objects, TRIB_A_UNSPEC if none come.
 * @out:   array, a new reference; not touched without objects.
 *
 * Returns enum cli_code.
 */
int family_request(struct cli *c, struct family *f, struct nl_msg *msg, int top, json_t **out);

/* Open the family, make one request without attributes, close it. */
int family_ask(struct cli *c, int cmd, int flags, int top, json_t **out);

/* Join the multicast group of events. Returns enum cli_code. */
int family_listen(struct cli *c, struct family *f);

/**
 * family_event() - wait for events
 * @ms:  timeout, -1 for none.
 * @out: array of events, a new reference; empty after the timeout or a signal.
 *       Member "sock" is the socket of an event.
 * @lost: true if events were lost because they were not read in time.
 *
 * Returns enum cli_code.
 */
int family_event(struct cli *c, struct family *f, int ms, json_t **out, bool *lost);

#endif /* TRIB_CLI_FAMILY_H */
