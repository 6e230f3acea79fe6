/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices, routes and neighbours as the kernel has them, and news of changes.
 */
#ifndef TRIBD_RTNL_H
#define TRIBD_RTNL_H

#include "daemon/core/tribd.h"

struct netdev {
	uint32_t ifindex;
	char name[IF_NAMESIZE];
	uint32_t mtu;
	bool ether; /* has a MAC address of 6 bytes */
	bool up;
	uint8_t mac[6];
	uint32_t lower; /* VLAN device: ifindex of the device below */
	uint16_t vlan;	/* VLAN id; 0: no VLAN device */
};

int rtnl_init(struct tribd *d);
void rtnl_exit(struct tribd *d);

/* Look up a device by @name, or (NULL) by @ifindex. 0, -ENODEV, -errno. */
int rtnl_dev(struct tribd *d, const char *name, uint32_t ifindex, struct netdev *dev);
/* Call @fn for every device until it returns non-zero; return that. */
int rtnl_each_dev(struct tribd *d, int (*fn)(const struct netdev *dev, void *arg), void *arg);
/* Find the VLAN device with tag @vlan over @lower. 0, -ENODEV, -errno. */
int rtnl_vlan_dev(struct tribd *d, uint32_t lower, uint16_t vlan, struct netdev *dev);
/*
 * Ask how the host sends to @to through @oif: its source address (all zeros:
 * none) and the next hop.
 */
int rtnl_route(struct tribd *d, const struct in6_addr *to, uint32_t oif, struct in6_addr *src,
	       struct in6_addr *via);
/*
 * Find the device of the host's route to @to, if that leads over another
 * neighbour. 0, -ENOENT, -errno.
 */
int rtnl_route_dev(struct tribd *d, const struct in6_addr *to, uint32_t *oif);
/*
 * Look up the MAC address of a neighbour. 0, -ENOENT (none valid now), -errno.
 */
int rtnl_neigh(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr, uint8_t mac[6]);
/* Make the kernel ask for it (ARP or neighbour discovery). */
int rtnl_probe(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr);

/* Make a request that begins with @body. NULL: no memory. */
struct nl_msg;
struct nl_msg *rtnl_msg(int type, int flags, const void *body, size_t len);
/* Send @m, call @fn for each answer, and free @m; as kernel_ask(). */
struct nlmsghdr;
int rtnl_ask(struct tribd *d, struct nl_msg *m, int (*fn)(struct nlmsghdr *nlh, void *arg),
	     void *arg);
/* Send @m, a change with NLM_F_ACK, and free it. 0 or -errno. */
int rtnl_do(struct tribd *d, struct nl_msg *m);

/* True if @ifindex has a clsact filter, at ingress or egress (or if unsure). */
bool rtnl_clsact_used(struct tribd *d, uint32_t ifindex);

#endif /* TRIBD_RTNL_H */
