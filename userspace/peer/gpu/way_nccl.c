// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way by NCCL, where every rank of a machine has a GPU of its own. On one machine a
 * call is one of NCCL's. With several, NCCL adds up to the leader, which carries the
 * sum to the others, and then spreads the result.
 *
 * All ranks give NCCL their work in one order: up to PEER_GPU_SLOTS reductions, then one
 * broadcast and one reduction in turn. So a call begins when the last one has ended.
 */
#include <errno.h>

#include "nccl.h"
#include "own.h"

static int type_of(const struct gpu_call *k)
{
	static const int types[TRIB_REDUCE_TYPE__MAX] = {
		[TRIB_REDUCE_F32] = NCCL_FLOAT32, [TRIB_REDUCE_I32] = NCCL_INT32,
		[TRIB_REDUCE_F16] = NCCL_FLOAT16, [TRIB_REDUCE_BF16] = NCCL_BFLOAT16,
		[TRIB_REDUCE_F64] = NCCL_FLOAT64,
	};

	return types[k->c.dtype];
}

/* With several machines, the last addition of the crew divides. */
static int op_of(const struct peer_gpu *g, const struct gpu_call *k)
{
	switch (k->c.op) {
	case PEER_OP_AVG:
		return g->conf.machines > 1 ? NCCL_SUM : NCCL_AVG;
	case PEER_OP_PROD:
		return NCCL_PROD;
	case TRIB_REDUCE_MAX:
		return NCCL_MAX;
	case TRIB_REDUCE_MIN:
		return NCCL_MIN;
	}
	return NCCL_SUM;
}

static int nccl_rc(struct peer_gpu *g, int rc)
{
	return rc ? gpu_fail(g, -EIO, "NCCL: %s", g->nccl_lib->text(rc)) : 0;
}

/* --- one machine */

static int whole_call(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;
	const struct trib_peer_call *c = &k->c;
	const struct nccl_lib *n = g->nccl_lib;
	const void *src = gpu_source(g, k);
	void *stream = g->stream[GPU_SUM];
	int type = type_of(k);

	(void)s;
	switch (c->collective) {
	case PEER_ALLREDUCE:
		return nccl_rc(
			g, n->allreduce(src, c->dst, c->count, type, op_of(g, k), g->nccl, stream));
	case PEER_REDUCE_SCATTER:
		return nccl_rc(g, n->reduce_scatter(src, c->dst, c->count, type, op_of(g, k),
						    g->nccl, stream));
	case PEER_ALLGATHER:
		return nccl_rc(g, n->allgather(src, c->dst, c->count, type, g->nccl, stream));
	default:
		return nccl_rc(g, n->broadcast(c->dst, c->dst, c->count, type, (int)c->root,
					       g->nccl, stream));
	}
}

const struct gpu_way gpu_way_nccl_call = {
	.name = "nccl",
	.uncut = true,
	.work = {[GPU_SUM] = whole_call},
};

/* --- several machines */

static bool may_sum(const struct peer_gpu *g, uint64_t s)
{
	const struct gpu_call *k = g->seg[s % PEER_GPU_SLOTS].call;
	uint64_t i = s - k->base;

	return g->begun[GPU_TAKE] - k->base == (i < PEER_GPU_SLOTS ? 0 : i + 1 - PEER_GPU_SLOTS);
}

static int sum(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;

	return nccl_rc(g,
		       g->nccl_lib->reduce(gpu_source(g, k) + seg->at * k->size,
					   gpu_slot(g, g->out, s), seg->n, type_of(k), op_of(g, k),
					   (int)g->lead, g->nccl, g->stream[GPU_SUM]));
}

static int down(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	if (!g->leads)
		return 1;
	return gpu_copy(g, GPU_DOWN, gpu_slot(g, g->pinned, s), gpu_slot(g, g->out, s),
			seg->n * seg->call->size);
}

static int net(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	return g->leads ? gpu_net_leaders(g, seg, s) : 1;
}

static int up(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	if (!g->leads)
		return 1;
	return gpu_copy(g, GPU_UP, gpu_slot(g, g->out, s), gpu_slot(g, g->pinned, s),
			seg->n * seg->call->size);
}

static bool may_take(const struct peer_gpu *g, uint64_t s)
{
	const struct gpu_call *k = g->seg[s % PEER_GPU_SLOTS].call;
	uint64_t ahead = s - k->base + PEER_GPU_SLOTS;

	if (g->begun[GPU_SUM] - k->base != (ahead < k->nseg ? ahead : k->nseg))
		return false;
	/* The GPUs need not wait for the leader's network. */
	return g->leads || g->local[g->lead].note.done[GPU_UP] > s;
}

static int take(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;

	return nccl_rc(g, g->nccl_lib->broadcast(gpu_slot(g, g->out, s),
						 (unsigned char *)k->c.dst + seg->at * k->size,
						 seg->n, type_of(k), (int)g->lead, g->nccl,
						 g->stream[GPU_TAKE]));
}

const struct gpu_way gpu_way_nccl = {
	.name = "nccl",
	.drains = true,
	.work =
		{
			[GPU_SUM] = sum,
			[GPU_DOWN] = down,
			[GPU_NET] = net,
			[GPU_UP] = up,
			[GPU_TAKE] = take,
		},
	.may = {[GPU_SUM] = may_sum, [GPU_TAKE] = may_take},
};
