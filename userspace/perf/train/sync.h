/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the ranks' models equal: gradients are summed in buckets, while the
 * backward pass goes on to the next layer. Without a job (t is NULL), every
 * function completes at once, for this process alone.
 */
#ifndef PERF_SYNC_H
#define PERF_SYNC_H

#include <stddef.h>
#include <stdint.h>

#include "mlp.h"
#include "trib.h"
#include "trib_compress.h"

#define SYNC_BUCKETS_MAX 64

/**
 * struct sync - one model's synchronisation
 * @t:      membership, or NULL.
 * @z:      compression of gradients, or NULL.
 * @m:      the model.
 * @bucket: least number of floats to send.
 * @n:      buckets of the current step.
 * @end:    end of each bucket.
 * @req:    each bucket's allreduce.
 * @begun:  time of the step's first bucket.
 * @bytes:  gradients summed so far.
 * @busy_s: seconds from each step's first issue to its last result.
 * @wait_s: seconds spent only waiting.
 * @steps:  optimiser steps.
 */
struct sync {
	struct trib *t;
	struct trib_compress *z;
	struct mlp *m;
	size_t bucket;
	unsigned int n;
	size_t end[SYNC_BUCKETS_MAX];
	struct trib_req *req[SYNC_BUCKETS_MAX];
	double begun;
	uint64_t bytes;
	double busy_s;
	double wait_s;
	uint64_t steps;
};

double sync_now(void);

void sync_init(struct sync *s, struct trib *t, struct mlp *m, size_t bucket_bytes);

/* Compress gradients from now on: see trib_compress_open(). sync_free() ends that. */
int sync_compress(struct sync *s, const struct trib_compress_options *o);
void sync_free(struct sync *s);

/* Broadcast rank 0's parameters to all ranks. */
int sync_start(struct sync *s);

/* For mlp_backward(): @arg is the struct sync. */
int sync_ready(void *arg, size_t done);

/* Wait for each bucket and update its parameters. */
int sync_step(struct sync *s, float rate, float momentum);

/* Drop the buckets in flight after a failure. */
void sync_drop(struct sync *s);

/* @score becomes the sum over all ranks. */
int sync_score(struct sync *s, struct mlp_score *score);

/*
 * True if all ranks hold the same parameters, bit for bit: the largest and the
 * smallest hash, found by collectives, are equal.
 */
int sync_compare(struct sync *s, uint64_t *hash, int *identical);

#endif /* PERF_SYNC_H */
