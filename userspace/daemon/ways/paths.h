/* SPDX-License-Identifier: BSD-2-Clause */
/* Shortest ways to all addresses over links that both ends report alive. Pure. */
#ifndef TRIBD_WAYS_PATHS_H
#define TRIBD_WAYS_PATHS_H

#include "reports.h"

/* A route: packets to @to leave by this host's link number @link. */
struct ways_route {
	struct in6_addr to;
	unsigned int link;
};

#define WAYS_ROUTES_MAX (TRIB_WAYS_NODES * TRIB_WAYS_LINKS)

/**
 * ways_paths() - the routes to all other hosts
 * @out: sorted by address; the caller frees it.
 *
 * None to a neighbour's address at the other end of a living link: the network of the
 * device has it. Hosts with several addresses that are reached by several equal ways get
 * one after the other, in the order of this host's links.
 *
 * Return: how many, or -ENOMEM.
 */
int ways_paths(const struct ways_reports *all, struct ways_route **out);

#endif /* TRIBD_WAYS_PATHS_H */
