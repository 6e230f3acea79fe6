/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrival: finds the NDN packet in a frame and the face that sent it. Frames of
 * other kinds or for other hosts pass.
 */
#ifndef TRIB_BPF_NDN_RX_H
#define TRIB_BPF_NDN_RX_H

#include "ndn_parse.h"

#define NDN_PORT bpf_htons(TRIB_NDN_UDP_PORT)
#define NDN_PROTO bpf_htons(TRIB_NDN_ETHERTYPE)
#define RX_OK -1 /* else a verdict */

/**
 * struct rx - a frame's headers
 * @from: sender.
 * @to:   destination address as in @from.addr; 0 for Ethernet.
 * @l3:   offset behind the Ethernet header and tag.
 * @off:  offset of the NDN packet.
 * @len:  its bytes; for Ethernet with padding.
 */
struct rx {
	struct ndn_from from;
	__be32 to[4];
	__u32 l3;
	__u32 off;
	__u32 len;
};

static __always_inline void rx_mapped(__be32 *to, __be32 addr)
{
	to[0] = 0;
	to[1] = 0;
	to[2] = bpf_htonl(0xffff);
	to[3] = addr;
}

/* UDP at @off, of @l4_len bytes. */
static __always_inline int rx_udp(struct xdp_md *ctx, struct rx *r, __u32 off, __u32 l4_len)
{
	void *end = (void *)(long)ctx->data_end;
	struct udphdr *udp = (void *)(long)ctx->data + off;

	if ((void *)(udp + 1) > end || udp->dest != NDN_PORT)
		return XDP_PASS;
	if (l4_len != bpf_ntohs(udp->len) || l4_len < sizeof(*udp) ||
	    off + l4_len > (__u32)(end - (void *)(long)ctx->data))
		return ndn_drop(NDN_DROP_LENGTH);
	r->from.port = udp->source;
	r->off = off + sizeof(*udp);
	r->len = l4_len - sizeof(*udp);
	return RX_OK;
}

/* Drop a packet for our port in a form that we do not read; pass others. */
static __always_inline int rx_refuse(struct xdp_md *ctx, __u32 off, __u32 why)
{
	struct udphdr *udp = (void *)(long)ctx->data + (off & PKT_OFF_MASK);

	if ((void *)(udp + 1) > (void *)(long)ctx->data_end || udp->dest != NDN_PORT)
		return XDP_PASS;
	return ndn_drop(why);
}

static __always_inline int rx_v4(struct xdp_md *ctx, struct rx *r)
{
	struct iphdr *ip = (void *)(long)ctx->data + r->l3;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end || ip->version != 4 ||
	    ip->protocol != IPPROTO_UDP)
		return XDP_PASS;
	if (ip->frag_off & bpf_htons(IP_OFFSET))
		return XDP_PASS;
	if (ip->frag_off & bpf_htons(IP_FRAGMENT))
		return rx_refuse(ctx, r->l3 + ip->ihl * 4, NDN_DROP_FRAGMENT);
	if (ip->ihl != 5)
		return ip->ihl < 5 ? XDP_PASS
				   : rx_refuse(ctx, r->l3 + ip->ihl * 4, NDN_DROP_OPTIONS);
	rx_mapped((__be32 *)r->from.addr, load32(&ip->saddr));
	rx_mapped(r->to, load32(&ip->daddr));
	return rx_udp(ctx, r, r->l3 + 20, bpf_ntohs(ip->tot_len) - 20);
}

/* Packets with extension headers pass to the host. */
static __always_inline int rx_v6(struct xdp_md *ctx, struct rx *r)
{
	struct ipv6hdr *ip = (void *)(long)ctx->data + r->l3;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end || ip->version != 6 ||
	    ip->nexthdr != IPPROTO_UDP)
		return XDP_PASS;
	__builtin_memcpy(r->from.addr, &ip->saddr, 16);
	__builtin_memcpy(r->to, &ip->daddr, 16);
	return rx_udp(ctx, r, r->l3 + 40, bpf_ntohs(ip->payload_len));
}

/* The packet may be followed by padding. */
static __always_inline int rx_ether(struct xdp_md *ctx, struct rx *r)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	__u64 len = end - (void *)eth;

	HIDE(len); /* verifiers refuse the difference of two pointers in 32 bits */
	if ((void *)(eth + 1) > end)
		return XDP_PASS;
	__builtin_memcpy(r->from.addr, eth->h_source, ETH_ALEN);
	r->off = r->l3;
	r->len = len - r->l3;
	return RX_OK;
}

