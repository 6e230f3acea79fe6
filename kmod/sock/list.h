/* SPDX-License-Identifier: GPL-2.0 */
/* Collective sockets by generic netlink: TRIB_CMD_SOCK_GET. */
#ifndef TRIB_SOCK_LIST_H
#define TRIB_SOCK_LIST_H

struct netlink_callback;
struct sk_buff;

int trib_sock_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* TRIB_SOCK_LIST_H */
