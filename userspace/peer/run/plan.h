/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans: schedules made ready to be carried out. A plan adds to each operation the
 * link that it uses, and the earlier operations that it has to wait for. Calls of the
 * same kind and length share one, so a training step computes none.
 */
#ifndef PEER_PLAN_H
#define PEER_PLAN_H

#include "peer/sched/sched.h"

#define PEER_NO_OP UINT32_MAX

/**
 * struct peer_node - one operation of a lane, made ready
 * @link: index of its edge among the lane's edges.
 * @next: the next operation of the same link and direction, or PEER_NO_OP.
 * @dep, @ndep: the operations that it waits for, in &peer_path.dep.
 */
struct peer_node {
	uint32_t link;
	uint32_t next;
	uint32_t dep;
	uint32_t ndep;
};

/**
 * struct peer_path - the plan of one lane
 * @node: by operation.
 * @send, @recv: by link: the first operation, or PEER_NO_OP.
 * @nlink: links of the lane. @start: the one to look at first.
 */
struct peer_path {
	const struct peer_lane *lane;
	struct peer_node *node;
	uint32_t *dep;
	uint32_t *send;
	uint32_t *recv;
	uint32_t nlink;
	uint32_t start;
};

/**
 * struct peer_plan - the plan of a call, of all lanes of this rank
 * @users: calls under way; the cache keeps a plan with users.
 * @age:   of the last use.
 */
struct peer_plan {
	struct peer_what what;
	const struct peer_shape *shape;
	struct peer_sched sched;
	struct peer_path path[PEER_LANES_MAX];
	unsigned int users;
	uint64_t age;
};

/**
 * peer_path_make() - make a lane of @rank ready
 * @edge: the edges of @lane, sorted by peer and NIC.
 * Return: 0, -ENOMEM, or -EINVAL: the schedule uses an edge that is not in the list.
 */
int peer_path_make(struct peer_path *p, const struct peer_lane *lane, uint32_t rank,
		   const struct peer_edge *edge, uint32_t nedge);
void peer_path_free(struct peer_path *p);

/* Plans that stay when no call uses them. */
#define PEER_PLANS_KEPT 64

/**
 * struct peer_plans - a cache of plans; its owner locks it
 * @plan: @n of them, more than PEER_PLANS_KEPT only while calls use that many. @room: of
 *        the array.
 */
struct peer_plans {
	struct peer_plan **plan;
	unsigned int n;
	unsigned int room;
	uint64_t clock;
};

/**
 * peer_plan_get() - find or make the plan of a call
 * @edge: all edges of @shape at @rank, as peer_shape_edges() has them; @nedge of them.
 * @shape: lives as long as the cache.
 * Return: a plan, until peer_plan_put(); NULL with *@err.
 */
struct peer_plan *peer_plan_get(struct peer_plans *c, const struct peer_shape *shape,
				const struct peer_what *what, uint32_t rank,
				const struct peer_edge *edge, uint32_t nedge, int *err);
void peer_plan_put(struct peer_plan *p);
void peer_plans_free(struct peer_plans *c);

#endif /* PEER_PLAN_H */
