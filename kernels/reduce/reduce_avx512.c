// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * AVX-512 with BW, DQ and VL: 16 lanes. Only this file is compiled for it; reduce.c
 * calls it only on a CPU that has it.
 */
#if defined(__x86_64__)
#pragma GCC target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")

#define LANES 16
#define REG "v"
#include "reduce_simd.h"

const struct trib_reduce_table trib_reduce_table_avx512 = TRIB_REDUCE_TABLE("avx512");
#endif
