/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of floats, by functions of the kernel module (uapi/trib_kfunc.h): BPF has
 * no floating point. The object also loads without the module: the loader sets
 * trib_kfuncs, and if it is 0 the verifier removes the calls.
 */
#ifndef TRIB_BPF_KFUNC_H
#define TRIB_BPF_KFUNC_H

#include "packet/lanes.h"
#include "uapi/trib_kfunc.h"

/* clang-format off */
extern int trib_pkt_add(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym __weak;
extern int trib_pkt_expand_add(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym __weak;
extern int trib_pkt_expand_store(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym __weak;
extern int trib_pkt_store(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym __weak;
extern int trib_mem_emit(const void *acc, __u32 acc__sz, void *out, __u32 out__sz, __u32 fmt) __ksym __weak;
/* clang-format on */

/* The whole of .rodata. Not 0: the module is loaded. */
const volatile __u32 trib_kfuncs = 0;

/* Values of @nval units, padding included: it is added, too. */
static __always_inline __u64 float_what(__u8 fmt, __u32 nval)
{
	__u32 units = trib_payload_len(nval) / 4;

	return TRIB_KFUNC_WHAT(fmt, 0, trib_fmt_values(fmt, units));
}

/*
 * Add the packet's values to the TRIB_NVAL fp32 accumulators at @acc; @first:
 * replace them. Return: 0, or less if nothing was done.
 */
static __always_inline int float_add(struct xdp_md *ctx, __u32 off, void *acc, __u8 fmt, __u32 nval,
				     bool first)
{
	__u64 what = float_what(fmt, nval);

	if (!trib_kfuncs)
		return -1;
	return first ? trib_pkt_store(ctx, off, acc, TRIB_NVAL * 4, what)
		     : trib_pkt_add(ctx, off, acc, TRIB_NVAL * 4, what);
}

/* float_add() of a masked payload, whose mask must be right. Only for TRIB_FMT_F32. */
static __always_inline int float_expand(struct xdp_md *ctx, __u32 off, void *acc, __u8 nm,
					__u32 nval, bool first)
{
	__u64 what = TRIB_KFUNC_WHAT(TRIB_FMT_F32, nm, nval);

	if (!trib_kfuncs)
		return -1;
	return first ? trib_pkt_expand_store(ctx, off, acc, TRIB_NVAL * 4, what)
		     : trib_pkt_expand_add(ctx, off, acc, TRIB_NVAL * 4, what);
}

/*
 * Convert the accumulators to the packet's format, in place: the only rounding of a
 * sum at this node. Converts all TRIB_NVAL, because a constant length costs less to
 * check than the surplus costs to convert. Return: 0, or less if nothing was done.
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
