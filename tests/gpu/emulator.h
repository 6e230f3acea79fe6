/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A GPU for kernels/gpu without one: its kernels, compiled by a C++ compiler, run on
 * the CPU. Each thread of a block is a fiber; warps of 32 meet at shuffles and
 * ballots, blocks at barriers. Lanes that meet at different calls, or that have left,
 * end the program, as they would hang or corrupt a GPU. Vector types trap on
 * addresses that are not aligned.
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <functional>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/half.h"

#define __global__
#define __device__
#define __host__

struct emulated_index {
	unsigned int x;
};

extern emulated_index threadIdx, blockIdx, blockDim, gridDim;
extern unsigned char *emulated_shared;

struct alignas(16) float4 {
	float x, y, z, w;
};

struct alignas(16) uint4 {
	uint32_t x, y, z, w;
};

struct alignas(8) float2 {
	float x, y;
};

struct alignas(8) uint2 {
	uint32_t x, y;
};

static inline float4 make_float4(float x, float y, float z, float w)
{
	return {x, y, z, w};
}

static inline float2 make_float2(float x, float y)
{
	return {x, y};
}

static inline uint2 make_uint2(uint32_t x, uint32_t y)
{
	return {x, y};
}

/* All lanes' values of one call: those of this warp. @line tells calls apart. */
const uint64_t *emulated_meet(uint64_t value, int line);
void emulated_barrier(void);
void emulated_launch(unsigned int blocks, unsigned int threads, size_t shared,
		     const std::function<void()> &kernel);

static inline uint32_t emulated_shuffle(uint32_t value, unsigned int from, int line)
{
	return (uint32_t)emulated_meet(value, line)[from & 31];
}

static inline uint32_t emulated_ballot(bool vote, int line)
{
	const uint64_t *votes = emulated_meet(vote, line);
	uint32_t all = 0;

	for (int i = 0; i < 32; i++)
		all |= (uint32_t)votes[i] << i;
	return all;
}

#define __shfl_sync(mask, value, from)                                                             \
	((decltype(value + 0))emulated_shuffle((uint32_t)(value), (from), __LINE__))
#define __shfl_xor_sync(mask, value, by)                                                           \
	((decltype(value + 0))emulated_shuffle((uint32_t)(value), (threadIdx.x & 31) ^ (by),       \
					       __LINE__))
#define __ballot_sync(mask, vote) emulated_ballot((vote), __LINE__)
#define __syncthreads() emulated_barrier()

#define LAUNCH(kernel, blocks, threads, shared, stream, ...)                                       \
	((void)(stream),                                                                           \
	 emulated_launch((blocks), (threads), (shared), [=] { EXPAND_NAME kernel(__VA_ARGS__); }))
#define EXPAND_NAME(...) __VA_ARGS__
#define SHARED_MEMORY(name) unsigned char *name = emulated_shared
#define GRID_CONSTANT

static inline int __popc(uint32_t x)
{
	return __builtin_popcount(x);
}

static inline uint32_t __float_as_uint(float f)
{
	uint32_t b;

	memcpy(&b, &f, sizeof(b));
	return b;
}

static inline float __uint_as_float(uint32_t b)
{
	float f;

	memcpy(&f, &b, sizeof(f));
	return f;
}

static inline long long __double_as_longlong(double d)
{
	long long b;

	memcpy(&b, &d, sizeof(b));
	return b;
}

static inline double __longlong_as_double(long long b)
{
	double d;

	memcpy(&d, &b, sizeof(d));
	return d;
}

struct emulated_half {
	uint16_t bits;
};

static inline emulated_half __ushort_as_half(uint16_t bits)
{
	return {bits};
}

static inline uint16_t __half_as_ushort(emulated_half h)
{
	return h.bits;
}

static inline float __half2float(emulated_half h)
{
	return __uint_as_float(trib_f16_to(h.bits));
}

static inline emulated_half __float2half_rn(float f)
{
	return {trib_f16_of(__float_as_uint(f))};
}

template <typename T> static inline void atomicMax(T *p, T v)
{
	*p = v > *p ? v : *p;
}

template <typename T> static inline void atomicMin(T *p, T v)
{
	*p = v < *p ? v : *p;
}

/* The runtime: everything has happened when a call returns. */
typedef int cudaError_t;
typedef struct emulated_stream *cudaStream_t;

static inline cudaError_t cudaMemsetAsync(void *p, int byte, size_t len, cudaStream_t)
{
	memset(p, byte, len);
	return 0;
}

static inline cudaError_t cudaGetLastError(void)
{
	return 0;
}

#endif /* EMULATOR_H */