static __always_inline int rx_headers(struct xdp_md *ctx, struct rx *r)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct vlan_tag *tag = (void *)(eth + 1);
	__be16 proto;
	int rc;

	if ((void *)(eth + 1) > end)
		return XDP_PASS;
	if (marked(eth))
		return ndn_drop(NDN_DROP_SOURCE);
	proto = eth->h_proto;
	r->l3 = sizeof(*eth);
	if (proto == bpf_htons(ETH_P_8021Q)) {
		if ((void *)(tag + 1) > end)
			return XDP_PASS;
		r->from.vlan = tag->tci & bpf_htons(VLAN_ID_MASK);
		proto = tag->proto;
		r->l3 += sizeof(*tag);
	}
	r->from.ifindex = ctx->ingress_ifindex;
	if (proto == bpf_htons(ETH_P_IP))
		rc = rx_v4(ctx, r);
	else if (proto == bpf_htons(ETH_P_IPV6))
		rc = rx_v6(ctx, r);
	else if (proto == NDN_PROTO)
		rc = rx_ether(ctx, r);
	else
		return XDP_PASS;
	/* No host has a group address. */
	if (rc == RX_OK && (eth->h_source[0] & 1))
		return ndn_drop(NDN_DROP_SOURCE);
	return rc;
}

/* Unknown sender: report it to tribd. Anybody can send, so few reports a tick do. */
static __always_inline int rx_miss(struct xdp_md *ctx, struct ndn_work *w, const struct rx *r)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ndn_miss m = {.from = r->from};
	__u64 jiffies = bpf_jiffies64();

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	if (w->missed_at != jiffies) {
		w->missed_at = jiffies;
		w->missed = 0;
	}
	if (w->missed++ >= NDN_MISSES_A_TICK) {
		ndn_count(NDN_DROP_MISS);
		return ndn_drop(NDN_DROP_FACE);
	}
	__builtin_memcpy(m.smac, eth->h_source, ETH_ALEN);
	__builtin_memcpy(m.dmac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(m.daddr, r->to, 16);
	if (bpf_ringbuf_output(&ndn_misses, &m, sizeof(m), 0))
		ndn_count(NDN_DROP_MISS);
	return ndn_drop(NDN_DROP_FACE);
}

/* Is the frame addressed to us, or to a group? */
static __always_inline bool rx_is_ours(struct xdp_md *ctx, const struct rx *r,
				       const struct ndn_face *f)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	__u8 group;

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return false;
	if (f->flags & NDN_FACE_ETHER)
		return (eth->h_dest[0] & 1) || (load32(eth->h_dest) == load32(f->smac) &&
						load16(eth->h_dest + 4) == load16(f->smac + 4));
	if (f->flags & NDN_FACE_V6)
		return *(__u8 *)r->to == 0xff ||
		       (r->to[0] == f->saddr[0] && r->to[1] == f->saddr[1] &&
			r->to[2] == f->saddr[2] && r->to[3] == f->saddr[3]);
	group = *(__u8 *)&r->to[3];
	return r->to[3] == f->saddr[3] || (group >= 224 && group < 240);
}

/* Find the face of the sender, or NDN_FACE_NONE. */
static __always_inline __u32 rx_face(struct ndn_work *w, const struct ndn_config *c,
				     const struct ndn_from *from)
{
	const __u64 *a = (const void *)from, *b = (const void *)&w->last;
	__u32 *face;

	if (!((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2])) && w->changes == c->changes)
		return w->last_face;
	face = bpf_map_lookup_elem(&ndn_from, from);
	if (!face)
		return NDN_FACE_NONE;
	w->last = *from;
	w->last_face = *face;
	w->changes = c->changes;
	return *face;
}

/* Fill in struct ndn_work. Return: RX_OK, or a verdict. */
static __always_inline int ndn_rx(struct xdp_md *ctx, struct ndn_work *w,
				  const struct ndn_config *c)
{
	struct ndn_face *f;
	struct rx r = {};
	__u64 e, jiffies;
	__u32 face;
	int rc;

	rc = rx_headers(ctx, &r);
	if (rc != RX_OK)
		return rc;
	face = rx_face(w, c, &r.from);
	f = bpf_map_lookup_elem(&ndn_faces, &face);
	if (!face || !f || !(f->flags & NDN_FACE_USED))
		return rx_miss(ctx, w, &r);
	if (!rx_is_ours(ctx, &r, f))
		return XDP_PASS;
	if (f->flags & NDN_FACE_ETHER) {
		e = ndn_elem_slow(ctx, r.off, r.off + r.len);
		if (ELEM_IS_ERR(e))
			return ndn_drop(NDN_STAT_BAD + ELEM_IS_ERR(e));
		r.len = ELEM_SIZE(e);
	}
	w->base = r.off;
	w->len = r.len;
	w->face = face;
	w->flags = f->flags;
	jiffies = bpf_jiffies64();
	if (jiffies != w->jiffies) {
		w->jiffies = jiffies;
		w->now = bpf_ktime_get_coarse_ns();
	}
	return RX_OK;
}

#endif /* TRIB_BPF_NDN_RX_H */
