/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The three addresses that belong to tribd in its network namespace: netlink port
 * TRIB_NL_PORT, UDP port TRIB_UDP_PORT, and the abstract name TRIB_ATTACH_NAME. Any
 * process may take one that is free, so tribd gives none up if it can help it:
 * systemd keeps them from one tribd to the next.
 */
#ifndef TRIBD_SOCKETS_H
#define TRIBD_SOCKETS_H

#include "tribd.h"

/*
 * Take kept sockets, bind the others, waiting for those that are taken, into
 * d->sock. 0 or -errno, logged.
 */
int sockets_init(struct tribd *d);
void sockets_exit(struct tribd *d);

#endif /* TRIBD_SOCKETS_H */
