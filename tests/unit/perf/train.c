// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parts of the demo trainer: products against a naive loop, the gradient
 * against differences, and data that can be reproduced.
 */
#include <math.h>
#include <string.h>

#include "perf/train/gemm.h"
#include "perf/train/mlp.h"
#include "perf/train/random.h"
#include "perf/train/task.h"
#include "tests/lib/tap.h"

static void fill(float *p, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (float)random_normal(&seed);
}

typedef void (*product)(size_t m, size_t n, size_t k, struct gemm_a a, const float *b, float *c,
			int accumulate);

static double worst_error(product fn, size_t m, size_t n, size_t k, int transposed, int accumulate)
{
	static float a[64 * 64], b[64 * 64], c[64 * 64], was[64 * 64];
	struct gemm_a at = {a, transposed ? 1 : k, transposed ? m : 1};
	double worst = 0;

	fill(a, m * k, 1);
	fill(b, k * n, 2);
	fill(was, m * n, 3);
	memcpy(c, was, sizeof(c));
	fn(m, n, k, at, b, c, accumulate);
	for (size_t i = 0; i < m; i++) {
		for (size_t j = 0; j < n; j++) {
			double sum = accumulate ? (double)was[i * n + j] : 0;

			for (size_t x = 0; x < k; x++)
				sum += (double)a[i * at.row + x * at.col] * (double)b[x * n + j];
			worst = fmax(worst, fabs(sum - (double)c[i * n + j]));
		}
	}
	return worst;
}

static void all_sizes(product fn)
{
	static const size_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 33};

	for (size_t i = 0; i < 9; i++)
		for (size_t j = 0; j < 9; j++)
			for (int k = 0; k < 9; k++)
				expect(worst_error(fn, sizes[i], sizes[j], sizes[k], k % 2,
						   k % 3 == 1) < 1e-4);
}

static void gemm__agrees_with_a_naive_loop(void)
{
	all_sizes(gemm);
}

static void gemm__every_cpu_gets_the_same_answer(void)
{
	all_sizes(gemm_base);
}

static void gemm__transpose_moves_every_element(void)
{
	static float in[37 * 21], out[37 * 21];

	fill(in, 37 * 21, 4);
	gemm_transpose(37, 21, in, out);
	for (size_t i = 0; i < 37; i++)
		for (size_t j = 0; j < 21; j++)
			expect(in[i * 21 + j] == out[j * 37 + i]);
}

static size_t calls, last_done;

static int note(void *arg, size_t done)
{
	(void)arg;
	expect(done > last_done);
	last_done = done;
	calls++;
	return 0;
}

static double loss_of(struct mlp *m, const float *x, const uint8_t *label)
{
	struct mlp_score score = {0};

	mlp_forward(m, x, label, 6, &score);
	return score.loss / 6;
}

static void mlp__gradient_is_the_slope_of_the_loss(void)
{
	static const unsigned int width[] = {5, 9, 7, 4};
	static const uint8_t label[6] = {0, 1, 2, 3, 1, 2};
	float x[6 * 5];
	struct mlp m;

	fill(x, 6 * 5, 5);
	if (!expect(!mlp_init(&m, width, 3, 6, 1, 1)))
		return;
	loss_of(&m, x, label);
	calls = last_done = 0;
	mlp_backward(&m, x, label, 6, 1.0f / 6, note, NULL);
	expect_eq(calls, 3);
	expect_eq(last_done, m.nparam);
	for (size_t i = 0; i < m.nparam; i++) {
		float was = m.param[i];
		double up, down;

		m.param[i] = was + 1e-3f;
		up = loss_of(&m, x, label);
		m.param[i] = was - 1e-3f;
		down = loss_of(&m, x, label);
		m.param[i] = was;
		expect(fabs((up - down) / 2e-3 - (double)m.grad[i]) < 5e-3);
	}
	mlp_free(&m);
}

static void mlp__steps_by_parts_equal_one_step(void)
{
	static const unsigned int width[] = {16, 30, 8};
	struct mlp a, b;

	expect(!mlp_init(&a, width, 2, 1, 9, 1));
	expect(!mlp_init(&b, width, 2, 1, 9, 1));
	fill(a.grad, a.nparam, 1);
	memcpy(b.grad, a.grad, a.nparam * sizeof(float));
	for (int i = 0; i < 3; i++) {
		mlp_step(&a, 0, a.nparam, 0.1f, 0.9f);
		mlp_step(&b, 0, 13, 0.1f, 0.9f);
		mlp_step(&b, 13, b.nparam, 0.1f, 0.9f);
	}
	expect(!memcmp(a.param, b.param, a.nparam * sizeof(float)));
	mlp_free(&a);
	mlp_free(&b);
}

