// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order of segments: the parts of a lane that move up to a leader, and down from it, in
 * the order in which the core's first dimension needs them and its last one completes
 * them. So the core begins with the first segment, and hands down the first result,
 * while others are still on their way.
 *
 *	ring, digit 2 of 4	needs 1, 0, 3, 2	completes 2, 1, 0, 3
 *	direct			needs 3, 0, 1, 2	completes 2, 1, 0, 3
 *
 * Order of parts: within the grid a range that the next dimension divides travels part
 * by part, first those that the receiver passes on. Both of a pair of ranks then begin
 * the next dimension at once; in the order of elements the one would begin at once and
 * the other at the end, and one direction of their wires would stand still.
 */
#include "peer/sched/build.h"

/* Shorter segments (elements) are not worth a message of their own, unless asked for. */
#define SEGMENT_MIN 4096

/* Ranges that become parts of an operation, at most: more would cost more than they gain. */
#define PARTS_MAX 16

static uint64_t least_of(const struct peer_build *b)
{
	return b->cast.shape->segment ? b->cast.shape->segment : SEGMENT_MIN;
}

/** peer_order_segments() - number of segments; the same on all ranks */
uint32_t peer_order_segments(const struct peer_build *b)
{
	uint32_t n = b->grid.ndim ? b->grid.dim[0].n : 1;

	if (b->what.collective == PEER_BARRIER || peer_spreads(b))
		return 1;
	return b->lane->len / n < least_of(b) ? 1 : n;
}

/* The i-th digit of a dimension that a rank with digit @me needs, or completes. */
static uint32_t nth(const struct peer_dim *d, uint32_t me, uint32_t i, bool up)
{
	bool falls = up ? d->ring && !d->back : !(d->ring && d->back);
	uint32_t from = me + up * (falls ? d->n - 1 : 1);

	return (falls ? from + d->n - i : from + i) % d->n;
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
	me = peer_dim_digit(d, peer_cast_core_of(&b->cast, b->leader));
	return segment(b, nth(d, me, i, true));
}

/** peer_order_down() - the i-th segment that the core completes */
struct peer_span peer_order_down(const struct peer_build *b, uint32_t i)
{
	const struct peer_dim *d = &b->grid.dim[0];
	uint32_t me;

	if (peer_order_segments(b) == 1)
		return peer_build_whole(b);
	me = peer_dim_digit(d, peer_cast_core_of(&b->cast, b->leader));
	return segment(b, nth(d, me, i, false));
}

/** struct peer_pass - the operations of peer_order_pass(); @least: blocks of a part */
struct peer_pass {
	enum peer_kind kind;
	uint8_t nic;
	uint32_t peer;
	bool up;
	uint32_t least;
};

/* Blocks of the smallest part of @blocks from dimension @dim on. */
static uint32_t part_blocks(const struct peer_build *b, uint32_t dim, uint32_t blocks)
{
	uint32_t parts = 1;

	for (; dim < b->grid.ndim; dim++) {
		parts *= b->grid.dim[dim].n;
		if (parts > PARTS_MAX ||
		    b->lane->len / b->cast.core * blocks / b->grid.dim[dim].n < least_of(b))
			break;
		blocks /= b->grid.dim[dim].n;
	}
	return blocks;
}

/* Append operations on @blocks blocks from @at on, which @dim divides. */
static void pass(struct peer_build *b, const struct peer_pass *p, uint32_t dim, uint32_t at,
		 uint32_t blocks)
{
	const struct peer_dim *d = &b->grid.dim[dim];
	uint32_t i, me, each;

	if (blocks == p->least) {
		peer_build_op(
			b, p->kind, p->nic, p->peer,
			(struct peer_span){b->bound[at], b->bound[at + blocks] - b->bound[at]});
		return;
	}
	each = blocks / d->n;
	me = peer_dim_digit(d, b->core);
	for (i = 0; i < d->n; i++) {
		uint32_t sub = peer_dim_subrange(d, nth(d, me, i, p->up));

		pass(b, p, dim + 1, at + sub * each, each);
	}
}

/**
 * peer_order_pass() - append operations on the subrange of a digit, part by part
 * @peer: whose other digits, from the next dimension on, are this rank's.
 * @up:   towards the end of a reduce-scatter; else of an allgather.
 */
void peer_order_pass(struct peer_build *b, const struct peer_line *l, enum peer_kind kind,
		     uint32_t peer, uint32_t dig, bool up)
{
	uint32_t next = l->dim - b->grid.dim + 1;
	struct peer_pass p = {
		.kind = kind,
		.nic = l->dim->nic,
		.peer = peer_line_rank(b, l, peer),
		.up = up,
		.least = part_blocks(b, next, l->each),
	};

	pass(b, &p, next, peer_line_first(l, dig), l->each);
}
