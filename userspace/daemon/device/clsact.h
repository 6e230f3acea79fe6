/* SPDX-License-Identifier: BSD-2-Clause */
/* The clsact filters of a port. */
#ifndef TRIBD_CLSACT_H
#define TRIBD_CLSACT_H

#include "port.h"

#define CLSACT_HANDLE 1
#define CLSACT_PRIORITY 7417
#define CLSACT_PRIORITY_NDN 7418

/*
 * Add the qdisc if there is none, and the filters; replace older ones of ours.
 */
int clsact_attach(struct tribd *d, struct port *p);
/* Bits of enum port_lacks. */
unsigned int clsact_lacks(struct tribd *d, const struct port *p);
/*
 * Remove the filters, and the qdisc if tribd made it and no other filter is in
 * it.
 */
void clsact_detach(struct tribd *d, struct port *p);
/* Remove them from a device that has no port. */
void clsact_purge(struct tribd *d, uint32_t ifindex, const char *ifname);

#endif /* TRIBD_CLSACT_H */
