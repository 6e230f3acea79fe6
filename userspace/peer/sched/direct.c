// SPDX-License-Identifier: BSD-2-Clause
/*
 * Direct exchange in a line of n: each rank talks to each other one, in one step. The
 * i-th rank sends to i + 1, i + 2 ..., and adds what comes from i - 1, i - 2 ..., in
 * this order.
 */
#include "peer/sched/build.h"

/** peer_direct_grid() - one line of all */
void peer_direct_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane)
{
	g->ndim = 1;
	g->dim[0] = (struct peer_dim){
		.n = c->core,
		.stride = 1,
		.nic = c->alone ? PEER_NIC_LOCAL : lane,
	};
}

/** peer_direct_reduce() - each sends each other one its subrange */
void peer_direct_reduce(struct peer_build *b, const struct peer_line *l)
{
	uint32_t d, n = l->dim->n;

	for (d = 1; d < n; d++) {
		uint32_t to = (l->me + d) % n, from = (l->me + n - d) % n;

		peer_order_pass(b, l, PEER_SEND_ADD, to, to, true);
		peer_order_pass(b, l, PEER_ADD, from, l->me, true);
	}
}

/** peer_direct_gather() - each sends its subrange to all that lack it */
void peer_direct_gather(struct peer_build *b, const struct peer_line *l)
{
	uint32_t d, n = l->dim->n;

	for (d = 1; d < n; d++) {
		uint32_t to = (l->me + d) % n, from = (l->me + n - d) % n;

		if (to != l->full)
			peer_order_pass(b, l, PEER_SEND_SET, to, l->me, false);
		if (l->me != l->full)
			peer_order_pass(b, l, PEER_SET, from, from, false);
	}
}

/** peer_direct_scatter() - the root sends each one its subrange */
void peer_direct_scatter(struct peer_build *b, const struct peer_line *l, uint32_t root)
{
	uint32_t d, n = l->dim->n;

	if (l->me != root) {
		peer_build_op(b, PEER_SET, l->dim->nic, peer_line_rank(b, l, root),
			      peer_line_span(b, l, l->me));
		return;
	}
	for (d = 1; d < n; d++) {
		uint32_t to = (l->me + d) % n;

		peer_build_op(b, PEER_SEND_SET, l->dim->nic, peer_line_rank(b, l, to),
			      peer_line_span(b, l, to));
	}
}

/** peer_direct_spread() - the root sends each one everything */
void peer_direct_spread(struct peer_build *b, const struct peer_line *l, uint32_t root)
{
	uint32_t d, n = l->dim->n;

	if (l->me != root) {
		peer_build_op(b, PEER_SET, l->dim->nic, peer_line_rank(b, l, root),
			      peer_build_whole(b));
		return;
	}
	for (d = 1; d < n; d++)
		peer_build_op(b, PEER_SEND_SET, l->dim->nic, peer_line_rank(b, l, (l->me + d) % n),
			      peer_build_whole(b));
}
