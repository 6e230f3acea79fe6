// SPDX-License-Identifier: BSD-2-Clause
/*
 * Quantised values in planar lanes: a block takes a chunk. Packing quantises tile by
 * tile into shared memory, in the order of packed values, then each thread makes
 * whole words, so that words leave in full lines and no atomics are needed.
 */
#include "kernels.h"
#include "tile.cuh"

/* The value's random bits; the key is made anew when the index's upper half changes. */
struct dice {
	struct trib_nm_key key;
	uint64_t seed, step;
	uint32_t high;
};

static __device__ inline uint32_t roll(dice &d, uint64_t index)
{
	if ((uint32_t)(index >> 32) != d.high) {
		d.high = (uint32_t)(index >> 32);
		d.key = trib_nm_key(d.seed, d.step, d.high);
	}
	return trib_nm_random(d.key, (uint32_t)index);
}

/* Quantise the lane's values in place: what is left of them becomes the residual. */
static __device__ inline void quantise_four(int16_t *q, four &f, uint32_t bits, dice &d,
					    const struct trib_nm_unit &u, uint64_t index)
{
	int n = 0;

	for (int j = 0; j < 4; j++) {
		if (!(bits >> j & 1))
			continue;
		int32_t v = trib_nm_quantise(f.v[j], &u, roll(d, index + j));

		f.v[j] = f.v[j] - trib_nm_restore(v, &u);
		q[n++] = (int16_t)v;
	}
}

/* The packed values of one chunk that begins at value @first and ends before @end. */
template <uint32_t FMT, int GROUP>
static __device__ inline void quantise_chunk(int16_t *q, const trib_nm_range &g,
					     const uint32_t *mask, const trib_nm_chunk &c,
					     int32_t scale, uint64_t first, uint64_t end)
{
	const struct trib_nm_unit u = trib_nm_unit(scale, c.bits);
	dice d = {trib_nm_key(c.seed, c.step, (uint32_t)((c.index + first) >> 32)), c.seed, c.step,
		  (uint32_t)((c.index + first) >> 32)};
	const uint64_t before = first / GROUP * g.spec.kept;

	/* A chunk begins at a mask word; its tiles are its own. */
	for (uint64_t t = first + threadIdx.x / 32 * TILE; t < end; t += blockDim.x / 32 * TILE) {
		uint64_t i = t + lane_of() * 4;
		four f = load_acc<FMT, false>(g, i, end);
		uint32_t word = read_word(mask, i, end);
		uint32_t bits = bits_of(word) & ((1u << f.n) - 1);

		quantise_four(q + (place_of<GROUP>(i, word, g.spec.kept) - before), f, bits, d, u,
			      c.index + i);
		if (g.residual)
			store_floats<false>(g.residual, i, f);
	}
}

template <uint32_t FMT, int GROUP>
__global__ void pack_lanes_kernel(uint64_t *words, trib_nm_range g, const uint32_t *mask,
				  trib_gpu_rows rows)
{
	SHARED_MEMORY(memory);
	int16_t *q = (int16_t *)memory;
	const uint32_t total = (uint32_t)rows.chunk.words, lane = rows.chunk.lane_bits;

	for (uint64_t c = blockIdx.x; c * rows.values < g.count; c += gridDim.x) {
		uint64_t first = c * rows.values, end = first + rows.values;

		end = end < g.count ? end : g.count;
		for (uint32_t k = threadIdx.x; k < total * (64 / lane); k += blockDim.x)
			q[k] = 0;
		__syncthreads();
		quantise_chunk<FMT, GROUP>(q, g, mask, rows.chunk, rows.scales[c], first, end);
		__syncthreads();
		for (uint32_t j = threadIdx.x; j < total; j += blockDim.x) {
			uint64_t word = 0;

			for (uint32_t k = 0; k < 64 / lane; k++)
				word += (uint64_t)(int64_t)q[k * total + j] << (lane * k);
			words[c * total + j] = word;
		}
		__syncthreads();
	}
}

static __global__ void unpack_lanes_kernel(float *packed, const uint64_t *words, uint64_t count,
					   uint32_t each, trib_gpu_rows rows, unsigned int divide)
{
	const uint32_t total = (uint32_t)rows.chunk.words, lane = rows.chunk.lane_bits;

	for (uint64_t c = blockIdx.x; c * each < count; c += gridDim.x) {
		uint32_t n = count - c * each < each ? (uint32_t)(count - c * each) : each;
		const double unit = ldexp(1.0, rows.scales[c]);

		for (uint32_t p = threadIdx.x; p < n; p += blockDim.x) {
			int32_t v = trib_nm_lane(words[c * total + p % total], p / total, lane);

			packed[c * each + p] = (float)((double)v / (double)divide * unit);
		}
	}
}

