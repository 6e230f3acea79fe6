/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each host has to be told: faces, jobs and trees as trib(8) takes them.
 */
#ifndef TRIB_PLAN_ROWS_H
#define TRIB_PLAN_ROWS_H

#include "plan/topo/net.h"

/**
 * struct span - one tree over the nodes of the topology
 * @id:   tree number. @weight: its share of messages; 0: all have the same.
 * @n:    workers of the job; @at: the node of each rank, @worker_up: the inner
 *        node each sends to (index into @inner; itself if it is one).
 * @inner, @up: nodes that sum, and the parent of each; up -1: the root. All
 *        but a worker's own node come parents first.
 */
struct span {
	int id, weight;
	int n;
	const int *at;
	int *worker_up;
	int ninner;
	int *inner, *up;
};

/**
 * struct rows - the rows of all hosts while they are collected
 * @host: by node; NULL: has none. @count: rows for trees so far.
 */
struct rows {
	struct net *net;
	json_t **host, **faces;
	int count;
	int groups; /* multicast groups given out */
	bool multicast;
	bool local;
	struct plan_error *err;
};

int rows_new(struct rows **out, struct net *net, struct plan_error *err);
void rows_free(struct rows *r);

/* The job at every node that takes part in @s. */
int rows_add_job(struct rows *r, const struct job *job, double rate,
		 const struct span *s);
int rows_add_tree(struct rows *r, const struct job *job, const struct span *s);

/* Array of all rows, by node; a new reference, NULL: no memory. */
json_t *rows_take(struct rows *r);

/*
 * rows_shared.c: a tree on shared pools, whose first inner node is the PS. Its
 * host adds up as the last relay, if it may and has room for the children.
 * @number: of relays, by node.
 */
bool rows_ps_relays(const struct job *job, const struct span *s);
int rows_add_shared(struct rows *r, const struct job *job, const struct span *s,
		    const int *number);

/* Name of the face of @peer at @node (made if need be); NULL: no memory. */
const char *rows_face(struct rows *r, int node, const char *peer,
		      const char *dev, const char *addr, int port);

/* Both ends of the way from one node to another. */
struct way {
	const struct topo_link *first, *last;
	int first_end, last_end; /* of @from, of @to */
};

int rows_way(struct rows *r, int from, int to, struct way *w);
/* The row of a node, made if need be. */
json_t *rows_host(struct rows *r, int node);

#endif /* TRIB_PLAN_ROWS_H */
