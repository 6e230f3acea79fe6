// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Compression with AVX2, F16C and POPCNT: eight lanes. Only this file is compiled
 * for it; trib_nm_get() returns it only on a CPU that has it.
 */
#if defined(__x86_64__)
#pragma GCC target("avx2,f16c,popcnt")
#include <immintrin.h>

#include "nm_value.h"

#define SIMD(name) avx2_##name
#define LANES 8

typedef __m256 vf;
typedef __m256i vi;

/* Byte k of entry b is the position of the k-th bit that is set in b. */
#define BIT(b, i) ((uint64_t)((b) >> (i)&1) * (i) << 8 * __builtin_popcount((b) & ((1 << (i)) - 1)))
#define ENTRY(b) BIT(b, 1) | BIT(b, 2) | BIT(b, 3) | BIT(b, 4) | BIT(b, 5) | BIT(b, 6) | BIT(b, 7)
#define ENTRIES_4(b) ENTRY(b), ENTRY((b) + 1), ENTRY((b) + 2), ENTRY((b) + 3)
#define ENTRIES_16(b) ENTRIES_4(b), ENTRIES_4((b) + 4), ENTRIES_4((b) + 8), ENTRIES_4((b) + 12)
#define ENTRIES_64(b)                                                                              \
	ENTRIES_16(b), ENTRIES_16((b) + 16), ENTRIES_16((b) + 32), ENTRIES_16((b) + 48)

static const uint64_t positions[256] = {ENTRIES_64(0), ENTRIES_64(64), ENTRIES_64(128),
					ENTRIES_64(192)};

NM_EACH vi vi_set(int32_t a)
{
	return _mm256_set1_epi32(a);
}

NM_EACH vf vf_set(float a)
{
	return _mm256_set1_ps(a);
}

NM_EACH vi vi_iota(void)
{
	return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

NM_EACH vi vi_load(const void *p)
{
	return _mm256_loadu_si256(p);
}

NM_EACH vf vf_load(const void *p)
{
	return _mm256_loadu_ps(p);
}

NM_EACH void vf_store(void *p, vf a)
{
	_mm256_storeu_ps(p, a);
}

/* Select the first @n lanes. */
NM_EACH vi first(uint32_t n)
{
	return _mm256_cmpgt_epi32(vi_set((int32_t)n), vi_iota());
}

/* The first @n lanes; memory behind them is not touched. */
NM_EACH vf vf_load_some(const void *p, uint32_t n)
{
	return _mm256_maskload_ps(p, first(n));
}

NM_EACH void vf_store_some(void *p, uint32_t n, vf a)
{
	_mm256_maskstore_ps(p, first(n), a);
}

NM_EACH vf vf_add(vf a, vf b)
{
	return _mm256_add_ps(a, b);
}

NM_EACH vf vf_sub(vf a, vf b)
{
	return _mm256_sub_ps(a, b);
}

NM_EACH vf vf_mul(vf a, vf b)
{
	return _mm256_mul_ps(a, b);
}

NM_EACH vf vf_div(vf a, vf b)
{
	return _mm256_div_ps(a, b);
}

NM_EACH vf vf_min(vf a, vf b)
{
	return _mm256_min_ps(a, b);
}

NM_EACH vf vf_max(vf a, vf b)
{
	return _mm256_max_ps(a, b);
}

NM_EACH vi vf_round(vf a)
{
	return _mm256_cvtps_epi32(a);
}

NM_EACH vf vf_of_int(vi a)
{
	return _mm256_cvtepi32_ps(a);
}

NM_EACH vf vf_of_bits(vi a)
{
	return _mm256_castsi256_ps(a);
}

NM_EACH vi vi_add(vi a, vi b)
{
	return _mm256_add_epi32(a, b);
}

NM_EACH vi vi_mul(vi a, vi b)
{
	return _mm256_mullo_epi32(a, b);
}

NM_EACH vi vi_xor(vi a, vi b)
{
	return _mm256_xor_si256(a, b);
}

NM_EACH vi vi_max(vi a, vi b)
{
	return _mm256_max_epi32(a, b);
}

NM_EACH vi vi_min(vi a, vi b)
{
	return _mm256_min_epi32(a, b);
}

NM_EACH vi vi_shift_down(vi a, int by)
{
	return (vi)((__v8su)a >> by); /* by a constant where it is one */
}

NM_EACH vi vi_shift_signed(vi a, int by)
{
	return (vi)((__v8si)a >> by);
}

NM_EACH vi vi_magnitude(vf a)
{
	return _mm256_and_si256(_mm256_castps_si256(a), vi_set(0x7fffffff));
}

NM_EACH uint32_t vi_largest(vi a)
{
	__m128i m = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));

	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(m);
}

