// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks through a lane's grid. Reduce-scatter takes the dimensions in order, and each
 * divides the range that is left; allgather takes them backwards. A broadcast scatters
 * in order and gathers backwards, or spreads whole vectors in order.
 */
#include "peer/sched/build.h"

/** peer_grid_position() - position of a rank of the core */
uint32_t peer_grid_position(const struct peer_grid *g, uint32_t core, uint32_t blocks)
{
	uint32_t i, at = 0;

	for (i = 0; i < g->ndim; i++) {
		blocks /= g->dim[i].n;
		at += peer_dim_subrange(&g->dim[i], peer_dim_digit(&g->dim[i], core)) * blocks;
	}
	return at;
}

/* Steps of a line's reduce-scatter, or allgather. */
static uint32_t steps(const struct peer_dim *d)
{
	return d->ring ? d->n - 1 : d->n > 1;
}

/** peer_grid_reduce() - reduce-scatter in the core */
void peer_grid_reduce(struct peer_build *b)
{
	const struct peer_grid *g = &b->grid;
	uint32_t i, start = b->step;

	for (i = 0; i < g->ndim; i++) {
		if (b->core != PEER_NOBODY) {
			struct peer_line l = peer_line_of(b, i, PEER_NOBODY);

			if (l.dim->ring)
				peer_ring_reduce(b, &l);
			else
				peer_direct_reduce(b, &l);
		}
		start += steps(&g->dim[i]);
		b->step = start;
	}
}

/**
 * peer_grid_gather() - allgather in the core
 * @root: of a broadcast, whose values peer_grid_scatter() has dealt out; or PEER_NOBODY.
 */
void peer_grid_gather(struct peer_build *b, uint32_t root)
{
	const struct peer_grid *g = &b->grid;
	uint32_t i, start = b->step;

	for (i = g->ndim; i-- > 0;) {
		if (b->core != PEER_NOBODY) {
			struct peer_line l = peer_line_of(b, i, root);

			if (l.dim->ring)
				peer_ring_gather(b, &l);
			else
				peer_direct_gather(b, &l);
		}
		start += steps(&g->dim[i]);
		b->step = start;
	}
}

/** peer_grid_double() - allreduce in the core by whole vectors; all lines are of two */
void peer_grid_double(struct peer_build *b)
{
	const struct peer_grid *g = &b->grid;
	uint32_t i;

	for (i = 0; i < g->ndim; i++) {
		if (b->core != PEER_NOBODY) {
			struct peer_line l = peer_line_of(b, i, PEER_NOBODY);

			peer_halving_double(b, &l);
		}
		b->step++;
	}
}

/** peer_grid_scatter() - deal out the root's vector; each rank gets its block */
void peer_grid_scatter(struct peer_build *b, uint32_t root)
{
	const struct peer_grid *g = &b->grid;
	uint32_t i;

	for (i = 0; i < g->ndim; i++) {
		if (b->core != PEER_NOBODY && peer_at_root(g, b->core, root, i + 1)) {
			struct peer_line l = peer_line_of(b, i, root);

			peer_direct_scatter(b, &l, l.full);
		}
		b->step += steps(&g->dim[i]);
	}
}

/** peer_grid_spread() - give the root's vector to all, as a whole */
void peer_grid_spread(struct peer_build *b, uint32_t root)
{
	const struct peer_grid *g = &b->grid;
	uint32_t i, start = b->step;

	for (i = 0; i < g->ndim; i++) {
		if (b->core != PEER_NOBODY && peer_at_root(g, b->core, root, i + 1)) {
			struct peer_line l = peer_line_of(b, i, root);

			if (l.dim->ring)
				peer_ring_spread(b, &l, l.full);
			else
				peer_direct_spread(b, &l, l.full);
		}
		start += steps(&g->dim[i]);
		b->step = start;
	}
}
