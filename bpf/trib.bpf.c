// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs of a Tributary host. trib_xdp runs on its ports; trib_egress
 * rewrites what trib_xdp redirects, as it leaves; trib_grow, at the ports'
 * clsact ingress, sends what XDP cannot; trib_pass is for veth peers, which
 * receive redirected frames only if they run an XDP program themselves.
 */
#include "maps.h"

/* Being an argument puts the whole type into BTF, where libbpf needs it. */
static __noinline __u64 cell_id(struct trib_cell *cell)
{
	return cell->id;
}

SEC("xdp")
int trib_xdp(struct xdp_md *ctx)
{
	__u32 zero = 0;

	bpf_map_lookup_elem(&trib_config, &zero);
	bpf_map_lookup_elem(&trees, &zero);
	bpf_map_lookup_elem(&slots, &zero);
	bpf_map_lookup_elem(&groups, &zero);
	bpf_map_lookup_elem(&stats, &zero);
	bpf_map_lookup_elem(&lag, &zero);
	bpf_map_lookup_elem(&delivers, &zero);
	void *inner = bpf_map_lookup_elem(&cells, &zero);
	struct trib_cell *cell = inner ? bpf_map_lookup_elem(inner, &zero) : 0;

	if (cell && cell_id(cell) == 1)
		return XDP_DROP;
	bpf_map_lookup_elem(&rings, &zero);
	if (zero)
		return bpf_redirect_map(&ports, ctx->ingress_ifindex, 0);
	return XDP_PASS;
}

SEC("xdp/devmap")
int trib_egress(struct xdp_md *ctx)
{
	struct trib_rewrite_key key = { .ifindex = ctx->egress_ifindex };

	bpf_map_lookup_elem(&rewrites, &key);
	return XDP_PASS;
}

SEC("tc")
int trib_grow(struct __sk_buff *skb)
{
	__u32 zero = 0;

	bpf_map_lookup_elem(&members, &zero);
	return -1;
}

SEC("xdp")
int trib_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
