// SPDX-License-Identifier: BSD-2-Clause
/* Segments of a call: their sizes, their parts, the shares of the ranks. */
#include "own.h"

bool gpu_reduces(const struct trib_peer_call *c)
{
	return c->collective == PEER_ALLREDUCE || c->collective == PEER_REDUCE_SCATTER;
}

/* Vectors of the call's count that a segment has pieces of. */
static uint64_t parts_of(const struct peer_gpu *g, const struct trib_peer_call *c)
{
	bool all = c->collective == PEER_REDUCE_SCATTER || c->collective == PEER_ALLGATHER;

	return all ? g->conf.world : 1;
}

static uint64_t up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* A call has as many segments as there are slots, unless they are too small or too large. */
uint64_t gpu_each(const struct peer_gpu *g, const struct trib_peer_call *c)
{
	uint64_t bytes = trib_reduce_size(c->dtype) * parts_of(g, c);
	uint64_t most = g->slot / bytes / PEER_GPU_ALIGN * PEER_GPU_ALIGN;
	uint64_t least = up(PEER_GPU_SEGMENT_MIN / bytes + 1, PEER_GPU_ALIGN);
	uint64_t n = up(c->count / PEER_GPU_SLOTS + 1, PEER_GPU_ALIGN);

	n = n < least ? least : n;
	return n > most ? most : n;
}

uint64_t peer_gpu_bytes(const struct peer_gpu *g, const struct trib_peer_call *c)
{
	uint64_t each = gpu_each(g, c);

	return (c->count < each ? c->count : each) * trib_reduce_size(c->dtype);
}

/* A number that differs if calls do. */
uint64_t gpu_sign(const struct gpu_call *k)
{
	uint64_t all[] = {k->c.collective, k->c.op, k->c.dtype, k->c.count, k->c.root}, h = 1;
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		h = (h ^ all[i]) * 0x9e3779b97f4a7c15ULL ^ h >> 29;
	return h;
}

const unsigned char *gpu_source(const struct peer_gpu *g, const struct gpu_call *k)
{
	if (k->c.collective == PEER_ALLGATHER && !k->c.src)
		return (unsigned char *)k->c.dst + g->conf.rank * k->c.count * k->size;
	return k->c.collective == PEER_BROADCAST ? k->c.dst : k->c.src;
}

size_t gpu_pitch(const struct gpu_seg *s)
{
	return (size_t)up(s->n * s->call->size, 16);
}

uint64_t gpu_share(const struct peer_gpu *g, const struct gpu_seg *s, unsigned int i, uint64_t *at)
{
	uint64_t each = up((s->n + g->nlocal - 1) / g->nlocal, PEER_GPU_ALIGN), first = i * each;

	if (g->conf.intra == PEER_INTRA_REDUCE) {
		*at = 0;
		return i == g->lead ? s->n : 0;
	}
	*at = first < s->n ? first : s->n;
	return s->n - *at < each ? s->n - *at : each;
}
