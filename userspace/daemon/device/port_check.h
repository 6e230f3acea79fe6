/* SPDX-License-Identifier: BSD-2-Clause */
/* Putting back what somebody took off a port. */
#ifndef TRIBD_PORT_CHECK_H
#define TRIBD_PORT_CHECK_H

#include "daemon/core/tribd.h"

/* Begin to look at all ports, again and again. */
int port_check_init(struct tribd *d);
void port_check_exit(struct tribd *d);
struct port;

/* News of the device of a port: look soon, since what failed may succeed now. */
void port_check_soon(struct tribd *d, struct port *p);
/* Hook: news of the filters of a device (0: of all), which may be a port. */
void port_check_filters(struct tribd *d, uint32_t ifindex);

#endif /* TRIBD_PORT_CHECK_H */
