// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reductions of every type, operation and level against an oracle that computes in
 * more bits: double for floats of up to 32 bits, __float128 for f64. That rounds
 * twice, with the same result as rounding once: both have more than twice the bits
 * plus two (Figueroa). Products are exact in them.
 */
#include <xmmintrin.h>

#include "kernels/reduce/reduce_levels.h"
#include "tests/lib/sum_oracle.h"

#define F32_DEFAULT_NAN 0xffc00000U
#define F64_DEFAULT_NAN 0xfff8000000000000ULL

static const struct {
	const char *name;
	unsigned int size;
} types[TRIB_REDUCE_TYPE__MAX] = {
	[TRIB_REDUCE_F32] = {"f32", 4}, [TRIB_REDUCE_I32] = {"i32", 4},
	[TRIB_REDUCE_F16] = {"f16", 2}, [TRIB_REDUCE_BF16] = {"bf16", 2},
	[TRIB_REDUCE_F64] = {"f64", 8},
};

/* The operations, and the average as one more. */
#define AVERAGE TRIB_REDUCE_OP__MAX
#define HALVE (AVERAGE + 1) /* an average without the second operand */
static const unsigned int ops[] = {TRIB_REDUCE_SUM,  TRIB_REDUCE_MAX, TRIB_REDUCE_MIN,
				   TRIB_REDUCE_PROD, AVERAGE,	      HALVE};
#define NOPS (sizeof(ops) / sizeof(ops[0]))

enum place { APART, IN_A, IN_B, NPLACES };

static struct area area_a, area_b, area_out, want_a, want_b, want_out;

static double double_of(uint64_t b)
{
	double d;

	memcpy(&d, &b, sizeof(d));
	return d;
}

static uint64_t double_bits(double d)
{
	uint64_t b;

	memcpy(&b, &d, sizeof(b));
	return b;
}

static bool f64_nan(uint64_t b)
{
	return (b << 1) > 0xffe0000000000000ULL;
}

static uint32_t f32_round(double d)
{
	uint32_t b = float_bits((float)d);

	return f32_nan(b) ? F32_DEFAULT_NAN : b;
}

/* Numbers in the order of floats, -0 below +0. */
static int64_t f32_rank(uint32_t b)
{
	return b >> 31 ? -1 - (int64_t)(b & 0x7fffffff) : (int64_t)b;
}

static __int128 f64_rank(uint64_t b)
{
	return b >> 63 ? -1 - (__int128)(b & ~(1ULL << 63)) : (__int128)b;
}

static uint32_t f32_want(unsigned int op, uint32_t a, uint32_t b, unsigned int world)
{
	uint32_t sum;

	if (f32_nan(a))
		return a | 1 << 22;
	if (op == HALVE)
		return f32_round((double)float_of(a) / world);
	if (f32_nan(b))
		return b | 1 << 22;
	if (op == TRIB_REDUCE_MAX)
		return f32_rank(a) > f32_rank(b) ? a : b;
	if (op == TRIB_REDUCE_MIN)
		return f32_rank(a) < f32_rank(b) ? a : b;
	if (op == TRIB_REDUCE_PROD)
		return f32_round((double)float_of(a) * (double)float_of(b));
	sum = f32_round((double)float_of(a) + (double)float_of(b));
	if (op == TRIB_REDUCE_SUM || f32_nan(sum))
		return sum;
	return f32_round((double)float_of(sum) / world);
}

static uint64_t f64_round(__float128 q)
{
	uint64_t b = double_bits((double)q);

	return f64_nan(b) ? F64_DEFAULT_NAN : b;
}

static uint64_t f64_want(unsigned int op, uint64_t a, uint64_t b, unsigned int world)
{
	uint64_t sum;

	if (f64_nan(a))
		return a | 1ULL << 51;
	if (op == HALVE)
		return f64_round((__float128)double_of(a) / world);
	if (f64_nan(b))
		return b | 1ULL << 51;
	if (op == TRIB_REDUCE_MAX)
		return f64_rank(a) > f64_rank(b) ? a : b;
	if (op == TRIB_REDUCE_MIN)
		return f64_rank(a) < f64_rank(b) ? a : b;
	if (op == TRIB_REDUCE_PROD)
		return f64_round((__float128)double_of(a) * (__float128)double_of(b));
	sum = f64_round((__float128)double_of(a) + (__float128)double_of(b));
	if (op == TRIB_REDUCE_SUM || f64_nan(sum))
		return sum;
	return f64_round((__float128)double_of(sum) / world);
}

