// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks through a lane's grid. Reduce-scatter takes the dimensions in order, and each
 * divides the range that is left; allgather takes them backwards. A broadcast scatters
 * in order and gathers backwards, or spreads whole vectors in order.
 */
#include "peer/sched/build.h"

static uint32_t digit(const struct peer_dim *d, uint32_t core)
{
	return core / d->stride % d->n;
}

static uint32_t subrange(const struct peer_dim *d, uint32_t dig)
{
	return (dig + d->shift) % d->n;
}

/** peer_grid_position() - position of a rank of the core */
uint32_t peer_grid_position(const struct peer_grid *g, uint32_t core, uint32_t blocks)
{
	uint32_t i, at = 0;

	for (i = 0; i < g->ndim; i++) {
		blocks /= g->dim[i].n;
		at += subrange(&g->dim[i], digit(&g->dim[i], core)) * blocks;
	}
	return at;
}

/* Does a rank have the root's digits in all dimensions from @dim on? */
static bool at_root(const struct peer_grid *g, uint32_t core, uint32_t root, uint32_t dim)
{
	for (; dim < g->ndim; dim++)
		if (digit(&g->dim[dim], core) != digit(&g->dim[dim], root))
			return false;
	return true;
}

static struct peer_line line_of(const struct peer_build *b, uint32_t dim, uint32_t root)
{
	const struct peer_grid *g = &b->grid;
	const struct peer_dim *d = &g->dim[dim];
	uint32_t i, blocks = b->cast.core, first = 0, me = digit(d, b->core);
	struct peer_line l;

	for (i = 0; i < dim; i++) {
		blocks /= g->dim[i].n;
		first += subrange(&g->dim[i], digit(&g->dim[i], b->core)) * blocks;
	}
	l = (struct peer_line){
		.dim = d,
		.me = me,
		.base = b->core - me * d->stride,
		.first = first,
		.each = blocks / d->n,
		.full = PEER_NOBODY,
	};
	if (root != PEER_NOBODY && at_root(g, b->core, root, dim + 1))
		l.full = digit(d, root);
	return l;
}

/** peer_line_rank() - rank with a digit */
uint32_t peer_line_rank(const struct peer_build *b, const struct peer_line *l, uint32_t dig)
{
	uint32_t core = l->base + dig * l->dim->stride;

	return peer_cast_leader_rank(&b->cast, peer_cast_core_leader(&b->cast, core));
}

/** peer_line_span() - subrange of the rank with a digit */
struct peer_span peer_line_span(const struct peer_build *b, const struct peer_line *l, uint32_t dig)
{
	uint32_t p = l->first + subrange(l->dim, dig) * l->each;

	return (struct peer_span){b->bound[p], b->bound[p + l->each] - b->bound[p]};
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
			struct peer_line l = line_of(b, i, PEER_NOBODY);

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
			struct peer_line l = line_of(b, i, root);

			if (l.dim->ring)
				peer_ring_gather(b, &l);
			else
				peer_direct_gather(b, &l);
		}
		start += steps(&g->dim[i]);
		b->step = start;
	}
}

/** peer_grid_scatter() - deal out the root's vector; each rank gets its block */
void peer_grid_scatter(struct peer_build *b, uint32_t root)
{
	const struct peer_grid *g = &b->grid;
	uint32_t i;

	for (i = 0; i < g->ndim; i++) {
		if (b->core != PEER_NOBODY && at_root(g, b->core, root, i + 1)) {
			struct peer_line l = line_of(b, i, root);

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
		if (b->core != PEER_NOBODY && at_root(g, b->core, root, i + 1)) {
			struct peer_line l = line_of(b, i, root);

			if (l.dim->ring)
				peer_ring_spread(b, &l, l.full);
			else
				peer_direct_spread(b, &l, l.full);
		}
		start += steps(&g->dim[i]);
		b->step = start;
	}
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
