/* SPDX-License-Identifier: BSD-2-Clause */
/* CPUs that share the work of this relay: struct trib_spread in uapi/trib_maps.h. */
#ifndef TRIBD_SPREAD_H
#define TRIBD_SPREAD_H

#include "port.h"

/*
 * Fit their number to the ports, after one came or went. It is that of --spread; else as many
 * as every port has receive queues, if all are veths, whose frames stay on the CPU that sent
 * them. A network card chooses the CPU itself. A failure is logged: all stays on one CPU.
 */
void spread_fit(struct tribd *d);

#endif /* TRIBD_SPREAD_H */
