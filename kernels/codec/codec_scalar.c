// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The codec in plain C: the reference for the other levels, and the fallback
 * without AVX2. It computes floats in integers, so it needs no FPU.
 */
#include "codec.h"
#include "kernels/half.h"

/* A call would cost as much as the few instructions of each function. */
#define INLINE inline __attribute__((always_inline))

static INLINE void put64(void *w, size_t i, int64_t v)
{
	memcpy((char *)w + i * 8, &v, 8);
}

static INLINE int64_t get64(const void *w, size_t i)
{
	int64_t v;

	memcpy(&v, (const char *)w + i * 8, 8);
	return v;
}

static void pad(void *w, size_t used, size_t units)
{
	memset((char *)w + used, 0, trib_payload_len((uint32_t)units) - used);
}

static uint32_t scalar_amax(const float *x, size_t n)
{
	uint32_t b, m = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, &x[i], sizeof(b));
		b &= 0x7fffffff;
		if (b > m)
			m = b;
	}
	return m;
}

/* Round @m / 2^@r to the nearest, ties to even. 0 < @r. */
static INLINE uint64_t round_off(uint64_t m, int r)
{
	uint64_t half;

	if (r > 63)
		return 0; /* no caller sets the highest bit of @m */
	half = 1ULL << (r - 1);
	return (m + half - 1 + (m >> r & 1)) >> r;
}

/* Round @x / 2^@scale to the nearest within +-@limit; NaN gives @limit. */
static INLINE int64_t quantise(uint32_t x, int scale, int32_t limit)
{
	unsigned int exp = x >> 23 & 0xff;
	uint64_t m = x & 0x7fffff, q;
	int shift;

	if (exp == 0xff)
		return x > 0xff800000 || !(x >> 31) ? limit : -limit;
	if (exp)
		m |= 0x800000;
	else
		exp = 1;
	/* |x| is m * 2^(exp - 150). */
	shift = (int)exp - 150 - scale;
	if (shift < 0)
		q = round_off(m, -shift);
	else
		q = shift < 32 ? m << shift : m ? 0xffffffff : 0;
	if (q > (uint32_t)limit)
		q = (uint32_t)limit;
	return x >> 31 ? -(int64_t)q : (int64_t)q;
}

/*
 * quantise() for scales at which subnormals vanish and infinities are clamped,
 * with one branch, seldom taken. @base is 189 + scale.
 */
#define QUICK_SCALE_MIN (-125)
#define QUICK_SCALE_MAX 66

static INLINE int64_t quantise_quick(uint32_t x, int base, int32_t limit)
{
	int r = base - (int)(x >> 23 & 0xff);
	int64_t sign = (int32_t)x >> 31;
	uint64_t q;

	if ((unsigned int)r - 1 >= 63)
		return r > 0 ? 0 : quantise(x, base - 189, limit);
	q = round_off((uint64_t)((x & 0x7fffff) | 0x800000) << 39, r);
	if (q > (uint32_t)limit)
		q = (uint32_t)limit;
	return ((int64_t)q ^ sign) - sign;
}

static INLINE int64_t quantise_as(int quick, const float *x, int scale, int32_t limit)
{
	uint32_t bits = trib_bits_at(x);

	return quick ? quantise_quick(bits, scale + 189, limit) : quantise(bits, scale, limit);
}

/* @quick is a constant in each caller, so the loop has no branch on it. */
static INLINE void pack(void *w, const float *x, size_t n, int scale, int32_t limit, int quick)
{
	size_t i;

	for (i = 0; i + 1 < n; i += 2)
		put64(w, i / 2,
		      quantise_as(quick, x + i, scale, limit) +
			      quantise_as(quick, x + i + 1, scale, limit) * (1LL << 32));
	if (i < n)
		put64(w, i / 2, quantise_as(quick, x + i, scale, limit));
}

static void scalar_q32_pack(void *w, const float *x, size_t n, int scale, int32_t limit)
{
	if (scale >= QUICK_SCALE_MIN && scale <= QUICK_SCALE_MAX)
		pack(w, x, n, scale, limit, 1);
	else
		pack(w, x, n, scale, limit, 0);
	pad(w, (n + 1) / 2 * 8, n);
}

