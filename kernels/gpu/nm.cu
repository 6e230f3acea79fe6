// SPDX-License-Identifier: BSD-2-Clause
/*
 * Kernels on whole gradients, one pass over memory each: a warp takes tiles of 128
 * values in turns. Launches are at the end.
 */
#include "kernels.h"
#include "tile.cuh"

/* This warp's first tile and how many warps there are. */
static __device__ inline uint64_t warp_first(void)
{
	return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

static __device__ inline uint64_t warp_count(void)
{
	return (uint64_t)gridDim.x * blockDim.x / 32;
}

/* For each of the warp's tiles: i is the lane's first value. */
#define EACH_TILE(i, count)                                                                        \
	for (uint64_t t_ = warp_first(), i; i = t_ * TILE + lane_of() * 4, t_ * TILE < (count);    \
	     t_ += warp_count())

template <uint32_t FMT, int GROUP>
__global__ void select_kernel(uint32_t *mask, uint32_t *amax, trib_nm_range g, uint64_t row)
{
	EACH_TILE(i, g.count)
	{
		four f = load_acc<FMT>(g, i, g.count);

		if (GROUP > 1)
			write_word(mask, i, g.count, word_of(pick<GROUP>(f, g.spec.kept)));
		put_amax(amax, row, i, g.count, largest_of(f, 15));
	}
}

template <uint32_t FMT>
__global__ void amax_kernel(uint32_t *amax, trib_nm_range g, const uint32_t *mask, uint64_t row)
{
	EACH_TILE(i, g.count)
	{
		four f = load_acc<FMT>(g, i, g.count);
		uint32_t bits = bits_of(read_word(mask, i, g.count));

		put_amax(amax, row, i, g.count, largest_of(f, bits));
	}
}

template <uint32_t FMT, int GROUP>
__global__ void pack_kernel(float *packed, trib_nm_range g, const uint32_t *mask)
{
	EACH_TILE(i, g.count)
	{
		four f = load_acc<FMT>(g, i, g.count);
		uint32_t word = read_word(mask, i, g.count);
		uint32_t bits = bits_of(word) & ((1u << f.n) - 1);

		store_packed(packed, place_of<GROUP>(i, word, g.spec.kept), bits, f);
		if (g.residual)
			store_floats(g.residual, i, kept_back(f, bits));
	}
}

template <uint32_t FMT, int GROUP>
__global__ void select_pack_kernel(uint32_t *mask, float *packed, float *next, uint32_t *amax,
				   trib_nm_range g, uint64_t row)
{
	EACH_TILE(i, g.count)
	{
		four f = load_acc<FMT>(g, i, g.count);
		uint32_t bits = pick<GROUP>(f, g.spec.kept), word = ALL_LANES;

		if (GROUP > 1) {
			word = word_of(bits);
			write_word(mask, i, g.count, word);
		}
		store_packed(packed, place_of<GROUP>(i, word, g.spec.kept), bits, f);
		if (next)
			store_floats(next, i, kept_back(f, bits));
		put_amax(amax, row, i, g.count, largest_of(f, 15));
	}
}

template <uint32_t FMT, int GROUP>
__global__ void expand_kernel(void *x, uint64_t count, int kept, const uint32_t *mask,
			      const float *packed, float divide)
{
	EACH_TILE(i, count)
	{
		unsigned int n = i >= count ? 0 : count - i < 4 ? (unsigned int)(count - i) : 4;
		uint32_t word = read_word(mask, i, count), bits = bits_of(word) & ((1u << n) - 1);
		four f = load_packed(packed, place_of<GROUP>(i, word, kept), bits, n);

		if (divide != 1)
			for (int j = 0; j < 4; j++)
				f.v[j] = f.v[j] / divide;
		store_four<FMT>(x, i, f);
	}
}

/* Read a peer's group and values, restore and add. */
template <int GROUP>
__global__ void add_peer_kernel(float *acc, uint64_t count, int kept, const uint32_t *mask,
				const float *packed)
{
	EACH_TILE(i, count)
	{
		four sum = load_four<TRIB_FMT_F32>(acc, i, count), f;
		uint32_t word = read_word(mask, i, count);
		uint32_t bits = bits_of(word) & ((1u << sum.n) - 1);

		f = load_packed(packed, place_of<GROUP>(i, word, kept), bits, sum.n);
		for (int j = 0; j < 4; j++)
			sum.v[j] = bits >> j & 1 ? sum.v[j] + f.v[j] : sum.v[j];
		store_floats(acc, i, sum);
	}
}

template <uint32_t FMT> __global__ void first_bad_kernel(uint64_t *index, trib_nm_range g)
{
	EACH_TILE(i, g.count)
	{
		four f = load_acc<FMT>(g, i, g.count);

		for (int j = 3; j >= 0; j--)
			if ((__float_as_uint(f.v[j]) & MAGNITUDE) >= TRIB_NM_BAD)
				atomicMin((unsigned long long *)index, (unsigned long long)i + j);
	}
}

/* A thread takes mask words in turns. */
static __global__ void check_kernel(uint32_t *wrong, const uint32_t *mask, uint64_t count,
				    unsigned int group, unsigned int kept)
{
	uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
	uint64_t w = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const uint32_t field = group == 32 ? ALL_LANES : (1u << group) - 1;

	for (; w * 32 < count; w += threads) {
		unsigned int n = count - w * 32 < 32 ? (unsigned int)(count - w * 32) : 32, rest;
		uint32_t word = mask[w], bad = n < 32 ? word >> n : 0;

		for (unsigned int at = 0; at < n; at += group) {
			rest = n - at < kept ? n - at : kept;
			bad |= (unsigned int)__popc(word >> at & field) != rest;
		}
		if (bad)
			atomicMax(wrong, 1u);
	}
}

/* --- launches */

#define WARPS 8 /* in a block */

/* Enough blocks to fill any GPU, few enough to take several tiles each. */
static unsigned int blocks_for(uint64_t count)
{
	uint64_t blocks = (count + TILE * WARPS - 1) / (TILE * WARPS);

	return (unsigned int)(blocks > 4096 ? 4096 : blocks);
}

#define LAUNCH_TILES(kernel, count, stream, ...)                                                   \
	LAUNCH(kernel, blocks_for(count), 32 * WARPS, 0, stream, __VA_ARGS__)

/* @with: the template's first argument and a comma, or nothing. */
#define BY_GROUP(kernel, with, group, ...)                                                         \
	do {                                                                                       \
		switch (group) {                                                                   \
		case 1:                                                                            \
			LAUNCH_TILES((kernel<with 1>), __VA_ARGS__);                               \
			break;                                                                     \
		case 2:                                                                            \
			LAUNCH_TILES((kernel<with 2>), __VA_ARGS__);                               \
			break;                                                                     \
		case 4:                                                                            \
			LAUNCH_TILES((kernel<with 4>), __VA_ARGS__);                               \
			break;                                                                     \
		case 8:                                                                            \
			LAUNCH_TILES((kernel<with 8>), __VA_ARGS__);                               \
			break;                                                                     \
		case 16:                                                                           \
			LAUNCH_TILES((kernel<with 16>), __VA_ARGS__);                              \
			break;                                                                     \
		default:                                                                           \
			LAUNCH_TILES((kernel<with 32>), __VA_ARGS__);                              \
		}                                                                                  \
	} while (0)

/* clang-format off */
#define F32_AND TRIB_FMT_F32,
#define F16_AND TRIB_FMT_F16,
#define BF16_AND TRIB_FMT_BF16,
#define NOTHING
/* clang-format on */

/* Kernel, format, group, then count, stream and the kernel's arguments. */
#define BY_FMT_GROUP(kernel, fmt, group, ...)                                                      \
	do {                                                                                       \
		if ((fmt) == TRIB_FMT_F32)                                                         \
			BY_GROUP(kernel, F32_AND, group, __VA_ARGS__);                             \
		else if ((fmt) == TRIB_FMT_F16)                                                    \
			BY_GROUP(kernel, F16_AND, group, __VA_ARGS__);                             \
		else                                                                               \
			BY_GROUP(kernel, BF16_AND, group, __VA_ARGS__);                            \
	} while (0)

#define BY_FMT(kernel, fmt, ...)                                                                   \
	do {                                                                                       \
		if ((fmt) == TRIB_FMT_F32)                                                         \
			LAUNCH_TILES((kernel<TRIB_FMT_F32>), __VA_ARGS__);                         \
		else if ((fmt) == TRIB_FMT_F16)                                                    \
			LAUNCH_TILES((kernel<TRIB_FMT_F16>), __VA_ARGS__);                         \
		else                                                                               \
			LAUNCH_TILES((kernel<TRIB_FMT_BF16>), __VA_ARGS__);                        \
	} while (0)

int gpu_range_rc(const struct trib_nm_range *g)
{
	bool known = g->fmt == TRIB_FMT_F32 || g->fmt == TRIB_FMT_F16 || g->fmt == TRIB_FMT_BF16;

	return known && trib_nm_valid(g->spec) && g->count < (size_t)1 << 40 ? 0 : -EINVAL;
}

/* Clear the words of amax. */
static int clear_amax(uint32_t *amax, uint64_t count, size_t row, cudaStream_t s)
{
	if (!row || row % 32)
		return -EINVAL;
	return gpu_rc(cudaMemsetAsync(amax, 0, (count + row - 1) / row * 4, s));
}

int gpu_select(uint32_t *mask, uint32_t *amax, const struct trib_nm_range *g, size_t row,
	       void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;
	int rc = gpu_range_rc(g);

	if (!rc)
		rc = clear_amax(amax, g->count, row, s);
	if (rc || !g->count)
		return rc;
	BY_FMT_GROUP(select_kernel, g->fmt, g->spec.group, g->count, s, mask, amax, *g, row);
	return gpu_rc(cudaGetLastError());
}

int gpu_amax(uint32_t *amax, const struct trib_nm_range *g, const uint32_t *mask, size_t row,
	     void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;
	int rc = gpu_range_rc(g);

	if (!rc)
		rc = clear_amax(amax, g->count, row, s);
	if (rc || !g->count)
		return rc;
	BY_FMT(amax_kernel, g->fmt, g->count, s, amax, *g, mask, row);
	return gpu_rc(cudaGetLastError());
}

int gpu_pack(float *packed, const struct trib_nm_range *g, const uint32_t *mask, void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;
	int rc = gpu_range_rc(g);

	if (rc || !g->count)
		return rc;
	BY_FMT_GROUP(pack_kernel, g->fmt, g->spec.group, g->count, s, packed, *g, mask);
	return gpu_rc(cudaGetLastError());
}

int gpu_select_pack(uint32_t *mask, float *packed, float *next, uint32_t *amax,
		    const struct trib_nm_range *g, size_t row, void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;
	int rc = gpu_range_rc(g);

	if (!rc)
		rc = clear_amax(amax, g->count, row, s);
	if (rc || !g->count)
		return rc;
	BY_FMT_GROUP(select_pack_kernel, g->fmt, g->spec.group, g->count, s, mask, packed, next,
		     amax, *g, row);
	return gpu_rc(cudaGetLastError());
}

int gpu_expand(void *x, uint32_t fmt, size_t count, struct trib_nm_spec spec, const uint32_t *mask,
	       const float *packed, unsigned int divide, void *stream)
{
	struct trib_nm_range g = {x, NULL, count, fmt, spec};
	int rc = divide ? gpu_range_rc(&g) : -EINVAL;

	if (rc || !count)
		return rc;
	BY_FMT_GROUP(expand_kernel, fmt, spec.group, count, (cudaStream_t)stream, x, count,
		     spec.kept, mask, packed, (float)divide);
	return gpu_rc(cudaGetLastError());
}

int gpu_check(uint32_t *wrong, const uint32_t *mask, size_t count, struct trib_nm_spec spec,
	      void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;
	int rc = trib_nm_valid(spec) ? gpu_rc(cudaMemsetAsync(wrong, 0, 4, s)) : -EINVAL;

	if (rc || !count || spec.group == 1)
		return rc;
	LAUNCH_TILES((check_kernel), count, s, wrong, mask, count, spec.group, spec.kept);
	return gpu_rc(cudaGetLastError());
}

int gpu_first_bad(uint64_t *index, const struct trib_nm_range *g, void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;
	int rc = gpu_range_rc(g);

	if (!rc)
		rc = gpu_rc(cudaMemsetAsync(index, 0xff, 8, s));
	if (rc || !g->count)
		return rc;
	BY_FMT(first_bad_kernel, g->fmt, g->count, s, index, *g);
	return gpu_rc(cudaGetLastError());
}

int gpu_add_peer(float *acc, size_t count, struct trib_nm_spec spec, const uint32_t *mask,
		 const float *packed, void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;

	if (!trib_nm_valid(spec))
		return -EINVAL;
	if (!count)
		return 0;
	BY_GROUP(add_peer_kernel, NOTHING, spec.group, count, s, acc, count, spec.kept, mask,
		 packed);
	return gpu_rc(cudaGetLastError());
}
