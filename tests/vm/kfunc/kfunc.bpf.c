// SPDX-License-Identifier: GPL-2.0-only
/* Calls one kfunc of the module, as map `ask` says, and stores its result there. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "uapi/trib_kfunc.h"
#include "kfunc.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kfunc_ask);
} ask SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kfunc_values);
} acc SEC(".maps"), val SEC(".maps");

/* A map without entries: lookups return NULL. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kfunc_values);
} none SEC(".maps");

/* clang-format off */
extern int trib_mem_add(void *acc, __u32 acc__sz, const void *in, __u32 in__sz, __u32 fmt) __ksym;
extern int trib_mem_store(void *acc, __u32 acc__sz, const void *in, __u32 in__sz, __u32 fmt) __ksym;
extern int trib_mem_final(void *acc, __u32 acc__sz, void *io, __u32 io__sz, __u32 fmt) __ksym;
extern int trib_mem_emit(const void *acc, __u32 acc__sz, void *out, __u32 out__sz, __u32 fmt) __ksym;
extern int trib_pkt_add(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym;
extern int trib_pkt_store(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym;
extern int trib_pkt_final(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym;
extern int trib_pkt_emit(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym;
extern int trib_pkt_expand_add(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym;
extern int trib_pkt_expand_store(struct xdp_md *ctx, __u32 off, void *acc, __u32 acc__sz, __u64 what) __ksym;
extern __u64 trib_module_caps(void) __ksym;
/* clang-format on */

#define SZ sizeof(struct kfunc_values)

static __always_inline __s64 call_mem(struct kfunc_ask *k, void *a, void *v)
{
	__u32 len = k->len;

	/* Bound the length for the verifier. */
	if (len > SZ)
		return -1000;
	switch (k->func) {
	case KFUNC_MEM_ADD:
		return trib_mem_add(a, SZ, v, len, k->what);
	case KFUNC_MEM_STORE:
		return trib_mem_store(a, SZ, v, len, k->what);
	case KFUNC_MEM_FINAL:
		return trib_mem_final(a, SZ, v, len, k->what);
	case KFUNC_MEM_EMIT:
		return trib_mem_emit(a, SZ, v, len, k->what);
	}
	return -1001;
}

static __always_inline __s64 call_pkt(struct kfunc_ask *k, struct xdp_md *ctx, void *a)
{
	switch (k->func) {
	case KFUNC_PKT_ADD:
		return trib_pkt_add(ctx, k->off, a, SZ, k->what);
	case KFUNC_PKT_STORE:
		return trib_pkt_store(ctx, k->off, a, SZ, k->what);
	case KFUNC_PKT_FINAL:
		return trib_pkt_final(ctx, k->off, a, SZ, k->what);
	case KFUNC_PKT_EMIT:
		return trib_pkt_emit(ctx, k->off, a, SZ, k->what);
	case KFUNC_PKT_EXPAND_ADD:
		return trib_pkt_expand_add(ctx, k->off, a, SZ, k->what);
	case KFUNC_PKT_EXPAND_STORE:
		return trib_pkt_expand_store(ctx, k->off, a, SZ, k->what);
	}
	return -1002;
}

/* Sum into the packet itself, as memory of constant length. */
static __always_inline __s64 call_in_place(struct xdp_md *ctx, void *a)
{
	void *data = (void *)(long)ctx->data;

	if (data + 64 > (void *)(long)ctx->data_end)
		return -1003;
	return trib_mem_final(a, SZ, data, 64, 4);
}

static __always_inline int work(struct xdp_md *ctx)
{
	__u32 zero = 0;
	struct kfunc_ask *k = bpf_map_lookup_elem(&ask, &zero);
	void *a = bpf_map_lookup_elem(&acc, &zero);
	void *v = bpf_map_lookup_elem(&val, &zero);

	if (!k || !a || !v)
		return XDP_ABORTED;
	if (k->func == KFUNC_CAPS)
		k->ret = (__s64)trib_module_caps();
	else if (k->func == KFUNC_NULL)
		k->ret = trib_mem_add(bpf_map_lookup_elem(&none, &zero), SZ, v, 64, k->what);
	else if (k->func == KFUNC_IN_PLACE)
		k->ret = call_in_place(ctx, a);
	else if (k->func < KFUNC_PKT_ADD)
		k->ret = call_mem(k, a, v);
	else
		k->ret = call_pkt(k, ctx, a);
	__sync_fetch_and_add(&k->calls, 1);
	return XDP_DROP;
}

SEC("xdp")
int kfunc_call(struct xdp_md *ctx)
{
	return work(ctx);
}

/* The same program for packets with fragments. */
SEC("xdp.frags")
int kfunc_frags(struct xdp_md *ctx)
{
	return work(ctx);
}
