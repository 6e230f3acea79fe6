/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * The kernel module's functions for XDP programs: sums of floating point and
 * integer values. What the values are, and what the sums are to the bit, is in
 * kernels/sum/sum.h.
 *
 * A program declares them `__ksym __weak` and calls them behind a .rodata flag,
 * so that it loads without the module, too (bpf/packet/kfunc.h). The module stays
 * loaded as long as such a program does.
 *
 * Those named trib_mem_ take values that the verifier knows (a map's, or the
 * packet's with a length it can see); those named trib_pkt_ take the packet and
 * an offset, of any length, and check the bounds themselves. Accumulators are
 * 32 bits wide, whatever the format. Lengths are in bytes.
 *
 *	int trib_mem_add(void *acc, u32 acc__sz, const void *in, u32 in__sz,
 *			 u32 fmt);
 *		acc += in.
 *	int trib_mem_store(same);
 *		acc = in: the first contribution.
 *	int trib_mem_final(void *acc, u32 acc__sz, void *io, u32 io__sz, u32 fmt);
 *		acc += io, io = acc: the last one, which goes out as the result.
 *	int trib_mem_emit(const void *acc, u32 acc__sz, void *out, u32 out__sz,
 *			  u32 fmt);
 *		out = acc; out may be acc.
 *		The length of the values says how many there are; acc must have
 *		room for them.
 *
 *	int trib_pkt_add(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz,
 *			 u64 what);
 *	int trib_pkt_store(same);
 *	int trib_pkt_final(same);
 *	int trib_pkt_emit(same);
 *		The same with TRIB_KFUNC_WHAT(fmt, 0, n): n values at offset off
 *		of the packet.
 *	int trib_pkt_expand_add(same);
 *	int trib_pkt_expand_store(same);
 *		The payload is N:M-masked: TRIB_KFUNC_WHAT(fmt, nm, n), with nm
 *		as &trib_hdr.nm and n accumulators, a multiple of 32. The store
 *		sets those that the mask does not name to 0.
 *
 *	u64 trib_module_caps(void);
 *		TRIB_KFUNC_API << 32, and a bit 1 << enum trib_fmt for each
 *		format.
 *
 * Return, where it says int: 0, or with nothing done, packet and accumulators
 * as they were: -EINVAL (no such format, N:M, or count; a null pointer; no room
 * in acc; a mask that is none), -ERANGE (the packet ends before the values do),
 * -E2BIG (more than TRIB_KFUNC_MAX values), -EOPNOTSUPP (the packet has
 * fragments).
 */
#ifndef _UAPI_TRIB_KFUNC_H
#define _UAPI_TRIB_KFUNC_H

/* Of all the above: a change of their arguments or meaning changes it. */
#define TRIB_KFUNC_API 1

/* Values of one call: what a jumbo frame has, and more. */
#define TRIB_KFUNC_MAX 4096

#define TRIB_KFUNC_WHAT(fmt, nm, n)                                            \
	((__u64)(__u8)(fmt) | (__u64)(__u8)(nm) << 8 | (__u64)(__u32)(n) << 32)
#define TRIB_KFUNC_FMT(what) ((__u8)(what))
#define TRIB_KFUNC_NM(what) ((__u8)((what) >> 8))
#define TRIB_KFUNC_N(what) ((__u32)((what) >> 32))
/* Bits of it that must be zero. */
#define TRIB_KFUNC_RESERVED 0x00000000ffff0000ULL

#endif /* _UAPI_TRIB_KFUNC_H */
