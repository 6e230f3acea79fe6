/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one matrix product that trib-train needs: C = A * B or C += A * B, with
 * A given by two strides, so that a transposed A costs nothing. No alignment is
 * needed. Sums may be formed in any order.
 */
#ifndef PERF_GEMM_H
#define PERF_GEMM_H

#include <stddef.h>

/**
 * struct gemm_a - the left factor
 * @p:   element (i, k) is p[i * row + k * col].
 * @row: see above.
 * @col: see above.
 */
struct gemm_a {
	const float *p;
	size_t row;
	size_t col;
};

/* c[m][n] (+)= a[m][k] * b[k][n]; b and c are dense and row-major. */
void gemm(size_t m, size_t n, size_t k, struct gemm_a a, const float *b, float *c, int accumulate);

/* The versions of gemm(). */
void gemm_v3(size_t m, size_t n, size_t k, struct gemm_a a, const float *b, float *c,
	     int accumulate);
void gemm_base(size_t m, size_t n, size_t k, struct gemm_a a, const float *b, float *c,
	       int accumulate);

/* out[n][m] = in[m][n], transposed. */
void gemm_transpose(size_t m, size_t n, const float *in, float *out);

#endif /* PERF_GEMM_H */
