// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-perf --device: buffers of calls are in a GPU's memory, by the library that
 * libtrib uses for it. The oracle makes and checks values in host memory.
 */
#include <errno.h>
#include <stdio.h>

#include "perf_device.h"

int perf_device_option(struct perf_device *d, const char *value)
{
	static const char *const names[] = {
		[PERF_HOST] = "host", [PERF_CUDA] = "cuda", [PERF_STAGED] = "staged", NULL};
	int which = 0, rc = perf_parse_name(names, value, &which);

	d->memory = (enum perf_memory)which;
	return rc;
}

static void *far_new(struct perf_net *net, size_t bytes)
{
	return perf_device_of(net)->gpu->memory_new(bytes);
}

static void far_free(struct perf_net *net, void *p)
{
	perf_device_of(net)->gpu->memory_free(p);
}

static int copy(const struct perf_device *d, void *to, const void *from, size_t bytes)
{
	int rc = d->gpu->copy(to, from, bytes, d->stream);

	return rc ? rc : d->gpu->wait(d->stream);
}

static int far_copy(struct perf_net *net, void *to, const void *from, size_t bytes)
{
	const struct perf_device *d = perf_device_of(net);
	int rc = copy(d, to, from, bytes);

	if (rc)
		fprintf(stderr, "%s: rank %u: %s\n", net->name, net->rank, d->gpu->error_text());
	return rc;
}

int perf_device_open(struct perf_device *d, struct perf_net *net)
{
	char text[512];

	if (d->memory == PERF_HOST)
		return 0;
	d->gpu = trib_gpu_load(NULL, text, sizeof(text));
	if (d->gpu && (d->gpu->describe(text, sizeof(text)) || d->gpu->stream_new(&d->stream))) {
		snprintf(text, sizeof(text), "there is no GPU to use: %s; nvidia-smi lists them",
			 d->gpu->error_text());
		d->gpu = NULL;
	}
	if (!d->gpu) {
		fprintf(stderr, "%s: --device: %s\n", net->name, text);
		return -1;
	}
	net->far_new = far_new;
	net->far_free = far_free;
	net->far_put = far_copy;
	net->far_get = far_copy;
	return 0;
}

/* Make the staged buffers at least so large. */
static int grow(struct perf_device *d, size_t bytes)
{
	int i;

	if (bytes <= d->near_len)
		return 0;
	d->near_len = 0;
	for (i = 0; i < 2; i++) {
		if (d->near[i])
			d->gpu->host_free(d->near[i]);
		d->near[i] = d->gpu->host_new(bytes);
	}
	if (!d->near[0] || !d->near[1])
		return -ENOMEM;
	d->near_len = bytes;
	return 0;
}

/* Copy the source to host memory. */
static int stage(struct perf_device *d, const struct perf_call *call, size_t bytes)
{
	int rc = grow(d, bytes);

	d->to = call->dst;
	d->bytes = bytes;
	return rc ? rc : copy(d, d->near[0], call->src, bytes);
}

int perf_device_start(struct perf_device *d, struct trib_compress *c, enum trib_op op,
		      const struct perf_call *call, struct trib_req **req)
{
	struct trib_buffer src = {(void *)call->src, TRIB_MEMORY_CUDA, d->stream};
	struct trib_buffer dst = {call->dst, TRIB_MEMORY_CUDA, d->stream};
	int rc;

	if (d->memory == PERF_STAGED) {
		rc = stage(d, call, call->count * 4);
		if (rc)
			return rc;
		src = (struct trib_buffer){.data = d->near[0]};
		dst = (struct trib_buffer){.data = d->near[1]};
	}
	/* A key has one count, so each size has its own. */
	return trib_compress_iallreduce_buffer(c, call->count, &src, &dst, call->count, TRIB_F32,
					       op, req);
}

int perf_device_plain(struct perf_device *d, struct trib *t, const struct perf_opts *o,
		      const struct perf_call *call, struct trib_req **req)
{
	const struct trib_buffer src = {(void *)call->src, TRIB_MEMORY_CUDA, d->stream};
	const struct trib_buffer dst = {call->dst, TRIB_MEMORY_CUDA, d->stream};
	int rc;

	if (d->memory == PERF_STAGED && o->collective == PERF_ALLREDUCE && o->inflight == 1) {
		rc = stage(d, call, call->count * oracle_size(o->dtype));
		return rc ? rc
			  : trib_iallreduce(t, d->near[0], d->near[1], call->count, o->dtype, o->op,
					    req);
	}
	if (d->memory == PERF_STAGED) {
		fprintf(stderr, "trib-perf: -D staged: want -C allreduce and -p 1; see -h\n");
		return -EINVAL;
	}
	switch (o->collective) {
	case PERF_ALLREDUCE:
		return trib_iallreduce_buffer(t, &src, &dst, call->count, o->dtype, o->op, req);
	case PERF_REDUCE_SCATTER:
		return trib_ireduce_scatter_buffer(t, &src, &dst, call->count, o->dtype, o->op,
						   req);
	case PERF_ALLGATHER:
		return trib_iallgather_buffer(t, &src, &dst, call->count, o->dtype, req);
	case PERF_BROADCAST:
		return trib_ibroadcast_buffer(t, &dst, call->count, o->dtype, (int)o->root, req);
	default:
		return trib_ibarrier(t, req);
	}
}

int perf_device_finish(struct perf_device *d)
{
	return d->memory == PERF_STAGED ? copy(d, d->to, d->near[1], d->bytes) : 0;
}

void perf_device_close(struct perf_device *d)
{
	int i;

	for (i = 0; i < 2; i++)
		if (d->near[i])
			d->gpu->host_free(d->near[i]);
	if (d->gpu)
		d->gpu->stream_free(d->stream);
}