static void whole_of(enum task_kind kind)
{
	struct task_part whole, part;

	expect(!task_generate(&whole, kind, 3, TASK_TRAIN, 400, 0, 1));
	for (unsigned int r = 0; r < 4; r++) {
		expect(!task_generate(&part, kind, 3, TASK_TRAIN, 400, r, 4));
		expect_eq(part.n, 100);
		for (size_t i = 0; i < part.n; i++) {
			size_t at = i * 4 + r;

			expect_eq(part.label[i], whole.label[at]);
			expect(!memcmp(part.x + i * TASK_DIM, whole.x + at * TASK_DIM,
				       TASK_DIM * sizeof(float)));
		}
		task_free(&part);
	}
	task_free(&whole);
}

static void task__parts_of_ranks_make_the_whole(void)
{
	whole_of(TASK_SPIRALS);
	whole_of(TASK_LOUD8);
}

/* Loud dimensions are eight times as large, and classes are about equally frequent. */
static void task__loud8_is_loud_where_nothing_is_to_be_learned(void)
{
	double square[4] = {0};
	size_t count[TASK_CLASSES] = {0};
	struct task_part p;

	expect(!task_generate(&p, TASK_LOUD8, 3, TASK_TRAIN, 4000, 0, 1));
	for (size_t i = 0; i < p.n; i++) {
		for (size_t j = 0; j < TASK_DIM; j++)
			square[j % 4] += pow((double)p.x[i * TASK_DIM + j], 2);
		count[p.label[i]]++;
	}
	expect(fabs(sqrt(square[0] / square[2]) - 8) < 0.2);
	expect(fabs(sqrt(square[1] / square[3]) - 8) < 0.2);
	for (size_t k = 0; k < TASK_CLASSES; k++)
		expect(count[k] > 4000 / TASK_CLASSES / 4);
	task_free(&p);
}

/* The weights of one neuron are one row. */
static void mlp__matrices_have_a_row_for_each_neuron(void)
{
	static const unsigned int width[] = {4, 3};
	const float x[4] = {1, 2, 3, 4};
	struct mlp_score score = {0};
	const uint8_t label = 0;
	struct mlp m;

	expect(!mlp_init(&m, width, 1, 1, 1, 1));
	memset(m.param, 0, m.nparam * sizeof(float));
	m.param[m.weight[0] + 4 + 2] = 5; /* of neuron 1, for input 2 */
	mlp_forward(&m, x, &label, 1, &score);
	expect(m.act[0][1] > 0.99f && fabs(score.loss - 15) < 1e-3);
	mlp_free(&m);
}

static void task__test_samples_are_others(void)
{
	struct task_part train, test;

	expect(!task_generate(&train, TASK_SPIRALS, 3, TASK_TRAIN, 100, 0, 1));
	expect(!task_generate(&test, TASK_SPIRALS, 3, TASK_TEST, 100, 0, 1));
	for (size_t i = 0; i < 100; i++)
		for (size_t j = 0; j < 100; j++)
			expect(memcmp(train.x + i * TASK_DIM, test.x + j * TASK_DIM,
				      TASK_DIM * sizeof(float)) != 0);
	task_free(&train);
	task_free(&test);
}

static void task__shuffles_are_permutations_and_repeat(void)
{
	struct task_part p;
	uint32_t first[500];
	size_t moved = 0, sum = 0;

	expect(!task_generate(&p, TASK_SPIRALS, 3, TASK_TRAIN, 500, 0, 1));
	task_shuffle(&p, 7);
	memcpy(first, p.order, sizeof(first));
	for (size_t i = 0; i < 500; i++) {
		moved += first[i] != i;
		sum += first[i];
	}
	expect(moved > 450);
	expect_eq(sum, 500 * 499 / 2);
	task_shuffle(&p, 8);
	expect(memcmp(first, p.order, sizeof(first)) != 0);
	task_shuffle(&p, 7);
	expect(!memcmp(first, p.order, sizeof(first)));
	task_free(&p);
}

int main(void)
{
	run(gemm__agrees_with_a_naive_loop);
	run(gemm__every_cpu_gets_the_same_answer);
	run(gemm__transpose_moves_every_element);
	run(mlp__gradient_is_the_slope_of_the_loss);
	run(mlp__steps_by_parts_equal_one_step);
	run(task__parts_of_ranks_make_the_whole);
	run(task__loud8_is_loud_where_nothing_is_to_be_learned);
	run(mlp__matrices_have_a_row_for_each_neuron);
	run(task__test_samples_are_others);
	run(task__shuffles_are_permutations_and_repeat);
	return tap_done();
}