/* All ones in the lanes of set bits. */
NM_EACH vi lanes_of(uint32_t bits)
{
	const vi one = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

	return _mm256_cmpeq_epi32(_mm256_and_si256(vi_set((int32_t)bits), one), one);
}

NM_EACH vi vi_keep(vi a, uint32_t bits)
{
	return _mm256_and_si256(a, lanes_of(bits));
}

NM_EACH vf vf_keep(vf a, uint32_t bits)
{
	return _mm256_and_ps(a, vf_of_bits(lanes_of(bits)));
}

NM_EACH vf vf_select(uint32_t bits, vf yes, vf no)
{
	return _mm256_blendv_ps(no, yes, vf_of_bits(lanes_of(bits)));
}

NM_EACH vf vf_compress(vf a, uint32_t bits)
{
	__m128i at = _mm_loadl_epi64((const __m128i *)&positions[bits]);

	return _mm256_permutevar8x32_ps(a, _mm256_cvtepu8_epi32(at));
}

NM_EACH vf vf_expand(vf a, uint32_t bits)
{
	/* A byte for each lane: 1 if its bit is set, then the number below it. */
	uint64_t x = bits * 0x0101010101010101ULL & 0x8040201008040201ULL;
	vi below;

	x = (x + 0x7f7f7f7f7f7f7f7fULL) >> 7 & 0x0101010101010101ULL;
	x *= 0x0101010101010100ULL;
	below = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)x));
	return vf_keep(_mm256_permutevar8x32_ps(a, below), bits);
}

/* The lower halves of both. */
NM_EACH vf vf_join(vf low, vf high)
{
	return _mm256_insertf128_ps(low, _mm256_castps256_ps128(high), 1);
}

/* Each lane takes the next one's value, the last of @in the first's. */
NM_EACH vi vi_rotate(vi a, int in)
{
	if (in == 2)
		return _mm256_shuffle_epi32(a, 0xb1);
	if (in == 4)
		return _mm256_shuffle_epi32(a, 0x39);
	return _mm256_permutevar8x32_epi32(a, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0));
}

/* One in the last of each @in lanes. */
NM_EACH vi vi_wrapped(int in)
{
	return _mm256_setr_epi32(0, in == 2, 0, in <= 4, 0, in == 2, 0, 1);
}

/* @count + 1 where a > b. */
NM_EACH vi vi_count_above(vi count, vi a, vi b)
{
	return _mm256_sub_epi32(count, _mm256_cmpgt_epi32(a, b));
}

NM_EACH uint32_t vi_below(vi a, int limit)
{
	vi below = _mm256_cmpgt_epi32(vi_set(limit), a);

	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(below));
}

/* Lanes whose key is among the @kept largest of their group of 2 or 4. */
NM_EACH uint32_t vi_pick_few(vi key, int kept, int group)
{
	vi rank = vi_set(0), p = key;
	int d;

#pragma GCC unroll 3
	for (d = 1; d < group; d++) {
		p = vi_add(vi_rotate(p, group), vi_wrapped(group));
		rank = vi_count_above(rank, p, key);
	}
	return vi_below(rank, kept);
}

