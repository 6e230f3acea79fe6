// SPDX-License-Identifier: BSD-2-Clause
/* Calls in the queue: their way, their end. */
#include <stdlib.h>

#include "own.h"

static bool is_exact(const struct peer_gpu *g, const struct trib_peer_call *c)
{
	return g->conf.crew->conf.exact && gpu_reduces(c) && c->dtype == TRIB_REDUCE_F32 &&
	       c->op <= PEER_OP_AVG;
}

void gpu_cut(struct peer_gpu *g, struct gpu_call *k)
{
	const struct trib_peer_call *c = &k->c;

	k->way = c->collective == PEER_ALLREDUCE ? g->chosen : g->rest;
	k->size = trib_reduce_size(c->dtype);
	k->each = gpu_each(g, c);
	if (is_exact(g, c) && g->conf.world > 1) {
		k->way = &gpu_way_host;
		k->whole = k->drains = true;
		k->each = c->count;
	}
	if (k->way->uncut)
		k->each = c->count;
	k->drains |= k->way->drains;
	k->left = k->nseg = (c->count + k->each - 1) / k->each;
	g->note.calls++;
	g->note.sign = g->sign[g->note.calls % PEER_GPU_SIGNS] = gpu_sign(k);
}

void gpu_call_free(struct gpu_call *k)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (k->event[i])
			k->g->ops->event_free(k->event[i]);
	if (k->token)
		peer_task_free(k->token);
	free(k);
}
