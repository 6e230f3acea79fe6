/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices with our programs on them. */
#ifndef TRIBD_PORT_H
#define TRIBD_PORT_H

#include "rtnl.h"
#include "daemon/tribd.h"

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