static uint32_t i32_want(unsigned int op, uint32_t a, uint32_t b)
{
	int64_t x = (int32_t)a, y = (int32_t)b;

	if (op == TRIB_REDUCE_SUM)
		return (uint32_t)(uint64_t)(x + y);
	if (op == TRIB_REDUCE_PROD)
		return (uint32_t)(uint64_t)(x * y);
	if (op == TRIB_REDUCE_MAX)
		return x >= y ? a : b;
	return x <= y ? a : b;
}

static uint64_t want(unsigned int type, unsigned int op, uint64_t a, uint64_t b, unsigned int world)
{
	switch (type) {
	case TRIB_REDUCE_F64:
		return f64_want(op, a, b, world);
	case TRIB_REDUCE_I32:
		return i32_want(op, (uint32_t)a, (uint32_t)b);
	case TRIB_REDUCE_F16:
		return oracle_f16_narrow(f32_want(op, oracle_f16_widen((uint16_t)a),
						  oracle_f16_widen((uint16_t)b), world));
	case TRIB_REDUCE_BF16:
		return oracle_bf16_narrow(
			f32_want(op, (uint32_t)a << 16, (uint32_t)b << 16, world));
	default:
		return f32_want(op, (uint32_t)a, (uint32_t)b, world);
	}
}

static uint64_t get(unsigned int type, const void *p, size_t i)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)p + i * types[type].size, types[type].size);
	return v;
}

static void put(unsigned int type, void *p, size_t i, uint64_t v)
{
	memcpy((char *)p + i * types[type].size, &v, types[type].size);
}

/* A double whose interest is where that of the float @b is. */
static uint64_t widen(uint32_t b)
{
	uint64_t sign = (uint64_t)(b >> 31) << 63, e = b >> 23 & 0xff, m = b & 0x7fffff;

	if (e == 0xff) /* Inf, or a NaN with a payload at both ends */
		return sign | 0x7ffULL << 52 | (m ? m << 29 | 1 : 0);
	if (!e)
		return sign | m << (rnd() % 30);
	return sign |
	       (e < 100	  ? e
		: e > 150 ? 2046 - (254 - e)
			  : e + 896)
		       << 52 |
	       m << 29 | (rnd() & 1 ? rnd() & 0x1fffffff : rnd() & 1);
}

/* Values at all edges, the second often a partner of the first (sum_oracle.h). */
static void any_pair(unsigned int type, uint64_t *a, uint64_t *b)
{
	uint32_t x = any_float(), y = partner(x);

	if (type == TRIB_REDUCE_F64) {
		*a = widen(x);
		*b = rnd() % 4 ? widen(y) : (*a ^ 1ULL << 63) + rnd() % 5 - 2;
	} else if (type == TRIB_REDUCE_F16 || type == TRIB_REDUCE_BF16) {
		bool f16 = type == TRIB_REDUCE_F16;

		*a = f16 ? oracle_f16_narrow(x) : oracle_bf16_narrow(x);
		*b = f16 ? oracle_f16_narrow(y) : oracle_bf16_narrow(y);
		/* Narrowing makes no signalling NaN, and few denormals. */
		if (rnd() & 1)
			*a = (uint16_t)rnd();
		if (rnd() & 1)
			*b = rnd() & 1 ? (uint16_t)rnd() : (*a ^ 0x8000) + rnd() % 3;
		*b = (uint16_t)*b;
	} else {
		*a = x;
		*b = y;
	}
}

static void call(const struct trib_reduce_table *t, unsigned int type, unsigned int op, void *out,
		 const void *a, const void *b, size_t n, unsigned int world)
{
	if (op == HALVE)
		t->average[type](out, a, NULL, n, world);
	else if (op == AVERAGE)
		t->average[type](out, a, b, n, world);
	else
		t->reduce[type][op](out, a, b, n);
}

static unsigned int any_world(void)
{
	static const unsigned int worlds[] = {1, 2, 3, 7, 64, 1000, 16777213, 1 << 24};

	return worlds[rnd() % (sizeof(worlds) / sizeof(worlds[0]))];
}

