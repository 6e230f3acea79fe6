// SPDX-License-Identifier: BSD-2-Clause
/* The loud8 of task.h: quiet dimensions decide, loud ones distract. */
#include <math.h>
#include <string.h>

#include "random.h"
#include "task_kind.h"

#define LOUD 8
/* Keeps the first steps small at trib-train's learning rate. */
#define SIZE 0.2
/* Samples that the means of the classes come from. */
#define MEAN_SAMPLES 8192

static int is_loud(int dim)
{
	return dim % 4 < 2;
}

/* The outputs of the network for the quiet dimensions of a sample. */
static void outputs(const struct task_loud *t, const double *quiet, double *y)
{
	double hidden[LOUD_HIDDEN];

	for (int h = 0; h < LOUD_HIDDEN; h++) {
		hidden[h] = 0;
		for (int i = 0; i < LOUD_QUIET; i++)
			hidden[h] += t->in[h][i] * quiet[i];
		hidden[h] = tanh(hidden[h]);
	}
	for (int k = 0; k < TASK_CLASSES; k++) {
		y[k] = -t->mean[k];
		for (int h = 0; h < LOUD_HIDDEN; h++)
			y[k] += t->out[k][h] * hidden[h];
	}
}

void task_loud_init(struct task_loud *t, uint64_t seed)
{
	double quiet[LOUD_QUIET], y[TASK_CLASSES], sum[TASK_CLASSES] = {0};

	memset(t, 0, sizeof(*t));
	for (int h = 0; h < LOUD_HIDDEN; h++)
		for (int i = 0; i < LOUD_QUIET; i++)
			t->in[h][i] = random_normal(&seed) / sqrt(LOUD_QUIET);
	for (int k = 0; k < TASK_CLASSES; k++)
		for (int h = 0; h < LOUD_HIDDEN; h++)
			t->out[k][h] = random_normal(&seed) / sqrt(LOUD_HIDDEN);
	for (int n = 0; n < MEAN_SAMPLES; n++) {
		for (int i = 0; i < LOUD_QUIET; i++)
			quiet[i] = random_normal(&seed);
		outputs(t, quiet, y);
		for (int k = 0; k < TASK_CLASSES; k++)
			sum[k] += y[k];
	}
	for (int k = 0; k < TASK_CLASSES; k++)
		t->mean[k] = sum[k] / MEAN_SAMPLES;
}

uint8_t task_loud_sample(const struct task_loud *t, uint64_t state, float *x)
{
	double quiet[LOUD_QUIET], y[TASK_CLASSES], v;
	int best = 0, at = 0;

	for (int i = 0; i < TASK_DIM; i++) {
		v = random_normal(&state);
		if (!is_loud(i) && at < LOUD_QUIET)
			quiet[at++] = v;
		x[i] = (float)(SIZE * (is_loud(i) ? LOUD * v : v));
	}
	outputs(t, quiet, y);
	for (int k = 1; k < TASK_CLASSES; k++)
		best = y[k] > y[best] ? k : best;
	return (uint8_t)best;
}
