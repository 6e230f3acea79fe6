// SPDX-License-Identifier: BSD-2-Clause
/*
 * Codecs against exact oracles: quantising by integer arithmetic on the floats'
 * bits, dequantising by __int128, sums within the documented error. Every level
 * equals the scalar one to the last bit.
 */
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "kernels/codec/codec.h"
#include "tests/lib/float_bits.h"
#include "tests/lib/tap.h"

#define NMAX 832

static uint64_t rng = 0x9e3779b97f4a7c15ULL;

static uint64_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x2545f4914f6cdd1dULL;
}

/* A finite float below 2^e, sometimes a denormal or zero. */
static float below(int e)
{
	int top = e + 126, exp;

	switch (rnd() % 16) {
	case 0:
		return rnd() & 1 ? 0.0f : -0.0f;
	case 1: /* the largest */
		if (top >= 1)
			return float_of((rnd() & 1) << 31 | (uint32_t)top << 23 | 0x7fffff);
		break;
	case 2: /* any denormal that fits */
		exp = 0;
		goto make;
	}
	exp = top < 1 ? 0 : top - (int)(rnd() % 40);
	if (exp < 0)
		exp = 0;
make:
	if (exp == 0) {
		int bits = e + 149 > 23 ? 23 : e + 149;
		uint32_t mask = bits <= 0 ? 0 : (1u << bits) - 1;

		return float_of((uint32_t)(rnd() & 1) << 31 | ((uint32_t)rnd() & mask));
	}
	return float_of((uint32_t)(rnd() & 1) << 31 | (uint32_t)exp << 23 |
			((uint32_t)rnd() & 0x7fffff));
}

/* |x| = m * 2^p exactly. */
static void split(float x, uint64_t *m, int *p)
{
	uint32_t b = float_bits(x) & 0x7fffffff;

	*m = b >> 23 ? (b & 0x7fffff) | 0x800000 : b;
	*p = (b >> 23 ? (int)(b >> 23) : 1) - 150;
}

/* Nearest integer to x * 2^-s, ties to even, clamped; computed in integers. */
static int32_t oracle_quantise(float x, int s, int32_t limit)
{
	uint64_t m, q, rest, half;
	int p, sh;

	split(x, &m, &p);
	sh = p - s;
	if (sh >= 0) {
		q = sh > 40 && m ? UINT64_MAX >> 1 : m << (sh > 39 ? 39 : sh);
	} else if (sh < -40) {
		q = 0;
	} else {
		q = m >> -sh;
		rest = m & ((1ULL << -sh) - 1);
		half = 1ULL << (-sh - 1);
		if (rest > half || (rest == half && (q & 1)))
			q++;
	}
	if (q > (uint64_t)limit)
		q = (uint64_t)limit;
	return float_bits(x) >> 31 ? -(int32_t)q : (int32_t)q;
}

/* Nearest float to q * 2^s, ties to even; computed in integers. */
static float oracle_dequantise(int32_t q, int s)
{
	uint64_t m = q < 0 ? (uint64_t) - (int64_t)q : (uint64_t)q;
	uint32_t sign = q < 0 ? 0x80000000 : 0;
	int len, drop;
	uint64_t r, rest, half;

	if (!m)
		return 0.0f;
	len = 64 - __builtin_clzll(m);
	drop = len - 24; /* to 24 bits, or to the denormal grid */
	if (s + drop < -149)
		drop = -149 - s;
	if (drop > 0) {
		if (drop > 62)
			return float_of(sign);
		r = m >> drop;
		rest = m & ((1ULL << drop) - 1);
		half = 1ULL << (drop - 1);
		if (rest > half || (rest == half && (r & 1)))
			r++;
	} else {
		r = m << -drop;
	}
	/* value = r * 2^(s + drop), r at most 2^24 */
	if (r == 1 << 24) {
		r >>= 1;
		drop++;
	}
	if (r < 1 << 23)
		return float_of(sign | (uint32_t)r); /* denormal */
	if (s + drop + 150 >= 255)
		return float_of(sign | 0x7f800000);
	return float_of(sign | (uint32_t)(s + drop + 150) << 23 | ((uint32_t)r & 0x7fffff));
}

static const struct trib_codec *codecs[TRIB_CODEC__MAX];
static int ncodec;

static int32_t lane_lo(uint64_t w)
{
	return (int32_t)w;
}

static int32_t lane_hi(uint64_t w)
{
	return (int32_t)((w - (uint64_t)(int64_t)(int32_t)w) >> 32);
}

