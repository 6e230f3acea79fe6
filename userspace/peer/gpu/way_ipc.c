// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way by areas that the GPUs of a machine read from each other. Several machines
 * do so with allreduces only: the leader then carries the machine's sum to the others.
 *
 * Each share's sum begins with its owner's values, then come those of the ranks below
 * it, as in a direct exchange by the CPU; the leader's, with PEER_INTRA_REDUCE, come
 * before the others in order of ranks.
 */
#include <errno.h>

#include "own.h"

static bool several(const struct peer_gpu *g)
{
	return g->conf.machines > 1;
}

/* Nobody of the machine still uses what the slots had before. */
static bool may_fill(const struct peer_gpu *g, uint64_t s)
{
	return s < PEER_GPU_SLOTS || gpu_all_passed(g, GPU_TAKE, s - PEER_GPU_SLOTS);
}

static int fill(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;
	size_t bytes = seg->n * k->size, from = seg->at * k->size;
	const unsigned char *src = gpu_source(g, k);
	unsigned char *to = gpu_slot(g, g->in, s);
	uint32_t r;
	int rc = 0;

	if (k->c.collective == PEER_BROADCAST && k->c.root != g->conf.rank)
		return 0;
	if (k->c.collective != PEER_REDUCE_SCATTER)
		return gpu_copy(g, GPU_FILL, to, src + from, bytes);
	for (r = 0; r < g->conf.world && !rc; r++)
		rc = gpu_copy(g, GPU_FILL, to + r * gpu_pitch(seg),
			      src + r * k->c.count * k->size + from, bytes);
	return rc;
}

static bool may_sum(const struct peer_gpu *g, uint64_t s)
{
	return gpu_all_passed(g, GPU_FILL, s);
}

/* The @i-th local whose values are added. */
static unsigned int order(const struct peer_gpu *g, unsigned int i)
{
	if (g->conf.intra != PEER_INTRA_REDUCE)
		return (g->me + g->nlocal - i) % g->nlocal;
	if (!i)
		return g->lead;
	return i <= g->lead ? i - 1 : i;
}

static int sum(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;
	const void *in[TRIB_GPU_REDUCE_MAX];
	bool average = k->c.op == PEER_OP_AVG;
	struct trib_gpu_sum what = {
		.in = in,
		.n = g->nlocal,
		.type = k->c.dtype,
		.op = average ? (unsigned int)TRIB_REDUCE_SUM : k->c.op,
		.world = average && !several(g) ? g->conf.world : 0,
	};
	size_t from = g->me * gpu_pitch(seg);
	unsigned int i;
	uint64_t at;

	if (!gpu_reduces(&k->c))
		return 1;
	what.out = gpu_slot(g, g->out, s);
	what.count = seg->n;
	if (k->c.collective == PEER_ALLREDUCE) {
		what.count = gpu_share(g, seg, g->me, &at);
		from = at * k->size;
		what.out = (unsigned char *)what.out + from;
	}
	if (!what.count)
		return 1;
	for (i = 0; i < g->nlocal; i++)
		in[i] = gpu_slot(g, g->local[order(g, i)].in, s) + from;
	return gpu_rc(g, g->ops->reduce(&what, g->stream[GPU_SUM]));
}

/* Collect the machine's sum from the areas of those that added it up. */
static int collect(struct peer_gpu *g, enum gpu_stage stage, const struct gpu_seg *seg, uint64_t s,
		   unsigned char *to)
{
	size_t size = seg->call->size;
	unsigned int i;
	uint64_t at, n;
	int rc = 0;

	for (i = 0; i < g->nlocal && !rc; i++) {
		n = gpu_share(g, seg, i, &at);
		rc = gpu_copy(g, stage, to + at * size, gpu_slot(g, g->local[i].out, s) + at * size,
			      n * size);
	}
	return rc;
}

static bool may_down(const struct peer_gpu *g, uint64_t s)
{
	return !several(g) || !g->leads || gpu_all_passed(g, GPU_SUM, s);
}

static int down(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	if (!several(g) || !g->leads)
		return 1;
	return collect(g, GPU_DOWN, seg, s, gpu_slot(g, g->pinned, s));
}

static int net(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	return several(g) && g->leads ? gpu_net_leaders(g, seg, s) : 1;
}

static int up(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	if (!several(g) || !g->leads)
		return 1;
	return gpu_copy(g, GPU_UP, gpu_slot(g, g->out, s), gpu_slot(g, g->pinned, s),
			seg->n * seg->call->size);
}

static bool may_take(const struct peer_gpu *g, uint64_t s)
{
	if (!several(g))
		return gpu_all_passed(g, GPU_SUM, s);
	return g->leads || g->local[g->lead].note.done[GPU_UP] > s;
}

static int take(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;
	size_t bytes = seg->n * k->size;
	unsigned char *to = (unsigned char *)k->c.dst + seg->at * k->size;
	unsigned int i;
	int rc = 0;

	switch (k->c.collective) {
	case PEER_REDUCE_SCATTER:
		return gpu_copy(g, GPU_TAKE, to, gpu_slot(g, g->out, s), bytes);
	case PEER_BROADCAST:
		if (k->c.root == g->conf.rank)
			return 1;
		return gpu_copy(g, GPU_TAKE, to, gpu_slot(g, g->local[k->c.root].in, s), bytes);
	case PEER_ALLGATHER:
		for (i = 0; i < g->nlocal && !rc; i++)
			rc = gpu_copy(g, GPU_TAKE, to + i * k->c.count * k->size,
				      gpu_slot(g, g->local[i].in, s), bytes);
		return rc;
	}
	if (several(g))
		return gpu_copy(g, GPU_TAKE, to, gpu_slot(g, g->local[g->lead].out, s), bytes);
	return collect(g, GPU_TAKE, seg, s, to);
}

const struct gpu_way gpu_way_ipc = {
	.name = "ipc",
	.work =
		{
			[GPU_FILL] = fill,
			[GPU_SUM] = sum,
			[GPU_DOWN] = down,
			[GPU_NET] = net,
			[GPU_UP] = up,
			[GPU_TAKE] = take,
		},
	.may =
		{
			[GPU_FILL] = may_fill,
			[GPU_SUM] = may_sum,
			[GPU_DOWN] = may_down,
			[GPU_TAKE] = may_take,
		},
};
