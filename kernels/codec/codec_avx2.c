// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The codec with AVX2: eight lanes. Only this file is compiled for AVX2;
 * trib_codec_get() returns it only on a CPU that has it.
 */
#if defined(__x86_64__)
#pragma GCC target("avx2,f16c,prfchw")
#include <immintrin.h>

#define SIMD(name) avx2_##name
#define LANES 8

typedef __m256 vf;
typedef __m256i vi;

#include "codec_simd.h"

PRIM vi vi_set(int32_t a)
{
	return _mm256_set1_epi32(a);
}

PRIM vf vf_set(float a)
{
	return _mm256_set1_ps(a);
}

/* Select the first n of 8 lanes. */
PRIM vi vi_mask(size_t n)
{
	const vi lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

	return _mm256_cmpgt_epi32(vi_set((int32_t)n), lane);
}

PRIM vi vi_load_part(const void *p, size_t n)
{
	return _mm256_maskload_epi32(p, vi_mask(n));
}

PRIM void vi_store_part(void *p, size_t n, vi a)
{
	_mm256_maskstore_epi32(p, vi_mask(n), a);
}

PRIM vi vi_max(vi a, vi b)
{
	return _mm256_max_epi32(a, b);
}

PRIM vi vi_min(vi a, vi b)
{
	return _mm256_min_epi32(a, b);
}

PRIM uint32_t vi_hmax(vi a)
{
	__m128i m = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(m);
}

PRIM vi vf_round(vf a)
{
	return _mm256_cvtps_epi32(a);
}

PRIM vf vi_scale_wide(vi a, double unit)
{
	__m256d u = _mm256_set1_pd(unit);
	__m256d lo = _mm256_cvtepi32_pd(_mm256_castsi256_si128(a));
	__m256d hi = _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1));

	return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_mul_pd(hi, u)),
			       _mm256_cvtpd_ps(_mm256_mul_pd(lo, u)));
}

PRIM void vi_store_words(char *p, vi a, int neg)
{
	vi lo = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(a));
	vi hi = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1));

	if (neg) {
		lo = _mm256_sub_epi64(vi_zero(), lo);
		hi = _mm256_sub_epi64(vi_zero(), hi);
	}
	vi_store(p, lo);
	vi_store(p + 32, hi);
}

PRIM vi vi_load_words(const char *p, int neg)
{
	const vi even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
	vi lo = _mm256_permutevar8x32_epi32(vi_load(p), even);
	vi hi = _mm256_permutevar8x32_epi32(vi_load(p + 32), even);
	vi a = _mm256_blend_epi32(lo, hi, 0xf0);

	return neg ? vi_neg(a) : a;
}

PRIM vf vf_load_half(const void *p)
{
	return _mm256_cvtph_ps(_mm_loadu_si128(p));
}

PRIM void vf_store_half(void *p, vf a)
{
	_mm_storeu_si128(p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

const struct trib_codec trib_codec_avx2 = SIMD_CODEC("avx2");
#endif
