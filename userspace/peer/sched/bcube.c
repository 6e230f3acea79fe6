// SPDX-License-Identifier: BSD-2-Clause
/*
 * BCube(n, k): n^k ranks with k NICs, NIC l on a switch of level l, whose n ranks
 * differ in digit l of their number. At step i lane e works on level (e + i) mod k: at
 * each step the k lanes use k different NICs. A rank owns, before step i, from
 * sum over t < i of a[(e + t) mod k] * S / (k n^(t+1)) on, S / (k n^i) elements.
 */
#include "peer/sched/build.h"

/** peer_bcube_grid() - a dimension for each level, the lane's own first */
void peer_bcube_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane)
{
	const struct peer_shape *s = c->shape;
	uint32_t i, l;

	g->ndim = s->k;
	for (i = 0; i < s->k; i++) {
		uint32_t level = (lane + i) % s->k;

		g->dim[i] = (struct peer_dim){.n = s->n, .stride = 1, .nic = level};
		for (l = 0; l < level; l++)
			g->dim[i].stride *= s->n;
	}
}
