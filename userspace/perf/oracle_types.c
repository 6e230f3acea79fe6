// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of the types and operations that only peers have: f16, bf16, f64, and products
 * of all types. Each algorithm adds in an order of its own, the same each time; the bounds
 * here hold for any order. A chain or tree of n values rounds n - 1 times, each time by a
 * relative error of u at most, so a sum is off by
 *
 *	((1 + u)^(n - 1) - 1) * sum of magnitudes
 *
 * at most, and an average by half an ulp more. Of a product only factors with a mantissa
 * make roundings: FRACTIONS of them, the others are +-1 and +-2^+-1. Products of integers,
 * largest and smallest values are exact.
 *
 * Right results are formed as long double, whose error is far below those bounds.
 */
#include <math.h>
#include <string.h>

#include "oracle_own.h"

/* Ranks whose factor of an element has a mantissa; ranks with one that is not +-1. */
#define FRACTIONS 4
#define POWERS 6

/**
 * struct format - of floats
 * @bits:  of the significand, with the one that is not stored. @exponent: of the exponent.
 * @range: inputs are within 2^-range to 2^range.
 */
struct format {
	int bits;
	int exponent;
	int range;
};

static const struct format formats[] = {
	[TRIB_F32] = {24, 8, 30}, [TRIB_I32] = {32, 0, 0},   [TRIB_F16] = {11, 5, 4},
	[TRIB_BF16] = {8, 8, 30}, [TRIB_F64] = {53, 11, 30},
};

size_t oracle_size(enum trib_dtype dtype)
{
	return dtype == TRIB_F64 ? 8 : dtype == TRIB_F16 || dtype == TRIB_BF16 ? 2 : 4;
}

bool oracle_is_typed(const struct oracle *o)
{
	return o->dtype > TRIB_I32 || o->op == TRIB_PROD;
}

/* --- elements */

static int bias_of(const struct format *f)
{
	return (1 << (f->exponent - 1)) - 1;
}

/* The bits of a value that the format has exactly. */
static uint64_t encode(const struct format *f, double v)
{
	uint64_t sign = (uint64_t)(signbit(v) != 0) << (f->bits + f->exponent - 1);
	int e;
	double m = frexp(fabs(v), &e); /* m * 2^e, m from 1/2 on */

	if (m == 0)
		return sign;
	e += bias_of(f) - 1;
	if (e < 1) { /* denormal */
		m = ldexp(m, e - 1);
		e = 0;
		return sign | (uint64_t)ldexp(m, f->bits);
	}
	return sign | ((uint64_t)e << (f->bits - 1)) |
	       ((uint64_t)ldexp(m, f->bits) - (1ULL << (f->bits - 1)));
}

static double decode(const struct format *f, uint64_t w)
{
	uint64_t m = w & ((1ULL << (f->bits - 1)) - 1);
	int top = (1 << f->exponent) - 1, e = (int)(w >> (f->bits - 1)) & top;
	double v;

	if (e == top)
		v = m ? (double)NAN : (double)INFINITY;
	else
		v = ldexp((double)(e ? m | 1ULL << (f->bits - 1) : m),
			  (e ? e : 1) - bias_of(f) - f->bits + 1);
	return w >> (f->bits + f->exponent - 1) & 1 ? -v : v;
}

static void put(enum trib_dtype d, void *out, size_t i, double v)
{
	uint64_t w = d == TRIB_I32 ? (uint32_t)(int64_t)v : encode(&formats[d], v);

	switch (oracle_size(d)) {
	case 2:
		((uint16_t *)out)[i] = (uint16_t)w;
		break;
	case 4:
		((uint32_t *)out)[i] = (uint32_t)w;
		break;
	default:
		((uint64_t *)out)[i] = w;
	}
}

static double get(enum trib_dtype d, const void *in, size_t i)
{
	switch (oracle_size(d)) {
	case 2:
		return decode(&formats[d], ((const uint16_t *)in)[i]);
	case 4:
		return d == TRIB_I32 ? ((const int32_t *)in)[i]
				     : decode(&formats[d], ((const uint32_t *)in)[i]);
	default:
		return decode(&formats[d], ((const uint64_t *)in)[i]);
	}
}

/* --- inputs */

/* Random bits, as many as a significand has, the lowest and highest one set. */
static double mantissa(const struct format *f, uint32_t key, size_t i)
{
	uint64_t h = (uint64_t)oracle_mix(key, (uint32_t)i) << 32 | oracle_mix(~key, (uint32_t)i);

	h = h >> (64 - f->bits) | 1ULL << (f->bits - 1) | 1;
	return ldexp((double)h, 1 - f->bits);
}

/* Exponent of the values around element @i: it wanders. Return: false: they are zeros. */
static bool exponent(const struct format *f, size_t i, int *e)
{
	unsigned int k = (unsigned int)(i / ORACLE_BLOCK / ORACLE_BINADE_BLOCKS);
	unsigned int at = k % (4 * (unsigned int)f->range);

	*e = (int)at < 2 * f->range ? (int)at - f->range : 3 * f->range - (int)at;
	return k % ORACLE_ZERO_EVERY != ORACLE_ZERO_EVERY - 1;
}

