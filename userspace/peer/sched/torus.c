// SPDX-License-Identifier: BSD-2-Clause
/*
 * Torus: leader number row * cols + column. Reduce-scatter in the row, after which
 * column c holds subset (c + 1) mod cols; allreduce in the column; allgather in the
 * row. With two NICs, one a direction, a second lane does columns first, so that
 * both NICs work all the time. Short columns go by halving and doubling.
 *
 *	lane 0   NIC 0: row ring       NIC 1: column ring	... and back
 *	lane 1   NIC 1: column ring    NIC 0: row ring
 */
#include "peer/sched/build.h"

static bool halves(const struct peer_shape *s, uint64_t len)
{
	return s->rows > 2 && !(s->rows & (s->rows - 1)) && len / s->cols < s->halving_below;
}

static void add_columns(struct peer_grid *g, const struct peer_shape *s, uint8_t nic, uint64_t len)
{
	uint32_t half;

	if (!halves(s, len)) {
		g->dim[g->ndim++] = (struct peer_dim){
			.n = s->rows,
			.stride = s->cols,
			.shift = 1 % s->rows,
			.nic = nic,
			.ring = true,
		};
		return;
	}
	for (half = s->rows / 2; half; half /= 2)
		g->dim[g->ndim++] = (struct peer_dim){
			.n = 2,
			.stride = half * s->cols,
			.nic = nic,
		};
}

/**
 * peer_torus_grid() - rows and columns, or columns and rows
 * @len: elements of the lane. All ranks have the same, so all choose alike.
 */
void peer_torus_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane, uint64_t len)
{
	const struct peer_shape *s = c->shape;
	uint8_t nic = s->nics < 2 ? 0 : 1;
	struct peer_dim row = {
		.n = s->cols,
		.stride = 1,
		.shift = 1 % s->cols,
		.ring = true,
	};

	g->ndim = 0;
	if (lane == 0)
		g->dim[g->ndim++] = row;
	add_columns(g, s, nic, len);
	if (lane == 1)
		g->dim[g->ndim++] = row;
}
