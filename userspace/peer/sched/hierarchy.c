// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inside a machine, by memory that its processes share: the ranks' values go up to the
 * leader before the leaders' algorithm, results come down after it. Segments go in the
 * order in which the leader needs and completes them (order.c), so that run/ overlaps the
 * three stages.
 *
 *	REDUCE     up: 1 step, the leader adds each local's vector, in order of ranks
 *	ALLREDUCE  up: 1 step more than segments: each rank adds its share of a segment,
 *		   while the leader collects the shares of the one before
 *	both       down: 1 step, the leader sends each local the result
 *
 * The machine's sum is only on the leader: the result overwrites it elsewhere, and to
 * let it do so at any time nobody but the leader may still be sending the sum.
 */
#include "peer/sched/build.h"

static uint32_t leader_rank(const struct peer_build *b)
{
	return peer_cast_leader_rank(&b->cast, b->leader);
}

/* Everybody hands a segment, or an empty range, to the leader. */
static void star_up(struct peer_build *b, struct peer_span seg)
{
	uint32_t i;

	if (!b->leads) {
		peer_build_op(b, PEER_SEND_ADD, PEER_NIC_LOCAL, leader_rank(b), seg);
		return;
	}
	for (i = 0; i < peer_cast_members(&b->cast, b->leader); i++) {
		uint32_t rank = peer_cast_member(&b->cast, b->leader, i);

		if (rank != b->rank)
			peer_build_op(b, PEER_ADD, PEER_NIC_LOCAL, rank, seg);
	}
}

static struct peer_span share_of(const struct peer_build *b, struct peer_span seg, uint32_t member)
{
	return peer_span_split(seg, peer_cast_members(&b->cast, b->leader), member);
}

/* Reduce-scatter of a segment among the machine's ranks. */
static void shared_add(struct peer_build *b, struct peer_span seg, uint32_t me)
{
	uint32_t d, n = peer_cast_members(&b->cast, b->leader);

	for (d = 1; d < n; d++) {
		uint32_t to = (me + d) % n, from = (me + n - d) % n;

		peer_build_op(b, PEER_SEND_ADD, PEER_NIC_LOCAL,
			      peer_cast_member(&b->cast, b->leader, to), share_of(b, seg, to));
		peer_build_op(b, PEER_ADD, PEER_NIC_LOCAL,
			      peer_cast_member(&b->cast, b->leader, from), share_of(b, seg, me));
	}
}

/* The leader collects a segment's sums. */
static void shared_collect(struct peer_build *b, struct peer_span seg, uint32_t me)
{
	uint32_t i;

	if (!b->leads) {
		peer_build_op(b, PEER_SEND_SET, PEER_NIC_LOCAL, leader_rank(b),
			      share_of(b, seg, me));
		return;
	}
	for (i = 0; i < peer_cast_members(&b->cast, b->leader); i++)
		if (i != me)
			peer_build_op(b, PEER_SET, PEER_NIC_LOCAL,
				      peer_cast_member(&b->cast, b->leader, i),
				      share_of(b, seg, i));
}

static void sum_up(struct peer_build *b)
{
	uint32_t i, n = peer_order_segments(b), me = 0;

	if (b->cast.shape->intra == PEER_INTRA_REDUCE) {
		for (i = 0; i < n; i++)
			star_up(b, peer_order_up(b, i));
		return;
	}
	while (peer_cast_member(&b->cast, b->leader, me) != b->rank)
		me++;
	for (i = 0; i <= n; i++) {
		if (i < n)
			shared_add(b, peer_order_up(b, i), me);
		if (i > 0)
			shared_collect(b, peer_order_up(b, i - 1), me);
		b->step += i < n;
	}
}

/* Each local's part. */
static void parts_up(struct peer_build *b)
{
	uint32_t i;

	if (!b->leads) {
		peer_build_op(b, PEER_SEND_SET, PEER_NIC_LOCAL, leader_rank(b),
			      (struct peer_span){b->part[b->rank], b->part_len});
		return;
	}
	for (i = 0; i < peer_cast_members(&b->cast, b->leader); i++) {
		uint32_t rank = peer_cast_member(&b->cast, b->leader, i);

		if (rank != b->rank)
			peer_build_op(b, PEER_SET, PEER_NIC_LOCAL, rank,
				      (struct peer_span){b->part[rank], b->part_len});
	}
}

/* A root that is no leader. */
static void root_up(struct peer_build *b)
{
	uint32_t i, root = b->what.root;

	if (peer_cast_leader_of(&b->cast, root) != b->leader || root == leader_rank(b))
		return;
	for (i = 0; i < peer_order_segments(b); i++) {
		if (b->rank == root)
			peer_build_op(b, PEER_SEND_SET, PEER_NIC_LOCAL, leader_rank(b),
				      peer_order_up(b, i));
		else if (b->leads)
			peer_build_op(b, PEER_SET, PEER_NIC_LOCAL, root, peer_order_up(b, i));
	}
}

/** peer_local_up() - bring the machine's values to its leader */
void peer_local_up(struct peer_build *b)
{
	if (!b->cast.local || b->cast.shape->apart)
		return;
	b->partial = b->cast.leaders > 1;
	switch (b->what.collective) {
	case PEER_ALLREDUCE:
	case PEER_REDUCE_SCATTER:
		sum_up(b);
		break;
	case PEER_ALLGATHER:
		parts_up(b);
		break;
	case PEER_BROADCAST:
		root_up(b);
		break;
	case PEER_BARRIER:
		star_up(b, peer_build_whole(b));
		break;
	}
	b->partial = false;
	b->step++;
}

static bool wants(const struct peer_build *b, uint32_t rank)
{
	return b->what.collective != PEER_BROADCAST || rank != b->what.root;
}

/* A segment of the result, or, of a reduce-scatter, each local's part. */
static void result_down(struct peer_build *b, struct peer_span seg)
{
	bool parts = b->what.collective == PEER_REDUCE_SCATTER;
	uint32_t i;

	if (!b->leads) {
		if (parts)
			seg = (struct peer_span){b->part[b->rank], b->part_len};
		if (wants(b, b->rank))
			peer_build_op(b, PEER_SET, PEER_NIC_LOCAL, leader_rank(b), seg);
		return;
	}
	for (i = 0; i < peer_cast_members(&b->cast, b->leader); i++) {
		uint32_t rank = peer_cast_member(&b->cast, b->leader, i);

		if (parts)
			seg = (struct peer_span){b->part[rank], b->part_len};
		if (rank != b->rank && wants(b, rank))
			peer_build_op(b, PEER_SEND_SET, PEER_NIC_LOCAL, rank, seg);
	}
}

/** peer_local_down() - the leader hands the result to its machine */
void peer_local_down(struct peer_build *b)
{
	bool parts = b->what.collective == PEER_REDUCE_SCATTER;
	uint32_t i, n = parts ? 1 : peer_order_segments(b);

	if (!b->cast.local || b->cast.shape->apart)
		return;
	for (i = 0; i < n; i++)
		result_down(b, peer_order_down(b, i));
	b->step++;
}
