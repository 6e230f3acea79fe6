// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way by host memory: each rank copies its segment to pinned memory, the crew carries
 * out the call there, and the result is copied back. And the way of a rank alone.
 */
#include <errno.h>

#include "own.h"

int gpu_copy(struct peer_gpu *g, enum gpu_stage stage, void *to, const void *from, size_t len)
{
	return len && to != from ? gpu_rc(g, g->ops->copy(to, from, len, g->stream[stage])) : 0;
}

/* The crew's lock is held. */
static void on_net(void *arg, int status, int64_t detail)
{
	struct gpu_call *k = arg;
	struct peer_gpu *g = k->g;
	bool values = status == -EDOM || status == -ERANGE;

	if (values && !k->status) {
		k->status = status;
		k->detail = detail;
	}
	/* After another error the crew has ended, and the thread gives up. */
	if (!status || values)
		g->done[GPU_NET]++;
	g->net_back++;
	gpu_ring(g);
}

static int gpu_net(struct peer_gpu *g, const struct gpu_seg *seg, const struct trib_peer_call *c,
		   unsigned int shape)
{
	int rc = peer_crew_issue_told(g->conf.crew, c, shape, on_net, seg->call);

	if (rc == -ENOMEM)
		return gpu_fail(g, rc, "out of memory");
	g->net_issued += !rc;
	return rc;
}

int gpu_net_leaders(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	struct trib_peer_call c = seg->call->c;

	c.memory = PEER_MEMORY_HOST;
	c.src = c.dst = gpu_slot(g, g->pinned, s);
	c.count = seg->n;
	return gpu_net(g, seg, &c, seg->call->shape + g->conf.apart);
}

static unsigned char *pinned(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	return seg->call->whole ? g->whole : gpu_slot(g, g->pinned, s);
}

/* Memory of a call that is not cut. */
static int make_whole(struct peer_gpu *g, const struct gpu_call *k)
{
	bool parts = k->c.collective == PEER_REDUCE_SCATTER;
	size_t len = k->c.count * k->size * (parts ? g->conf.world : 1);

	if (len <= g->whole_len)
		return 0;
	if (g->whole)
		g->ops->host_free(g->whole);
	g->whole_len = 0;
	g->whole = g->ops->host_new(len);
	if (!g->whole)
		return gpu_fail(g, -ENOMEM, "no pinned memory for %zu bytes", len);
	g->whole_len = len;
	return 0;
}

static int fill(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;
	size_t bytes = seg->n * k->size, from = seg->at * k->size;
	const unsigned char *src = gpu_source(g, k);
	unsigned char *to;
	uint32_t r;
	int rc = k->whole ? make_whole(g, k) : 0;

	if (rc)
		return rc;
	to = pinned(g, seg, s);
	switch (k->c.collective) {
	case PEER_REDUCE_SCATTER:
		for (r = 0; r < g->conf.world && !rc; r++)
			rc = gpu_copy(g, GPU_FILL, to + r * bytes,
				      src + r * k->c.count * k->size + from, bytes);
		return rc;
	case PEER_ALLGATHER:
		return gpu_copy(g, GPU_FILL, to + g->conf.rank * bytes, src + from, bytes);
	case PEER_BROADCAST:
		if (k->c.root != g->conf.rank)
			return 0;
	}
	return gpu_copy(g, GPU_FILL, to, src + from, bytes);
}

static int net(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	struct trib_peer_call c = seg->call->c;

	c.memory = PEER_MEMORY_HOST;
	c.src = c.dst = pinned(g, seg, s);
	c.count = seg->n;
	return gpu_net(g, seg, &c, seg->call->shape);
}

static int take(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;
	size_t bytes = seg->n * k->size;
	unsigned char *to = (unsigned char *)k->c.dst + seg->at * k->size;
	const unsigned char *from = pinned(g, seg, s);
	uint32_t r;
	int rc = 0;

	if (k->c.collective == PEER_BROADCAST && k->c.root == g->conf.rank)
		return 1;
	if (k->c.collective != PEER_ALLGATHER)
		return gpu_copy(g, GPU_TAKE, to, from, bytes);
	for (r = 0; r < g->conf.world && !rc; r++)
		rc = gpu_copy(g, GPU_TAKE, to + r * k->c.count * k->size, from + r * bytes, bytes);
	return rc;
}

const struct gpu_way gpu_way_host = {
	.name = "host",
	.work = {[GPU_FILL] = fill, [GPU_NET] = net, [GPU_TAKE] = take},
};

static int take_alone(struct peer_gpu *g, const struct gpu_seg *seg, uint64_t s)
{
	const struct gpu_call *k = seg->call;

	(void)s;
	return gpu_copy(g, GPU_TAKE, (unsigned char *)k->c.dst + seg->at * k->size,
			gpu_source(g, k) + seg->at * k->size, seg->n * k->size);
}

const struct gpu_way gpu_way_alone = {
	.name = "alone",
	.work = {[GPU_TAKE] = take_alone},
};
