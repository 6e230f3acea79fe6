// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whole gradients, one pass over memory each. A work says what is loaded for a
 * lane's four values, and what is done with it; tiles_kernel() runs it: a warp takes
 * TILES tiles of 128 values at a time, and loads all before it uses the first.
 * Launches are at the end.
 */
#include "kernels.h"
#include "tile.cuh"

#define TILES 4

/* The largest magnitudes of chunks: what a work's use() returns. NULL: not wanted. */
struct amax_of {
	uint32_t *amax;
	uint64_t row;
};

/* KEPT: values kept of each group; 0: only known at run time. */
template <int KEPT> static __device__ inline int kept_of(const trib_nm_spec &spec)
{
	return KEPT ? KEPT : spec.kept;
}

template <uint32_t FMT, int GROUP, int KEPT> struct select_work {
	uint32_t *mask;
	trib_nm_range g;

	typedef four loaded;

	template <bool WHOLE> __device__ four load(uint64_t i) const
	{
		return load_acc<FMT, WHOLE>(g, i, g.count);
	}

	template <bool WHOLE> __device__ uint32_t use(uint64_t i, const four &f) const
	{
		if (GROUP > 1)
			write_word(mask, i, g.count,
				   word_of(pick<GROUP>(f, kept_of<KEPT>(g.spec))));
		return largest_of(f, 15);
	}
};

/* A lane's values and their bits of the mask. */
struct four_bits {
	four f;
	uint32_t word, bits;
};

template <uint32_t FMT, bool WHOLE>
static __device__ inline four_bits load_both(const trib_nm_range &g, const uint32_t *mask,
					     uint64_t i)
{
	four_bits l = {load_acc<FMT, WHOLE>(g, i, g.count), read_word(mask, i, g.count), 0};

	l.bits = bits_of(l.word) & ((1u << l.f.n) - 1);
	return l;
}

template <uint32_t FMT> struct amax_work {
	const uint32_t *mask;
	trib_nm_range g;

	typedef four_bits loaded;

	template <bool WHOLE> __device__ four_bits load(uint64_t i) const
	{
		return load_both<FMT, WHOLE>(g, mask, i);
	}

	template <bool WHOLE> __device__ uint32_t use(uint64_t, const four_bits &l) const
	{
		return largest_of(l.f, l.bits);
	}
};

template <uint32_t FMT, int GROUP, int KEPT> struct pack_work {
	float *packed;
	const uint32_t *mask;
	trib_nm_range g;

	typedef four_bits loaded;

	template <bool WHOLE> __device__ four_bits load(uint64_t i) const
	{
		return load_both<FMT, WHOLE>(g, mask, i);
	}

	template <bool WHOLE> __device__ uint32_t use(uint64_t i, const four_bits &l) const
	{
		uint64_t place = place_of<GROUP>(i, l.word, kept_of<KEPT>(g.spec));

		store_packed(packed, place, l.bits, l.f);
		if (g.residual)
			store_floats<WHOLE>(g.residual, i, kept_back(l.f, l.bits));
		return 0;
	}
};

template <uint32_t FMT, int GROUP, int KEPT> struct select_pack_work {
	uint32_t *mask;
	float *packed, *next;
	trib_nm_range g;

	typedef four loaded;

	template <bool WHOLE> __device__ four load(uint64_t i) const
	{
		return load_acc<FMT, WHOLE>(g, i, g.count);
	}

	template <bool WHOLE> __device__ uint32_t use(uint64_t i, const four &f) const
	{
		const int kept = kept_of<KEPT>(g.spec);
		uint32_t bits = pick<GROUP>(f, kept), word = ALL_LANES;
		uint64_t place;

		if (GROUP > 1) {
			word = word_of(bits);
			write_word(mask, i, g.count, word);
		}
		place = place_of<GROUP>(i, word, kept);
		if (WHOLE && KEPT == 2)
			*(float2 *)(packed + place) = two_of(f, bits);
		else
			store_packed(packed, place, bits, f);
		if (next)
			store_floats<WHOLE>(next, i, kept_back(f, bits));
		return largest_of(f, 15);
	}
};

