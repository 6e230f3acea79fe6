/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of the formats in which sums of floats travel, for operators, tickets and
 * plans.
 */
#ifndef TRIB_DTYPE_H
#define TRIB_DTYPE_H

#include <string.h>

#include "uapi/trib_wire.h"

/* By enum trib_fmt; only "int" works without the kernel module. */
static inline const char *trib_dtype_name(__u32 fmt)
{
	return fmt == TRIB_FMT_Q32    ? "int"
	       : fmt == TRIB_FMT_F32  ? "f32"
	       : fmt == TRIB_FMT_F16  ? "f16"
	       : fmt == TRIB_FMT_BF16 ? "bf16"
				      : NULL;
}

/* The enum trib_fmt with this name, or TRIB_FMT_NONE. */
static inline __u8 trib_dtype_parse(const char *s)
{
	__u8 fmt;

	for (fmt = 0; fmt < TRIB_FMT__MAX; fmt++)
		if (trib_dtype_name(fmt) && !strcmp(s, trib_dtype_name(fmt)))
			return fmt;
	return TRIB_FMT_NONE;
}

#endif /* TRIB_DTYPE_H */
