/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The meta word: scale, operation, format and completing child of a sum, as 8
 * bytes of a slot that are loaded, compared and stored at once.
 */
#ifndef TRIB_BPF_META_H
#define TRIB_BPF_META_H

#include <linux/types.h>
#include "uapi/trib_wire.h"

/* &trib_slot.scale, op, fmt, nm and last, as one word. */
#define SLOT_META(scale, op, fmt, last)                                                            \
	((__u64)(__u32)(scale) | (__u64)(op) << 32 | (__u64)(fmt) << 40 | (__u64)(last) << 56)
#define META_SCALE(meta) ((__u32)(meta))
#define META_OP(meta) ((__u8)((meta) >> 32))
#define META_FMT(meta) ((__u8)((meta) >> 40))
#define META_LAST(meta) ((__u8)((meta) >> 56))
#define META_SAME 0x00ffffffffffffffULL /* all but last */
#define META_KIND 0x00ffffff00000000ULL /* op, fmt, nm */
#define SLOT_KEEP_FLAGS (TRIB_F_PUSH | TRIB_F_CE | TRIB_F_HEAD)
/* &trib_slot.last: unknown. */
#define LAST_NONE 0xff

#endif /* TRIB_BPF_META_H */