NM_EACH vi narrow_bf16(vi b)
{
	vi odd = _mm256_and_si256(_mm256_srli_epi32(b, 16), vi_set(1));
	vi r = _mm256_srli_epi32(vi_add(b, vi_add(odd, vi_set(0x7fff))), 16);
	vi nan = _mm256_cmpgt_epi32(_mm256_and_si256(b, vi_set(0x7fffffff)), vi_set(TRIB_NM_BAD));

	return _mm256_blendv_epi8(r, _mm256_or_si256(_mm256_srli_epi32(b, 16), vi_set(0x40)), nan);
}

NM_EACH vf vf_widen(uint32_t fmt, const void *p)
{
	if (fmt == TRIB_FMT_F16)
		return _mm256_cvtph_ps(_mm_loadu_si128(p));
	if (fmt == TRIB_FMT_BF16)
		return vf_of_bits(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16));
	return vf_load(p);
}

NM_EACH void vf_narrow(uint32_t fmt, void *p, vf a)
{
	vi b;

	if (fmt == TRIB_FMT_F16) {
		_mm_storeu_si128(p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
	} else if (fmt == TRIB_FMT_BF16) {
		b = narrow_bf16(_mm256_castps_si256(a));
		/* Packs within each half: quarters 0 and 2 hold the result. */
		b = _mm256_permute4x64_epi64(_mm256_packus_epi32(b, b), 0x08);
		_mm_storeu_si128(p, _mm256_castsi256_si128(b));
	} else {
		vf_store(p, a);
	}
}

NM_EACH vi shifted(__m128i q, unsigned int shift)
{
	return _mm256_sll_epi64(_mm256_cvtepi32_epi64(q), _mm_cvtsi32_si128((int)shift));
}

/* Add the first @n lanes, shifted, to as many 64-bit words. */
NM_EACH void vi_add_to_words(char *p, vi q, unsigned int shift, size_t n)
{
	vi low = shifted(_mm256_castsi256_si128(q), shift);
	vi high = shifted(_mm256_extracti128_si256(q, 1), shift);
	uint64_t part[LANES];

	if (n < LANES) {
		memcpy(part, p, 8 * n);
		memset(part + n, 0, sizeof(part) - 8 * n);
		low = _mm256_add_epi64(low, vi_load(part));
		high = _mm256_add_epi64(high, vi_load(part + 4));
		_mm256_storeu_si256((vi *)part, low);
		_mm256_storeu_si256((vi *)(part + 4), high);
		memcpy(p, part, 8 * n);
		return;
	}
	_mm256_storeu_si256((void *)p, _mm256_add_epi64(low, vi_load(p)));
	_mm256_storeu_si256((void *)(p + 32), _mm256_add_epi64(high, vi_load(p + 32)));
}

NM_EACH vi of_words(const char *p, uint64_t bias, unsigned int shift, uint64_t field)
{
	const vi even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
	vi w = _mm256_add_epi64(vi_load(p), _mm256_set1_epi64x((long long)bias));

	w = _mm256_srl_epi64(w, _mm_cvtsi32_si128((int)shift));
	w = _mm256_and_si256(w, _mm256_set1_epi64x((long long)field));
	return _mm256_permutevar8x32_epi32(w, even);
}

/* (word + bias) >> shift & field of successive words. */
NM_EACH vi vi_of_words(const char *p, uint64_t bias, unsigned int shift, uint64_t field)
{
	return _mm256_blend_epi32(of_words(p, bias, shift, field),
				  of_words(p + 32, bias, shift, field), 0xf0);
}

NM_EACH __m128 scale(__m128i q, unsigned int divide, double unit)
{
	__m256d d = _mm256_cvtepi32_pd(q);

	if (divide != 1)
		d = _mm256_div_pd(d, _mm256_set1_pd(divide));
	return _mm256_cvtpd_ps(_mm256_mul_pd(d, _mm256_set1_pd(unit)));
}

NM_EACH vf vf_scale(vi q, unsigned int divide, double unit)
{
	return _mm256_set_m128(scale(_mm256_extracti128_si256(q, 1), divide, unit),
			       scale(_mm256_castsi256_si128(q), divide, unit));
}

#include "nm_simd.h"

const struct trib_nm_ops trib_nm_avx2 = SIMD_NM("avx2");
#endif
