/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The devmap program: new headers for each copy of a group's frame. The mark in
 * the source MAC names the group. A frame without a mark is an answer, which
 * has its headers already.
 */
#ifndef TRIB_BPF_EGRESS_H
#define TRIB_BPF_EGRESS_H

#include "auth.h"
#include "parse.h"
#include "send.h"

/* Count the tags of a row: 0, 1 (802.1Q) or 2 (802.1ad outside, 802.1Q inside). */
static __always_inline __u32 rewrite_tags(const struct trib_rewrite *r)
{
	return r->vlan[0] ? r->vlan[1] ? 2 : 1 : 0;
}

/* Write Ethernet header and tags. @proto: EtherType of the IP header behind. */
static __always_inline void put_eth(struct ethhdr *eth, const struct trib_rewrite *r, __u32 tags,
				    __be16 proto)
{
	struct vlan_tag *tag = (void *)(eth + 1);

	__builtin_memcpy(eth->h_dest, r->dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, r->smac, ETH_ALEN);
	if (tags == 0) {
		eth->h_proto = proto;
		return;
	}
	eth->h_proto = bpf_htons(tags == 2 ? ETH_P_8021AD : ETH_P_8021Q);
	tag->tci = r->vlan[0];
	if (tags == 2) {
		tag->proto = bpf_htons(ETH_P_8021Q);
		tag++;
		tag->tci = r->vlan[1];
	}
	tag->proto = proto;
}

static __always_inline void put_v4(struct iphdr *ip, const struct trib_rewrite *r)
{
	ip->tos = ecn_renew(ip->tos);
	ip->ttl = 64;
	ip->check = 0;
	store32(&ip->saddr, r->saddr[3]);
	store32(&ip->daddr, r->daddr[3]);
	ip->check = ip_checksum(ip);
}

static __always_inline void put_v6(struct ipv6hdr *ip, const struct trib_rewrite *r)
{
	ecn_renew_v6(ip);
	ip->hop_limit = 64;
	__builtin_memcpy(&ip->saddr, r->saddr, 16);
	__builtin_memcpy(&ip->daddr, r->daddr, 16);
}

/*
 * Write the fields of our header that depend on the receiver. Return: whether the
 * packet needs an authenticator yet.
 */
static __always_inline bool put_ours(struct trib_hdr *h, const struct trib_rewrite *r)
{
	if (r->up == TRIB_REWRITE_UP || r->up == TRIB_REWRITE_NEXT) {
		h->flags |= TRIB_F_UP;
		if (r->up == TRIB_REWRITE_UP)
			store16(&h->child, bpf_htons(r->child));
	} else {
		h->flags &= ~TRIB_F_UP;
	}
	if (!trib_auth_is_secret(h->type))
		return r->up <= TRIB_REWRITE_UP;
	store64(&h->auth, r->auth);
	return false;
}

static __always_inline void put_udp(struct udphdr *udp, const struct trib_rewrite *r)
{
	udp->source = r->sport;
	udp->dest = r->dport;
	udp->check = 0;
}

/* Count the frame's tags. Return: 0 to 2, and in *@proto the type behind them. */
static __always_inline __u32 count_tags(struct xdp_md *ctx, __be16 *proto)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct vlan_tag *tag = data + sizeof(struct ethhdr);
	__u32 n = 0;

#pragma clang loop unroll(full)
	for (int i = 0; i < 2; i++) {
		if (!is_vlan(*proto) || (void *)(tag + 1) > end)
			break;
		*proto = tag->proto;
		tag++;
		n++;
	}
	return n;
}

static __always_inline int egress(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct trib_rewrite_key key = {.ifindex = ctx->egress_ifindex};
	struct ethhdr *eth = data;
	struct trib_rewrite *r;
	__u32 have, want, len;
	__be16 proto;
	void *l3;

	if ((void *)(eth + 1) > end || load16(eth->h_source) != MARK)
		return XDP_PASS;
	key.group = load32(eth->h_source + 2);
	r = bpf_map_lookup_elem(&rewrites, &key);
	if (!r)
		return drop(TRIB_DROP_REWRITE);
	proto = eth->h_proto;
	have = count_tags(ctx, &proto);
	if (proto != (r->v6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP)))
		return drop(TRIB_DROP_REWRITE);
	want = rewrite_tags(r);
	if (have != want) {
		if (bpf_xdp_adjust_head(ctx, ((int)have - (int)want) * 4))
			return drop(TRIB_DROP_REWRITE);
		data = (void *)(long)ctx->data;
		end = (void *)(long)ctx->data_end;
	}
	l3 = data + sizeof(*eth) + want * 4;
	len = r->v6 ? 40 : 20;
	if (l3 + len + sizeof(struct udphdr) + sizeof(struct trib_hdr) > end)
		return drop(TRIB_DROP_SHORT);
	put_eth(data, r, want, proto);
	if (len == 40)
		put_v6(l3, r);
	else
		put_v4(l3, r);
	put_udp(l3 + len, r);
	if (put_ours(l3 + len + sizeof(struct udphdr), r))
		auth_sign(ctx,
			  sizeof(*eth) + want * 4 + len + sizeof(struct udphdr) +
				  sizeof(struct trib_hdr),
			  &r->key);
	stat(TRIB_EGRESS);
	return XDP_PASS;
}

#endif /* TRIB_BPF_EGRESS_H */
