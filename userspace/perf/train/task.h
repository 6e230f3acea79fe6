/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo's data: interleaved spirals, hidden in a space of many dimensions.
 *
 * Each class is one arm of a spiral in a plane. The plane lies somewhere in
 * TASK_DIM dimensions, which all carry noise too. The arms wind more than half
 * a turn around each other, so that no linear model can separate them. Every rank generates its own part: sample i of a set is a
 * function of (seed, set, i) alone, and rank r of n has samples r, r + n, ...
 */
#ifndef PERF_TASK_H
#define PERF_TASK_H

#include <stddef.h>
#include <stdint.h>

#define TASK_DIM 64
#define TASK_CLASSES 8

enum task_set {
	TASK_TRAIN = 1,
	TASK_TEST = 2,
};

/**
 * struct task_part - one rank's samples of one set
 * @n:     samples.
 * @x:     TASK_DIM floats each.
 * @label: below TASK_CLASSES.
 * @order: a permutation of the samples: see task_shuffle().
 * @seed:  of the permutations.
 */
struct task_part {
	size_t n;
	float *x;
	uint8_t *label;
	uint32_t *order;
	uint64_t seed;
};

/*
 * Make the part of @rank of @world in a set of @total samples. 0 or -ENOMEM;
 * task_free() in both cases.
 */
int task_generate(struct task_part *p, uint64_t seed, enum task_set set, size_t total,
		  unsigned int rank, unsigned int world);
void task_free(struct task_part *p);

/* Shuffle the samples; equal @epoch, equal order. */
void task_shuffle(struct task_part *p, unsigned int epoch);

/* Samples @from .. @from + @n in the current order. */
void task_gather(const struct task_part *p, size_t from, size_t n, float *x, uint8_t *label);

#endif /* PERF_TASK_H */
