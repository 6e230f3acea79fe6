// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recursive halving and doubling: one dimension of 2 for each bit of the core number,
 * the highest first. The core is the largest power of two; other leaders fold. Lane e
 * goes by NIC e and begins e bits later, so that lanes talk to different ranks.
 *
 * Short vectors are not halved: both ranks of a line send all that they have, and make the
 * same sum of it.
 */
#include "peer/sched/build.h"

/** peer_halving_grid() - a dimension for each bit */
void peer_halving_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane)
{
	uint32_t bits = 0, i;

	while (1u << bits < c->core)
		bits++;
	g->ndim = bits;
	for (i = 0; i < bits; i++)
		g->dim[i] = (struct peer_dim){
			.n = 2,
			.stride = 1u << (bits - 1 - (i + lane) % bits),
			.nic = lane,
		};
}

/** peer_halving_double() - both ranks of a line get the sum of their vectors */
void peer_halving_double(struct peer_build *b, const struct peer_line *l)
{
	uint32_t other = 1 - l->me, rank = peer_line_rank(b, l, other);

	peer_build_op(b, PEER_SEND_ADD, l->dim->nic, rank, peer_build_whole(b));
	b->swap = other < l->me;
	peer_build_op(b, PEER_ADD, l->dim->nic, rank, peer_build_whole(b));
	b->swap = false;
}
