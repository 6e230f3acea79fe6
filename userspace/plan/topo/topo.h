/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A topology in memory: nodes, links and arcs. Link i is the arcs 2i (from a to
 * b) and 2i + 1 (from b to a), each with the link's capacity.
 */
#ifndef TRIB_PLAN_TOPO_H
#define TRIB_PLAN_TOPO_H

#include <stdint.h>

#include "plan/doc/doc.h"

#define TOPO_NAME 64
#define TOPO_DEV 16
#define TOPO_ADDR 46

/**
 * struct topo_node - a host or a switch
 * @relay: the node can relay.
 * @rate:  bit/s of contributions that it can take in; INFINITY: no limit.
 * @x, @y: position in drawings.
 */
struct topo_node {
	char name[TOPO_NAME];
	bool host;
	bool relay;
	double rate;
	double x, y;
};

/* @dev and @addr: of the a end, then of the b end; "": not given. */
struct topo_link {
	int a, b;
	double cap;
	char dev[2][TOPO_DEV];
	char addr[2][TOPO_ADDR];
};

enum topo_kind {
	TOPO_PLAIN,
	TOPO_BCUBE, /* @p: ports of a switch, @q: levels */
	TOPO_TORUS, /* @p: rows, @q: columns */
};

/**
 * struct plan_topology - nodes and links
 * @forward: hosts forward packets for others.
 * @first, @out: arcs by node: those of node n are out[first[n]] to
 *           out[first[n + 1] - 1].
 * @index:   name to node number.
 * @unplaced: first link end (2 * link + end) without dev or addr, or -1.
 */
struct plan_topology {
	char name[TOPO_NAME];
	enum topo_kind kind;
	int p, q;
	bool forward;
	int nnodes, nlinks;
	int node_room, link_room;
	struct topo_node *node;
	struct topo_link *link;
	int *first, *out;
	json_t *index;
	int unplaced;
};

struct plan_topology *topo_new(const char *name);
/* Add a node or link; its number, -ENOMEM, or -EEXIST: the name is in use. */
int topo_add_node(struct plan_topology *t, const char *name, bool host);
int topo_add_link(struct plan_topology *t, int a, int b, double cap);
/* Fill in @first, @out and @unplaced after the last link; 0 or -ENOMEM. */
int topo_finish(struct plan_topology *t);
/* Number of the node with this name, or -1. */
int topo_find(const struct plan_topology *t, const char *name);

static inline int arc_from(const struct plan_topology *t, int arc)
{
	return arc & 1 ? t->link[arc / 2].b : t->link[arc / 2].a;
}

static inline int arc_to(const struct plan_topology *t, int arc)
{
	return arc & 1 ? t->link[arc / 2].a : t->link[arc / 2].b;
}

/* topo_builtin.c: Fill @t as @spec describes; 0, or -errno with @err. */
int topo_builtin(struct plan_topology *t, const char *spec, double cap, struct plan_error *err);
/* topo_place.c: Choose missing devices and addresses; 0 or -ENOMEM. */
int topo_place(struct plan_topology *t);

/* topo_bcube.c */
/* Make a BCube of @n-port switches with @k levels; 0, -ENOMEM or -EEXIST. */
int topo_bcube(struct plan_topology *t, int n, int k, double cap);
/* Form a BCube of the hosts that @obj lists; 0, or -errno with an error. */
int topo_bcube_form(struct plan_topology *t, const struct json_read *d, const struct json_at *at,
		    const json_t *obj, double cap);
/* Digit @level of the number of server @id. */
int topo_bcube_digit(const struct plan_topology *t, int id, int level);

#endif /* TRIB_PLAN_TOPO_H */
