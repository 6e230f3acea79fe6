/* SPDX-License-Identifier: BSD-2-Clause */
/* The clsact filter that trib_grow runs in. */
#ifndef TRIBD_CLSACT_H
#define TRIBD_CLSACT_H

#include "port.h"

#define CLSACT_HANDLE 1
#define CLSACT_PRIORITY 7417
#define CLSACT_PRIORITY_NDN 7418

/* Adds the qdisc if there is none; replaces an older filter of ours. */
int clsact_attach(struct tribd *d, struct port *p);
/* Removes the filter, and the qdisc if we made it and nobody else uses it. */
void clsact_detach(struct tribd *d, struct port *p);
/* The same for a device that no port describes. */
void clsact_purge(struct tribd *d, uint32_t ifindex, const char *ifname);

#endif /* TRIBD_CLSACT_H */
