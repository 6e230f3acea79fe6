/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of udp.c that only main.c uses. */
#ifndef TRIBD_UDP_H
#define TRIBD_UDP_H

#include "daemon/tribd.h"

int udp_init(struct tribd *d);
void udp_exit(struct tribd *d);

#endif /* TRIBD_UDP_H */
