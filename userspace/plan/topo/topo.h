/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A topology in memory: nodes, links, and which arcs leave a node. Link i is
 * the arcs 2i (from a to b) and 2i + 1 (back), each with the link's capacity.
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
 * @relay: it can aggregate,
 * @rate:  bit/s of contributions that it takes in then; INFINITY: any.
 * @x, @y: where it is drawn.
 */
struct topo_node {
	char name[TOPO_NAME];
	bool host;
	bool relay;
	double rate;
	double x, y;
};

/* dev[0] and addr[0] are those of the a end; "" where they are not given. */
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
 * struct plan_topology - see above
 * @forward: hosts pass on what is not for them.
 * @first: arcs that leave node n are out[first[n]] to out[first[n + 1] - 1].
 * @index: name to node number.
 * @unplaced: link end (2 * link + end) that has no dev or addr, or -1.
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
/* Number of the new node or link, -ENOMEM, or -EEXIST (the name is taken). */
int topo_add_node(struct plan_topology *t, const char *name, bool host);
int topo_add_link(struct plan_topology *t, int a, int b, double cap);
/* After the last link: arcs by node, what is missing. */
int topo_finish(struct plan_topology *t);
int topo_find(const struct plan_topology *t, const char *name);

static inline int arc_from(const struct plan_topology *t, int arc)
{
	return arc & 1 ? t->link[arc / 2].b : t->link[arc / 2].a;
}

static inline int arc_to(const struct plan_topology *t, int arc)
{
	return arc & 1 ? t->link[arc / 2].a : t->link[arc / 2].b;
}

/* topo_builtin.c: fill @t as @spec says; errors go through plan_fail(). */
int topo_builtin(struct plan_topology *t, const char *spec, double cap,
		 struct plan_error *err);
/* topo_place.c: devices and addresses for ends of links that have none. */
int topo_place(struct plan_topology *t);

/* topo_bcube.c: a BCube of @n-port switches with @k levels. */
int topo_bcube(struct plan_topology *t, int n, int k, double cap);
/* Form one from the hosts that a document lists. */
int topo_bcube_form(struct plan_topology *t, const struct doc *d,
		    const struct at *at, const json_t *obj, double cap);
/* Digit @level of server @id. */
int topo_bcube_digit(const struct plan_topology *t, int id, int level);

#endif /* TRIB_PLAN_TOPO_H */
