/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests to the kernel by netlink. The kernel answers within the send call,
 * so a request does not block the loop.
 */
#ifndef TRIBD_KERNEL_ASK_H
#define TRIBD_KERNEL_ASK_H

#include <linux/netlink.h>

struct nl_msg;
struct nl_sock;

/**
 * kernel_ask() - send @m, call @fn for each answer, free @m
 * @sk: connected, without automatic acknowledgements.
 * @m:  NULL: there was no memory for it.
 * @fn: non-zero ends the calls; may be NULL.
 *
 * Return: 0, what @fn returned, the kernel's negative errno, -EIO, -ENOMEM.
 */
int kernel_ask(struct nl_sock *sk, struct nl_msg *m, int (*fn)(struct nlmsghdr *nlh, void *arg),
	       void *arg);

#endif /* TRIBD_KERNEL_ASK_H */
