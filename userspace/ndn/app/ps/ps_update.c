// SPDX-License-Identifier: BSD-2-Clause
/*
 * The arithmetic of the PS: mean gradient, momentum, step. Gradients are added in
 * the order of their workers' names, so the bits of the result do not depend on
 * the order of arrival. Values too large for binary32 are clamped to the largest,
 * so finite gradients leave a finite model.
 */
#include <float.h>
#include <string.h>

#include "ps.h"

/* Values at a time, so that they stay in the L1 cache. */
#define BLOCK 2048

/* Clamp a value; NaN becomes FLT_MAX. No libm call, so that it vectorises. */
static inline float held(float x, unsigned int *times)
{
	float y = x < FLT_MAX ? x : FLT_MAX;

	y = y > -FLT_MAX ? y : -FLT_MAX;
	*times += y != x;
	return y;
}

/* Apply @sum of @n gradients to @len values from @at on. */
static void step(struct nps_job *job, uint64_t at, const float *sum, size_t len, unsigned int n)
{
	float *restrict w = job->model.values + at;
	float lr = job->spec.lr, mu = job->spec.momentum, by = (float)n;
	unsigned int times = 0;
	size_t i;

	if (job->model.momentum) {
		float *restrict m = job->model.momentum + at;

		for (i = 0; i < len; i++) {
			m[i] = held(mu * m[i] + sum[i] / by, &times);
			w[i] = held(w[i] - lr * m[i], &times);
		}
	} else {
		for (i = 0; i < len; i++)
			w[i] = held(w[i] - lr * (sum[i] / by), &times);
	}
	job->count[NPS_COUNT_HELD] += times;
}

static size_t block_at(const struct nps_job *job, uint64_t at)
{
	uint64_t left = job->spec.elements - at;

	return left < BLOCK ? (size_t)left : BLOCK;
}

void nps_update_sum(struct nps_job *job, const float *sum, unsigned int n)
{
	uint64_t at;

	for (at = 0; at < job->spec.elements; at += BLOCK)
		step(job, at, sum + at, block_at(job, at), n);
}

void nps_update_guests(struct nps_job *job)
{
	float sum[BLOCK];
	uint64_t at;

	for (at = 0; at < job->spec.elements; at += BLOCK) {
		size_t len = block_at(job, at), i;
		unsigned int g, n = 0;

		memset(sum, 0, sizeof(sum));
		for (g = 0; g < job->spec.nworker; g++) {
			const float *v;

			if (!job->guests[g].got)
				continue;
			v = job->guests[g].values + at;
			n++;
			for (i = 0; i < len; i++)
				sum[i] += v[i];
		}
		step(job, at, sum, len, n);
	}
}
