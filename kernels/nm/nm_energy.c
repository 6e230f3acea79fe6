// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Sums of squares, in an order that GPUs can follow. */
#include "nm.h"

#define LANES TRIB_NM_ENERGY_LANES

struct lanes {
	double sum[3][LANES];
};

static void add_values(struct lanes *l, const float *x, const float *residual, const float *old,
		       size_t n)
{
	double g, r, a;
	size_t k;

	for (k = 0; k < n; k++) {
		g = (double)x[k];
		r = residual ? (double)residual[k] : 0;
		a = g + (old ? (double)old[k] : 0);
		l->sum[0][k] += g * g;
		l->sum[1][k] += r * r;
		l->sum[2][k] += a * a;
	}
}

static double fold(double sum[LANES])
{
	size_t d, k;

	for (d = LANES / 2; d; d /= 2)
		for (k = 0; k < d; k++)
			sum[k] += sum[k + d];
	return sum[0];
}

void trib_nm_energy(double sums[3], const struct trib_nm_range *range, const float *old)
{
	const float *x = range->x, *r = range->residual;
	size_t i, row, end, n;
	unsigned int k;

	sums[0] = sums[1] = sums[2] = 0;
	for (row = 0; row < range->count; row += TRIB_NM_ENERGY_ROW) {
		struct lanes l = {{{0}}};

		end = row + TRIB_NM_ENERGY_ROW;
		end = end < range->count ? end : range->count;
		for (i = row; i < end; i += LANES) {
			n = end - i < LANES ? end - i : LANES;
			add_values(&l, x + i, r ? r + i : NULL, old ? old + i : NULL, n);
		}
		for (k = 0; k < 3; k++)
			sums[k] += fold(l.sum[k]);
	}
}