/* Paired lanes: lo sign-extended was added to hi * 2^32. */
static INLINE int32_t lane(const void *w, size_t i)
{
	int64_t v = get64(w, i / 2);

	if (!(i & 1))
		return (int32_t)v;
	return (int32_t)(((uint64_t)v - (uint64_t)(int64_t)(int32_t)v) >> 32);
}

static INLINE int bit_length(uint64_t m)
{
	return m ? 64 - __builtin_clzll(m) : 0;
}

/* Bits of the float nearest to +-@m * 2^@e; @m is below 2^63. */
static INLINE uint32_t to_float(int neg, uint64_t m, int e)
{
	int len = bit_length(m), drop;
	uint32_t b;

	/* Keep 24 bits, but none below 2^-149. */
	drop = len - 24;
	if (drop < -149 - e)
		drop = -149 - e;
	if (!m)
		b = 0;
	else if (len + e > 128)
		b = 0x7f800000;
	else if (drop <= 0)
		b = (uint32_t)(m << -drop);
	else
		b = (uint32_t)round_off(m, drop);
	/*
	 * A unit of b is 2^(e + drop). The 24th bit of b adds one to the
	 * exponent; without it the number is a subnormal. A carry adds one,
	 * too, up to infinity.
	 */
	if (m && len + e <= 128)
		b += (uint32_t)(e + drop + 149) << 23;
	return b | (uint32_t)neg << 31;
}

static INLINE void put_float(float *x, int32_t v, uint64_t m, int e)
{
	uint32_t b = to_float(v < 0, m, e);

	memcpy(x, &b, sizeof(b));
}

static INLINE uint64_t magnitude(int32_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* Put the float nearest to @v * 2^@scale; -126 <= @scale <= 95 keeps it normal. */
static INLINE void put_normal(float *x, int32_t v, int scale)
{
	uint32_t m = v < 0 ? -(uint32_t)v : (uint32_t)v, b = 0;
	int zeros;

	if (m) {
		zeros = __builtin_clz(m);
		m <<= zeros;
		/* The 24th bit adds one to the exponent: see to_float(). */
		b = (uint32_t)(((uint64_t)m + 0x7f + (m >> 8 & 1)) >> 8);
		b += (uint32_t)(157 - zeros + scale) << 23;
	}
	trib_bits_put(x, b | ((uint32_t)v & 0x80000000));
}

static void scalar_q32_unpack(float *x, const void *w, size_t n, int scale)
{
	int32_t v;
	size_t i;

	if (scale >= -126 && scale <= 95) {
		for (i = 0; i < n; i++)
			put_normal(x + i, lane(w, i), scale);
		return;
	}
	for (i = 0; i < n; i++) {
		v = lane(w, i);
		put_float(x + i, v, magnitude(v), scale);
	}
}

/* Round 2^*@e / @world to 53 bits; return them and put their exponent in *@e. */
static uint64_t inverse(unsigned int world, int *e)
{
	int k = 52 + bit_length(world);
	uint64_t q, r;

	/* world has at most 11 bits: 2^k fits, and q has 53 or 54 bits. */
	q = (1ULL << k) / world;
	r = (1ULL << k) % world;
	*e -= k;
	if (q >> 53) {
		/* world is a power of two: no remainder. */
		q >>= 1;
		*e += 1;
		return q;
	}
	/* Ties cannot occur: world would be a power of two. */
	return q + (2 * r > world);
}

/*
 * Rounds as doubles do: the inverse to 53 bits, its product with a value to 53
 * bits, and then the float.
 */
static void scalar_q32_unpack_avg(float *x, const void *w, size_t n, int scale, unsigned int world)
{
	uint64_t unit;
	int32_t v;
	size_t i;

	unit = inverse(world, &scale);
	for (i = 0; i < n; i++) {
		unsigned __int128 m;
		int drop = 0;

		v = lane(w, i);
		m = (unsigned __int128)magnitude(v) * unit;
		if (m >> 53) {
			drop = bit_length((uint64_t)(m >> 53));
			m += ((unsigned __int128)1 << (drop - 1)) - 1 + (m >> drop & 1);
			m >>= drop;
		}
		put_float(x + i, v, (uint64_t)m, scale + drop);
	}
}

static void scalar_f32_order(void *w, const float *x, size_t n, int neg)
{
	int64_t v;
	int32_t b;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, &x[i], sizeof(b));
		v = b ^ ((b >> 31) & 0x7fffffff);
		put64(w, i, neg ? -v : v);
	}
	pad(w, n * 8, n * 2);
}