template <uint32_t FMT, int GROUP, int KEPT> struct expand_work {
	void *x;
	const uint32_t *mask;
	const float *packed;
	uint64_t count;
	trib_nm_spec spec;
	float divide;

	typedef four loaded;

	template <bool WHOLE> __device__ four load(uint64_t i) const
	{
		unsigned int n = WHOLE          ? 4
				 : i >= count   ? 0
				 : count - i < 4 ? (unsigned int)(count - i)
						 : 4;
		uint32_t word = read_word(mask, i, count), bits = bits_of(word) & ((1u << n) - 1);
		uint64_t place = place_of<GROUP>(i, word, kept_of<KEPT>(spec));

		if (WHOLE && KEPT == 2)
			return spread_two(*(const float2 *)(packed + place), bits);
		return load_packed(packed, place, bits, n);
	}

	template <bool WHOLE> __device__ uint32_t use(uint64_t i, four f) const
	{
		if (divide != 1)
#pragma unroll
			for (int j = 0; j < 4; j++)
				f.v[j] = f.v[j] / divide;
		store_four<FMT, WHOLE>(x, i, f);
		return 0;
	}
};

/* Read a peer's group and values, restore and add. */
template <uint32_t FMT, int GROUP, int KEPT> struct add_peer_work {
	float *acc;
	const uint32_t *mask;
	const float *packed;
	uint64_t count;
	trib_nm_spec spec;

	typedef four_bits loaded;

	template <bool WHOLE> __device__ four_bits load(uint64_t i) const
	{
		four_bits l = {load_four<FMT, WHOLE>(acc, i, count), read_word(mask, i, count), 0};

		l.bits = bits_of(l.word) & ((1u << l.f.n) - 1);
		return l;
	}

	template <bool WHOLE> __device__ uint32_t use(uint64_t i, four_bits l) const
	{
		uint64_t place = place_of<GROUP>(i, l.word, kept_of<KEPT>(spec));
		four f = load_packed(packed, place, l.bits, l.f.n);

#pragma unroll
		for (int j = 0; j < 4; j++)
			l.f.v[j] = l.bits >> j & 1 ? l.f.v[j] + f.v[j] : l.f.v[j];
		store_floats<WHOLE>(acc, i, l.f);
		return 0;
	}
};

template <uint32_t FMT> struct first_bad_work {
	uint64_t *index;
	trib_nm_range g;

	typedef four loaded;

	template <bool WHOLE> __device__ four load(uint64_t i) const
	{
		return load_acc<FMT, WHOLE>(g, i, g.count);
	}

	template <bool WHOLE> __device__ uint32_t use(uint64_t i, const four &f) const
	{
#pragma unroll
		for (int j = 3; j >= 0; j--)
			if ((__float_as_uint(f.v[j]) & MAGNITUDE) >= TRIB_NM_BAD)
				atomicMin((unsigned long long *)index, (unsigned long long)i + j);
		return 0;
	}
};

/* TILES whole tiles; @i is the lane's first value. */
template <class WORK>
static __device__ inline void run_whole(const WORK &w, uint64_t i, uint64_t count, amax_of most)
{
	typename WORK::loaded l[TILES];
	uint32_t all = 0;

#pragma unroll
	for (int u = 0; u < TILES; u++)
		l[u] = w.template load<true>(i + u * TILE);
#pragma unroll
	for (int u = 0; u < TILES; u++) {
		uint32_t one = w.template use<true>(i + u * TILE, l[u]);

		if (most.amax && most.row % (TILES * TILE))
			put_amax(most.amax, most.row, i + u * TILE, count, one);
		all = one > all ? one : all;
	}
	if (most.amax && !(most.row % (TILES * TILE)))
		put_amax(most.amax, most.row, i, count, all);
}

