// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order of segments: the parts of a lane that move up to a leader, and down from it, in
 * the order in which the core's first dimension needs them and its last one completes
 * them. So the core begins with the first segment, and hands down the first result,
 * while others are still on their way.
 *
 *	ring, digit 2 of 4	needs 1, 0, 3, 2	completes 2, 1, 0, 3
 *	direct			needs 3, 0, 1, 2	completes 2, 1, 0, 3
 */
#include "peer/sched/build.h"

/* Shorter segments (elements) are not worth a message of their own, unless asked for. */
#define SEGMENT_MIN 4096

/** peer_order_segments() - number of segments; the same on all ranks */
uint32_t peer_order_segments(const struct peer_build *b)
{
	uint64_t least = b->cast.shape->segment ? b->cast.shape->segment : SEGMENT_MIN;
	uint32_t n = b->grid.ndim ? b->grid.dim[0].n : 1;

	if (b->what.collective == PEER_BARRIER || peer_spreads(b))
		return 1;
	return b->lane->len / n < least ? 1 : n;
}

/* The segment of a core's line with a digit. */
static struct peer_span segment(const struct peer_build *b, uint32_t digit)
{
	const struct peer_dim *d = &b->grid.dim[0];
	uint32_t each = b->cast.core / d->n, p = (digit + d->shift) % d->n * each;

	return (struct peer_span){b->bound[p], b->bound[p + each] - b->bound[p]};
}

/**
 * peer_order_up() - the i-th segment that the core needs
 * The core rank is the one of this rank's leader, or the one that he is folded into.
 */
struct peer_span peer_order_up(const struct peer_build *b, uint32_t i)
{
	const struct peer_dim *d = &b->grid.dim[0];
	uint32_t me;

	if (peer_order_segments(b) == 1)
		return peer_build_whole(b);
	me = peer_cast_core_of(&b->cast, b->leader) / d->stride % d->n;
	if (d->ring && !d->back)
		return segment(b, (me + 2 * d->n - 1 - i) % d->n);
	return segment(b, (me + 1 + i) % d->n);
}

/** peer_order_down() - the i-th segment that the core completes */
struct peer_span peer_order_down(const struct peer_build *b, uint32_t i)
{
	const struct peer_dim *d = &b->grid.dim[0];
	uint32_t me;

	if (peer_order_segments(b) == 1)
		return peer_build_whole(b);
	me = peer_cast_core_of(&b->cast, b->leader) / d->stride % d->n;
	if (d->ring && d->back)
		return segment(b, (me + i) % d->n);
	return segment(b, (me + d->n - i) % d->n);
}
