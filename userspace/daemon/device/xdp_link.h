/* SPDX-License-Identifier: BSD-2-Clause */
/* The XDP link of a port. */
#ifndef TRIBD_XDP_LINK_H
#define TRIBD_XDP_LINK_H

#include "port.h"

/* Path of the link's pin. */
const char *xdp_link_pin(const struct tribd *d, uint32_t ifindex, char buf[192]);
/*
 * Keep our link if it is on the device: that of @p, else the pinned one. Update
 * its program, pin it if it is not. -ENOENT: there is none; a stale one is removed.
 */
int xdp_link_adopt(struct tribd *d, struct port *p);
/*
 * Attach, set mode and reason. -EBUSY if another program has the hook: that one
 * stays.
 */
int xdp_link_attach(struct tribd *d, struct port *p, struct reason *why);
/* True if our program is on the device, by a link that is pinned. */
bool xdp_link_is_whole(struct tribd *d, const struct port *p);
void xdp_link_drop(struct tribd *d, struct port *p);

#endif /* TRIBD_XDP_LINK_H */
