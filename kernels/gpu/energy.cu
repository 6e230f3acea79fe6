// SPDX-License-Identifier: BSD-2-Clause
/* Sums of squares: a block takes a row, a thread one of its partial sums. */
#include "kernels.h"

#define LANES TRIB_NM_ENERGY_LANES
#define ROW TRIB_NM_ENERGY_ROW

static __global__ void energy_kernel(double *sums, const float *x, const float *residual,
				     const float *old, uint64_t count)
{
	SHARED_MEMORY(memory);
	double *all = (double *)memory;
	const uint32_t k = threadIdx.x;

	for (uint64_t row = blockIdx.x; row * ROW < count; row += gridDim.x) {
		uint64_t first = row * ROW, end = first + ROW < count ? first + ROW : count;
		double s[3] = {0, 0, 0};

		for (uint64_t i = first + k; i < end; i += LANES) {
			double g = x[i], r = residual ? residual[i] : 0;
			double a = g + (old ? (double)old[i] : 0.0);

			s[0] += g * g;
			s[1] += r * r;
			s[2] += a * a;
		}
		for (int j = 0; j < 3; j++)
			all[j * LANES + k] = s[j];
		__syncthreads();
		for (uint32_t d = LANES / 2; d; d /= 2) {
			for (int j = 0; j < 3 && k < d; j++)
				all[j * LANES + k] += all[j * LANES + k + d];
			__syncthreads();
		}
		if (k < 3)
			sums[row * 3 + k] = all[k * LANES];
		__syncthreads();
	}
}

int gpu_energy(double *sums, const struct trib_nm_range *g, const float *old, void *stream)
{
	uint64_t rows = (g->count + ROW - 1) / ROW;
	int rc = g->fmt == TRIB_FMT_F32 ? gpu_range_rc(g) : -EINVAL;

	if (rc || !g->count)
		return rc;
	LAUNCH((energy_kernel), (unsigned int)(rows > 65535 ? 65535 : rows), LANES,
	       3 * LANES * sizeof(double), (cudaStream_t)stream, sums, (const float *)g->x,
	       (const float *)g->residual, old, (uint64_t)g->count);
	return gpu_rc(cudaGetLastError());
}
