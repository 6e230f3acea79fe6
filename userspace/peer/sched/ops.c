// SPDX-License-Identifier: BSD-2-Clause
/* Appends operations to a lane; divides ranges, or leaves them whole. */
#include <errno.h>
#include <stdlib.h>

#include "peer/sched/build.h"

/** peer_build_op() - append an operation of the present step; errors go to @b->err */
void peer_build_op(struct peer_build *b, enum peer_kind kind, uint8_t nic, uint32_t peer,
		   struct peer_span span)
{
	struct peer_lane *lane = b->lane;
	struct peer_op *op = lane->op;

	if (b->err)
		return;
	if (lane->nop == b->room) {
		uint32_t room = b->room ? 2 * b->room : 16;

		op = realloc(op, room * sizeof(*op));
		if (!op) {
			b->err = -ENOMEM;
			return;
		}
		lane->op = op;
		b->room = room;
	}
	op[lane->nop++] = (struct peer_op){
		.kind = kind,
		.nic = nic,
		/* An ADD that may be the last one; marks.c decides. */
		.last = kind == PEER_ADD && !b->partial,
		.swap = kind == PEER_ADD && b->swap,
		.step = b->step,
		.peer = peer,
		.at = span.at,
		.len = span.len,
	};
}

/** peer_build_whole() - the range of all that the lane has */
struct peer_span peer_build_whole(const struct peer_build *b)
{
	return (struct peer_span){0, b->lane->len};
}

/** peer_span_split() - the i-th of n subranges; lengths differ by one at most */
struct peer_span peer_span_split(struct peer_span whole, uint32_t n, uint32_t i)
{
	uint64_t each = whole.len / n, more = whole.len % n;

	return (struct peer_span){
		.at = whole.at + i * each + (i < more ? i : more),
		.len = each + (i < more),
	};
}

/**
 * peer_spreads() - is this a broadcast of whole vectors?
 * Chains and short vectors are: there are fewer steps, and chains are pipelined.
 */
bool peer_spreads(const struct peer_build *b)
{
	const struct peer_shape *s = b->cast.shape;

	if (b->what.collective != PEER_BROADCAST)
		return false;
	if (!b->cast.alone && (s->alg == PEER_ALG_RING || s->alg == PEER_ALG_TORUS))
		return true;
	return b->what.count < b->cast.core || b->what.count < s->tree_below;
}

/** peer_doubles() - is this a short allreduce, which exchanges whole vectors? */
bool peer_doubles(const struct peer_build *b)
{
	const struct peer_shape *s = b->cast.shape;

	return b->what.collective == PEER_ALLREDUCE && s->alg == PEER_ALG_HALVING &&
	       !b->cast.alone && b->what.count < s->doubling_below;
}
