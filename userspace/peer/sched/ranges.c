// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranges of a lane: blocks of the core, and the pieces of the vector that lane
 * coordinates stand for.
 *
 * An allreduce or broadcast divides the vector among lanes, and the lane among the
 * core. With parts that belong to ranks (reduce-scatter, allgather) a lane takes its
 * share of every part, in order of positions: so each rank's share is in the block that
 * ends on its leader, or on the one into which its leader is folded.
 *
 *	vector  | part 0   | part 1   | part 2   |	2 lanes, ring shifted by 1
 *	lane 0  | 2  | 0  | 1  |			pieces: parts' first halves
 */
#include <errno.h>
#include <stdlib.h>

#include "peer/sched/build.h"

/** peer_has_parts() - does each rank own a part of the vector? */
bool peer_has_parts(const struct peer_what *what)
{
	return what->collective == PEER_REDUCE_SCATTER || what->collective == PEER_ALLGATHER;
}

static void add_piece(struct peer_lane *lane, uint64_t at, uint64_t len)
{
	struct peer_piece *last = lane->npiece ? &lane->piece[lane->npiece - 1] : NULL;

	lane->len += len;
	if (!len)
		return;
	if (last && last->at + last->len == at)
		last->len += len;
	else
		lane->piece[lane->npiece++] = (struct peer_piece){at, len};
}

/* Append the parts of a leader's machine. @share: the lane's, within a part. */
static void add_parts(struct peer_build *b, uint32_t leader, struct peer_span share)
{
	uint64_t part = b->what.count / b->cast.shape->world;
	uint32_t i;

	b->own[leader].at = b->lane->len;
	for (i = 0; i < peer_cast_members(&b->cast, leader); i++) {
		uint32_t rank = peer_cast_member(&b->cast, leader, i);

		b->part[rank] = b->lane->len;
		add_piece(b->lane, rank * part + share.at, share.len);
	}
	b->own[leader].len = b->lane->len - b->own[leader].at;
}

static int ranges_of_parts(struct peer_build *b, struct peer_span share)
{
	const struct peer_cast *c = &b->cast;
	uint32_t *at = calloc(c->core, sizeof(*at));
	uint32_t i;

	if (!at)
		return -ENOMEM;
	for (i = 0; i < c->core; i++)
		at[peer_grid_position(&b->grid, i, c->core)] = i;
	b->part_len = share.len;
	b->lane->len = 0;
	for (i = 0; i < c->core; i++) {
		uint32_t folded = peer_cast_folded(c, at[i]);

		b->bound[i] = b->lane->len;
		add_parts(b, peer_cast_core_leader(c, at[i]), share);
		if (folded != PEER_NOBODY)
			add_parts(b, folded, share);
	}
	b->bound[c->core] = b->lane->len;
	free(at);
	return 0;
}

static void grid_make(struct peer_build *b, uint32_t lane)
{
	const struct peer_cast *c = &b->cast;

	b->grid.ndim = 0;
	if (c->alone) {
		peer_direct_grid(&b->grid, c, lane);
		return;
	}
	if (c->core == 1)
		return;
	switch (c->shape->alg) {
	case PEER_ALG_DIRECT:
		peer_direct_grid(&b->grid, c, lane);
		break;
	case PEER_ALG_RING:
		peer_ring_grid(&b->grid, c, lane);
		break;
	case PEER_ALG_HALVING:
		peer_halving_grid(&b->grid, c, lane);
		break;
	case PEER_ALG_BCUBE:
		peer_bcube_grid(&b->grid, c, lane);
		break;
	default:
		peer_torus_grid(&b->grid, c, lane, b->lane->len);
		break;
	}
}

/**
 * peer_ranges_make() - fill in grid, bounds, parts, and the lane's pieces
 * The caller frees them with peer_ranges_free(), also after an error; the pieces are
 * the schedule's.
 */
int peer_ranges_make(struct peer_build *b, uint32_t lane)
{
	const struct peer_cast *c = &b->cast;
	uint32_t i, world = c->shape->world;
	bool parts = peer_has_parts(&b->what);
	struct peer_span whole = {0, parts ? b->what.count / world : b->what.count};
	struct peer_span share = peer_span_split(whole, c->nlane, lane);

	b->bound = calloc((size_t)c->core + 1, sizeof(*b->bound));
	b->part = calloc(world, sizeof(*b->part));
	b->own = calloc(c->leaders, sizeof(*b->own));
	b->lane->piece = calloc(parts ? world : 1, sizeof(*b->lane->piece));
	if (!b->bound || !b->part || !b->own || !b->lane->piece)
		return -ENOMEM;
	b->lane->len = parts ? share.len * world : share.len;
	grid_make(b, lane);
	if (parts)
		return ranges_of_parts(b, share);
	b->lane->len = 0;
	add_piece(b->lane, share.at, share.len);
	for (i = 0; i < c->core; i++)
		b->bound[i] = peer_span_split(peer_build_whole(b), c->core, i).at;
	b->bound[c->core] = b->lane->len;
	return 0;
}

void peer_ranges_free(struct peer_build *b)
{
	free(b->bound);
	free(b->part);
	free(b->own);
	b->bound = NULL;
	b->part = NULL;
	b->own = NULL;
}
