/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes in the kernel: those with protocol TRIB_WAYS_ROUTE_PROTO are tribd's. They stay
 * when tribd ends, as the data plane does.
 */
#ifndef TRIBD_WAYS_ROUTES_H
#define TRIBD_WAYS_ROUTES_H

#include "daemon/core/tribd.h"

/* To one address, over a neighbour behind a device. */
struct ways_hop {
	struct in6_addr to;
	struct in6_addr via;
	uint32_t oif;
};

/* Sorted by @to. */
struct ways_hops {
	struct ways_hop *at;
	unsigned int n;
};

/* Read what an earlier tribd left. 0 or -errno. The caller frees @out->at. */
int ways_routes_read(struct tribd *d, struct ways_hops *out);
/*
 * Change @now, the routes that there are, into @want, which takes its place. @remove: also
 * delete those that are not wanted; otherwise they stay in @now.
 */
void ways_routes_change(struct tribd *d, struct ways_hops *now, struct ways_hops *want,
			bool remove);

#endif /* TRIBD_WAYS_ROUTES_H */
