// SPDX-License-Identifier: BSD-2-Clause
/*
 * Generates the spirals: see task.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "task.h"

/* Turns of an arm, its radii, and the noise around it, in the plane. */
#define TURNS 0.9
#define INNER 0.30
#define PLANE_NOISE 0.02
/* Noise of every dimension, against a spiral of radius SPREAD. */
#define SPREAD 5.0
#define DIM_NOISE 0.15

/* Two orthonormal vectors that span the plane. */
static void plane_of(uint64_t seed, double u[TASK_DIM], double v[TASK_DIM])
{
	double uu = 0, uv = 0, vv = 0;

	for (int i = 0; i < TASK_DIM; i++) {
		u[i] = random_normal(&seed);
		uu += u[i] * u[i];
	}
	for (int i = 0; i < TASK_DIM; i++) {
		u[i] /= sqrt(uu);
		v[i] = random_normal(&seed);
		uv += u[i] * v[i];
	}
	for (int i = 0; i < TASK_DIM; i++) {
		v[i] -= uv * u[i];
		vv += v[i] * v[i];
	}
	for (int i = 0; i < TASK_DIM; i++)
		v[i] /= sqrt(vv);
}

static uint8_t sample(uint64_t state, const double *u, const double *v, float *x)
{
	uint8_t label = (uint8_t)(random_next(&state) % TASK_CLASSES);
	/* By the root, so that arms are as dense outside as inside. */
	double t = INNER + (1 - INNER) * sqrt(random_unit(&state));
	double turn = TURNS * t + (double)label / TASK_CLASSES;
	double a = t * cos(2 * M_PI * turn), b = t * sin(2 * M_PI * turn);

	a = SPREAD * (a + PLANE_NOISE * random_normal(&state));
	b = SPREAD * (b + PLANE_NOISE * random_normal(&state));
	for (int i = 0; i < TASK_DIM; i++)
		x[i] = (float)(a * u[i] + b * v[i] + DIM_NOISE * random_normal(&state));
	return label;
}

int task_generate(struct task_part *p, uint64_t seed, enum task_set set, size_t total,
		  unsigned int rank, unsigned int world)
{
	double u[TASK_DIM], v[TASK_DIM];

	p->n = total / world;
	p->seed = seed ^ ((uint64_t)set << 56) ^ ((uint64_t)rank << 40);
	p->x = calloc(p->n * TASK_DIM + 1, sizeof(*p->x));
	p->label = calloc(p->n + 1, sizeof(*p->label));
	p->order = calloc(p->n + 1, sizeof(*p->order));
	if (!p->x || !p->label || !p->order)
		return -ENOMEM;
	plane_of(seed, u, v);
	for (size_t i = 0; i < p->n; i++) {
		uint64_t id = i * world + rank;
		uint64_t state = seed ^ ((uint64_t)set << 56) ^ (id << 8);

		random_next(&state);
		state = random_next(&state);
		p->label[i] = sample(state, u, v, p->x + i * TASK_DIM);
		p->order[i] = (uint32_t)i;
	}
	return 0;
}

void task_free(struct task_part *p)
{
	free(p->x);
	free(p->label);
	free(p->order);
	memset(p, 0, sizeof(*p));
}

void task_shuffle(struct task_part *p, unsigned int epoch)
{
	uint64_t state = p->seed + epoch * 0x2545f4914f6cdd1dULL;

	for (size_t i = 0; i < p->n; i++)
		p->order[i] = (uint32_t)i;
	for (size_t i = p->n; i > 1; i--) {
		size_t j = random_next(&state) % i;
		uint32_t swap = p->order[i - 1];

		p->order[i - 1] = p->order[j];
		p->order[j] = swap;
	}
}

void task_gather(const struct task_part *p, size_t from, size_t n, float *x, uint8_t *label)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = p->order[from + i];

		memcpy(x + i * TASK_DIM, p->x + at * TASK_DIM, TASK_DIM * sizeof(*x));
		label[i] = p->label[at];
	}
}
