// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Compression with AVX-512 (F, BW, DQ, VL): sixteen lanes. Only this file is
 * compiled for it; trib_nm_get() returns it only on a CPU that has it.
 *
 * Values are compressed into registers. Compressing stores are a hundred times
 * slower on some CPUs.
 */
#if defined(__x86_64__)
#pragma GCC target("avx2,f16c,popcnt,avx512f,avx512bw,avx512dq,avx512vl")
#include <immintrin.h>

#include "nm_value.h"

#define SIMD(name) avx512_##name
#define LANES 16

typedef __m512 vf;
typedef __m512i vi;

NM_EACH vi vi_set(int32_t a)
{
	return _mm512_set1_epi32(a);
}

NM_EACH vf vf_set(float a)
{
	return _mm512_set1_ps(a);
}

NM_EACH vi vi_iota(void)
{
	return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

NM_EACH vi vi_load(const void *p)
{
	return _mm512_loadu_si512(p);
}

NM_EACH vf vf_load(const void *p)
{
	return _mm512_loadu_ps(p);
}

NM_EACH void vf_store(void *p, vf a)
{
	_mm512_storeu_ps(p, a);
}

/* The first @n lanes; memory behind them is not touched. */
NM_EACH vf vf_load_some(const void *p, uint32_t n)
{
	return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}

NM_EACH void vf_store_some(void *p, uint32_t n, vf a)
{
	_mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), a);
}

NM_EACH vf vf_add(vf a, vf b)
{
	return _mm512_add_ps(a, b);
}

NM_EACH vf vf_sub(vf a, vf b)
{
	return _mm512_sub_ps(a, b);
}

NM_EACH vf vf_mul(vf a, vf b)
{
	return _mm512_mul_ps(a, b);
}

NM_EACH vf vf_div(vf a, vf b)
{
	return _mm512_div_ps(a, b);
}

NM_EACH vf vf_min(vf a, vf b)
{
	return _mm512_min_ps(a, b);
}

NM_EACH vf vf_max(vf a, vf b)
{
	return _mm512_max_ps(a, b);
}

NM_EACH vi vf_round(vf a)
{
	return _mm512_cvtps_epi32(a);
}

NM_EACH vf vf_of_int(vi a)
{
	return _mm512_cvtepi32_ps(a);
}

NM_EACH vf vf_of_bits(vi a)
{
	return _mm512_castsi512_ps(a);
}

NM_EACH vi vi_add(vi a, vi b)
{
	return _mm512_add_epi32(a, b);
}

NM_EACH vi vi_mul(vi a, vi b)
{
	return _mm512_mullo_epi32(a, b);
}

NM_EACH vi vi_xor(vi a, vi b)
{
	return _mm512_xor_si512(a, b);
}

NM_EACH vi vi_max(vi a, vi b)
{
	return _mm512_max_epi32(a, b);
}

NM_EACH vi vi_min(vi a, vi b)
{
	return _mm512_min_epi32(a, b);
}

NM_EACH vi vi_shift_down(vi a, int by)
{
	return (vi)((__v16su)a >> by); /* by a constant where it is one */
}

NM_EACH vi vi_shift_signed(vi a, int by)
{
	return (vi)((__v16si)a >> by);
}

NM_EACH vi vi_magnitude(vf a)
{
	return _mm512_and_si512(_mm512_castps_si512(a), vi_set(0x7fffffff));
}

NM_EACH uint32_t vi_largest(vi a)
{
	return (uint32_t)_mm512_reduce_max_epi32(a);
}

NM_EACH vi vi_keep(vi a, uint32_t bits)
{
	return _mm512_maskz_mov_epi32((__mmask16)bits, a);
}

NM_EACH vf vf_keep(vf a, uint32_t bits)
{
	return _mm512_maskz_mov_ps((__mmask16)bits, a);
}

NM_EACH vf vf_select(uint32_t bits, vf yes, vf no)
{
	return _mm512_mask_mov_ps(no, (__mmask16)bits, yes);
}

NM_EACH vf vf_compress(vf a, uint32_t bits)
{
	return _mm512_maskz_compress_ps((__mmask16)bits, a);
}

NM_EACH vf vf_expand(vf a, uint32_t bits)
{
	return _mm512_maskz_expand_ps((__mmask16)bits, a);
}

/* The lower halves of both. */
NM_EACH vf vf_join(vf low, vf high)
{
	return _mm512_insertf32x8(low, _mm512_castps512_ps256(high), 1);
}

/* Each lane takes the next one's value, the last of @in the first's. */
NM_EACH vi vi_rotate(vi a, int in)
{
	if (in == 2)
		return _mm512_shuffle_epi32(a, 0xb1);
	if (in == 4)
		return _mm512_shuffle_epi32(a, 0x39);
	if (in == 8)
		return _mm512_permutexvar_epi32(
			_mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8), a);
	return _mm512_alignr_epi32(a, a, 1);
}

/* One in the last of each @in lanes. */
NM_EACH vi vi_wrapped(int in)
{
	const uint32_t last = in == 2 ? 0xaaaa : in == 4 ? 0x8888 : in == 8 ? 0x8080 : 0x8000;

	return _mm512_maskz_set1_epi32((__mmask16)last, 1);
}