/* @vectors: all areas are aligned for vectors. */
template <class WORK>
__global__ void tiles_kernel(WORK w, uint64_t count, amax_of most, bool vectors)
{
	const uint64_t warps = (uint64_t)gridDim.x * blockDim.x / 32;
	uint64_t t = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32 * TILES;

	for (; t * TILE < count; t += warps * TILES) {
		uint64_t i = t * TILE + lane_of() * 4;

		if (vectors && (t + TILES) * TILE <= count) {
			run_whole(w, i, count, most);
			continue;
		}
		for (int u = 0; u < TILES && (t + u) * TILE < count; u++, i += TILE) {
			uint32_t one = w.template use<false>(i, w.template load<false>(i));

			if (most.amax)
				put_amax(most.amax, most.row, i, count, one);
		}
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

/* Enough blocks to fill any GPU, few enough for each to work a while. */
static unsigned int blocks_for(uint64_t count)
{
	uint64_t blocks = (count + TILE * TILES * WARPS - 1) / (TILE * TILES * WARPS);

	return (unsigned int)(blocks > 8192 ? 8192 : blocks);
}

/* How a work is run: see tiles_kernel(). */
struct how {
	uint64_t count;
	cudaStream_t stream;
	bool vectors;
	amax_of most;
};

template <class WORK> static int launch(const how &h, const WORK &w)
{
	LAUNCH((tiles_kernel<WORK>), blocks_for(h.count), 32 * WARPS, 0, h.stream, w, h.count,
	       h.most, h.vectors);
	return gpu_rc(cudaGetLastError());
}

/* Launch the work for the group: @m are its members. */
template <template <uint32_t, int, int> class WORK, uint32_t FMT, class... M>
static int by_group(const how &h, trib_nm_spec spec, M... m)
{
	switch (spec.group) {
	case 1:
		return launch(h, WORK<FMT, 1, 0>{m...});
	case 2:
		return launch(h, WORK<FMT, 2, 0>{m...});
	case 4:
		return spec.kept == 2 ? launch(h, WORK<FMT, 4, 2>{m...})
				      : launch(h, WORK<FMT, 4, 0>{m...});
	case 8:
		return launch(h, WORK<FMT, 8, 0>{m...});
	case 16:
		return launch(h, WORK<FMT, 16, 0>{m...});
	default:
		return launch(h, WORK<FMT, 32, 0>{m...});
	}
}

/* ... and for the format. */
template <template <uint32_t, int, int> class WORK, class... M>
static int by_format_group(const how &h, uint32_t fmt, trib_nm_spec spec, M... m)
{
	if (fmt == TRIB_FMT_F32)
		return by_group<WORK, TRIB_FMT_F32>(h, spec, m...);
	if (fmt == TRIB_FMT_F16)
		return by_group<WORK, TRIB_FMT_F16>(h, spec, m...);
	return by_group<WORK, TRIB_FMT_BF16>(h, spec, m...);
}

template <template <uint32_t> class WORK, class... M>
static int by_format(const how &h, uint32_t fmt, M... m)
{
	if (fmt == TRIB_FMT_F32)
		return launch(h, WORK<TRIB_FMT_F32>{m...});
	if (fmt == TRIB_FMT_F16)
		return launch(h, WORK<TRIB_FMT_F16>{m...});
	return launch(h, WORK<TRIB_FMT_BF16>{m...});
}

int gpu_range_rc(const struct trib_nm_range *g)
{
	bool known = g->fmt == TRIB_FMT_F32 || g->fmt == TRIB_FMT_F16 || g->fmt == TRIB_FMT_BF16;

	return known && trib_nm_valid(g->spec) && g->count < (size_t)1 << 40 ? 0 : -EINVAL;
}

/* Is @p aligned to @to bytes? */
static bool fits(const void *p, unsigned int to)
{
	return !((uintptr_t)p % to);
}

static bool values_fit(const void *x, uint32_t fmt)
{
	return fits(x, fmt == TRIB_FMT_F32 ? 16 : 8);
}

static how how_for(const struct trib_nm_range *g, void *stream)
{
	return {g->count, (cudaStream_t)stream,
		values_fit(g->x, g->fmt) && fits(g->residual, 16), {NULL, 0}};
}

/* Clear the words of @amax, and have them made. */
static int clear_amax(how *h, uint32_t *amax, size_t row)
{
	if (!row || row % 32)
		return -EINVAL;
	h->most = {amax, row};
	return gpu_rc(cudaMemsetAsync(amax, 0, (h->count + row - 1) / row * 4, h->stream));
}

int gpu_select(uint32_t *mask, uint32_t *amax, const struct trib_nm_range *g, size_t row,
	       void *stream)
{
	how h = how_for(g, stream);
	int rc = gpu_range_rc(g);

	if (!rc)
		rc = clear_amax(&h, amax, row);
	return rc || !g->count
		       ? rc
		       : by_format_group<select_work>(h, g->fmt, g->spec, mask, *g);
}

int gpu_amax(uint32_t *amax, const struct trib_nm_range *g, const uint32_t *mask, size_t row,
	     void *stream)
{
	how h = how_for(g, stream);
	int rc = gpu_range_rc(g);

	if (!rc)
		rc = clear_amax(&h, amax, row);
	return rc || !g->count ? rc : by_format<amax_work>(h, g->fmt, mask, *g);
}

int gpu_pack(float *packed, const struct trib_nm_range *g, const uint32_t *mask, void *stream)
{
	int rc = gpu_range_rc(g);

	return rc || !g->count ? rc
			       : by_format_group<pack_work>(how_for(g, stream), g->fmt, g->spec,
							    packed, mask, *g);
}

int gpu_select_pack(uint32_t *mask, float *packed, float *next, uint32_t *amax,
		    const struct trib_nm_range *g, size_t row, void *stream)
{
	how h = how_for(g, stream);
	int rc = gpu_range_rc(g);

	h.vectors = h.vectors && fits(next, 16) && fits(packed, 8);
	if (!rc)
		rc = clear_amax(&h, amax, row);
	return rc || !g->count ? rc
			       : by_format_group<select_pack_work>(h, g->fmt, g->spec, mask,
								   packed, next, *g);
}

int gpu_expand(void *x, uint32_t fmt, size_t count, struct trib_nm_spec spec, const uint32_t *mask,
	       const float *packed, unsigned int divide, void *stream)
{
	struct trib_nm_range g = {x, NULL, count, fmt, spec};
	int rc = divide ? gpu_range_rc(&g) : -EINVAL;
	how h = how_for(&g, stream);

	h.vectors = h.vectors && fits(packed, 8);
	return rc || !count ? rc
			    : by_format_group<expand_work>(h, fmt, spec, x, mask, packed,
							   (uint64_t)count, spec, (float)divide);
}

int gpu_check(uint32_t *wrong, const uint32_t *mask, size_t count, struct trib_nm_spec spec,
	      void *stream)
{
	cudaStream_t s = (cudaStream_t)stream;
	int rc = trib_nm_valid(spec) ? gpu_rc(cudaMemsetAsync(wrong, 0, 4, s)) : -EINVAL;

	if (rc || !count || spec.group == 1)
		return rc;
	LAUNCH((check_kernel), blocks_for(count), 32 * WARPS, 0, s, wrong, mask, count, spec.group,
	       spec.kept);
	return gpu_rc(cudaGetLastError());
}

int gpu_first_bad(uint64_t *index, const struct trib_nm_range *g, void *stream)
{
	int rc = gpu_range_rc(g);

	if (!rc)
		rc = gpu_rc(cudaMemsetAsync(index, 0xff, 8, (cudaStream_t)stream));
	return rc || !g->count ? rc
			       : by_format<first_bad_work>(how_for(g, stream), g->fmt, index, *g);
}

int gpu_add_peer(float *acc, size_t count, struct trib_nm_spec spec, const uint32_t *mask,
		 const float *packed, void *stream)
{
	how h = {count, (cudaStream_t)stream, fits(acc, 16), {NULL, 0}};

	if (!trib_nm_valid(spec))
		return -EINVAL;
	return count ? by_group<add_peer_work, TRIB_FMT_F32>(h, spec, acc, mask, packed,
							     (uint64_t)count, spec)
		     : 0;
}