/* One call; all memory around is compared afterwards. */
static bool one(const struct trib_reduce_table *t, unsigned int type, unsigned int op, size_t n,
		enum place place)
{
	size_t size = types[type].size, off[3], i;
	unsigned int world = any_world();
	unsigned char *a, *b, *out;
	uint64_t x, y;

	for (i = 0; i < 3; i++)
		off[i] = rnd() & 1 ? rnd() % 64 : 0;
	a = area_at(&area_a, n * size, off[0]);
	b = area_at(&area_b, n * size, off[1]);
	out = area_at(&area_out, n * size, off[2]);
	for (i = 0; i < n; i++) {
		any_pair(type, &x, &y);
		put(type, a, i, x);
		put(type, b, i, y);
	}
	out = place == IN_A ? a : place == IN_B ? b : out;
	memcpy(want_a.base, area_a.base, AREA);
	memcpy(want_b.base, area_b.base, AREA);
	memcpy(want_out.base, area_out.base, AREA);
	for (i = 0; i < n; i++) {
		x = want(type, op, get(type, a, i), get(type, b, i), world);
		put(type,
		    place == IN_A   ? want_a.base + (a - area_a.base)
		    : place == IN_B ? want_b.base + (b - area_b.base)
				    : want_out.base + (out - area_out.base),
		    i, x);
	}
	call(t, type, op, out, a, b, n, world);
	if (area_same(&area_a, &want_a) && area_same(&area_b, &want_b) &&
	    area_same(&area_out, &want_out))
		return true;
	printf("# %s %s op %u n %zu place %d world %u\n", t->name, types[type].name, op, n, place,
	       world);
	return false;
}

#define each_table(t)                                                                              \
	for (int l_ = 0; l_ < TRIB_REDUCE_LEVEL__MAX; l_++)                                        \
		if (((t) = trib_reduce_table((enum trib_reduce_level)l_)))

static bool exists(unsigned int type, unsigned int op)
{
	return type != TRIB_REDUCE_I32 || op < AVERAGE;
}

/* Each length of up to five vectors, and a long one. */
static void everywhere(unsigned int op, enum place place)
{
	const struct trib_reduce_table *t;
	unsigned int type, n, i;

	each_table(t)
	{
		for (type = 0; type < TRIB_REDUCE_TYPE__MAX; type++) {
			if (!exists(type, op))
				continue;
			for (n = 0; n <= 81; n++)
				for (i = 0; i < 4; i++)
					if (!expect(one(t, type, op, n < 81 ? n : 1013, place)))
						return;
		}
	}
}

static void all_ops(enum place place)
{
	size_t i;

	for (i = 0; i < NOPS; i++)
		if (ops[i] != HALVE || place != IN_B)
			everywhere(ops[i], place);
}

static void reduce__every_length_and_alignment(void)
{
	all_ops(APART);
}

static void reduce__in_place_of_the_first(void)
{
	all_ops(IN_A);
}

static void reduce__in_place_of_the_second(void)
{
	all_ops(IN_B);
}

/* The specials of a type: those of f32, with both signs, in its own bits. */
static size_t specials_of(unsigned int type, uint64_t *v)
{
	size_t n = 0, i;
	uint32_t b;

	for (i = 0; i < 2 * NSPECIALS; i++) {
		b = specials[i / 2] | (uint32_t)(i & 1) << 31;
		if (type == TRIB_REDUCE_F64)
			v[n++] = widen(b);
		else if (type == TRIB_REDUCE_F16)
			v[n++] = oracle_f16_narrow(b);
		else
			v[n++] = type == TRIB_REDUCE_BF16 ? b >> 16 : b;
		if (type == TRIB_REDUCE_F16 && f32_nan(b))
			v[n++] = 0x7c01 | (b >> 16 & 0x8000); /* signalling */
	}
	return n;
}

