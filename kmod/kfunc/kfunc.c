// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that XDP programs call: see uapi/trib_kfunc.h. The verifier
 * checks that pointers are valid for their __sz, but on 6.1 it accepts a map
 * value that may be NULL; call.c checks the rest. The functions do not sleep and
 * take no locks: the program holds its slot.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/module.h>
#include <net/xdp.h>

#include "call.h"
#include "compat/compat.h"
#include "kfunc.h"
#include "uapi/trib_kfunc.h"

static int call_pkt(enum trib_kfunc_id id, struct xdp_md *ctx, u32 off, void *acc, u32 acc_len,
		    u64 what)
{
	/* The context of a running XDP program is the buffer itself. */
	struct xdp_buff *xdp = (struct xdp_buff *)ctx;

	/* Fragments are not contiguous with the first buffer. */
	if (xdp_buff_has_frags(xdp))
		return trib_call_refuse(id, -EOPNOTSUPP);
	return trib_call_pkt(id, xdp->data, xdp->data_end - xdp->data, off, acc, acc_len, what);
}

__bpf_kfunc_start_defs();

__bpf_kfunc int trib_mem_add(void *acc, u32 acc__sz, const void *in, u32 in__sz, u32 fmt)
{
	return trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, acc__sz, (void *)in, in__sz, fmt);
}

__bpf_kfunc int trib_mem_store(void *acc, u32 acc__sz, const void *in, u32 in__sz, u32 fmt)
{
	return trib_call_mem(TRIB_KFUNC_MEM_STORE, acc, acc__sz, (void *)in, in__sz, fmt);
}

__bpf_kfunc int trib_mem_final(void *acc, u32 acc__sz, void *io, u32 io__sz, u32 fmt)
{
	return trib_call_mem(TRIB_KFUNC_MEM_FINAL, acc, acc__sz, io, io__sz, fmt);
}

__bpf_kfunc int trib_mem_emit(const void *acc, u32 acc__sz, void *out, u32 out__sz, u32 fmt)
{
	return trib_call_mem(TRIB_KFUNC_MEM_EMIT, (void *)acc, acc__sz, out, out__sz, fmt);
}

__bpf_kfunc int trib_pkt_add(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what)
{
	return call_pkt(TRIB_KFUNC_PKT_ADD, ctx, off, acc, acc__sz, what);
}

__bpf_kfunc int trib_pkt_store(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what)
{
	return call_pkt(TRIB_KFUNC_PKT_STORE, ctx, off, acc, acc__sz, what);
}

__bpf_kfunc int trib_pkt_final(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what)
{
	return call_pkt(TRIB_KFUNC_PKT_FINAL, ctx, off, acc, acc__sz, what);
}

__bpf_kfunc int trib_pkt_emit(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what)
{
	return call_pkt(TRIB_KFUNC_PKT_EMIT, ctx, off, acc, acc__sz, what);
}

__bpf_kfunc int trib_pkt_expand_add(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what)
{
	return call_pkt(TRIB_KFUNC_PKT_EXPAND_ADD, ctx, off, acc, acc__sz, what);
}

__bpf_kfunc int trib_pkt_expand_store(struct xdp_md *ctx, u32 off, void *acc, u32 acc__sz, u64 what)
{
	return call_pkt(TRIB_KFUNC_PKT_EXPAND_STORE, ctx, off, acc, acc__sz, what);
}

__bpf_kfunc u64 trib_module_caps(void)
{
	return (u64)TRIB_KFUNC_API << 32 | trib_call_formats();
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(kfunc_ids)
BTF_ID_FLAGS(func, trib_mem_add)
BTF_ID_FLAGS(func, trib_mem_store)
BTF_ID_FLAGS(func, trib_mem_final)
BTF_ID_FLAGS(func, trib_mem_emit)
BTF_ID_FLAGS(func, trib_pkt_add)
BTF_ID_FLAGS(func, trib_pkt_store)
BTF_ID_FLAGS(func, trib_pkt_final)
BTF_ID_FLAGS(func, trib_pkt_emit)
BTF_ID_FLAGS(func, trib_pkt_expand_add)
BTF_ID_FLAGS(func, trib_pkt_expand_store)
BTF_ID_FLAGS(func, trib_module_caps)
BTF_KFUNCS_END(kfunc_ids)

static const struct btf_kfunc_id_set kfunc_set = {
	.owner = THIS_MODULE,
	.set = &kfunc_ids,
};

/*
 * Registration cannot be undone, and need not be: the set goes away with the
 * module's BTF, and programs that call it keep the module.
 */
int trib_kfunc_init(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_XDP, &kfunc_set);
}
