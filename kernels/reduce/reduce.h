/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reductions of whole arrays: the arithmetic of peers. out = a op b, for every type
 * and operation of libtrib.
 *
 * All instruction sets give the same bits, whatever the caller's floating-point
 * environment is:
 *
 *  - f32 and f64 round to nearest even at each step, and keep denormals.
 *  - f16 and bf16 are computed in fp32 and rounded to nearest even at each step, as
 *    kernels/half.h does.
 *  - Integers wrap.
 *  - A NaN among the operands is the result, made quiet; of two NaNs, that of @a. The
 *    payload survives, in f16 and bf16 too. Inf - Inf and 0 * Inf give the NaN
 *    0xffc00000, and its like in the other types.
 *  - MAX and MIN: of +0 and -0, +0 is the larger.
 *
 * So SUM and PROD of two values are the same bits in either order, unless both are
 * NaNs.
 *
 * No pointer needs alignment. Arrays must not overlap, except that @out may be @a or
 * @b. Nothing outside the arrays is read or written. No state, no locks.
 */
#ifndef TRIB_REDUCE_H
#define TRIB_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* Numbered as in libtrib's enum trib_dtype. */
enum trib_reduce_type {
	TRIB_REDUCE_F32 = 0,
	TRIB_REDUCE_I32 = 1,
	TRIB_REDUCE_F16 = 2,
	TRIB_REDUCE_BF16 = 3,
	TRIB_REDUCE_F64 = 4,
	TRIB_REDUCE_TYPE__MAX,
};

/* Numbered as in libtrib's enum trib_op, without AVG (1 is not used). */
enum trib_reduce_op {
	TRIB_REDUCE_SUM = 0,
	TRIB_REDUCE_MAX = 2,
	TRIB_REDUCE_MIN = 3,
	TRIB_REDUCE_PROD = 4,
	TRIB_REDUCE_OP__MAX,
};

/** trib_reduce_size() - bytes of an element; 0: no such type */
size_t trib_reduce_size(unsigned int type);

/**
 * trib_reduce_fn - out[i] = a[i] op b[i], for @n elements
 */
typedef void (*trib_reduce_fn)(void *out, const void *a, const void *b, size_t n);

/**
 * trib_reduce() - the fastest function of this CPU
 * Return: NULL if there is no such type or operation.
 */
trib_reduce_fn trib_reduce(unsigned int type, unsigned int op);

/** trib_reduce_scalar() - the same, by plain C; for tests and as the definition */
trib_reduce_fn trib_reduce_scalar(unsigned int type, unsigned int op);

/**
 * trib_average_fn - out[i] = (a[i] + b[i]) / @world, for the last addition of an average
 * @b:     NULL: only divide.
 * @world: from 1 to 2^24, so that it is a float exactly.
 *
 * f32 and f64: the correctly rounded sum is divided by @world, correctly rounded; f16
 * and bf16: both in fp32, rounded to the type once. I32 has no average.
 */
typedef void (*trib_average_fn)(void *out, const void *a, const void *b, size_t n,
				unsigned int world);

/**
 * trib_average() - the fastest function of this CPU
 * Return: NULL if there is no such type, or it has no average.
 */
trib_average_fn trib_average(unsigned int type);

/** trib_average_scalar() - the same, by plain C */
trib_average_fn trib_average_scalar(unsigned int type);

#endif /* TRIB_REDUCE_H */
