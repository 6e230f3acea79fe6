/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports: devices with programs of tribd on them. */
#ifndef TRIBD_PORT_H
#define TRIBD_PORT_H

#include "rtnl.h"
#include "daemon/core/tribd.h"

/* Private to port_check.c. Times are of loop_now(). */
struct port_check {
	uint64_t retry_ns; /* after a failure nothing is tried until then */
	uint64_t rest_ns;  /* nor until then, if others keep taking it off */
	uint64_t done_ns;  /* when it was put back the last time */
	uint32_t retry_ms;
	uint32_t often;	  /* times with little time between them */
	bool news;	  /* look at the filters, too */
	char failed[160]; /* reason of the last failure; "": none */
};

/* A network device that XDP is attached to; exists while a face uses it. */
struct port {
	TAILQ_ENTRY(port) link;
	char ifname[IF_NAMESIZE];
	uint32_t ifindex; /* 0: the device is gone */
	uint32_t mtu;
	uint8_t mac[6];
	uint8_t mode;	     /* enum trib_xdp_mode */
	bool clsact;	     /* trib_grow is attached, and ndn_grow if loaded */
	bool clsact_ours;    /* tribd made the qdisc */
	int link_fd;	     /* XDP link, pinned; -1: none */
	char reason[160];    /* reason for generic mode, or for none */
	uint32_t reattached; /* times that tribd put back what was taken off */
	struct port_check check;
	unsigned int faces;
};

struct port *port_find(struct tribd *d, const char *ifname);
/* Make the record; no device is touched. NULL: no memory. */
struct port *port_make(struct tribd *d, const char *ifname);
/* Detach and free a port without faces. */
void port_release(struct tribd *d, struct port *p);

/*
 * Take over the pinned link of @dev, if there is one and it is native, and update its
 * program; attach otherwise. Set ifindex, mode and reason. 0 or -errno.
 */
int port_attach(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why);
/* The same with a new link, which is native if that is possible by now. */
int port_attach_anew(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why);
void port_detach(struct tribd *d, struct port *p);
/* Parts of a port that somebody took off. */
enum port_lacks {
	PORT_LACKS_XDP = 1,  /* program, link or its pin */
	PORT_LACKS_ROW = 2,  /* row of the ports map */
	PORT_LACKS_GROW = 4, /* clsact filter */
	PORT_LACKS_NDN = 8,  /* clsact filter of the NDN forwarder */
};

/* Look at what the kernel has; at the filters only if @filters. */
unsigned int port_lacks(struct tribd *d, const struct port *p, bool filters);
/* Forget what was attached: the device is gone. */
void port_lost(struct tribd *d, struct port *p);
/* Close descriptors; everything stays attached. */
void port_close(struct port *p);
/* Unpin links to devices that have no port. */
void port_prune_links(struct tribd *d);
/* Remove our filters from all devices of this namespace (--purge). */
int port_purge_filters(struct tribd *d);

#endif /* TRIBD_PORT_H */
