// SPDX-License-Identifier: BSD-2-Clause
/*
 * Forward, backward and update of the demo's model: see mlp.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "mlp.h"
#include "random.h"

static float *floats(size_t n)
{
	size_t bytes = (n * sizeof(float) + 64 + 63) & ~(size_t)63;
	float *p = aligned_alloc(64, bytes);

	if (p)
		memset(p, 0, bytes);
	return p;
}

/* Last layer first: the order in which gradients become final. */
static void lay_out(struct mlp *m)
{
	m->nparam = 0;
	for (unsigned int l = m->layers; l-- > 0;) {
		m->weight[l] = m->nparam;
		m->nparam += (size_t)m->width[l] * m->width[l + 1];
		m->bias[l] = m->nparam;
		m->nparam += m->width[l + 1];
	}
}

static void init_weights(struct mlp *m, uint64_t seed, double first)
{
	for (unsigned int l = 0; l < m->layers; l++) {
		size_t n = (size_t)m->width[l] * m->width[l + 1];
		double scale = sqrt(2.0 / m->width[l]) * (l ? 1 : first);
		float *w = m->param + m->weight[l];

		for (size_t i = 0; i < n; i++)
			w[i] = (float)(random_normal(&seed) * scale);
	}
}

int mlp_init(struct mlp *m, const unsigned int *width, unsigned int layers, size_t batch,
	     uint64_t seed, double first)
{
	size_t widest = 0, square = 0;

	memset(m, 0, sizeof(*m));
	m->layers = layers;
	m->batch = batch;
	for (unsigned int l = 0; l <= layers; l++) {
		m->width[l] = width[l];
		widest = width[l] > widest ? width[l] : widest;
	}
	for (unsigned int l = 0; l < layers; l++) {
		size_t n = (size_t)width[l] * width[l + 1];

		square = n > square ? n : square;
		m->act[l] = floats(batch * width[l + 1]);
		if (!m->act[l])
			return -ENOMEM;
	}
	lay_out(m);
	m->param = floats(m->nparam);
	m->grad = floats(m->nparam);
	m->momentum = floats(m->nparam);
	m->delta[0] = floats(batch * widest);
	m->delta[1] = floats(batch * widest);
	m->flip = floats(square);
	if (!m->param || !m->grad || !m->momentum || !m->delta[0] || !m->delta[1] || !m->flip)
		return -ENOMEM;
	init_weights(m, seed, first);
	return 0;
}

void mlp_free(struct mlp *m)
{
	for (unsigned int l = 0; l < MLP_LAYERS_MAX; l++)
		free(m->act[l]);
	free(m->param);
	free(m->grad);
	free(m->momentum);
	free(m->delta[0]);
	free(m->delta[1]);
	free(m->flip);
	memset(m, 0, sizeof(*m));
}

static void add_bias(float *y, const float *bias, size_t n, size_t width, int relu)
{
	for (size_t i = 0; i < n; i++, y += width) {
		for (size_t j = 0; j < width; j++) {
			float v = y[j] + bias[j];

			y[j] = relu && v < 0 ? 0 : v;
		}
	}
}

/* Logits to probabilities, in place. */
static void softmax(float *y, const uint8_t *label, size_t n, size_t width, struct mlp_score *score)
{
	for (size_t i = 0; i < n; i++, y += width) {
		size_t best = 0;
		float top, sum = 0;

		for (size_t j = 1; j < width; j++)
			best = y[j] > y[best] ? j : best;
		score->right += best == label[i];
		top = y[best];
		for (size_t j = 0; j < width; j++) {
			y[j] = expf(y[j] - top);
			sum += y[j];
		}
		for (size_t j = 0; j < width; j++)
			y[j] /= sum;
		score->loss -= log(fmax((double)y[label[i]], 1e-30));
	}
	score->rows += n;
}

void mlp_forward(struct mlp *m, const float *x, const uint8_t *label, size_t n,
		 struct mlp_score *score)
{
	for (unsigned int l = 0; l < m->layers; l++) {
		struct gemm_a a = {x, m->width[l], 1};

		gemm_transpose(m->width[l + 1], m->width[l], m->param + m->weight[l], m->flip);
		gemm(n, m->width[l + 1], m->width[l], a, m->flip, m->act[l], 0);
		add_bias(m->act[l], m->param + m->bias[l], n, m->width[l + 1], l + 1 < m->layers);
		x = m->act[l];
	}
	softmax(m->act[m->layers - 1], label, n, m->width[m->layers], score);
}

/* Gradient of the logits: probability minus truth. */
static void output_delta(struct mlp *m, const uint8_t *label, size_t n, float scale)
{
	size_t width = m->width[m->layers];
	const float *y = m->act[m->layers - 1];
	float *d = m->delta[0];

	for (size_t i = 0; i < n; i++, y += width, d += width)
		for (size_t j = 0; j < width; j++)
			d[j] = (y[j] - (j == label[i])) * scale;
}

/* Propagate through layer @l's weights and the ReLU below it. */
static void pass_down(struct mlp *m, unsigned int l, size_t n, const float *d, float *below)
{
	size_t in = m->width[l], out = m->width[l + 1];
	const float *y = m->act[l - 1];

	gemm(n, in, out, (struct gemm_a){d, out, 1}, m->param + m->weight[l], below, 0);
	for (size_t i = 0; i < n * in; i++)
		below[i] = y[i] > 0 ? below[i] : 0;
}

int mlp_backward(struct mlp *m, const float *x, const uint8_t *label, size_t n, float scale,
		 int (*ready)(void *arg, size_t done), void *arg)
{
	int rc;

	output_delta(m, label, n, scale);
	for (unsigned int l = m->layers, turn = 0; l-- > 0; turn ^= 1) {
		const float *in = l ? m->act[l - 1] : x, *d = m->delta[turn];
		size_t out = m->width[l + 1];
		float *bias = m->grad + m->bias[l];

		gemm(out, m->width[l], n, (struct gemm_a){d, 1, out}, in, m->grad + m->weight[l],
		     0);
		memset(bias, 0, out * sizeof(*bias));
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < out; j++)
				bias[j] += d[i * out + j];
		rc = ready(arg, m->bias[l] + out);
		if (rc)
			return rc;
		if (l)
			pass_down(m, l, n, d, m->delta[turn ^ 1]);
	}
	return 0;
}

/* This file is compiled with -ffp-contract=off: see mlp.h. */
void mlp_step(struct mlp *m, size_t from, size_t to, float rate, float momentum)
{
	for (size_t i = from; i < to; i++) {
		m->momentum[i] = momentum * m->momentum[i] + m->grad[i];
		m->param[i] -= rate * m->momentum[i];
	}
}
