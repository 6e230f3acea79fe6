// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * AVX2 with F16C: 8 lanes. Only this file is compiled for it; reduce.c calls it only
 * on a CPU that has it.
 */
#if defined(__x86_64__)
#pragma GCC target("avx2,f16c")

#define LANES 8
#define REG "x"
#include "reduce_simd.h"

const struct trib_reduce_table trib_reduce_table_avx2 = TRIB_REDUCE_TABLE("avx2");
#endif
