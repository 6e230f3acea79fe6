// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ring in a line of n: in each of n - 1 steps each rank sends one subrange to the next
 * rank. A subrange starts at its owner's next rank, and collects on its way round:
 * its sum is x[owner] + (x[owner-1] + ( ... + x[owner+1])). A broadcast goes as a chain.
 *
 * Several NICs: one lane each, on parts of their own, in alternate directions.
 */
#include "peer/sched/build.h"

/** peer_ring_grid() - one ring of all */
void peer_ring_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane)
{
	g->ndim = 1;
	g->dim[0] = (struct peer_dim){
		.n = c->core,
		.stride = 1,
		.nic = lane,
		.ring = true,
		.back = lane % 2,
	};
}

/* The digit @d hops on, or, below 0, before; |d| <= n. */
static uint32_t hop(const struct peer_line *l, uint32_t from, int64_t d)
{
	int64_t n = l->dim->n;

	return (from + (l->dim->back ? -d : d) + n) % n;
}

/*
 * Exchange the subrange @sub hops on with the rank @peer hops on. @ends: other dimensions
 * wait for it, or were before it.
 */
static void pass(struct peer_build *b, const struct peer_line *l, enum peer_kind kind, int64_t peer,
		 int64_t sub, bool ends)
{
	uint32_t to = hop(l, l->me, peer), dig = hop(l, l->me, sub);
	bool up = kind == PEER_SEND_ADD || kind == PEER_ADD;

	if (ends)
		peer_order_pass(b, l, kind, to, dig, up);
	else
		peer_build_op(b, kind, l->dim->nic, peer_line_rank(b, l, to),
			      peer_line_span(b, l, dig));
}

/** peer_ring_reduce() - reduce-scatter in n - 1 steps */
void peer_ring_reduce(struct peer_build *b, const struct peer_line *l)
{
	int64_t t, n = l->dim->n;

	for (t = 0; t < n - 1; t++, b->step++) {
		pass(b, l, PEER_SEND_ADD, 1, -1 - t, t == n - 2);
		pass(b, l, PEER_ADD, -1, -2 - t, t == n - 2);
	}
}

/** peer_ring_gather() - allgather in n - 1 steps */
void peer_ring_gather(struct peer_build *b, const struct peer_line *l)
{
	int64_t t, n = l->dim->n;

	for (t = 0; t < n - 1; t++, b->step++) {
		pass(b, l, PEER_SEND_SET, 1, -t, !t);
		pass(b, l, PEER_SET, -1, -1 - t, !t);
	}
}

/** peer_ring_spread() - everything along a chain of n - 1 hops, which run/ pipelines */
void peer_ring_spread(struct peer_build *b, const struct peer_line *l, uint32_t root)
{
	uint32_t n = l->dim->n, start = b->step;
	uint32_t far = l->dim->back ? (root + n - l->me) % n : (l->me + n - root) % n;

	if (far > 0) {
		b->step = start + far - 1;
		peer_build_op(b, PEER_SET, l->dim->nic, peer_line_rank(b, l, hop(l, l->me, -1)),
			      peer_build_whole(b));
	}
	if (far < n - 1) {
		b->step = start + far;
		peer_build_op(b, PEER_SEND_SET, l->dim->nic, peer_line_rank(b, l, hop(l, l->me, 1)),
			      peer_build_whole(b));
	}
	b->step = start;
}
