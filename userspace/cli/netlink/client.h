/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client side of trib.h's netlink protocol over NETLINK_USERSOCK: build a
 * request, send it, collect the whole answer. It knows messages, not objects.
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
 * Nothing is sent: whether tribd is there shows with the first request.
 * Return: 0 or -errno.
 */
int client_open(struct client **out);
void client_close(struct client *c);

/* How long one answer may take; the default is 5 seconds. */
void client_timeout(struct client *c, int ms);

/**
 * client_message() - a request without attributes
 * @cmd:   enum trib_cmd.
 * @flags: NLM_F_ACK for a change, NLM_F_DUMP for a list, 0 for one object.
 *
 * Return: the message (nlmsg_free() it) or NULL.
 */
struct nl_msg *client_message(int cmd, int flags);

/**
 * client_request() - send @msg and collect its answer
 * @fn:  called for each message once the answer is complete, so that a dump
 *       that changed under way can be taken again; may be NULL.
 *
 * Return: 0 or -errno; client_text() then says in one line what went wrong.
 */
int client_request(struct client *c, struct nl_msg *msg, client_fn fn,
		   void *arg);

const char *client_text(const struct client *c);

/* Who answered last: process and user, as the kernel vouches for them. */
void client_peer(const struct client *c, pid_t *pid, uid_t *uid);

/* The text that follows an NLMSG_ERROR as an attribute, or "". */
void client_error_text(const struct nlmsghdr *nlh, char *text, size_t size);

#endif /* TRIB_CLI_CLIENT_H */
