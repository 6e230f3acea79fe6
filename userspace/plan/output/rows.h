/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows: the faces, jobs and trees that each host is given, in the form of the
 * arguments of trib(8).
 */
#ifndef TRIB_PLAN_ROWS_H
#define TRIB_PLAN_ROWS_H

#include "plan/search/span.h"

/**
 * struct rows - the rows of all hosts while they are collected
 * @host:   by node; NULL: no row yet.
 * @faces:  by node: "dev addr port" to the name of the face.
 * @count:  rows for trees so far.
 * @groups: numbers of multicast groups, by node, port and members.
 * @way:    pairs of nodes whose packets travel, @nways of them.
 * @multicast: some results are multicast.
 * @local:  some hosts both work and sum.
 */
struct rows {
	struct model *model;
	json_t **host, **faces;
	int (*way)[2];
	int nways;
	int count;
	json_t *groups;
	bool multicast, local;
	struct plan_error *err;
};

int rows_new(struct rows **out, struct model *model, struct plan_error *err);
void rows_free(struct rows *r);
/* All rows, by node: a new reference. NULL: no memory. */
json_t *rows_list(struct rows *r);

/* Add the job to every node of @s that runs tribd; 0 or -ENOMEM. */
int rows_add_job(struct rows *r, const struct job *job, double rate, const struct span *s);

/* rows_tree.c: Add a tree on dedicated pools. -E2BIG: too many children. */
int rows_add_tree(struct rows *r, const struct job *job, const struct span *s);

/**
 * rows_add_shared() - add a tree on shared pools; its root is the PS
 * @number: relay number, by node.
 */
int rows_add_shared(struct rows *r, const struct job *job, const struct span *s, const int *number);

/* For rows_tree.c and rows_shared.c. */

/* The row of @node, made if it does not exist; borrowed. NULL: no memory. */
json_t *rows_host(struct rows *r, int node);

/**
 * rows_face() - name of the face at @node with this device, address and port
 * @peer: base of the name if the face has to be made.
 *
 * The name lives as long as @r. NULL: no memory.
 */
const char *rows_face(struct rows *r, int node, const char *peer, const char *dev, const char *addr,
		      int port);

/* Both ends of a path: the first link's near end, the last link's far end. */
struct way {
	const struct topo_link *first, *last;
	int first_end, last_end;
};

/* Look up the path between two nodes; 0 or -ENETUNREACH. */
int rows_way(struct rows *r, int from, int to, struct way *w);

#endif /* TRIB_PLAN_ROWS_H */
