/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library's files to each other. The functions are those of struct trib_gpu_ops.
 *
 * tests/gpu/emulator.h can stand in for CUDA: it runs the kernels on the CPU.
 */
#ifndef TRIB_GPU_KERNELS_H
#define TRIB_GPU_KERNELS_H

#ifdef TRIB_GPU_EMULATED
#include "tests/gpu/emulator.h"
#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define LAUNCH(kernel, blocks, threads, shared, stream, ...)                                       \
	EXPAND_NAME kernel<<<(blocks), (threads), (shared), (stream)>>>(__VA_ARGS__)
#define EXPAND_NAME(...) __VA_ARGS__
#define SHARED_MEMORY(name) extern __shared__ unsigned char name[]
#define GRID_CONSTANT __grid_constant__
#endif

#include <errno.h>

#include "gpu.h"

/* 0, or -EIO after noting the error's text. */
int gpu_rc(cudaError_t error);

/* -EINVAL if a range has an unknown format or spec. */
int gpu_range_rc(const struct trib_nm_range *g);

int gpu_select(uint32_t *mask, uint32_t *amax, const struct trib_nm_range *g, size_t row,
	       void *stream);
int gpu_amax(uint32_t *amax, const struct trib_nm_range *g, const uint32_t *mask, size_t row,
	     void *stream);
int gpu_pack(float *packed, const struct trib_nm_range *g, const uint32_t *mask, void *stream);
int gpu_pack_lanes(uint64_t *words, const struct trib_nm_range *g, const uint32_t *mask,
		   const struct trib_gpu_rows *rows, void *stream);
int gpu_select_pack(uint32_t *mask, float *packed, float *next, uint32_t *amax,
		    const struct trib_nm_range *g, size_t row, void *stream);
int gpu_unpack_lanes(float *packed, const uint64_t *words, size_t count, struct trib_nm_spec spec,
		     const struct trib_gpu_rows *rows, unsigned int divide, void *stream);
int gpu_expand(void *x, uint32_t fmt, size_t count, struct trib_nm_spec spec, const uint32_t *mask,
	       const float *packed, unsigned int divide, void *stream);
int gpu_check(uint32_t *wrong, const uint32_t *mask, size_t count, struct trib_nm_spec spec,
	      void *stream);
int gpu_first_bad(uint64_t *index, const struct trib_nm_range *g, void *stream);
int gpu_add_peer(float *acc, size_t count, struct trib_nm_spec spec, const uint32_t *mask,
		 const float *packed, void *stream);
int gpu_energy(double *sums, const struct trib_nm_range *g, const float *old, void *stream);
int gpu_reduce(const struct trib_gpu_sum *sum, void *stream);

#endif /* TRIB_GPU_KERNELS_H */
