/* SPDX-License-Identifier: BSD-2-Clause */
/* Parse rtnetlink messages. */
#ifndef TRIBD_RTNL_PARSE_H
#define TRIBD_RTNL_PARSE_H

#include <linux/netlink.h>

#include "rtnl.h"

struct nl_msg;
struct nlattr;

struct neigh {
	uint32_t ifindex;
	struct in6_addr addr;
	uint8_t mac[6];
	bool valid; /* @mac can be used */
};

/* RTM_NEWLINK and RTM_DELLINK; RTM_NEWNEIGH and RTM_DELNEIGH. 0 or -EINVAL. */
int rtnl_parse_dev(struct nlmsghdr *nlh, struct netdev *dev);
int rtnl_parse_neigh(struct nlmsghdr *nlh, struct neigh *n);

/* Addresses as attributes of 4 or 16 bytes. */
int rtnl_addr_family(const struct in6_addr *a);
int rtnl_put_addr(struct nl_msg *m, int type, const struct in6_addr *a);
bool rtnl_get_addr(const struct nlattr *attr, struct in6_addr *a);

#endif /* TRIBD_RTNL_PARSE_H */
