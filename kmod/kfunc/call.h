/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One call of a kfunc, without BPF: checks the arguments, chooses the level, sums,
 * counts the call. It needs only fp/fpu.h and the counters declared here, so
 * tests/unit runs it in user space.
 */
#ifndef TRIB_KMOD_CALL_H
#define TRIB_KMOD_CALL_H

#include "kernels/sum/sum.h"

/* The kfuncs; trib_kfunc_names has their names. */
enum trib_kfunc_id {
	TRIB_KFUNC_MEM_ADD,
	TRIB_KFUNC_MEM_STORE,
	TRIB_KFUNC_MEM_FINAL,
	TRIB_KFUNC_MEM_EMIT,
	TRIB_KFUNC_PKT_ADD,
	TRIB_KFUNC_PKT_STORE,
	TRIB_KFUNC_PKT_FINAL,
	TRIB_KFUNC_PKT_EMIT,
	TRIB_KFUNC_PKT_EXPAND_ADD,
	TRIB_KFUNC_PKT_EXPAND_STORE,
	TRIB_KFUNC__MAX,
};

extern const char *const trib_kfunc_names[TRIB_KFUNC__MAX];

/**
 * trib_call_mem() - run a trib_mem_ function
 * @id:      the function.
 * @acc:     @acc_len bytes of accumulators; NULL is refused.
 * @val:     @val_len bytes of values in packet format; NULL is refused. Their
 *	     length determines their number.
 * @fmt:     enum trib_fmt.
 *
 * Both pointers must be valid for their lengths, without other writers.
 * Return: see trib_kfunc.h.
 */
int trib_call_mem(enum trib_kfunc_id id, void *acc, __u32 acc_len, void *val, __u32 val_len,
		  __u32 fmt);

/**
 * trib_call_pkt() - run a trib_pkt_ function
 * @id:      the function.
 * @data:    @len bytes of packet.
 * @off:     offset of the values, unchecked.
 * @acc:     @acc_len bytes of accumulators; NULL is refused.
 * @what:    TRIB_KFUNC_WHAT().
 *
 * Return: see trib_kfunc.h.
 */
int trib_call_pkt(enum trib_kfunc_id id, void *data, __u32 len, __u32 off, void *acc, __u32 acc_len,
		  __u64 what);

/** trib_call_refuse() - count a call with bad arguments; returns @err */
int trib_call_refuse(enum trib_kfunc_id id, int err);

/** trib_call_formats() - bits 1 << enum trib_fmt of the formats with sums */
__u32 trib_call_formats(void);

/* stats.c defines these two; unit tests define their own. */

/**
 * trib_stats_done() - count a call that worked
 * @bytes:    of values.
 * @fallback: scalar code ran because the FPU was not free.
 */
void trib_stats_done(enum trib_kfunc_id id, __u32 bytes, int fallback);

/** trib_stats_refused() - count a call with bad arguments */
void trib_stats_refused(enum trib_kfunc_id id);

#endif /* TRIB_KMOD_CALL_H */
