/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel knows of devices, routes and neighbours, and its news. */
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
	uint32_t lower; /* VLAN device: what it sits on */
	uint16_t vlan;	/* its id, 0: no VLAN device */
};

int rtnl_init(struct tribd *d);
void rtnl_exit(struct tribd *d);

/* By @name, or (NULL) by @ifindex. 0, -ENODEV, -errno. */
int rtnl_dev(struct tribd *d, const char *name, uint32_t ifindex,
	     struct netdev *dev);
/* Calls @fn for every device until it returns non-zero, which is returned. */
int rtnl_each_dev(struct tribd *d,
		  int (*fn)(const struct netdev *dev, void *arg), void *arg);
/* The VLAN device with tag @vlan over @lower. 0, -ENODEV, -errno. */
int rtnl_vlan_dev(struct tribd *d, uint32_t lower, uint16_t vlan,
		  struct netdev *dev);
/*
 * How the host would send to @to through @oif: its source address (all zeros
 * if it has none) and the neighbour to hand the packet to.
 */
int rtnl_route(struct tribd *d, const struct in6_addr *to, uint32_t oif,
	       struct in6_addr *src, struct in6_addr *via);
/*
 * The device that the host's routes lead through to @to, if that is over
 * another neighbour. 0, -ENOENT, -errno.
 */
int rtnl_route_dev(struct tribd *d, const struct in6_addr *to, uint32_t *oif);
/* The MAC address of a neighbour, if one is valid now. 0, -ENOENT, -errno. */
int rtnl_neigh(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr,
	       uint8_t mac[6]);
/* Makes the kernel ask for it (ARP or neighbour discovery). */
int rtnl_probe(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr);

/* A request of @body; NULL: no memory. */
struct nl_msg;
struct nl_msg *rtnl_msg(int type, int flags, const void *body, size_t len);
/* Sends @m, a change with NLM_F_ACK, and frees it. 0 or -errno. */
int rtnl_do(struct tribd *d, struct nl_msg *m);

/* True if @ifindex has a clsact filter, at ingress or egress (or if unsure). */
bool rtnl_clsact_used(struct tribd *d, uint32_t ifindex);

#endif /* TRIBD_RTNL_H */
