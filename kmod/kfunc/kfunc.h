/* SPDX-License-Identifier: GPL-2.0 */
/* Registration of the functions for XDP programs. */
#ifndef TRIB_KMOD_KFUNC_H
#define TRIB_KMOD_KFUNC_H

#include <linux/types.h>

struct xdp_md;

/**
 * trib_kfunc_init() - register the functions for XDP programs
 * Return: 0 or a negative errno. The module's BTF undoes it.
 */
int trib_kfunc_init(void);

/* Only BPF programs call these: see uapi/trib_kfunc.h. */
int trib_mem_add(void *acc, u32 acc__sz, const void *in, u32 in__sz, u32 fmt);
int trib_mem_store(void *acc, u32 acc__sz, const void *in, u32 in__sz, u32 fmt);
int trib_mem_final(void *acc, u32 acc__sz, void *io, u32 io__sz, u32 fmt);
int trib_mem_emit(const void *acc, u32 acc__sz, void *out, u32 out__sz, u32 fmt);
int trib_pkt_add(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what);
int trib_pkt_store(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what);
int trib_pkt_final(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what);
int trib_pkt_emit(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what);
int trib_pkt_expand_add(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what);
int trib_pkt_expand_store(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what);
u64 trib_module_caps(void);

#endif /* TRIB_KMOD_KFUNC_H */
