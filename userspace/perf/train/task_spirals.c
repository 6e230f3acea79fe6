// SPDX-License-Identifier: BSD-2-Clause
/* The spirals of task.h. */
#include <math.h>

#include "random.h"
#include "task_kind.h"

/* Turns of an arm, its radii, and the noise around it, in the plane. */
#define TURNS 0.9
#define INNER 0.30
#define PLANE_NOISE 0.02
/* Noise of every dimension, against a spiral of radius SPREAD. */
#define SPREAD 5.0
#define DIM_NOISE 0.15

void task_plane_init(struct task_plane *p, uint64_t seed)
{
	double uu = 0, uv = 0, vv = 0, *u = p->u, *v = p->v;

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

uint8_t task_plane_sample(const struct task_plane *p, uint64_t state, float *x)
{
	uint8_t label = (uint8_t)(random_next(&state) % TASK_CLASSES);
	/* By the root, so that arms are as dense outside as inside. */
	double t = INNER + (1 - INNER) * sqrt(random_unit(&state));
	double turn = TURNS * t + (double)label / TASK_CLASSES;
	double a = t * cos(2 * M_PI * turn), b = t * sin(2 * M_PI * turn);

	a = SPREAD * (a + PLANE_NOISE * random_normal(&state));
	b = SPREAD * (b + PLANE_NOISE * random_normal(&state));
	for (int i = 0; i < TASK_DIM; i++)
		x[i] = (float)(a * p->u[i] + b * p->v[i] + DIM_NOISE * random_normal(&state));
	return label;
}
