// SPDX-License-Identifier: BSD-2-Clause
/* Sets of samples and their order: see task.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "task.h"
#include "task_kind.h"

static const struct {
	const char *name;
	const char *text;
	double first;
} kinds[TASK__MAX] = {
	[TASK_SPIRALS] = {"spirals", "interleaved spirals hidden in 64 dimensions", 1},
	[TASK_LOUD8] = {"loud8", "classes that quiet ones of 64 dimensions decide", 0.7},
};

const char *task_name(enum task_kind kind)
{
	return kinds[kind].name;
}

const char *task_text(enum task_kind kind)
{
	return kinds[kind].text;
}

double task_first(enum task_kind kind)
{
	return kinds[kind].first;
}

int task_generate(struct task_part *p, enum task_kind kind, uint64_t seed, enum task_set set,
		  size_t total, unsigned int rank, unsigned int world)
{
	struct task_loud loud;
	struct task_plane plane;

	p->n = total / world;
	p->seed = seed ^ ((uint64_t)set << 56) ^ ((uint64_t)rank << 40);
	p->x = calloc(p->n * TASK_DIM + 1, sizeof(*p->x));
	p->label = calloc(p->n + 1, sizeof(*p->label));
	p->order = calloc(p->n + 1, sizeof(*p->order));
	if (!p->x || !p->label || !p->order)
		return -ENOMEM;
	if (kind == TASK_LOUD8)
		task_loud_init(&loud, seed);
	else
		task_plane_init(&plane, seed);
	for (size_t i = 0; i < p->n; i++) {
		uint64_t id = i * world + rank;
		uint64_t state = seed ^ ((uint64_t)set << 56) ^ (id << 8);
		float *x = p->x + i * TASK_DIM;

		random_next(&state);
		state = random_next(&state);
		p->label[i] = kind == TASK_LOUD8 ? task_loud_sample(&loud, state, x)
						 : task_plane_sample(&plane, state, x);
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
