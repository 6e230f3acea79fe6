/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about devices, routes and neighbours from rtnetlink and ethtool, also
 * about a veth's other end in another network namespace.
 */
#ifndef TRIB_CLI_LINK_H
#define TRIB_CLI_LINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct rt;

/* nsid of this network namespace itself. */
#define LINK_HERE (-1)

enum link_xdp { LINK_XDP_NONE, LINK_XDP_NATIVE, LINK_XDP_GENERIC };

/**
 * struct link - a device
 * @kind:  "veth", "vlan", ...; "" for a plain NIC.
 * @real:  there is hardware behind it.
 * @below: IFLA_LINK: the peer of a veth, the device below a VLAN; 0 = none.
 * @below_nsid: namespace of @below, or LINK_HERE.
 */
struct link {
	int ifindex;
	char name[IF_NAMESIZE];
	char kind[16];
	uint32_t mtu;
	uint8_t mac[6];
	bool up;
	bool carrier;
	bool real;
	enum link_xdp xdp;
	uint32_t rx_queues;
	int below;
	int below_nsid;
};

/* How the kernel would send to an address. */
struct route {
	int oif;
	bool local; /* the address is one of ours */
	bool has_gateway;
	uint8_t gateway[16];
};

struct neigh {
	bool found;
	bool failed;
	uint8_t mac[6];
};

int rt_open(struct rt **out);
void rt_close(struct rt *rt);

/* 0 or -errno; -ENODEV: no such device. */
int rt_link(struct rt *rt, int ifindex, int nsid, struct link *out);
/* @oif: device that a link-local address is behind; 0 for any other. */
int rt_route(struct rt *rt, const uint8_t addr[16], int oif, struct route *out);
int rt_neigh(struct rt *rt, int ifindex, const uint8_t addr[16],
	     struct neigh *out);

/*
 * A socket for ethtool requests in the namespace that is @nsid here, found
 * among the named ones and those of processes. -errno; -ENOENT: not found.
 */
int rt_ethtool(struct rt *rt, int nsid);

/* 1: on, 0: off, -errno: not known. @sock: from rt_ethtool(). */
int ethtool_feature(int sock, const char *ifname, const char *feature);
/* Queues in use and possible; -errno if the driver does not tell. */
int ethtool_channels(int sock, const char *ifname, uint32_t *now,
		     uint32_t *max);

#endif /* TRIB_CLI_LINK_H */
