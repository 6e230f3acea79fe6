/* SPDX-License-Identifier: GPL-2.0 */
/* Which instructions may be used. What each call of a sum asks is in call.h. */
#ifndef TRIB_KMOD_FPU_H
#define TRIB_KMOD_FPU_H

#include <linux/types.h>

/* Choose the level. Return: 0, or -EINVAL if parameter level names none. */
int trib_fpu_init(void);

/* The name of the level chosen. */
const char *trib_fpu_level(void);

/*
 * May vector instructions be used from here on? Only true is followed by
 * trib_fpu_end() of call.h.
 */
bool trib_fpu_enter(void);

/* Is parameter fpu_busy set? */
bool trib_fpu_forced_busy(void);

#endif /* TRIB_KMOD_FPU_H */
