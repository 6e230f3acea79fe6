// SPDX-License-Identifier: BSD-2-Clause
/* Lines of a grid: the ranks that differ in one digit only, and their subranges. */
#include "peer/sched/build.h"

/** peer_dim_digit() - digit of a rank of the core */
uint32_t peer_dim_digit(const struct peer_dim *d, uint32_t core)
{
	return core / d->stride % d->n;
}

/** peer_dim_subrange() - number of the subrange that the rank with a digit takes */
uint32_t peer_dim_subrange(const struct peer_dim *d, uint32_t dig)
{
	return (dig + d->shift) % d->n;
}

/** peer_at_root() - does a rank have the root's digits in all dimensions from @dim on? */
bool peer_at_root(const struct peer_grid *g, uint32_t core, uint32_t root, uint32_t dim)
{
	for (; dim < g->ndim; dim++)
		if (peer_dim_digit(&g->dim[dim], core) != peer_dim_digit(&g->dim[dim], root))
			return false;
	return true;
}

/** peer_line_of() - this rank's line of a dimension; @root: of a broadcast, or PEER_NOBODY */
struct peer_line peer_line_of(const struct peer_build *b, uint32_t dim, uint32_t root)
{
	const struct peer_grid *g = &b->grid;
	const struct peer_dim *d = &g->dim[dim];
	uint32_t i, blocks = b->cast.core, first = 0, me = peer_dim_digit(d, b->core);
	struct peer_line l;

	for (i = 0; i < dim; i++) {
		blocks /= g->dim[i].n;
		first +=
			peer_dim_subrange(&g->dim[i], peer_dim_digit(&g->dim[i], b->core)) * blocks;
	}
	l = (struct peer_line){
		.dim = d,
		.me = me,
		.base = b->core - me * d->stride,
		.first = first,
		.each = blocks / d->n,
		.full = PEER_NOBODY,
	};
	if (root != PEER_NOBODY && peer_at_root(g, b->core, root, dim + 1))
		l.full = peer_dim_digit(d, root);
	return l;
}

/** peer_line_rank() - rank with a digit */
uint32_t peer_line_rank(const struct peer_build *b, const struct peer_line *l, uint32_t dig)
{
	uint32_t core = l->base + dig * l->dim->stride;

	return peer_cast_leader_rank(&b->cast, peer_cast_core_leader(&b->cast, core));
}

/** peer_line_first() - first block of the subrange of the rank with a digit */
uint32_t peer_line_first(const struct peer_line *l, uint32_t dig)
{
	return l->first + peer_dim_subrange(l->dim, dig) * l->each;
}

/** peer_line_span() - subrange of the rank with a digit */
struct peer_span peer_line_span(const struct peer_build *b, const struct peer_line *l, uint32_t dig)
{
	uint32_t p = peer_line_first(l, dig);

	return (struct peer_span){b->bound[p], b->bound[p + l->each] - b->bound[p]};
}
