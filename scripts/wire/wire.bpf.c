// SPDX-License-Identifier: BSD-2-Clause
/*
 * An emulated wire: everything that enters at one end leaves at the other,
 * except for what is lost, doubled or delayed on the way. Attached to the
 * clsact ingress of both ends; the rate is the business of the queueing
 * discipline on the way out.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "wire.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_ENDS_MAX);
	__type(key, __u32);
	__type(value, struct wire_end);
} ends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} late SEC(".maps");

static __always_inline int hit(__u32 chance)
{
	return chance && bpf_get_prandom_u32() < chance;
}

/* Hands the packet to user space; 0 if it could not. */
static int delay(struct __sk_buff *skb, __u32 peer)
{
	struct wire_late *p;
	__u32 len = skb->len;

	if (len < ETH_HLEN)
		return 0;
	/* 6.1's verifier does not follow when clang merges both checks. */
	asm volatile("" : "+r"(len));
	if (len > WIRE_FRAME_MAX)
		return 0;
	p = bpf_ringbuf_reserve(&late, sizeof(*p), 0);
	if (!p)
		return 0;
	if (bpf_skb_load_bytes(skb, 0, p->frame, len)) {
		bpf_ringbuf_discard(p, 0);
		return 0;
	}
	p->peer = peer;
	p->len = len;
	p->vlan = skb->vlan_tci;
	p->tagged = skb->vlan_present;
	bpf_ringbuf_submit(p, 0);
	return 1;
}

SEC("tc")
int wire(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	struct wire_end *end = bpf_map_lookup_elem(&ends, &key);

	if (!end)
		return TC_ACT_SHOT;
	__sync_fetch_and_add(&end->packets, skb->gso_segs ? skb->gso_segs : 1);
	__sync_fetch_and_add(&end->bytes, skb->len);
	if (hit(end->loss)) {
		__sync_fetch_and_add(&end->lost, 1);
		return TC_ACT_SHOT;
	}
	if (hit(end->dup)) {
		__sync_fetch_and_add(&end->dups, 1);
		if (!end->slow || !delay(skb, end->peer))
			bpf_clone_redirect(skb, end->peer, 0);
	}
	if ((end->slow || hit(end->reorder)) && delay(skb, end->peer)) {
		__sync_fetch_and_add(&end->delayed, 1);
		return TC_ACT_STOLEN;
	}
	return bpf_redirect(end->peer, 0);
}

/*
 * The same without faults, by XDP: what the sender's kernel noted about a
 * packet stays behind, as with real devices. Generic XDP, for one, does not
 * run on a packet that was redirected before, be it in another namespace. Frames
 * may have fragments: else a veth takes no program at an MTU above 3.5 KB. 6.1 takes
 * it, but loses frames longer than that.
 */
SEC("xdp.frags")
int wire_xdp(struct xdp_md *ctx)
{
	__u32 key = ctx->ingress_ifindex;
	struct wire_end *end = bpf_map_lookup_elem(&ends, &key);

	if (!end)
		return XDP_DROP;
	__sync_fetch_and_add(&end->packets, 1);
	__sync_fetch_and_add(&end->bytes, bpf_xdp_get_buff_len(ctx));
	return bpf_redirect(end->peer, 0);
}

char _license[] SEC("license") = "Dual BSD/GPL";
