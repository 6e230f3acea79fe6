/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of floats, which BPF cannot add: functions of the kernel module
 * (uapi/trib_kfunc.h). The object loads without it, too: its loader looks for
 * the module and sets trib_kfuncs, and where that is 0 the verifier takes the
 * calls out.
 */
#ifndef TRIB_BPF_KFUNC_H
#define TRIB_BPF_KFUNC_H

#include "packet/lanes.h"
#include "uapi/trib_kfunc.h"

/* clang-format off */
extern int trib_pkt_add(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym __weak;
extern int trib_pkt_store(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym __weak;
extern int trib_mem_emit(const void *acc, __u32 acc__sz, void *out, __u32 out__sz, __u32 fmt) __ksym __weak;
/* clang-format on */

/* All of .rodata. Not 0: the module is there. */
const volatile __u32 trib_kfuncs = 0;

/* Values of @nval units and their padding, which is added up like them. */
static __always_inline __u64 float_what(__u8 fmt, __u32 nval)
{
	__u32 units = trib_payload_len(nval) / 4;

	return TRIB_KFUNC_WHAT(fmt, 0, trib_fmt_values(fmt, units));
}

/*
 * The packet's values to the accumulators at @acc, one of 32 bits each, of
 * which there are TRIB_NVAL; @first: in place of what is there.
 * Return: 0, or less if nothing was done.
 */
static __always_inline int float_add(struct xdp_md *ctx, __u32 off, void *acc,
				     __u8 fmt, __u32 nval, bool first)
{
	__u64 what = float_what(fmt, nval);

	if (!trib_kfuncs)
		return -1;
	return first ? trib_pkt_store(ctx, off, acc, TRIB_NVAL * 4, what)
		     : trib_pkt_add(ctx, off, acc, TRIB_NVAL * 4, what);
}

/*
 * The accumulators become values as a packet has them: the one time that a sum
 * of halves is rounded here. All of them, as a length that is known costs less
 * to check than the rest of them to convert.
 */
static __always_inline int float_round(void *acc, __u8 fmt)
{
	if (!trib_fmt_is_half(fmt))
		return 0;
	if (!trib_kfuncs)
		return -1;
	return trib_mem_emit(acc, TRIB_NVAL * 4, acc, TRIB_NVAL * 2, fmt);
}

#endif /* TRIB_BPF_KFUNC_H */
