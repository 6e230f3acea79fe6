/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generated data for training. Every rank generates its own part: sample i of a set is
 * a function of (task, seed, set, i) alone, and rank r of n has samples r, r + n, ...
 *
 * spirals: each class is one arm of a spiral in a plane. The plane lies somewhere in
 * TASK_DIM dimensions, which all carry noise too. The arms wind more than half a turn
 * around each other, so that no linear model can separate them.
 *
 * loud8: of every four dimensions the first two are loud, eight times as large as the
 * other two. Only quiet ones decide, the first twelve of them: a random network of one
 * hidden layer gives the class. Gradients of a neuron's weights are then largest where
 * nothing is to be learned, and a compression that forgets what it does not send learns
 * from the rest much later.
 */
#ifndef PERF_TASK_H
#define PERF_TASK_H

#include <stddef.h>
#include <stdint.h>

#define TASK_DIM 64
#define TASK_CLASSES 8

enum task_kind {
	TASK_SPIRALS = 0,
	TASK_LOUD8 = 1,
	TASK__MAX,
};

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

/* "spirals" or "loud8"; what is to be learned, in words. */
const char *task_name(enum task_kind kind);
const char *task_text(enum task_kind kind);

/* Factor of a model's first weights: the inputs' size. */
double task_first(enum task_kind kind);

/*
 * Make the part of @rank of @world in a set of @total samples. 0 or -ENOMEM;
 * task_free() in both cases.
 */
int task_generate(struct task_part *p, enum task_kind kind, uint64_t seed, enum task_set set,
		  size_t total, unsigned int rank, unsigned int world);
void task_free(struct task_part *p);

/* Shuffle the samples; equal @epoch, equal order. */
void task_shuffle(struct task_part *p, unsigned int epoch);

/* Samples @from .. @from + @n in the current order. */
void task_gather(const struct task_part *p, size_t from, size_t n, float *x, uint8_t *label);

#endif /* PERF_TASK_H */