/* @count + 1 where a > b. */
NM_EACH vi vi_count_above(vi count, vi a, vi b)
{
	return _mm512_mask_add_epi32(count, _mm512_cmpgt_epi32_mask(a, b), count, vi_set(1));
}

NM_EACH uint32_t vi_below(vi a, int limit)
{
	return _mm512_cmplt_epi32_mask(a, vi_set(limit));
}

/* Lanes whose key is among the @kept largest of their group of 2 or 4. */
NM_EACH uint32_t vi_pick_few(vi key, int kept, int group)
{
	vi wrapped = vi_wrapped(group), p = vi_add(vi_rotate(key, group), wrapped);
	uint32_t a = _mm512_cmpgt_epi32_mask(p, key), b, c;

	if (group == 2)
		return ~a & 0xffff;
	p = vi_add(vi_rotate(p, 4), wrapped);
	b = _mm512_cmpgt_epi32_mask(p, key);
	p = vi_add(vi_rotate(p, 4), wrapped);
	c = _mm512_cmpgt_epi32_mask(p, key);
	/* At most kept - 1 of the three others go before it. */
	if (kept == 2)
		return ~((a & b) | (c & (a | b))) & 0xffff;
	return ~(kept == 1 ? a | b | c : a & b & c) & 0xffff;
}

NM_EACH vi narrow_bf16(vi b)
{
	vi odd = _mm512_and_si512(_mm512_srli_epi32(b, 16), vi_set(1));
	vi r = _mm512_srli_epi32(vi_add(b, vi_add(odd, vi_set(0x7fff))), 16);
	__mmask16 nan = _mm512_cmpgt_epi32_mask(_mm512_and_si512(b, vi_set(0x7fffffff)),
						vi_set(TRIB_NM_BAD));

	return _mm512_mask_or_epi32(r, nan, _mm512_srli_epi32(b, 16), vi_set(0x40));
}

NM_EACH vf vf_widen(uint32_t fmt, const void *p)
{
	if (fmt == TRIB_FMT_F16)
		return _mm512_cvtph_ps(_mm256_loadu_si256(p));
	if (fmt == TRIB_FMT_BF16)
		return vf_of_bits(
			_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16));
	return vf_load(p);
}

NM_EACH void vf_narrow(uint32_t fmt, void *p, vf a)
{
	if (fmt == TRIB_FMT_F16)
		_mm256_storeu_si256(p, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
	else if (fmt == TRIB_FMT_BF16)
		_mm256_storeu_si256(p, _mm512_cvtepi32_epi16(narrow_bf16(_mm512_castps_si512(a))));
	else
		vf_store(p, a);
}

NM_EACH vi shifted(__m256i q, unsigned int shift)
{
	return _mm512_sll_epi64(_mm512_cvtepi32_epi64(q), _mm_cvtsi32_si128((int)shift));
}

NM_EACH void add_to_some(char *p, vi w, uint32_t some)
{
	w = _mm512_add_epi64(w, _mm512_maskz_loadu_epi64((__mmask8)some, p));
	_mm512_mask_storeu_epi64(p, (__mmask8)some, w);
}

/* Add the first @n lanes, shifted, to as many 64-bit words. */
NM_EACH void vi_add_to_words(char *p, vi q, unsigned int shift, size_t n)
{
	vi low = shifted(_mm512_castsi512_si256(q), shift);
	vi high = shifted(_mm512_extracti64x4_epi64(q, 1), shift);
	uint32_t some = (1u << n) - 1;

	if (n < LANES) {
		add_to_some(p, low, some);
		add_to_some(p + 64, high, some >> 8);
		return;
	}
	_mm512_storeu_si512(p, _mm512_add_epi64(low, vi_load(p)));
	_mm512_storeu_si512(p + 64, _mm512_add_epi64(high, vi_load(p + 64)));
}

NM_EACH __m256i of_words(const char *p, uint64_t bias, unsigned int shift, uint64_t field)
{
	vi w = _mm512_add_epi64(vi_load(p), _mm512_set1_epi64((long long)bias));

	w = _mm512_srl_epi64(w, _mm_cvtsi32_si128((int)shift));
	return _mm512_cvtepi64_epi32(_mm512_and_si512(w, _mm512_set1_epi64((long long)field)));
}

/* (word + bias) >> shift & field of successive words. */
NM_EACH vi vi_of_words(const char *p, uint64_t bias, unsigned int shift, uint64_t field)
{
	return _mm512_inserti64x4(_mm512_castsi256_si512(of_words(p, bias, shift, field)),
				  of_words(p + 64, bias, shift, field), 1);
}

NM_EACH __m256 scale(__m256i q, unsigned int divide, double unit)
{
	__m512d d = _mm512_cvtepi32_pd(q);

	if (divide != 1)
		d = _mm512_div_pd(d, _mm512_set1_pd(divide));
	return _mm512_cvtpd_ps(_mm512_mul_pd(d, _mm512_set1_pd(unit)));
}

NM_EACH vf vf_scale(vi q, unsigned int divide, double unit)
{
	__m256 low = scale(_mm512_castsi512_si256(q), divide, unit);

	return _mm512_insertf32x8(_mm512_castps256_ps512(low),
				  scale(_mm512_extracti64x4_epi64(q, 1), divide, unit), 1);
}

#include "nm_simd.h"

const struct trib_nm_ops trib_nm_avx512 = SIMD_NM("avx512");
#endif
