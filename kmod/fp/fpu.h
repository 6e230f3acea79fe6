/* SPDX-License-Identifier: GPL-2.0 */
/* Vector instructions in the kernel: the level of sums, and entering the FPU. */
#ifndef TRIB_KMOD_FPU_H
#define TRIB_KMOD_FPU_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#endif

struct trib_sum;

/**
 * trib_fpu_init() - choose the level of sums
 * Return: 0, or -EINVAL if this CPU lacks the level that the parameter names.
 */
int trib_fpu_init(void);

/** trib_fpu_level() - the name of the chosen level */
const char *trib_fpu_level(void);

/**
 * trib_fpu_begin() - enter the FPU for a sum, if possible
 * @s: the level to use: the chosen one, or the scalar one.
 *
 * Return: 1 if vector instructions may be used until trib_fpu_end(); 0 if the
 * scalar level is the chosen one; -EBUSY if the interrupted context uses the FPU,
 * so that the scalar level must do. Call trib_fpu_end() only after 1.
 */
int trib_fpu_begin(const struct trib_sum **s);

/** trib_fpu_end() - leave the FPU after trib_fpu_begin() or trib_fpu_enter() */
void trib_fpu_end(void);

/**
 * trib_fpu_enter() - enter the FPU, if possible
 * Return: true if vector instructions may be used until trib_fpu_end(). Call that
 * only after true.
 */
bool trib_fpu_enter(void);

/** trib_fpu_forced_busy() - the parameter fpu_busy */
bool trib_fpu_forced_busy(void);

#endif /* TRIB_KMOD_FPU_H */
