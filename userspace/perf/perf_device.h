/* SPDX-License-Identifier: BSD-2-Clause */
/* trib-perf --device: collectives of values in the memory of a GPU. */
#ifndef PERF_DEVICE_H
#define PERF_DEVICE_H

#include "kernels/gpu/gpu.h"
#include "measure.h"
#include "trib_compress.h"

enum perf_memory {
	PERF_HOST = 0,
	PERF_CUDA,   /* the GPU packs */
	PERF_STAGED, /* values are copied to host memory first, and sums back */
};

/**
 * struct perf_device
 * @memory: of --device.
 * @gpu:    its functions; NULL: not open.
 * @near:   staged: host memory for src and dst, of @near_len bytes each.
 * @to, @bytes: staged: the result's place in the GPU's memory.
 */
struct perf_device {
	enum perf_memory memory;
	const struct trib_gpu_ops *gpu;
	void *stream;
	char *near[2];
	size_t near_len;
	void *to;
	size_t bytes;
};

/* Read --device. Return: 0 or -1. */
int perf_device_option(struct perf_device *d, const char *value);
/* Find the GPU; @net->ctx leads to @d by perf_device_of(). Return: 0, or -1 (a message was printed). */
int perf_device_open(struct perf_device *d, struct perf_net *net);
/* Start the allreduce of @call. Return: 0, or a negative errno. */
int perf_device_start(struct perf_device *d, struct trib_compress *c, enum trib_op op,
		      const struct perf_call *call, struct trib_req **req);
/* Start the collective of @call by @t, which is attached to peers. */
int perf_device_plain(struct perf_device *d, struct trib *t, const struct perf_opts *o,
		      const struct perf_call *call, struct trib_req **req);
/* After it is done. Return: 0, or a negative errno. */
int perf_device_finish(struct perf_device *d);
void perf_device_close(struct perf_device *d);

/* For the functions that perf_device_open() puts into @net: defined by its owner. */
struct perf_device *perf_device_of(struct perf_net *net);

#endif /* PERF_DEVICE_H */
