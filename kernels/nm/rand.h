/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Random bits by number: a keyed mixer of 32 bits, in integers, for CPU and GPU.
 * One step of one rank has a key; value i of its gradient gets bits that depend on
 * the key and i only, whoever computes them and in any order.
 *
 * The mixer is three rounds of xor-shift and multiply with C. Wellons' "triple32"
 * constants, whose avalanche bias is 0.02 %. The key enters before the first round
 * and again inside, so that two keys do not give one sequence in another order.
 */
#ifndef TRIB_NM_RAND_H
#define TRIB_NM_RAND_H

#include <stdint.h>

#if defined(__CUDACC__)
#define TRIB_NM_FN static inline __host__ __device__
#else
#define TRIB_NM_FN static inline __attribute__((always_inline))
#endif

#define TRIB_NM_MUL1 0xed5ad4bbU
#define TRIB_NM_MUL2 0xac4c1b51U
#define TRIB_NM_MUL3 0x31848babU

struct trib_nm_key {
	uint32_t first;
	uint32_t inner;
};

/* The last step of SplitMix64. */
TRIB_NM_FN uint64_t trib_nm_mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* @high: the upper half of the values' index. */
TRIB_NM_FN struct trib_nm_key trib_nm_key(uint64_t seed, uint64_t step, uint32_t high)
{
	const uint64_t golden = 0x9e3779b97f4a7c15ULL;
	struct trib_nm_key key;
	uint64_t z;

	z = trib_nm_mix64(seed + golden);
	z = trib_nm_mix64(z + step + golden);
	z = trib_nm_mix64(z + high + golden);
	key.first = (uint32_t)z;
	key.inner = (uint32_t)(z >> 32);
	return key;
}

/* @low: the lower half of the value's index. */
TRIB_NM_FN uint32_t trib_nm_random(struct trib_nm_key key, uint32_t low)
{
	uint32_t x = low ^ key.first;

	x = (x ^ (x >> 17)) * TRIB_NM_MUL1;
	x = ((x ^ (x >> 11)) + key.inner) * TRIB_NM_MUL2;
	x = (x ^ (x >> 15)) * TRIB_NM_MUL3;
	return x ^ (x >> 14);
}

#endif /* TRIB_NM_RAND_H */