/* --- launches */

#define THREADS 256

static unsigned int blocks_for(uint64_t chunks)
{
	return (unsigned int)(chunks > 65535 ? 65535 : chunks);
}

/* Values of the largest chunk; a single one may have words for its values only. */
static uint64_t chunk_values(const struct trib_gpu_rows *rows, uint64_t count)
{
	return rows->values < count ? rows->values : count;
}

/* Chunks of @rows in @count values; 0 if @rows cannot be. */
static uint64_t chunks_of(const struct trib_gpu_rows *rows, struct trib_nm_spec spec,
			  uint64_t count)
{
	const struct trib_nm_chunk *c = &rows->chunk;
	uint64_t most = chunk_values(rows, count), room;

	if (!rows->values || rows->values % 32 || !c->words || c->words % 8 ||
	    c->words > TRIB_GPU_CHUNK_MAX || c->lane_bits < c->bits || c->lane_bits > 32 ||
	    (c->bits != 4 && c->bits != 8 && c->bits != 16))
		return 0;
	room = c->words * (64 / c->lane_bits);
	if (room > TRIB_GPU_CHUNK_MAX || most > room * 32 ||
	    trib_nm_packed(spec, most) > room)
		return 0;
	return (count + rows->values - 1) / rows->values;
}

#define LAUNCH_CHUNKS(FMT, GROUP)                                                                  \
	LAUNCH((pack_lanes_kernel<FMT, GROUP>), blocks_for(chunks), THREADS, shared,               \
	       (cudaStream_t)stream, words, *g, mask, *rows)

#define BY_GROUP(FMT)                                                                              \
	do {                                                                                       \
		switch (g->spec.group) {                                                           \
		case 1:                                                                            \
			LAUNCH_CHUNKS(FMT, 1);                                                     \
			break;                                                                     \
		case 2:                                                                            \
			LAUNCH_CHUNKS(FMT, 2);                                                     \
			break;                                                                     \
		case 4:                                                                            \
			LAUNCH_CHUNKS(FMT, 4);                                                     \
			break;                                                                     \
		case 8:                                                                            \
			LAUNCH_CHUNKS(FMT, 8);                                                     \
			break;                                                                     \
		case 16:                                                                           \
			LAUNCH_CHUNKS(FMT, 16);                                                    \
			break;                                                                     \
		default:                                                                           \
			LAUNCH_CHUNKS(FMT, 32);                                                    \
		}                                                                                  \
	} while (0)

int gpu_pack_lanes(uint64_t *words, const struct trib_nm_range *g, const uint32_t *mask,
		   const struct trib_gpu_rows *rows, void *stream)
{
	uint64_t chunks;
	size_t shared;
	int rc = gpu_range_rc(g);

	if (rc || !g->count)
		return rc;
	chunks = chunks_of(rows, g->spec, g->count);
	if (!chunks)
		return -EINVAL;
	shared = rows->chunk.words * (64 / rows->chunk.lane_bits) * sizeof(int16_t);
	if (g->fmt == TRIB_FMT_F32)
		BY_GROUP(TRIB_FMT_F32);
	else if (g->fmt == TRIB_FMT_F16)
		BY_GROUP(TRIB_FMT_F16);
	else
		BY_GROUP(TRIB_FMT_BF16);
	return gpu_rc(cudaGetLastError());
}

int gpu_unpack_lanes(float *packed, const uint64_t *words, size_t count, struct trib_nm_spec spec,
		     const struct trib_gpu_rows *rows, unsigned int divide, void *stream)
{
	uint64_t chunks;

	if (!trib_nm_valid(spec) || !divide)
		return -EINVAL;
	if (!count)
		return 0;
	chunks = chunks_of(rows, spec, count);
	if (!chunks)
		return -EINVAL;
	LAUNCH((unpack_lanes_kernel), blocks_for(chunks), THREADS, 0, (cudaStream_t)stream, packed,
	       words, (uint64_t)trib_nm_packed(spec, count),
	       (uint32_t)trib_nm_packed(spec, chunk_values(rows, count)), *rows, divide);
	return gpu_rc(cudaGetLastError());
}
