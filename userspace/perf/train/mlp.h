/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A multi-layer perceptron: ReLU layers, softmax and cross-entropy, SGD with
 * momentum. It is independent of other ranks. Parameters are in the order in
 * which the backward pass finishes their gradients (last layer first, weights
 * then biases), so that any prefix of the gradient can be sent early.
 */
#ifndef PERF_MLP_H
#define PERF_MLP_H

#include <stddef.h>
#include <stdint.h>

#define MLP_LAYERS_MAX 8
#define MLP_WIDTH_MAX 4096

/**
 * struct mlp - one model
 * @layers: weight matrices.
 * @width:  of the input, the hidden layers and the output (classes).
 * @batch:  rows that the buffers hold.
 * @nparam: floats in @param, @grad and @momentum.
 * @param:  parameters.
 * @grad:   this rank's share of the gradient of the mean loss over the
 *          *global* batch.
 * @momentum: of SGD.
 * @weight: offset of each layer's [out][in] matrix, as PyTorch has it: successive values
 *          are the weights of one neuron.
 * @bias:   offset of each layer's biases.
 * @act:    output of each layer; act[layers - 1] becomes probabilities.
 * @delta:  gradients of activations: two alternating buffers.
 * @flip:   scratch for a transposed matrix.
 */
struct mlp {
	unsigned int layers;
	unsigned int width[MLP_LAYERS_MAX + 1];
	size_t batch;
	size_t nparam;
	float *param;
	float *grad;
	float *momentum;
	size_t weight[MLP_LAYERS_MAX];
	size_t bias[MLP_LAYERS_MAX];
	float *act[MLP_LAYERS_MAX];
	float *delta[2];
	float *flip;
};

/**
 * struct mlp_score - score of a batch
 * @loss:  sum of cross-entropies.
 * @right: rows whose most probable class is right.
 * @rows:  rows.
 */
struct mlp_score {
	double loss;
	size_t right;
	size_t rows;
};

/*
 * @layers widths at @width plus one, random weights from @seed; those of the first layer
 * times @first. 0 or -ENOMEM; mlp_free() in both cases.
 */
int mlp_init(struct mlp *m, const unsigned int *width, unsigned int layers, size_t batch,
	     uint64_t seed, double first);
void mlp_free(struct mlp *m);

/* Predict @n rows of @x; adds to @score. Leaves probabilities behind. */
void mlp_forward(struct mlp *m, const float *x, const uint8_t *label, size_t n,
		 struct mlp_score *score);

/*
 * Compute the gradient of the last mlp_forward(), times @scale. @ready is called
 * whenever gradients 0 .. @done are final; it returns 0 or a negative errno,
 * which ends the pass.
 */
int mlp_backward(struct mlp *m, const float *x, const uint8_t *label, size_t n, float scale,
		 int (*ready)(void *arg, size_t done), void *arg);

/*
 * Move parameters @from .. @to by their gradients. Equal input bits give equal
 * output bits on every CPU: no sum is reordered or fused.
 */
void mlp_step(struct mlp *m, size_t from, size_t to, float rate, float momentum);

#endif /* PERF_MLP_H */