/* Everything against everything, @v[0..m). */
static bool pairs(const struct trib_reduce_table *t, unsigned int type, unsigned int op,
		  const uint64_t *v, size_t m)
{
	static unsigned char a[16 * NSPECIALS * NSPECIALS * 8], b[sizeof(a)], out[sizeof(a)];
	size_t n = m * m, i;
	uint64_t w;

	for (i = 0; i < n; i++) {
		put(type, a, i, v[i / m]);
		put(type, b, i, v[i % m]);
	}
	call(t, type, op, out, a, b, n, 3);
	for (i = 0; i < n; i++) {
		w = want(type, op, v[i / m], v[i % m], 3);
		if (get(type, out, i) == w)
			continue;
		printf("# %s %s op %u: %llx, %llx gives %llx, not %llx\n", t->name,
		       types[type].name, op, (long long)v[i / m], (long long)v[i % m],
		       (long long)get(type, out, i), (long long)w);
		return false;
	}
	return true;
}

static void reduce__all_pairs_of_specials(void)
{
	const struct trib_reduce_table *t;
	uint64_t v[4 * NSPECIALS];
	unsigned int type, o;
	size_t m;

	for (type = 0; type < TRIB_REDUCE_TYPE__MAX; type++) {
		m = specials_of(type, v);
		for (o = 0; o < NOPS; o++)
			each_table(t)
			{
				if (exists(type, ops[o]))
					expect(pairs(t, type, ops[o], v, m));
			}
	}
}

/* Flush to zero, denormals are zero, round up: as training programs may set. */
static void reduce__any_floating_point_environment(void)
{
	const unsigned int odd = 0x1f80 | 1 << 15 | 1 << 6 | 2 << 13, own = _mm_getcsr();
	static unsigned char a[8192], b[8192], x[8192], y[8192];
	const struct trib_reduce_table *t;
	unsigned int type, o, after;
	uint64_t v, w;
	size_t i;

	each_table(t)
	{
		for (type = 0; type < TRIB_REDUCE_TYPE__MAX; type++)
			for (o = 0; o < NOPS; o++) {
				if (!exists(type, ops[o]))
					continue;
				for (i = 0; i < 1021; i++) {
					any_pair(type, &v, &w);
					put(type, a, i, v);
					put(type, b, i, w);
				}
				call(t, type, ops[o], x, a, b, 1021, 7);
				_mm_setcsr(odd);
				call(t, type, ops[o], y, a, b, 1021, 7);
				after = _mm_getcsr();
				_mm_setcsr(own);
				expect_eq(after & ~0x3fU, odd);
				expect(!memcmp(x, y, 1021 * types[type].size));
			}
	}
}

/* The named functions are those of the best level, and of the scalar one. */
static void choice__numbers_without_a_function(void)
{
	const struct trib_reduce_table *t, *best = NULL;
	unsigned int type, op;

	each_table(t) best = t;
	for (type = 0; type < TRIB_REDUCE_TYPE__MAX + 2; type++) {
		bool is = type < TRIB_REDUCE_TYPE__MAX, divides = is && type != TRIB_REDUCE_I32;

		expect_eq(trib_reduce_size(type), is ? types[type].size : 0);
		for (op = 0; op < TRIB_REDUCE_OP__MAX + 2; op++) {
			bool has = is && op != 1 && op < TRIB_REDUCE_OP__MAX;

			expect(trib_reduce(type, op) == (has ? best->reduce[type][op] : NULL));
			expect(trib_reduce_scalar(type, op) ==
			       (has ? trib_reduce_table_scalar.reduce[type][op] : NULL));
			expect(!has || trib_reduce(type, op));
		}
		expect(trib_average(type) == (divides ? best->average[type] : NULL));
		expect(trib_average_scalar(type) ==
		       (divides ? trib_reduce_table_scalar.average[type] : NULL));
		expect(!divides || trib_average(type));
	}
	expect(!trib_reduce_table(TRIB_REDUCE_LEVEL__MAX));
}

int main(void)
{
	const struct trib_reduce_table *t;

	area_make(&area_a);
	area_make(&area_b);
	area_make(&area_out);
	area_make(&want_a);
	area_make(&want_b);
	area_make(&want_out);
	each_table(t) printf("# level %s\n", t->name);
	run(reduce__every_length_and_alignment);
	run(reduce__in_place_of_the_first);
	run(reduce__in_place_of_the_second);
	run(reduce__all_pairs_of_specials);
	run(reduce__any_floating_point_environment);
	run(choice__numbers_without_a_function);
	return tap_done();
}
