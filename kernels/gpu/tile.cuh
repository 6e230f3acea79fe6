/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A warp's share of a gradient: 128 successive values, four to a lane, so that one
 * 128-bit load brings a lane's floats. Mask word w of the four belongs to lanes
 * 8w to 8w + 7. All lanes of the warp call these functions together.
 */
#ifndef TRIB_GPU_TILE_CUH
#define TRIB_GPU_TILE_CUH

#include "gpu.h"
#include "kernels/nm/quant.h"

#define TILE 128
#define ALL_LANES 0xffffffffu
#define MAGNITUDE 0x7fffffff

static __device__ inline unsigned int lane_of(void)
{
	return threadIdx.x & 31;
}

/* A lane's values. @n of the four exist. */
struct four {
	float v[4];
	unsigned int n;
};

static __device__ inline float widen_f16(uint16_t h)
{
	return __half2float(__ushort_as_half(h));
}

static __device__ inline float widen_bf16(uint16_t h)
{
	return __uint_as_float((uint32_t)h << 16);
}

/* NaNs do not come here. */
static __device__ inline uint16_t narrow_bf16(float f)
{
	uint32_t b = __float_as_uint(f);

	return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

template <uint32_t FMT> static __device__ inline float widen_one(const void *x, uint64_t i)
{
	if (FMT == TRIB_FMT_F16)
		return widen_f16(((const uint16_t *)x)[i]);
	if (FMT == TRIB_FMT_BF16)
		return widen_bf16(((const uint16_t *)x)[i]);
	return ((const float *)x)[i];
}

static __device__ inline bool aligned(const void *p, unsigned int to)
{
	return !((uintptr_t)p & (to - 1));
}

/* Four values of x; @x + @i is aligned for a vector. */
template <uint32_t FMT>
static __device__ inline void widen_four(float v[4], const void *x, uint64_t i)
{
	if (FMT == TRIB_FMT_F32) {
		float4 f = *(const float4 *)((const float *)x + i);

		v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
	} else {
		uint2 h = *(const uint2 *)((const uint16_t *)x + i);
		uint32_t w[2] = {h.x, h.y};

		for (int j = 0; j < 4; j++) {
			uint16_t one = (uint16_t)(w[j / 2] >> (j % 2 * 16));

			v[j] = FMT == TRIB_FMT_F16 ? widen_f16(one) : widen_bf16(one);
		}
	}
}

/*
 * Load values @i to @i + 3, as far as they are below @end; others are 0. WHOLE: all
 * are, and they are aligned for a vector.
 */
template <uint32_t FMT, bool WHOLE>
static __device__ inline four load_four(const void *x, uint64_t i, uint64_t end)
{
	const unsigned int size = FMT == TRIB_FMT_F32 ? 4 : 2;
	four f = {{0, 0, 0, 0}, 4};

	if (!WHOLE)
		f.n = i >= end ? 0 : end - i < 4 ? (unsigned int)(end - i) : 4;
	if (WHOLE || (f.n == 4 && aligned((const char *)x + i * size, 4 * size))) {
		widen_four<FMT>(f.v, x, i);
	} else {
#pragma unroll
		for (unsigned int j = 0; j < 4; j++)
			if (j < f.n)
				f.v[j] = widen_one<FMT>(x, i + j);
	}
	return f;
}

template <bool WHOLE> static __device__ inline void store_floats(float *to, uint64_t i, const four &f)
{
	if (WHOLE || (f.n == 4 && aligned(to + i, 16))) {
		*(float4 *)(to + i) = make_float4(f.v[0], f.v[1], f.v[2], f.v[3]);
	} else {
#pragma unroll
		for (unsigned int j = 0; j < 4; j++)
			if (j < f.n)
				to[i + j] = f.v[j];
	}
}

template <uint32_t FMT> static __device__ inline uint16_t narrow(float f)
{
	return FMT == TRIB_FMT_F16 ? __half_as_ushort(__float2half_rn(f)) : narrow_bf16(f);
}

/* Does what store_floats() does, for 16-bit floats. */
template <uint32_t FMT, bool WHOLE>
static __device__ inline void store_halves(uint16_t *to, uint64_t i, const four &f)
{
	uint16_t h[4];

#pragma unroll
	for (int j = 0; j < 4; j++)
		h[j] = narrow<FMT>(f.v[j]);
	if (WHOLE || (f.n == 4 && aligned(to + i, 8))) {
		*(uint2 *)(to + i) =
			make_uint2(h[0] | (uint32_t)h[1] << 16, h[2] | (uint32_t)h[3] << 16);
	} else {
#pragma unroll
		for (unsigned int j = 0; j < 4; j++)
			if (j < f.n)
				to[i + j] = h[j];
	}
}

template <uint32_t FMT, bool WHOLE>
static __device__ inline void store_four(void *x, uint64_t i, const four &f)
{
	if (FMT == TRIB_FMT_F32)
		store_floats<WHOLE>((float *)x, i, f);
	else
		store_halves<FMT, WHOLE>((uint16_t *)x, i, f);
}

/* acc of a lane's values. */
template <uint32_t FMT, bool WHOLE>
static __device__ inline four load_acc(const trib_nm_range &g, uint64_t i, uint64_t end)
{
	four f = load_four<FMT, WHOLE>(g.x, i, end), r;

	if (g.residual) {
		r = load_four<TRIB_FMT_F32, WHOLE>(g.residual, i, end);
		for (int j = 0; j < 4; j++)
			f.v[j] = f.v[j] + r.v[j];
	}
	return f;
}

/*
 * Bits of the lane's values that are among the @kept largest of their group. Each
 * value counts those that go before it: larger ones, and equal ones at lower
 * positions. Groups wider than a lane exchange keys: the source lanes are computed
 * within the group. Values that do not exist are smaller than all.
 */
template <int GROUP> static __device__ inline uint32_t pick(const four &f, int kept)
{
	const int in = GROUP < 4 ? GROUP : 4, lanes = GROUP < 4 ? 1 : GROUP / 4;
	int key[4], rank[4] = {0, 0, 0, 0};
	unsigned int lane = lane_of();
	uint32_t bits = 0;

	for (int j = 0; j < 4; j++)
		key[j] = j < (int)f.n ? (int)(__float_as_uint(f.v[j]) & MAGNITUDE) : -1;
#pragma unroll
	for (int j = 0; j < 4; j++)
#pragma unroll
		for (int k = j / in * in; k < j / in * in + in; k++)
			rank[j] += k < j ? key[k] >= key[j] : k > j && key[k] > key[j];
#pragma unroll
	for (int d = 1; d < lanes; d++) {
		unsigned int from = (lane & ~(lanes - 1u)) | ((lane + d) & (lanes - 1u));

#pragma unroll
		for (int k = 0; k < 4; k++) {
			int other = __shfl_sync(ALL_LANES, key[k], from) + (from < lane);

#pragma unroll
			for (int j = 0; j < 4; j++)
				rank[j] += other > key[j];
		}
	}
	for (int j = 0; j < 4; j++)
		bits |= (uint32_t)(j < (int)f.n && rank[j] < kept) << j;
	return bits;
}

/* Bit k of @byte becomes bit 4k. */
static __device__ inline uint32_t spread(uint32_t byte)
{
	byte = (byte | byte << 12) & 0x000f000f;
	byte = (byte | byte << 6) & 0x03030303;
	return (byte | byte << 3) & 0x11111111;
}

/* The mask word that the lane's four bits are in. */
static __device__ inline uint32_t word_of(uint32_t bits)
{
	unsigned int shift = lane_of() & ~7u;
	uint32_t word = 0;

	for (int j = 0; j < 4; j++)
		word |= spread(__ballot_sync(ALL_LANES, bits >> j & 1) >> shift & 0xff) << j;
	return word;
}

/* The bits of the lane's values in its mask word. */
static __device__ inline uint32_t bits_of(uint32_t word)
{
	return word >> (lane_of() & 7) * 4 & 15;
}

/* Read the lane's bits; @i is its first value. Without a mask all are set. */
static __device__ inline uint32_t read_word(const uint32_t *mask, uint64_t i, uint64_t end)
{
	if (!mask)
		return ALL_LANES;
	return i < end ? mask[i / 32] : 0;
}

static __device__ inline void write_word(uint32_t *mask, uint64_t i, uint64_t end, uint32_t word)
{
	if (!(lane_of() & 7) && i < end)
		mask[i / 32] = word;
}

/*
 * Packed values before the lane's first one: full groups before its group, and set
 * bits before it in its group.
 */
template <int GROUP> static __device__ inline uint64_t place_of(uint64_t i, uint32_t word, int kept)
{
	unsigned int own = (lane_of() & 7) * 4, start = own & ~(GROUP - 1u);

	if (GROUP <= 4)
		return i / GROUP * kept;
	return i / GROUP * kept + __popc(word >> start & ((1u << (own - start)) - 1));
}

/* The first and the second of the values whose bits are set, if two are. */
static __device__ inline float2 two_of(const four &f, uint32_t bits)
{
	return make_float2(bits & 1   ? f.v[0]
			   : bits & 2 ? f.v[1]
				      : f.v[2],
			   bits & 8   ? f.v[3]
			   : bits & 4 ? f.v[2]
				      : f.v[1]);
}

/* Store the lane's values whose bits are set from @place on. */
static __device__ inline void store_packed(float *packed, uint64_t place, uint32_t bits,
					   const four &f)
{
	if (__popc(bits) == 2 && aligned(packed + place, 8)) {
		*(float2 *)(packed + place) = two_of(f, bits);
		return;
	}
#pragma unroll
	for (int j = 0; j < 4; j++)
		if (bits >> j & 1)
			packed[place++] = f.v[j];
}

/* The inverse: the first and the second of the bits receive the two values. */
static __device__ inline four spread_two(float2 two, uint32_t bits)
{
	four f = {{0, 0, 0, 0}, 4};

#pragma unroll
	for (int j = 0; j < 4; j++)
		if (bits >> j & 1)
			f.v[j] = bits & ((1u << j) - 1) ? two.y : two.x;
	return f;
}

static __device__ inline four load_packed(const float *packed, uint64_t place, uint32_t bits,
					  unsigned int count)
{
	four f = {{0, 0, 0, 0}, count};

	if (__popc(bits) == 2 && aligned(packed + place, 8)) {
		f = spread_two(*(const float2 *)(packed + place), bits);
		f.n = count;
		return f;
	}
#pragma unroll
	for (int j = 0; j < 4; j++)
		if (bits >> j & 1)
			f.v[j] = packed[place++];
	return f;
}

/* The residual of floats: 0 for those sent. */
static __device__ inline four kept_back(four f, uint32_t bits)
{
	for (int j = 0; j < 4; j++)
		f.v[j] = bits >> j & 1 ? 0 : f.v[j];
	return f;
}

/*
 * Bits of the lane's largest magnitude among @bits, TRIB_NM_BAD if any of its values
 * is not finite.
 */
static __device__ inline uint32_t largest_of(const four &f, uint32_t bits)
{
	uint32_t most = 0, b;

	for (int j = 0; j < 4; j++) {
		b = __float_as_uint(f.v[j]) & MAGNITUDE;
		if (b >= TRIB_NM_BAD)
			most = TRIB_NM_BAD;
		else if (bits >> j & 1 && b > most)
			most = b;
	}
	return most;
}

/* Add the warp's magnitudes to those of its chunks; @i is the lane's first value. */
static __device__ inline void put_amax(uint32_t *amax, uint64_t row, uint64_t i, uint64_t end,
				       uint32_t most)
{
	/* A mask word is within one chunk, a tile perhaps not. */
	const unsigned int width = row % TILE ? 8 : 32;

	for (unsigned int d = 1; d < width; d *= 2) {
		uint32_t other = __shfl_xor_sync(ALL_LANES, most, d);

		most = other > most ? other : most;
	}
	if (!(lane_of() & (width - 1)) && i < end && most)
		atomicMax(&amax[i / row], most);
}

#endif /* TRIB_GPU_TILE_CUH */
