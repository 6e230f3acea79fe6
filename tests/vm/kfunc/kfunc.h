/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Instructions from kfunc.c to kfunc.bpf.c. */
#ifndef TEST_KFUNC_H
#define TEST_KFUNC_H

#include <linux/types.h>

/* The function; the first ten are in the order of kmod/kfunc/call.h. */
enum kfunc_func {
	KFUNC_MEM_ADD,
	KFUNC_MEM_STORE,
	KFUNC_MEM_FINAL,
	KFUNC_MEM_EMIT,
	KFUNC_PKT_ADD,
	KFUNC_PKT_STORE,
	KFUNC_PKT_FINAL,
	KFUNC_PKT_EMIT,
	KFUNC_PKT_EXPAND_ADD,
	KFUNC_PKT_EXPAND_STORE,
	KFUNC_CAPS,
	KFUNC_NULL,	/* trib_mem_add() into a NULL map value */
	KFUNC_IN_PLACE, /* trib_mem_final() with the packet's first 64 bytes */
};

/**
 * struct kfunc_ask - one call
 * @func: enum kfunc_func.
 * @len:  length of the values in memory.
 * @off:  offset of the values in the packet.
 * @what: the last argument.
 * @ret:  result of the function.
 * @calls: number of runs of the program.
 */
struct kfunc_ask {
	__u32 func;
	__u32 len;
	__u32 off;
	__u32 pad;
	__u64 what;
	__s64 ret;
	__u64 calls;
};

/* Room for 1024 accumulators. */
struct kfunc_values {
	__u8 b[4096];
};

#endif /* TEST_KFUNC_H */
