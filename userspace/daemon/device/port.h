/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports: devices with programs of tribd on them. */
#ifndef TRIBD_PORT_H
#define TRIBD_PORT_H

#include "rtnl.h"
#include "daemon/core/tribd.h"

/* A network device that XDP is attached to; exists while a face uses it. */
struct port {
	TAILQ_ENTRY(port) link;
	char ifname[IF_NAMESIZE];
	uint32_t ifindex; /* 0: the device is gone */
	uint32_t mtu;
	uint8_t mac[6];
	uint8_t mode;	  /* enum trib_xdp_mode */
	bool clsact;	  /* trib_grow is attached, and ndn_grow if loaded */
	bool clsact_ours; /* tribd made the qdisc */
	int link_fd;	  /* XDP link, pinned; -1: none */
	char reason[160]; /* reason for generic mode, or for none */
	unsigned int faces;
};

struct port *port_find(struct tribd *d, const char *ifname);
/* Make the record; no device is touched. NULL: no memory. */
struct port *port_make(struct tribd *d, const char *ifname);
/* Detach and free a port without faces. */
void port_release(struct tribd *d, struct port *p);

/*
 * Take over the pinned link of @dev, if there is one, and update its program;
 * attach otherwise. Set ifindex, mode and reason. 0 or -errno.
 */
int port_attach(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why);
void port_detach(struct tribd *d, struct port *p);
/* Forget what was attached: the device is gone. */
void port_lost(struct tribd *d, struct port *p);
/* Close descriptors; everything stays attached. */
void port_close(struct port *p);
/* Unpin links to devices that have no port. */
void port_prune_links(struct tribd *d);
/* Remove our filters from all devices of this namespace (--purge). */
int port_purge_filters(struct tribd *d);

#endif /* TRIBD_PORT_H */
