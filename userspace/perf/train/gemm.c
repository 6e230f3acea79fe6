// SPDX-License-Identifier: BSD-2-Clause
/*
 * Matrix product by tiles of 8 rows and 16 columns, whose sums stay in
 * registers. Compiled twice: as gemm_v3() for x86-64-v3, and as gemm_base() for
 * every CPU together with gemm(), which selects one.
 */
#include "gemm.h"

#define ROWS 8
#define LANES 8
#define VECS 2
#define COLS (VECS * LANES)

/* A piece of a row; the compiler splits it into the CPU's vectors. */
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4)));

static inline __attribute__((always_inline)) void full_tile(size_t vecs, size_t n, size_t k,
							    struct gemm_a a, const float *b,
							    float *c, int accumulate)
{
	vec sum[ROWS][VECS] = {0};

	for (size_t x = 0; x < k; x++, b += n) {
#pragma GCC unroll 8
		for (size_t i = 0; i < ROWS; i++) {
			float f = a.p[i * a.row + x * a.col];

#pragma GCC unroll 8
			for (size_t j = 0; j < vecs; j++)
				sum[i][j] += f * *(const vec *)(b + j * LANES);
		}
	}
#pragma GCC unroll 8
	for (size_t i = 0; i < ROWS; i++) {
#pragma GCC unroll 8
		for (size_t j = 0; j < vecs; j++) {
			vec *to = (vec *)(c + i * n + j * LANES);

			*to = accumulate ? *to + sum[i][j] : sum[i][j];
		}
	}
}

/* The rest, at the right and at the bottom. */
static void edge_tile(size_t rows, size_t cols, size_t n, size_t k, struct gemm_a a, const float *b,
		      float *c, int accumulate)
{
	for (size_t i = 0; i < rows; i++, c += n) {
		float sum[COLS] = {0};

		for (size_t x = 0; x < k; x++)
			for (size_t j = 0; j < cols; j++)
				sum[j] += a.p[i * a.row + x * a.col] * b[x * n + j];
		for (size_t j = 0; j < cols; j++)
			c[j] = accumulate ? c[j] + sum[j] : sum[j];
	}
}

void GEMM(size_t m, size_t n, size_t k, struct gemm_a a, const float *b, float *c, int accumulate)
{
	for (size_t j = 0; j < n; j += COLS) {
		size_t cols = n - j < COLS ? n - j : COLS;

		for (size_t i = 0; i < m; i += ROWS) {
			struct gemm_a at = {a.p + i * a.row, a.row, a.col};
			size_t rows = m - i < ROWS ? m - i : ROWS;
			float *to = c + i * n + j;

			/* Constants let the compiler keep sums in registers. */
			if (rows == ROWS && cols == COLS)
				full_tile(VECS, n, k, at, b + j, to, accumulate);
			else if (rows == ROWS && cols == LANES)
				full_tile(1, n, k, at, b + j, to, accumulate);
			else
				edge_tile(rows, cols, n, k, at, b + j, to, accumulate);
		}
	}
}

#ifndef GEMM_V3
void gemm(size_t m, size_t n, size_t k, struct gemm_a a, const float *b, float *c, int accumulate)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		gemm_v3(m, n, k, a, b, c, accumulate);
		return;
	}
#endif
	gemm_base(m, n, k, a, b, c, accumulate);
}

void gemm_transpose(size_t m, size_t n, const float *in, float *out)
{
	for (size_t i0 = 0; i0 < m; i0 += 16)
		for (size_t j = 0; j < n; j++)
			for (size_t i = i0; i < m && i < i0 + 16; i++)
				out[j * m + i] = in[i * n + j];
}
#endif
