/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Instruction sets of the CPU that runs this. */
#ifndef TRIB_KERNELS_CPU_H
#define TRIB_KERNELS_CPU_H

#include <linux/types.h>

enum trib_cpu {
	TRIB_CPU_SSE2 = 1 << 0,
	TRIB_CPU_AVX2 = 1 << 1,
	TRIB_CPU_F16C = 1 << 2,
	TRIB_CPU_POPCNT = 1 << 3,
	TRIB_CPU_AVX512F = 1 << 4,
	TRIB_CPU_AVX512BW = 1 << 5,
	TRIB_CPU_AVX512DQ = 1 << 6,
	TRIB_CPU_AVX512VL = 1 << 7,
};

/**
 * trib_cpu_caps() - find the instruction sets that code may use
 *
 * Return: enum trib_cpu bits of what the CPU has and the system has enabled.
 */
__u32 trib_cpu_caps(void);

#endif /* TRIB_KERNELS_CPU_H */