static const unsigned int worlds[] = {1, 2, 3, 4, 5, 8, 64, 100, 128, 1000, 1024};
#define NWORLD (sizeof(worlds) / sizeof(worlds[0]))

static void exponent__is_the_smallest_above_all_magnitudes(void)
{
	int i;

	expect_eq(trib_exponent(0), TRIB_EXP_ZERO);
	expect_eq(trib_exponent(1), TRIB_EXP_MIN);
	expect_eq(trib_exponent(0x7f7fffff), TRIB_EXP_LARGEST);
	for (i = 0; i < 200000; i++) {
		uint32_t b = (uint32_t)rnd() % 0x7f800000;
		int e = trib_exponent(b);
		double x = float_of(b);

		if (!b)
			continue;
		if (!expect(x < ldexp(1, e) && x >= ldexp(1, e - 1)))
			return;
	}
}

static void amax__finds_the_largest_and_non_finite_values(void)
{
	static float x[NMAX];
	int round, k;

	for (round = 0; round < 3000; round++) {
		size_t n = rnd() % (NMAX + 1), i;
		uint32_t want = 0, got;

		for (i = 0; i < n; i++)
			x[i] = below((int)(rnd() % 277) - 148);
		if (n && round % 3 == 0)
			x[rnd() % n] = float_of((uint32_t)rnd() | 0x7f800000);
		for (i = 0; i < n; i++)
			if ((float_bits(x[i]) & 0x7fffffff) > want)
				want = float_bits(x[i]) & 0x7fffffff;
		for (k = 0; k < ncodec; k++) {
			got = codecs[k]->amax(x, n);
			expect_eq(got, want);
		}
		for (i = 0; i < n && isfinite(x[i]); i++)
			;
		expect_eq(trib_first_bad(x, n), i);
	}
}

static void q32_pack__rounds_as_the_exact_oracle(void)
{
	static float x[NMAX + 1];
	static uint64_t w[NMAX];
	int e, k;

	for (e = TRIB_EXP_MIN; e <= TRIB_EXP_LARGEST; e++) {
		unsigned int world = worlds[rnd() % NWORLD];
		int32_t lim = trib_q32_limit(world);
		int s = trib_q32_scale(e, world);
		size_t n = rnd() % 4 ? rnd() % (NMAX + 1) : rnd() % 40;
		size_t off = rnd() % 2, i;

		for (i = 0; i < n; i++)
			x[off + i] = below(e);
		for (k = 0; k < ncodec; k++) {
			int bad = 0;

			memset(w, 0xaa, sizeof(w));
			codecs[k]->q32_pack(w, x + off, n, s, lim);
			for (i = 0; i < n; i++)
				bad += (i & 1 ? lane_hi(w[i / 2]) : lane_lo(w[i / 2])) !=
				       oracle_quantise(x[off + i], s, lim);
			if (n & 1)
				bad += lane_hi(w[n / 2]) != 0;
			for (i = (n + 1) / 2; i < trib_payload_len((uint32_t)n) / 8; i++)
				bad += w[i] != 0;
			if (trib_payload_len((uint32_t)n) < sizeof(w))
				bad += w[trib_payload_len((uint32_t)n) / 8] !=
				       0xaaaaaaaaaaaaaaaaULL;
			if (bad)
				printf("# %s e %d n %zu world %u: %d bad\n", codecs[k]->name, e, n,
				       world, bad);
			expect_eq(bad, 0);
		}
	}
}

static void make_lanes(uint64_t *w, int32_t *q, size_t n)
{
	size_t i;

	memset(w, 0, NMAX * 4);
	for (i = 0; i < n; i++) {
		q[i] = (int32_t)rnd() >> (rnd() % 31);
		if (rnd() % 16 == 0)
			q[i] = rnd() & 1 ? INT32_MAX : -INT32_MAX;
		if (i & 1)
			w[i / 2] += (uint64_t)(int64_t)q[i] << 32;
		else
			w[i / 2] += (uint64_t)(int64_t)q[i];
	}
}

static void q32_unpack__rounds_once(void)
{
	static uint64_t w[NMAX / 2 + 2];
	static int32_t q[NMAX];
	static float x[NMAX + 1];
	int s, k;

	for (s = -179; s <= 107; s++) {
		size_t n = rnd() % 4 ? rnd() % (NMAX + 1) : rnd() % 40, i;

		make_lanes(w, q, n);
		for (k = 0; k < ncodec; k++) {
			int bad = 0;

			for (i = 0; i <= n; i++)
				x[i] = 12345.0f;
			codecs[k]->q32_unpack(x, w, n, s);
			for (i = 0; i < n; i++)
				bad += float_bits(x[i]) != float_bits(oracle_dequantise(q[i], s));
			bad += x[n] != 12345.0f;
			if (bad)
				printf("# %s s %d n %zu: %d bad\n", codecs[k]->name, s, n, bad);
			expect_eq(bad, 0);
		}
	}
}

