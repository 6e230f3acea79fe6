/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The levels: sum.c chooses one, and each calls the scalar level for the tail
 * that fills no vector. Macros here make a level from its loops, which take the
 * format as an argument and are inlined into one function per format.
 */
#ifndef TRIB_SUM_LEVELS_H
#define TRIB_SUM_LEVELS_H

#include "sum.h"
#include "kernels/cpu.h"

extern const struct trib_sum trib_sum_scalar;
#if defined(__x86_64__)
extern const struct trib_sum trib_sum_sse2;
extern const struct trib_sum trib_sum_avx2;
extern const struct trib_sum trib_sum_avx512;
#endif

#define TRIB_EACH static inline __attribute__((always_inline))

TRIB_EACH __u32 trib_sum_size(enum trib_fmt fmt)
{
	return fmt == TRIB_FMT_F16 || fmt == TRIB_FMT_BF16 ? 2 : 4;
}

/* Functions for format @fmt, made from do_add(), do_store() and so on. */
#define TRIB_SUM_FUNCTIONS(name, fmt)                                                              \
	static void name##_add(void *acc, const void *in, __u32 len)                               \
	{                                                                                          \
		do_add(fmt, acc, in, len);                                                         \
	}                                                                                          \
	static void name##_store(void *acc, const void *in, __u32 len)                             \
	{                                                                                          \
		do_store(fmt, acc, in, len);                                                       \
	}                                                                                          \
	static void name##_final(void *out, void *acc, const void *in, __u32 len)                  \
	{                                                                                          \
		do_final(fmt, out, acc, in, len);                                                  \
	}                                                                                          \
	static void name##_emit(void *out, const void *acc, __u32 len)                             \
	{                                                                                          \
		do_emit(fmt, out, acc, len);                                                       \
	}                                                                                          \
	static int name##_expand_add(void *acc, __u32 acc_len, const void *in, __u32 len, __u8 nm) \
	{                                                                                          \
		return do_expand(fmt, acc, acc_len, in, len, nm, 1);                               \
	}                                                                                          \
	static int name##_expand_store(void *acc, __u32 acc_len, const void *in, __u32 len,        \
				       __u8 nm)                                                    \
	{                                                                                          \
		return do_expand(fmt, acc, acc_len, in, len, nm, 0);                               \
	}

#define TRIB_SUM_FORMAT(name, fmt)                                                                 \
	{                                                                                          \
		.size = fmt == TRIB_FMT_F16 || fmt == TRIB_FMT_BF16 ? 2 : 4, .add = name##_add,    \
		.store = name##_store, .final = name##_final, .emit = name##_emit,                 \
		.expand_add = name##_expand_add, .expand_store = name##_expand_store,              \
	}

/* Follows TRIB_SUM_FUNCTIONS() of all formats. */
#define TRIB_SUM_FORMATS                                                                           \
	{                                                                                          \
		[TRIB_FMT_F32] = TRIB_SUM_FORMAT(f32, TRIB_FMT_F32),                               \
		[TRIB_FMT_F16] = TRIB_SUM_FORMAT(f16, TRIB_FMT_F16),                               \
		[TRIB_FMT_BF16] = TRIB_SUM_FORMAT(bf16, TRIB_FMT_BF16),                            \
		[TRIB_FMT_I32] = TRIB_SUM_FORMAT(i32, TRIB_FMT_I32),                               \
	}

#endif /* TRIB_SUM_LEVELS_H */
