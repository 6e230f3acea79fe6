/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clsact program: sends what XDP cannot. A packet that is shorter than its
 * answer grows here and is filled from its slot. Copies are made here where those
 * of XDP would share one buffer (generic mode) or one port.
 *
 * Packets come from trib_xdp of the same port, which admitted them and attached
 * its orders (packet/errand.h). trib_grow takes these, trib_send follows them.
 */
#ifndef TRIB_BPF_GROW_H
#define TRIB_BPF_GROW_H

#include <linux/pkt_cls.h>
#include "grow_fill.h"

/*
 * Did the sender leave the UDP checksum to its device? Only then does the kernel
 * leave the field alone when told that data changes.
 */
static __always_inline bool offloaded(struct __sk_buff *skb, __u32 off)
{
	__u16 check = 0;

	off += offsetof(struct udphdr, check);
	bpf_skb_store_bytes(skb, off, &check, sizeof(check), 0);
	bpf_l4_csum_replace(skb, off, 0, 1, sizeof(check));
	bpf_skb_load_bytes(skb, off, &check, sizeof(check));
	return !check;
}

/* Is this UDP to our port, in a form that XDP admits? */
static __always_inline bool grow_is_ours(struct __sk_buff *skb, const struct grow_arg *a,
					 __be16 proto)
{
	__be16 dport;

	if (bpf_skb_load_bytes(skb, l4_off(a) + 2, &dport, sizeof(dport)) ||
	    dport != bpf_htons(TRIB_UDP_PORT))
		return false;
	if (a->v6)
		return a->ip[6] == IPPROTO_UDP;
	return proto == bpf_htons(ETH_P_IP) && a->ip[0] == 0x45 && !(a->ip[6] & 0x3f) &&
	       !a->ip[7] && a->ip[9] == IPPROTO_UDP;
}

/* Take the tags off and read the headers. Return: false if it is not ours. */
static __always_inline bool grow_read(struct __sk_buff *skb, struct grow_arg *a, struct ethhdr *eth)
{
#pragma clang loop unroll(full)
	for (int i = 0; i < 2; i++) {
		if (!skb->vlan_present && !is_vlan(skb->protocol))
			break;
		if (skb->vlan_present)
			a->vlan[i] = bpf_htons(skb->vlan_tci);
		else if (bpf_skb_load_bytes(skb, 14, &a->vlan[i], 2))
			return false;
		a->vlan[i] &= bpf_htons(VLAN_ID_MASK);
		if (bpf_skb_vlan_pop(skb))
			return false;
	}
	if (bpf_skb_load_bytes(skb, 0, eth, sizeof(*eth)))
		return false;
	a->v6 = eth->h_proto == bpf_htons(ETH_P_IPV6);
	if (a->v6 ? bpf_skb_load_bytes(skb, L3_OFF, a->ip, 40)
		  : bpf_skb_load_bytes(skb, L3_OFF, a->ip, 20))
		return false;
	if (!grow_is_ours(skb, a, eth->h_proto))
		return false;
	if (bpf_skb_load_bytes(skb, l4_off(a), &a->sport, sizeof(a->sport)) ||
	    bpf_skb_load_bytes(skb, l4_off(a) + sizeof(struct udphdr), &a->h, sizeof(a->h)))
		return false;
	if (a->h.type == TRIB_T_NEED) {
		bpf_skb_load_bytes(skb, l4_off(a) + sizeof(struct udphdr) + sizeof(a->h), &a->seen,
				   sizeof(a->seen));
		a->seen = bpf_be64_to_cpu(a->seen);
	}
	a->len = skb->len - l4_off(a) - sizeof(struct udphdr) - sizeof(a->h);
	a->offload = offloaded(skb, l4_off(a));
	return a->h.version == TRIB_WIRE_VERSION;
}

/* Find the tree that XDP admitted the packet to; NULL if it changed since. */
static __always_inline struct trib_tree *grow_tree(const struct trib_hdr *h)
{
	__u32 row = bpf_ntohs(load16(&h->tree));
	struct trib_tree *t = bpf_map_lookup_elem(&trees, &row);

	if (!t || !(t->flags & TRIB_TREE_USED) || t->job != bpf_ntohs(load16(&h->job)))
		return NULL;
	/* A shared slot's identity has the epoch. */
	return (t->flags & TRIB_TREE_SHARED) || t->epoch == bpf_ntohl(load32(&h->epoch)) ? t : NULL;
}

static __always_inline void grow_count(__u8 type, __u32 how)
{
	stat_call(TRIB_TX_GROW);
	if (type == TRIB_T_NEED)
		stat_call(TRIB_TX_NEED);
	else if (type == TRIB_T_GRAD)
		stat_call(TRIB_TX_PARTIAL);
	else
		stat_call(how & GROW_ANSWER ? TRIB_TX_ANSWER : TRIB_TX_RESULT);
}

static __always_inline int grow_drop(__u32 why)
{
	stat_call(why);
	return TC_ACT_SHOT;
}

/* Send the packet by the orders @how for @group. Return: a verdict. */
static __always_inline int grow_send(struct __sk_buff *skb, __u32 group, __u32 how)
{
	struct grow_arg a = {};
	struct trib_tree *t;
	struct ethhdr eth;
	__u32 child, why;
	__u8 type;

	if (!grow_read(skb, &a, &eth))
		return grow_drop(TRIB_DROP_TYPE);
	t = grow_tree(&a.h);
	if (!t)
		return grow_drop(TRIB_DROP_GROW_GONE);
	child = bpf_ntohs(load16(&a.h.child));
	if (how & GROW_FILL) {
		type = how & GROW_POOL ? TRIB_T_GRAD : GROW_TYPE_OF(how);
		why = how & GROW_POOL ? pool_grow(skb, &a) : grow_fill(skb, &a, t, type);
		if (why)
			return grow_drop(why);
		grow_count(type, how);
		if (type == TRIB_T_NEED && t->deliver)
			ring_event(t->deliver, &a.h, TRIB_T_NEED, a.seen);
	}
	if ((how & GROW_ANSWER) && (how & GROW_POOL)) {
		/* trib_xdp made it the answer. */
		stat_call(TRIB_TX_GROW);
		grow_answer(skb, &a, ANSWER_TO(a.sport, a.vlan), eth.h_source, eth.h_dest);
	} else if (how & GROW_ANSWER) {
		if (child >= TRIB_CHILDREN_MAX)
			return grow_drop(TRIB_DROP_CHILD);
		a.h.auth = t->auth;
		grow_answer(skb, &a, ANSWER_TO(t->child[child].port, t->child[child].vlan),
			    eth.h_source, eth.h_dest);
	} else if (how & GROW_BOTH) {
		grow_group(skb, &a, t->down);
		grow_group(skb, &a, t->up);
	} else if (group != TRIB_NONE || !t->deliver) {
		grow_group(skb, &a, group);
	}
	return TC_ACT_STOLEN;
}

#endif /* TRIB_BPF_GROW_H */