static void q32_unpack_avg__is_right_on_all_levels(void)
{
	static uint64_t w[NMAX / 2 + 2];
	static int32_t q[NMAX];
	static float x[NMAX], y[NMAX];
	int s, k;

	for (s = -179; s <= 107; s++) {
		unsigned int world = 1 + rnd() % 1024;
		size_t n = rnd() % (NMAX + 1), i;
		int bad = 0;

		make_lanes(w, q, n);
		codecs[0]->q32_unpack_avg(x, w, n, s, world);
		for (i = 0; i < n; i++) {
			long double r = ldexpl(q[i], s) / world, d;
			long double ulp = ldexpl(1, -149);
			int e;

			if (r) {
				frexpl(r, &e);
				if (e - 24 > -149)
					ulp = ldexpl(1, e - 24);
			}
			if (fabsl(r) > 0x1.ffffffp127L)
				continue;
			d = fabsl((long double)x[i] - r);
			bad += !(d <= ulp * (0.5L + 0x1p-20L));
		}
		expect_eq(bad, 0);
		for (k = 1; k < ncodec; k++) {
			codecs[k]->q32_unpack_avg(y, w, n, s, world);
			expect(!memcmp(x, y, n * sizeof(*x)));
		}
	}
}

/* The error bound of trib.h for n workers, in all binades with finite sums; long
 * double is exact.
 */
static void q32__sum_stays_within_the_promised_error(void)
{
	static float x[1024][32];
	static uint64_t w[32], sum[32];
	int e, k;
	size_t i;
	unsigned int r;

	for (e = TRIB_EXP_MIN; e <= 118; e++) {
		unsigned int world = worlds[rnd() % NWORLD];
		int lg = (int)trib_log2_ceil(world);
		size_t n = 31;
		float out[32], a = 0;

		for (r = 0; r < world; r++)
			for (i = 0; i < n; i++) {
				x[r][i] = below(e);
				if (fabsf(x[r][i]) > a)
					a = fabsf(x[r][i]);
			}
		int ce = trib_exponent(float_bits(a));
		int s = trib_q32_scale(ce, world);

		k = (int)(rnd() % (unsigned int)ncodec);
		memset(sum, 0, sizeof(sum));
		for (r = 0; r < world; r++) {
			codecs[k]->q32_pack(w, x[r], n, s, trib_q32_limit(world));
			for (i = 0; i < 16; i++)
				sum[i] += w[i];
		}
		codecs[k]->q32_unpack(out, sum, n, s);
		for (i = 0; i < n; i++) {
			long double exact = 0, bound, ulp;

			for (r = 0; r < world; r++)
				exact += x[r][i];
			ulp = nextafterf(fabsf(out[i]), INFINITY) - fabsf(out[i]);
			bound = world * ldexpl(1, lg - 30) * a + ulp / 2;
			if (!expect(fabsl(out[i] - exact) <= bound))
				printf("# e %d world %u: off by %Lg of %Lg\n", e, world,
				       fabsl(out[i] - exact), bound);
		}
	}
}

static void order__words_compare_like_the_values(void)
{
	static float x[NMAX], y[NMAX];
	static int32_t ix[NMAX], iy[NMAX];
	static int64_t w[TRIB_NVAL_LARGE + 8], v[TRIB_NVAL_LARGE + 8];
	int round, k, neg;
	size_t i;

	for (round = 0; round < 400; round++) {
		size_t n = rnd() % (NMAX / 2 + 1);

		for (i = 0; i < n; i++) {
			x[i] = rnd() % 50 ? below((int)(rnd() % 277) - 148)
					  : float_of(0x7f800000 | (uint32_t)(rnd() << 31));
			ix[i] = rnd() % 50 ? (int32_t)rnd() : INT32_MIN;
		}
		for (neg = 0; neg < 2; neg++) {
			codecs[0]->f32_order(w, x, n, neg);
			for (i = 1; i < n; i++) {
				float a = neg ? -x[i - 1] : x[i - 1];
				float b = neg ? -x[i] : x[i];

				expect(!(a < b) || w[i - 1] < w[i]);
				expect(!(a > b) || w[i - 1] > w[i]);
			}
			for (k = 0; k < ncodec; k++) {
				memset(v, 0xaa, sizeof(v));
				codecs[k]->f32_order(v, x, n, neg);
				expect(!memcmp(v, w, n * 8));
				for (i = n; i < trib_payload_len(2 * n) / 8; i++)
					expect_eq(v[i], 0);
				expect(v[i] != 0);
				codecs[k]->f32_unorder(y, v, n, neg);
				expect(!memcmp(x, y, n * 4));
				codecs[k]->i32_order(v, ix, n, neg);
				for (i = 0; i < n; i++)
					expect_eq(v[i], neg ? -(int64_t)ix[i] : ix[i]);
				codecs[k]->i32_unorder(iy, v, n, neg);
				expect(!memcmp(ix, iy, n * 4));
			}
		}
	}
}