static double addend(const struct oracle *o, uint32_t key, size_t i)
{
	const struct format *f = &formats[o->dtype];
	uint32_t h = oracle_mix(key ^ 0x5bd1e995, (uint32_t)i);
	double v;
	int e;

	if (!exponent(f, i, &e))
		return 0;
	v = ldexp(mantissa(f, key, i), e);
	return h & 1 ? -v : v;
}

/* The distance of a rank from the one where an element's special factors begin. */
static unsigned int distance(const struct oracle *o, unsigned int rank, size_t i, unsigned int salt)
{
	return (rank + oracle_mix(oracle_key(o->seed, 4096 + salt), (uint32_t)i)) % o->world;
}

static double factor(const struct oracle *o, unsigned int rank, uint32_t key, size_t i)
{
	uint32_t h = oracle_mix(key ^ 0x5bd1e995, (uint32_t)i);
	unsigned int power = distance(o, rank, i, 0);
	double v = 1;

	if (o->dtype == TRIB_I32) /* odd: no product becomes 0 */
		return (int32_t)(oracle_mix(key, (uint32_t)i) | 1);
	if (distance(o, rank, i, 1) < FRACTIONS)
		v = mantissa(&formats[o->dtype], key, i);
	if (power < POWERS)
		v *= power % 2 ? 2 : 0.5;
	return h & 1 ? -v : v;
}

static double input(const struct oracle *o, unsigned int rank, size_t i)
{
	uint32_t key = oracle_key(o->seed, rank);

	return o->op == TRIB_PROD ? factor(o, rank, key, i) : addend(o, key, i);
}

void oracle_typed_fill(const struct oracle *o, unsigned int rank, size_t first, size_t n, void *out)
{
	for (size_t i = 0; i < n; i++)
		put(o->dtype, out, i, input(o, rank, first + i));
}

/* --- right results */

/* The relative error of a message's sums or products. */
static long double roundings(const struct oracle *o)
{
	unsigned int n = o->world;

	if (o->dtype == TRIB_I32 || o->op == TRIB_MAX || o->op == TRIB_MIN)
		return 0;
	if (o->op == TRIB_PROD && n > FRACTIONS)
		n = FRACTIONS;
	return (powl(1 + ldexpl(1, -formats[o->dtype].bits), (long double)n - 1) - 1) *
	       (1 + 0x1p-8L);
}

/* The sum; *@size is that of magnitudes. */
static long double right_sum(const struct oracle *o, size_t i, long double *size)
{
	long double sum = 0;
	double v;

	*size = 0;
	for (unsigned int r = 0; r < o->world; r++) {
		v = input(o, r, i);
		sum += v;
		*size += fabs(v);
	}
	return sum;
}

static long double right_product(const struct oracle *o, size_t i, long double *size)
{
	uint32_t wrapped = 1;
	long double p = 1;

	for (unsigned int r = 0; r < o->world; r++) {
		if (o->dtype == TRIB_I32)
			wrapped *= (uint32_t)(int32_t)input(o, r, i);
		else
			p *= input(o, r, i);
	}
	*size = fabsl(p);
	return o->dtype == TRIB_I32 ? (int32_t)wrapped : p;
}

static double right_extreme(const struct oracle *o, size_t i)
{
	double best = input(o, 0, i), v;

	for (unsigned int r = 1; r < o->world; r++) {
		v = input(o, r, i);
		if (o->op == TRIB_MAX ? v > best : v < best)
			best = v;
	}
	return best;
}

/* The right result, before it is divided; its error is relative to *@size. */
static long double right_of(const struct oracle *o, size_t i, long double *size)
{
	*size = 0;
	if (o->op == TRIB_PROD)
		return right_product(o, i, size);
	if (o->op == TRIB_MAX || o->op == TRIB_MIN)
		return right_extreme(o, i);
	return right_sum(o, i, size);
}

/* Half the distance between values of the type around @v. */
static long double half_ulp(enum trib_dtype d, double v)
{
	const struct format *f = &formats[d];
	int e, least = 2 - bias_of(f) - f->bits;

	if (!isfinite(v))
		return 0;
	frexp(v, &e);
	e -= f->bits;
	return ldexpl(1, (e < least ? least : e) - 1);
}

void oracle_typed_check(const struct oracle *o, size_t first, size_t n, const void *got,
			struct oracle_report *rep)
{
	long double div = o->op == TRIB_AVG ? o->world : 1, relative = roundings(o);

	for (size_t i = 0; i < n; i++) {
		long double size, want = right_of(o, first + i, &size), bound = size * relative;
		double have = get(o->dtype, got, i);

		/* f16 and bf16 are divided as floats first. */
		if (o->op == TRIB_AVG)
			bound += half_ulp(o->dtype, have) * div * (1 + 0x1p-8L);
		/* Negated, so that a NaN does not pass. */
		if (!(fabsl(have * div - want) <= bound))
			oracle_note(rep, first + i, have, (double)(want / div),
				    (double)(bound / div));
	}
}

void oracle_typed_check_copy(const struct oracle *o, unsigned int rank, size_t first, size_t n,
			     const void *got, struct oracle_report *rep)
{
	size_t size = oracle_size(o->dtype);
	uint64_t want[1];

	for (size_t i = 0; i < n; i++) {
		put(o->dtype, want, 0, input(o, rank, first + i));
		if (memcmp(want, (const char *)got + i * size, size))
			oracle_note(rep, first + i, get(o->dtype, got, i), get(o->dtype, want, 0),
				    0);
	}
}
