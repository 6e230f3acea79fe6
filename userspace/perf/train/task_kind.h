/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of each task, for task.c. */
#ifndef PERF_TASK_KIND_H
#define PERF_TASK_KIND_H

#include <stdint.h>

#include "task.h"

/* Dimensions that decide, and neurons of the network that does. */
#define LOUD_QUIET 12
#define LOUD_HIDDEN 24

/* Two orthonormal vectors, which span the plane of the spirals. */
struct task_plane {
	double u[TASK_DIM];
	double v[TASK_DIM];
};

void task_plane_init(struct task_plane *p, uint64_t seed);
uint8_t task_plane_sample(const struct task_plane *p, uint64_t state, float *x);

/**
 * struct task_loud - the network that gives a sample its class
 * @mean: of each class's output, which is subtracted so that classes are equally likely.
 */
struct task_loud {
	double in[LOUD_HIDDEN][LOUD_QUIET];
	double out[TASK_CLASSES][LOUD_HIDDEN];
	double mean[TASK_CLASSES];
};

void task_loud_init(struct task_loud *t, uint64_t seed);
uint8_t task_loud_sample(const struct task_loud *t, uint64_t state, float *x);

#endif /* PERF_TASK_KIND_H */