static void nan__is_found_and_infinity_is_not(void)
{
	float x[100] = {0};
	int k;

	x[3] = INFINITY;
	x[4] = -INFINITY;
	for (k = 0; k < ncodec; k++) {
		x[77] = 1;
		expect_eq(codecs[k]->f32_nan(x, 100), 100);
		x[77] = float_of(0xffc00001);
		expect_eq(codecs[k]->f32_nan(x, 100), 77);
		expect_eq(codecs[k]->f32_nan(x, 77), 77);
	}
}

static void i32__is_copied(void)
{
	int32_t x[21], y[21], w[33];
	int i;

	for (i = 0; i < 21; i++)
		x[i] = (int32_t)rnd();
	memset(w, 0xaa, sizeof(w));
	trib_i32_pack(w, x, 21);
	expect(!memcmp(w, x, sizeof(x)));
	for (i = 21; i < 32; i++)
		expect_eq(w[i], 0);
	expect_eq(w[32], (int32_t)0xaaaaaaaa);
	trib_i32_unpack(y, w, 21);
	expect(!memcmp(x, y, sizeof(x)));
	trib_i32_pack(w, x, 0);
	expect_eq(w[0], x[0]);
}

/* Callers that flush denormals or round up get the same bits and keep their own
 * settings.
 */
static void environment__of_the_caller_does_not_matter(void)
{
#if defined(__x86_64__)
	static const unsigned int modes[] = {0x9fc0, 0x5f80, 0x1f80, 0x7f80};
	static float x[33], want[33], got[33];
	static uint64_t a[32], b[32];
	unsigned int m, before = _mm_getcsr();
	int k, e, i;

	for (e = TRIB_EXP_MIN; e < -80; e++) {
		for (i = 0; i < 33; i++)
			x[i] = below(e);
		codecs[0]->q32_pack(a, x, 33, trib_q32_scale(e, 4), trib_q32_limit(4));
		codecs[0]->q32_unpack(want, a, 33, trib_q32_scale(e, 4));
		for (k = 0; k < ncodec; k++) {
			for (m = 0; m < 4; m++) {
				_mm_setcsr(modes[m]);
				codecs[k]->q32_pack(b, x, 33, trib_q32_scale(e, 4),
						    trib_q32_limit(4));
				codecs[k]->q32_unpack(got, b, 33, trib_q32_scale(e, 4));
				unsigned int after = _mm_getcsr() & ~0x3fu;

				_mm_setcsr(before);
				expect_eq(after, modes[m] & ~0x3fu);
				expect(!memcmp(a, b, trib_payload_len(33)));
				expect(!memcmp(want, got, sizeof(want)));
			}
		}
	}
#endif
}

static void best__runs_on_this_cpu(void)
{
	const struct trib_codec *c = trib_codec_best();
	int i, found = 0;

	for (i = 0; i < ncodec; i++)
		found += codecs[i] == c;
	expect_eq(found, 1);
	printf("# best: %s\n", c->name);
}

int main(void)
{
	int level;

	for (level = 0; level < TRIB_CODEC__MAX; level++)
		if (trib_codec_get(level))
			codecs[ncodec++] = trib_codec_get(level);

	run(exponent__is_the_smallest_above_all_magnitudes);
	run(amax__finds_the_largest_and_non_finite_values);
	run(q32_pack__rounds_as_the_exact_oracle);
	run(q32_unpack__rounds_once);
	run(q32_unpack_avg__is_right_on_all_levels);
	run(q32__sum_stays_within_the_promised_error);
	run(order__words_compare_like_the_values);
	run(nan__is_found_and_infinity_is_not);
	run(i32__is_copied);
	run(environment__of_the_caller_does_not_matter);
	run(best__runs_on_this_cpu);
	return tap_done();
}
