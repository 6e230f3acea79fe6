/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * The kernel module's functions for XDP programs: sums of floating point and
 * integer values. kernels/sum/sum.h defines the formats and the sums to the bit.
 *
 * A program declares the functions `__ksym __weak` and calls them behind a .rodata
 * flag, so it loads without the module, too (bpf/packet/kfunc.h). The module cannot
 * be unloaded while such a program is loaded.
 *
 * trib_mem_* take memory whose length the verifier knows: a map value, or part of
 * the packet. trib_pkt_* take the packet and an offset, of any length, and check
 * the bounds themselves. Accumulators are 32 bits wide in every format. Lengths
 * are in bytes.
 *
 *	int trib_mem_add(void *acc, u32 acc__sz, const void *in, u32 in__sz,
 *			 u32 fmt);
 *		acc += in.
 *	int trib_mem_store(same);
 *		acc = in, for the first contribution.
 *	int trib_mem_final(void *acc, u32 acc__sz, void *io, u32 io__sz, u32 fmt);
 *		acc += io, io = acc, for the last contribution: its packet
 *		leaves as the result.
 *	int trib_mem_emit(const void *acc, u32 acc__sz, void *out, u32 out__sz,
 *			  u32 fmt);
 *		out = acc; out may be acc.
 *		The length of the values determines their number; acc must have
 *		room for them.
 *
 *	int trib_pkt_add(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz,
 *			 u64 what);
 *	int trib_pkt_store(same);
 *	int trib_pkt_final(same);
 *	int trib_pkt_emit(same);
 *		The same on n values at offset off of the packet; what is
 *		TRIB_KFUNC_WHAT(fmt, 0, n).
 *	int trib_pkt_expand_add(same);
 *	int trib_pkt_expand_store(same);
 *		The same on an N:M-masked payload; what is
 *		TRIB_KFUNC_WHAT(fmt, nm, n), nm as in &trib_hdr.nm, n the number
 *		of accumulators, a multiple of 32. The store sets accumulators
 *		without a value to 0.
 *
 *	u64 trib_module_caps(void);
 *		Return: TRIB_KFUNC_API << 32, and a bit 1 << enum trib_fmt for
 *		each format.
 *
 * The functions of type int return 0, or an error that leaves packet and
 * accumulators unchanged:
 *
 *	-EINVAL		unknown format; bad N:M or count; null pointer; acc too small;
 *			mask with a wrong number of bits
 *	-ERANGE		the packet ends before the values
 *	-E2BIG		more than TRIB_KFUNC_MAX values
 *	-EOPNOTSUPP	the packet has fragments
 */
#ifndef _UAPI_TRIB_KFUNC_H
#define _UAPI_TRIB_KFUNC_H

/* Version of all the above: any change of arguments or meaning increments it. */
#define TRIB_KFUNC_API 1

/* Limit of values per call: more than a jumbo frame holds. */
#define TRIB_KFUNC_MAX 4096

#define TRIB_KFUNC_WHAT(fmt, nm, n)                                                                \
	((__u64)(__u8)(fmt) | (__u64)(__u8)(nm) << 8 | (__u64)(__u32)(n) << 32)
#define TRIB_KFUNC_FMT(what) ((__u8)(what))
#define TRIB_KFUNC_NM(what) ((__u8)((what) >> 8))
#define TRIB_KFUNC_N(what) ((__u32)((what) >> 32))
/* Bits of a TRIB_KFUNC_WHAT() that must be zero. */
#define TRIB_KFUNC_RESERVED 0x00000000ffff0000ULL

#endif /* _UAPI_TRIB_KFUNC_H */
