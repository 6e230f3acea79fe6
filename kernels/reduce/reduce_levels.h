/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The levels, one per instruction set: reduce.c chooses one. Macros here make a
 * level's functions from two of its own, which take type and operation as constants:
 *
 *	do_reduce(type, op, out, a, b, n)
 *	do_average(type, out, a, b, n, world)
 */
#ifndef TRIB_REDUCE_LEVELS_H
#define TRIB_REDUCE_LEVELS_H

#include "reduce.h"

enum trib_reduce_level {
	TRIB_REDUCE_SCALAR = 0,
	TRIB_REDUCE_AVX2 = 1,
	TRIB_REDUCE_AVX512 = 2,
	TRIB_REDUCE_LEVEL__MAX,
};

/**
 * struct trib_reduce_table - one level
 * @name:    "scalar", "avx2", "avx512".
 * @reduce:  by type and operation; NULL for a number that is no operation.
 * @average: by type; NULL for I32.
 */
struct trib_reduce_table {
	const char *name;
	trib_reduce_fn reduce[TRIB_REDUCE_TYPE__MAX][TRIB_REDUCE_OP__MAX];
	trib_average_fn average[TRIB_REDUCE_TYPE__MAX];
};

extern const struct trib_reduce_table trib_reduce_table_scalar;
extern const struct trib_reduce_table trib_reduce_table_avx2;
extern const struct trib_reduce_table trib_reduce_table_avx512;

/**
 * trib_reduce_table() - find a level
 * Return: NULL if there is none, or this CPU has not its instructions.
 */
const struct trib_reduce_table *trib_reduce_table(enum trib_reduce_level level);

/* Inlined everywhere, so that the type and the operation are constants. */
#define TRIB_REDUCE_EACH static inline __attribute__((always_inline))

#define TRIB_REDUCE_FUNCTION(t, type, o, op)                                                       \
	static void t##_##o(void *out, const void *a, const void *b, size_t n)                     \
	{                                                                                          \
		do_reduce(TRIB_REDUCE_##type, TRIB_REDUCE_##op, out, a, b, n);                     \
	}

#define TRIB_REDUCE_FUNCTIONS(t, type)                                                             \
	TRIB_REDUCE_FUNCTION(t, type, sum, SUM)                                                    \
	TRIB_REDUCE_FUNCTION(t, type, max, MAX)                                                    \
	TRIB_REDUCE_FUNCTION(t, type, min, MIN)                                                    \
	TRIB_REDUCE_FUNCTION(t, type, prod, PROD)

#define TRIB_REDUCE_AVERAGE(t, type)                                                               \
	static void t##_average(void *out, const void *a, const void *b, size_t n,                 \
				unsigned int world)                                                \
	{                                                                                          \
		do_average(TRIB_REDUCE_##type, out, a, b, n, world);                               \
	}

#define TRIB_REDUCE_ALL_FUNCTIONS                                                                  \
	TRIB_REDUCE_FUNCTIONS(f32, F32)                                                            \
	TRIB_REDUCE_FUNCTIONS(i32, I32)                                                            \
	TRIB_REDUCE_FUNCTIONS(f16, F16)                                                            \
	TRIB_REDUCE_FUNCTIONS(bf16, BF16)                                                          \
	TRIB_REDUCE_FUNCTIONS(f64, F64)                                                            \
	TRIB_REDUCE_AVERAGE(f32, F32)                                                              \
	TRIB_REDUCE_AVERAGE(f16, F16)                                                              \
	TRIB_REDUCE_AVERAGE(bf16, BF16)                                                            \
	TRIB_REDUCE_AVERAGE(f64, F64)

#define TRIB_REDUCE_ROW(t)                                                                         \
	{                                                                                          \
		[TRIB_REDUCE_SUM] = t##_sum, [TRIB_REDUCE_MAX] = t##_max,                          \
		[TRIB_REDUCE_MIN] = t##_min, [TRIB_REDUCE_PROD] = t##_prod,                        \
	}

/* The table of the level @n. Follows TRIB_REDUCE_ALL_FUNCTIONS. */
#define TRIB_REDUCE_TABLE(n)                                                                       \
	{                                                                                          \
		.name = n,                                                                         \
		.reduce =                                                                          \
			{                                                                          \
				[TRIB_REDUCE_F32] = TRIB_REDUCE_ROW(f32),                          \
				[TRIB_REDUCE_I32] = TRIB_REDUCE_ROW(i32),                          \
				[TRIB_REDUCE_F16] = TRIB_REDUCE_ROW(f16),                          \
				[TRIB_REDUCE_BF16] = TRIB_REDUCE_ROW(bf16),                        \
				[TRIB_REDUCE_F64] = TRIB_REDUCE_ROW(f64),                          \
			},                                                                         \
		.average = {                                                                       \
			[TRIB_REDUCE_F32] = f32_average,                                           \
			[TRIB_REDUCE_F16] = f16_average,                                           \
			[TRIB_REDUCE_BF16] = bf16_average,                                         \
			[TRIB_REDUCE_F64] = f64_average,                                           \
		},                                                                                 \
	}

/* trib_reduce_size(), where @type is a constant. */
TRIB_REDUCE_EACH size_t reduce_size(enum trib_reduce_type type)
{
	if (type == TRIB_REDUCE_F64)
		return 8;
	return type == TRIB_REDUCE_F16 || type == TRIB_REDUCE_BF16 ? 2 : 4;
}

#endif /* TRIB_REDUCE_LEVELS_H */
