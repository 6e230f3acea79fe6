// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One value at a time, in plain C: the definition. NaNs and zeros are told apart by
 * their bits, since a compiler may swap the operands of a float operation.
 */
#include <string.h>

#include "kernels/codec/codec_fp.h"
#include "kernels/half.h"
#include "reduce_levels.h"

#define F32_INF 0x7f800000U
#define F32_QUIET 0x00400000U
#define F32_NAN 0xffc00000U
#define F64_INF 0x7ff0000000000000ULL
#define F64_QUIET 0x0008000000000000ULL
#define F64_NAN 0xfff8000000000000ULL

TRIB_REDUCE_EACH int f32_is_nan(uint32_t b)
{
	return (b & ~(1U << 31)) > F32_INF;
}

TRIB_REDUCE_EACH int f64_is_nan(uint64_t b)
{
	return (b & ~(1ULL << 63)) > F64_INF;
}

TRIB_REDUCE_EACH uint32_t f32_made(float f)
{
	uint32_t b;

	memcpy(&b, &f, sizeof(b));
	return f32_is_nan(b) ? F32_NAN : b;
}

TRIB_REDUCE_EACH uint64_t f64_made(double d)
{
	uint64_t b;

	memcpy(&b, &d, sizeof(b));
	return f64_is_nan(b) ? F64_NAN : b;
}

TRIB_REDUCE_EACH uint32_t f32_op(enum trib_reduce_op op, uint32_t a, uint32_t b)
{
	float x, y;

	if (f32_is_nan(a))
		return a | F32_QUIET;
	if (f32_is_nan(b))
		return b | F32_QUIET;
	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	if (op == TRIB_REDUCE_SUM)
		return f32_made(x + y);
	if (op == TRIB_REDUCE_PROD)
		return f32_made(x * y);
	/* Equal, but for the sign of a zero. */
	if (x == y)
		return op == TRIB_REDUCE_MAX ? a & b : a | b;
	return (x > y) == (op == TRIB_REDUCE_MAX) ? a : b;
}

TRIB_REDUCE_EACH uint64_t f64_op(enum trib_reduce_op op, uint64_t a, uint64_t b)
{
	double x, y;

	if (f64_is_nan(a))
		return a | F64_QUIET;
	if (f64_is_nan(b))
		return b | F64_QUIET;
	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	if (op == TRIB_REDUCE_SUM)
		return f64_made(x + y);
	if (op == TRIB_REDUCE_PROD)
		return f64_made(x * y);
	if (x == y)
		return op == TRIB_REDUCE_MAX ? a & b : a | b;
	return (x > y) == (op == TRIB_REDUCE_MAX) ? a : b;
}

TRIB_REDUCE_EACH uint32_t i32_op(enum trib_reduce_op op, uint32_t a, uint32_t b)
{
	if (op == TRIB_REDUCE_SUM)
		return a + b;
	if (op == TRIB_REDUCE_PROD)
		return a * b;
	return ((int32_t)a > (int32_t)b) == (op == TRIB_REDUCE_MAX) ? a : b;
}

/* Bits of the float that equals a value of @type; of I32, the integer. */
TRIB_REDUCE_EACH uint32_t load(enum trib_reduce_type type, const void *p, size_t i)
{
	uint32_t b;

	if (type == TRIB_REDUCE_F16)
		return trib_f16_to(trib_half_at(p, i));
	if (type == TRIB_REDUCE_BF16)
		return trib_bf16_to(trib_half_at(p, i));
	memcpy(&b, (const char *)p + i * sizeof(b), sizeof(b));
	return b;
}

TRIB_REDUCE_EACH void store(enum trib_reduce_type type, void *p, size_t i, uint32_t b)
{
	if (type == TRIB_REDUCE_F16)
		trib_half_put(p, i, trib_f16_of(b));
	else if (type == TRIB_REDUCE_BF16)
		trib_half_put(p, i, trib_bf16_of(b));
	else
		memcpy((char *)p + i * sizeof(b), &b, sizeof(b));
}

TRIB_REDUCE_EACH uint64_t load_64(const void *p, size_t i)
{
	uint64_t b;

	memcpy(&b, (const char *)p + i * sizeof(b), sizeof(b));
	return b;
}

TRIB_REDUCE_EACH void store_64(void *p, size_t i, uint64_t b)
{
	memcpy((char *)p + i * sizeof(b), &b, sizeof(b));
}

TRIB_REDUCE_EACH void do_reduce(enum trib_reduce_type type, enum trib_reduce_op op, void *out,
				const void *a, const void *b, size_t n)
{
	__auto_type fp = trib_fp_enter();
	uint32_t x, y;
	size_t i;

	for (i = 0; i < n; i++) {
		if (type == TRIB_REDUCE_F64) {
			store_64(out, i, f64_op(op, load_64(a, i), load_64(b, i)));
			continue;
		}
		x = load(type, a, i);
		y = load(type, b, i);
		store(type, out, i, type == TRIB_REDUCE_I32 ? i32_op(op, x, y) : f32_op(op, x, y));
	}
	trib_fp_leave(fp);
}

TRIB_REDUCE_EACH uint32_t f32_divide(uint32_t a, float by)
{
	float x;

	if (f32_is_nan(a))
		return a | F32_QUIET;
	memcpy(&x, &a, sizeof(x));
	return f32_made(x / by);
}

TRIB_REDUCE_EACH uint64_t f64_divide(uint64_t a, double by)
{
	double x;

	if (f64_is_nan(a))
		return a | F64_QUIET;
	memcpy(&x, &a, sizeof(x));
	return f64_made(x / by);
}

TRIB_REDUCE_EACH void do_average(enum trib_reduce_type type, void *out, const void *a,
				 const void *b, size_t n, unsigned int world)
{
	__auto_type fp = trib_fp_enter();
	uint64_t w;
	uint32_t v;
	size_t i;

	for (i = 0; i < n; i++) {
		if (type == TRIB_REDUCE_F64) {
			w = load_64(a, i);
			if (b)
				w = f64_op(TRIB_REDUCE_SUM, w, load_64(b, i));
			store_64(out, i, f64_divide(w, world));
			continue;
		}
		v = load(type, a, i);
		if (b)
			v = f32_op(TRIB_REDUCE_SUM, v, load(type, b, i));
		store(type, out, i, f32_divide(v, (float)world));
	}
	trib_fp_leave(fp);
}

TRIB_REDUCE_ALL_FUNCTIONS

const struct trib_reduce_table trib_reduce_table_scalar = TRIB_REDUCE_TABLE("scalar");
