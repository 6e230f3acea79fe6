/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about devices, routes and neighbours from rtnetlink and ethtool, also
 * for a veth's other end in another network namespace.
 */
#ifndef TRIB_CLI_LINK_H
#define TRIB_CLI_LINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct rt;

/* nsid of this network namespace. */
#define LINK_HERE (-1)

enum link_xdp { LINK_XDP_NONE, LINK_XDP_NATIVE, LINK_XDP_GENERIC };

/**
 * struct link - a device
 * @kind:  "veth", "vlan", ...; "" for a plain NIC.
 * @real:  it is hardware.
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

/* The kernel's route to an address. */
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

/*
 * Look up a device, a route or a neighbour. Return 0 or -errno; -ENODEV without
 * such a device.
 */
int rt_link(struct rt *rt, int ifindex, int nsid, struct link *out);
/* @oif: device of a link-local address, else 0. */
int rt_route(struct rt *rt, const uint8_t addr[16], int oif, struct route *out);
int rt_neigh(struct rt *rt, int ifindex, const uint8_t addr[16], struct neigh *out);

/*
 * Open a socket for ethtool requests in the namespace that is @nsid here, found
 * among named ones and those of processes. Return it or -errno; -ENOENT if not
 * found.
 */
int rt_ethtool(struct rt *rt, int nsid);

/* Return 1 (on), 0 (off) or -errno (unknown). @sock: from rt_ethtool(). */
int ethtool_feature(int sock, const char *ifname, const char *feature);
/*
 * Read the number of queues in use and the most possible. Return 0 or -errno.
 */
int ethtool_channels(int sock, const char *ifname, uint32_t *now, uint32_t *max);

#endif /* TRIB_CLI_LINK_H */
