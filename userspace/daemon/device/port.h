/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices with our programs on them. */
#ifndef TRIBD_PORT_H
#define TRIBD_PORT_H

#include "rtnl.h"
#include "daemon/core/tribd.h"

/* A network device that XDP is attached to; exists while a face names it. */
struct port {
	TAILQ_ENTRY(port) link;
	char ifname[IF_NAMESIZE];
	uint32_t ifindex; /* 0: the device is gone */
	uint32_t mtu;
	uint8_t mac[6];
	uint8_t mode;	  /* enum trib_xdp_mode */
	bool clsact;	  /* trib_grow is attached, and ndn_grow if loaded */
	bool clsact_ours; /* and we made the qdisc */
	int link_fd;	  /* XDP link, pinned; -1: none */
	char reason[160]; /* why not native, or not at all */
	unsigned int faces;
};

struct port *port_find(struct tribd *d, const char *ifname);
/* Makes the record only: no device is touched. NULL: no memory. */
struct port *port_make(struct tribd *d, const char *ifname);
/* Frees a record without faces; detaches what is attached. */
void port_release(struct tribd *d, struct port *p);

/* Takes over the pinned link of @dev, if there is one, and gives it our
 * programs; attaches otherwise. Sets ifindex, mode, reason. */
int port_attach(struct tribd *d, struct port *p, const struct netdev *dev,
		struct reason *why);
void port_detach(struct tribd *d, struct port *p);
/* The device has gone, and what was attached with it. */
void port_lost(struct tribd *d, struct port *p);
/* Descriptors only: everything stays attached. */
void port_close(struct port *p);
/* Unpins links to devices that no port names. */
void port_prune_links(struct tribd *d);
/* Removes our filter from every device of this namespace (--purge). */
int port_purge_filters(struct tribd *d);

#endif /* TRIBD_PORT_H */
