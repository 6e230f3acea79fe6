/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Client of tribd's netlink protocol (trib.h): builds a request, sends it, and
 * collects the whole answer. It knows messages, not objects.
 */
#ifndef TRIB_CLI_CLIENT_H
#define TRIB_CLI_CLIENT_H

#include <stdint.h>
#include <netlink/msg.h>
#include <netlink/attr.h>

struct client;

/* One message of a complete answer; @nlh is valid during the call only. */
typedef int (*client_fn)(struct nlmsghdr *nlh, void *arg);

/**
 * client_open() - bind a socket of this network namespace
 *
 * Nothing is sent: only the first request shows whether tribd runs.
 *
 * Return: 0 or -errno.
 */
int client_open(struct client **out);
void client_close(struct client *c);

/* Set the time for one answer; 5 seconds by default. */
void client_timeout(struct client *c, int ms);

/**
 * client_message() - make a request without attributes
 * @cmd:   enum trib_cmd.
 * @flags: NLM_F_ACK for a change, NLM_F_DUMP for a list, 0 for one object.
 *
 * Return: the message (nlmsg_free() it) or NULL.
 */
struct nl_msg *client_message(int cmd, int flags);

/**
 * client_request() - send @msg and collect its answer
 * @fn:  called for each message once the answer is complete; may be NULL. A dump
 *       that changed while it was read is repeated before.
 *
 * Return: 0 or -errno; then client_text() is one line about the failure.
 */
int client_request(struct client *c, struct nl_msg *msg, client_fn fn, void *arg);

const char *client_text(const struct client *c);

/* Process and user of the last answer, from the kernel's credentials. */
void client_peer(const struct client *c, pid_t *pid, uid_t *uid);

/* Copy the text attribute of an NLMSG_ERROR, or "". */
void client_error_text(const struct nlmsghdr *nlh, char *text, size_t size);

#endif /* TRIB_CLI_CLIENT_H */
