/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths over a topology: shortest in hops. Where several next hops are equally
 * near, a hash of the switches at both ends and of the choosing node selects
 * one, as equal-cost routing does; README.md has the function. The path back is
 * the reverse: results leave a relay by the port where contributions arrive.
 */
#ifndef TRIB_PLAN_PATHS_H
#define TRIB_PLAN_PATHS_H

#include "topo.h"

/* Limit of arcs in a path. */
#define PATHS_HOPS 512

/**
 * struct paths - paths of a topology
 * @attach: attachment of each node: the switch of a host with one link, else
 *          the node itself.
 * @up:     arc of such a host to its switch, else -1.
 * @dist:   hops to each destination, by node; filled at the first request.
 */
struct paths {
	const struct plan_topology *t;
	int *attach, *up;
	unsigned short **dist;
};

/* NULL: no memory. */
struct paths *paths_new(const struct plan_topology *t);
void paths_free(struct paths *p);

/* Fill in the arcs from node @from to node @to; their number, -1: no path. */
int paths_arcs(struct paths *p, int from, int to, int arcs[PATHS_HOPS]);
/* The same between two nodes that are their own attachments. */
int paths_inner(struct paths *p, int from, int to, int arcs[PATHS_HOPS]);
/* True if @node forwards packets for others. */
bool paths_forwards(const struct plan_topology *t, int node);

#endif /* TRIB_PLAN_PATHS_H */
