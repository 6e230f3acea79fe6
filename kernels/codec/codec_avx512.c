// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The codec with AVX-512 (F, BW, DQ, VL): sixteen lanes, masked tails. Only this
 * file is compiled for it; trib_codec_get() returns it only on a CPU that has it.
 */
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prfchw")
#include <immintrin.h>

#define SIMD(name) avx512_##name
#define LANES 16

typedef __m512 vf;
typedef __m512i vi;

#include "codec_simd.h"

PRIM vi vi_set(int32_t a)
{
	return _mm512_set1_epi32(a);
}

PRIM vf vf_set(float a)
{
	return _mm512_set1_ps(a);
}

/* Select the first n of 16 lanes. */
PRIM __mmask16 vi_mask(size_t n)
{
	return (__mmask16)((1u << n) - 1);
}

PRIM vi vi_load_part(const void *p, size_t n)
{
	return _mm512_maskz_loadu_epi32(vi_mask(n), p);
}

PRIM void vi_store_part(void *p, size_t n, vi a)
{
	_mm512_mask_storeu_epi32(p, vi_mask(n), a);
}

PRIM vi vi_max(vi a, vi b)
{
	return _mm512_max_epi32(a, b);
}

PRIM vi vi_min(vi a, vi b)
{
	return _mm512_min_epi32(a, b);
}

PRIM uint32_t vi_hmax(vi a)
{
	return (uint32_t)_mm512_reduce_max_epi32(a);
}

PRIM vi vf_round(vf a)
{
	return _mm512_cvtps_epi32(a);
}

PRIM vf vi_scale_wide(vi a, double unit)
{
	__m512d u = _mm512_set1_pd(unit);
	__m512d lo = _mm512_cvtepi32_pd(_mm512_castsi512_si256(a));
	__m512d hi = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1));
	__m256 l = _mm512_cvtpd_ps(_mm512_mul_pd(lo, u));
	__m256 h = _mm512_cvtpd_ps(_mm512_mul_pd(hi, u));

	return _mm512_insertf32x8(_mm512_castps256_ps512(l), h, 1);
}

PRIM void vi_store_words(char *p, vi a, int neg)
{
	vi lo = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(a));
	vi hi = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(a, 1));

	if (neg) {
		lo = _mm512_sub_epi64(vi_zero(), lo);
		hi = _mm512_sub_epi64(vi_zero(), hi);
	}
	vi_store(p, lo);
	vi_store(p + 64, hi);
}

PRIM vi vi_load_words(const char *p, int neg)
{
	__m256i lo = _mm512_cvtepi64_epi32(vi_load(p));
	__m256i hi = _mm512_cvtepi64_epi32(vi_load(p + 64));
	vi a = _mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1);

	return neg ? vi_neg(a) : a;
}

PRIM vf vf_load_half(const void *p)
{
	return _mm512_cvtph_ps(_mm256_loadu_si256(p));
}

PRIM void vf_store_half(void *p, vf a)
{
	_mm256_storeu_si256(p, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

const struct trib_codec trib_codec_avx512 = SIMD_CODEC("avx512");
#endif
