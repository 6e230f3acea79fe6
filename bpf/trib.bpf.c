// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs of a Tributary host:
 *
 *	trib_xdp	XDP of its ports
 *	trib_egress	devmap program: headers of each frame that XDP redirects
 *	trib_grow	clsact ingress of its ports: takes the orders of trib_xdp
 *	trib_send	tail-called by it: sends what XDP cannot
 *	trib_moved	XDP of contributions that trib_xdp moved to another CPU
 *	trib_pass	XDP of veth peers, which only receive redirected frames
 *			if they run a program themselves
 */
#include "grow/grow.h"
#include "packet/egress.h"
#include "packet/foreign.h"
#include "packet/parse.h"
#include "pool/pool.h"
#include "tree/tree.h"
#include "tree/tree_admit.h"

SEC("xdp")
int trib_xdp(struct xdp_md *ctx)
{
	struct trib_tree *t;
	__u32 child, why;
	struct pkt p, foreign;
	int verdict;

	verdict = parse(ctx, &p);
	if (verdict == PARSE_NDN) {
		bpf_tail_call(ctx, &ndn_in, 0);
		return XDP_PASS;
	}
	if (verdict != PARSE_OK)
		return verdict;
	why = admit_tree(&p, &t);
	if (!why && (t->flags & TRIB_TREE_SHARED))
		return pool_packet(ctx, &p, t);
	if (!why && is_for_socket(&p, t))
		return to_socket(&p, t);
	if (!why)
		why = tree_admit(ctx, &p, t, &child);
	if (!why)
		return tree_packet(ctx, &p, t, child);
	/* A copy: a struct whose address is taken stays on the stack. */
	foreign = p;
	return foreign_pass(ctx, &foreign, why);
}

/* The tree may have changed since the frame was admitted, so it is admitted again. */
SEC("xdp/cpumap")
int trib_moved(struct xdp_md *ctx)
{
	struct trib_tree *t;
	__u32 child, why;
	struct pkt p;

	if (parse(ctx, &p) != PARSE_OK || !p.plain)
		return XDP_DROP;
	why = admit_tree(&p, &t);
	if (!why && (t->flags & TRIB_TREE_SHARED))
		why = TRIB_DROP_TREE;
	if (!why)
		why = tree_admit(ctx, &p, t, &child);
	return why ? drop(why) : tree_grad(ctx, &p, t, child, true);
}

SEC("xdp/devmap")
int trib_egress(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;

	/* The NDN forwarder's frames may be in the same batch. */
	if ((void *)(eth + 1) <= (void *)(long)ctx->data_end && load16(eth->h_source) == NDN_MARK)
		bpf_tail_call(ctx, &ndn_leave, 0);
	return egress(ctx);
}

SEC("tc")
int trib_send(struct __sk_buff *skb)
{
	__u32 group = skb->cb[0], how = skb->cb[1];

	errand_erase(skb);
	return grow_send(skb, group, how);
}

/* The libbpf that loads the object fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} grow_next SEC(".maps") = {
	.values = {(void *)&trib_send},
};

SEC("tc")
int trib_grow(struct __sk_buff *skb)
{
	if (!errand_take(skb, TRIB_ERRAND))
		return TC_ACT_UNSPEC;
	bpf_tail_call(skb, &grow_next, 0);
	return grow_drop(TRIB_DROP_GROW);
}

SEC("xdp")
int trib_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
