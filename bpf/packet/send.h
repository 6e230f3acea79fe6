/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a packet leaves XDP: to a group, back to its sender, or through the clsact
 * program (bpf/grow) where XDP cannot send it.
 *
 * Every redirected frame passes trib_egress: a port's transmit batch has one
 * devmap program, that of its first frame. A frame for a group carries a mark and
 * the group's number in place of its source MAC. An answer has complete headers and no mark.
 */
#ifndef TRIB_BPF_SEND_H
#define TRIB_BPF_SEND_H

#include "errand.h"
#include "meta.h"
#include "packet.h"
#include "stats.h"

/*
 * enum grow_how - orders for the clsact program: &trib_errand.arg[1]; the group is
 * &trib_errand.arg[0]
 */
enum grow_how {
	/* values and header come from the slot; GROW_TYPE() is the type */
	GROW_FILL = 1 << 0,
	/* to the sender */
	GROW_ANSWER = 1 << 1,
	/* to the tree's down and up groups */
	GROW_BOTH = 1 << 2,
	/* with FILL: a slot of a shared pool; with ANSWER: a PROBE's answer */
	GROW_POOL = 1 << 3,
};

#define GROW_TYPE(type) ((__u32)(type) << 8)
#define GROW_TYPE_OF(how) ((__u8)((how) >> 8))

/* The first 8 bytes of a header that is not compressed. */
static __always_inline __u64 head_word(__u8 type, __u8 flags, __u64 meta)
{
	return TRIB_WIRE_VERSION | (__u64)type << 8 | (__u64)flags << 16 |
	       (__u64)META_OP(meta) << 24 | (__u64)META_FMT(meta) << 32;
}

/* &trib_hdr.child of a RESULT: the child that completed it. */
static __always_inline __be16 head_last(__u64 meta)
{
	__u8 last = META_LAST(meta);

	return last == LAST_NONE ? 0xffff : bpf_htons(last);
}

static __always_inline void mark_group(struct ethhdr *eth, __u32 group)
{
	store16(eth->h_source, MARK);
	store32(eth->h_source + 2, group);
}

/* to_grow() - hand the packet to the port's clsact program. Return: a verdict. */
__noinline int to_grow(struct xdp_md *ctx, __u32 group, __u32 how)
{
	return errand_put(ctx, TRIB_ERRAND, group, how) ? XDP_PASS : drop(TRIB_DROP_META);
}

/* Send to all members of @group. Return: a verdict. */
static __always_inline int to_group(struct xdp_md *ctx, struct pkt *p, __u32 group)
{
	struct trib_group *row;
	void *devmap;

	if (group == TRIB_NONE)
		return drop(TRIB_DROP_HOPS);
	devmap = bpf_map_lookup_elem(&groups, &group);
	if (devmap) {
		mark_group(p->eth, group);
		return bpf_redirect_map(devmap, 0, BPF_F_BROADCAST);
	}
	row = bpf_map_lookup_elem(&members, &group);
	if (!row || !row->n)
		return drop(TRIB_DROP_GROUP);
	return to_grow(ctx, group, 0);
}

/* Send to the children and, unless this is the root, the parent. */
static __always_inline int to_all(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t)
{
	if (t->flags & TRIB_TREE_ROOT)
		return to_group(ctx, p, t->down);
	if (t->all == TRIB_NONE)
		return to_grow(ctx, TRIB_NONE, GROW_BOTH);
	return to_group(ctx, p, t->all);
}

/* Cut the packet to @len bytes behind our header, and locate @p again. */
static __always_inline bool shrink(struct xdp_md *ctx, struct pkt *p, __u32 len)
{
	__u32 l4_len = sizeof(struct udphdr) + sizeof(struct trib_hdr) + len;

	if (len >= p->len)
		return len == p->len;
	if (bpf_xdp_adjust_tail(ctx, (int)len - (int)p->len))
		return false;
	p->len = len;
	if (!pkt_locate(ctx, p))
		return false;
	if (p->v6)
		((struct ipv6hdr *)p->l3)->payload_len = bpf_htons(l4_len);
	else
		((struct iphdr *)p->l3)->tot_len = bpf_htons(20 + l4_len);
	p->udp->len = bpf_htons(l4_len);
	return true;
}

static __always_inline void swap_v4(struct iphdr *ip)
{
	__u32 saddr = load32(&ip->saddr);

	store32(&ip->saddr, load32(&ip->daddr));
	store32(&ip->daddr, saddr);
	ip->tos = ecn_renew(ip->tos);
	ip->ttl = 64;
	ip->check = 0;
	ip->check = ip_checksum(ip);
}

/* The low bits of the traffic class are the high half of the second byte. */
static __always_inline void ecn_renew_v6(struct ipv6hdr *ip)
{
	ip->flow_lbl[0] = (ip->flow_lbl[0] & 0x0f) | ecn_renew(ip->flow_lbl[0] >> 4) << 4;
}

static __always_inline void swap_v6(struct ipv6hdr *ip)
{
	struct in6_addr saddr = ip->saddr;

	ip->saddr = ip->daddr;
	ip->daddr = saddr;
	ecn_renew_v6(ip);
	ip->hop_limit = 64;
}

/* Can XDP answer through the port that the packet came by? */
static __always_inline bool can_answer(const struct pkt *p)
{
	return bpf_redirect_map(&ports, p->ifindex, XDP_ABORTED) == XDP_REDIRECT;
}

/*
 * Send back to the sender, at UDP port @port. can_answer() must have returned true:
 * it records the port for the redirect. Return: a verdict.
 */
static __always_inline int to_sender(struct pkt *p, __be16 port)
{
	struct ethhdr *eth = p->eth;
	__u8 mac[ETH_ALEN];

	__builtin_memcpy(mac, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(eth->h_dest, mac, ETH_ALEN);
	eth->h_source[0] &= ~1; /* a multicast address is no source */
	if (p->v6)
		swap_v6(p->l3);
	else
		swap_v4(p->l3);
	p->udp->source = p->udp->dest;
	p->udp->dest = port;
	p->udp->check = 0;
	return XDP_REDIRECT;
}

#endif /* TRIB_BPF_SEND_H */
