/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths over a topology. A path is a shortest one in hops; where several next
 * hops are as near, a hash of the switches at its ends and of the node where
 * the choice is made takes one (README.md has the function). The way back is the
 * same: results leave a relay by the port that contributions came by.
 */
#ifndef TRIB_PLAN_PATHS_H
#define TRIB_PLAN_PATHS_H

#include "topo.h"

#define PATHS_HOPS 512

/**
 * struct paths - see above
 * @attach: where node n's paths lead through: the switch of a host with one
 *          link, else n itself.
 * @up:     the arc of such a host to its switch, else -1.
 * @dist:   hops to a destination, by node; made when one is first asked for.
 */
struct paths {
	const struct plan_topology *t;
	int *attach, *up;
	unsigned short **dist;
};

/* NULL: no memory. */
struct paths *paths_new(const struct plan_topology *t);
void paths_free(struct paths *p);

/* Arcs from @from to @to (nodes); -1 if there is no path. */
int paths_arcs(struct paths *p, int from, int to, int arcs[PATHS_HOPS]);
/* The same between nodes that are their own attachments. */
int paths_inner(struct paths *p, int from, int to, int arcs[PATHS_HOPS]);
/* Does @node pass on what is not for it? */
bool paths_passes(const struct plan_topology *t, int node);

#endif /* TRIB_PLAN_PATHS_H */