static void scalar_f32_unorder(float *x, const void *w, size_t n, int neg)
{
	int64_t v;
	int32_t b;
	size_t i;

	for (i = 0; i < n; i++) {
		v = get64(w, i);
		b = (int32_t)(neg ? -v : v);
		b ^= (b >> 31) & 0x7fffffff;
		memcpy(&x[i], &b, sizeof(b));
	}
}

static size_t scalar_f32_nan(const float *x, size_t n)
{
	uint32_t b;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, &x[i], sizeof(b));
		if ((b & 0x7fffffff) > 0x7f800000)
			break;
	}
	return i;
}

static void scalar_i32_order(void *w, const int32_t *x, size_t n, int neg)
{
	size_t i;

	for (i = 0; i < n; i++)
		put64(w, i, neg ? -(int64_t)x[i] : (int64_t)x[i]);
	pad(w, n * 8, n * 2);
}

static void scalar_i32_unorder(int32_t *x, const void *w, size_t n, int neg)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = (int32_t)(neg ? -get64(w, i) : get64(w, i));
}

static void scalar_f16_pack(void *w, const float *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		trib_half_put(w, i, trib_f16_of(trib_bits_at(x + i)));
	pad(w, 2 * n, (n + 1) / 2);
}

static void scalar_f16_unpack(float *x, const void *w, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		trib_bits_put(x + i, trib_f16_to(trib_half_at(w, i)));
}

static void scalar_bf16_pack(void *w, const float *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		trib_half_put(w, i, trib_bf16_of(trib_bits_at(x + i)));
	pad(w, 2 * n, (n + 1) / 2);
}

static void scalar_bf16_unpack(float *x, const void *w, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		trib_bits_put(x + i, trib_bf16_to(trib_half_at(w, i)));
}

/* Divide with 32 extra bits and a sticky bit for the remainder, then round. */
static uint32_t divide(uint32_t b, unsigned int world)
{
	uint32_t a = b & 0x7fffffff;
	uint64_t m = a & 0x7fffff;
	int exp = (int)(a >> 23);

	if (a >= 0x7f800000)
		return a > 0x7f800000 ? b | 0x400000 : b;
	if (exp)
		m |= 0x800000;
	else
		exp = 1;
	m <<= 32;
	return to_float(b >> 31, m / world | (m % world != 0), exp - 150 - 32);
}

static void scalar_f32_div(float *x, size_t n, unsigned int world)
{
	size_t i;

	for (i = 0; i < n; i++)
		trib_bits_put(x + i, divide(trib_bits_at(x + i), world));
}

const struct trib_codec trib_codec_scalar = {
	.name = "scalar",
	.amax = scalar_amax,
	.q32_pack = scalar_q32_pack,
	.q32_unpack = scalar_q32_unpack,
	.q32_unpack_avg = scalar_q32_unpack_avg,
	.f32_order = scalar_f32_order,
	.f32_unorder = scalar_f32_unorder,
	.f32_nan = scalar_f32_nan,
	.i32_order = scalar_i32_order,
	.i32_unorder = scalar_i32_unorder,
	.f16_pack = scalar_f16_pack,
	.f16_unpack = scalar_f16_unpack,
	.bf16_pack = scalar_bf16_pack,
	.bf16_unpack = scalar_bf16_unpack,
	.f32_div = scalar_f32_div,
};
