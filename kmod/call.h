/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One call of a kfunc, without anything of BPF in it: arguments are checked,
 * the instructions are chosen, the sum is done, the call is counted. It needs
 * nothing of the kernel but what is declared here, so tests/unit runs it in
 * user space.
 */
#ifndef TRIB_KMOD_CALL_H
#define TRIB_KMOD_CALL_H

#include "kernels/sum/sum.h"

/* Rows of the statistics; trib_kfunc_names has their names. */
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
 * trib_call_mem() - a trib_mem_ function
 * @id:      which.
 * @acc:     accumulators; may be NULL, which is refused, as may @val.
 * @acc_len: bytes of them.
 * @val:     values in the form of a packet's.
 * @val_len: bytes of them: says how many there are.
 * @fmt:     enum trib_fmt.
 *
 * Pointers are good for the lengths given, and nobody else writes there.
 * Return: as trib_kfunc.h says.
 */
int trib_call_mem(enum trib_kfunc_id id, void *acc, __u32 acc_len, void *val,
		  __u32 val_len, __u32 fmt);

/**
 * trib_call_pkt() - a trib_pkt_ function
 * @id:      which.
 * @data:    of the packet.
 * @len:     bytes from there to its end.
 * @off:     of the values; comes from the program, and is not checked yet.
 * @acc:     accumulators; may be NULL, which is refused.
 * @acc_len: bytes of them.
 * @what:    TRIB_KFUNC_WHAT().
 *
 * Return: as trib_kfunc.h says.
 */
int trib_call_pkt(enum trib_kfunc_id id, void *data, __u32 len, __u32 off,
		  void *acc, __u32 acc_len, __u64 what);

/* Count a call that was refused for a reason of the caller's; returns @err. */
int trib_call_refuse(enum trib_kfunc_id id, int err);

/** trib_call_formats() - a bit 1 << enum trib_fmt for each that can be added */
__u32 trib_call_formats(void);

/*
 * What it asks of its surroundings: fpu.c and stats.c, or a test.
 */

/**
 * trib_fpu_begin() - may vector instructions be used from here on?
 * @s: the level to use: the best, or the scalar one.
 *
 * Return: 1 if they may, until trib_fpu_end(); 0 if the machine has none, so
 * that scalar is the best there is; -EBUSY if somebody was interrupted who uses
 * them. Only 1 is followed by trib_fpu_end().
 */
int trib_fpu_begin(const struct trib_sum **s);
void trib_fpu_end(void);

/* Count a call: @bytes of values, done by scalar code for want of an FPU? */
void trib_stats_done(enum trib_kfunc_id id, __u32 bytes, int fallback);
void trib_stats_refused(enum trib_kfunc_id id);

#endif /* TRIB_KMOD_CALL_H */
