/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classification: packets for our port, in a form that the programs read. Code
 * behind parse() and admission does not check a header again.
 */
#ifndef TRIB_BPF_PARSE_H
#define TRIB_BPF_PARSE_H

#include "packet.h"
#include "stats.h"
#include "uapi/trib_ndn.h"

#define PARSE_OK -1  /* else a verdict: XDP_PASS (not ours) or XDP_DROP */
#define PARSE_NDN -2 /* NDN: for the forwarder, if it is loaded */

#define UDP_PORT bpf_htons(TRIB_UDP_PORT)
#define NDN_PORT bpf_htons(TRIB_NDN_UDP_PORT)

/* Drop a packet for our port whose form we do not read; pass any other. */
static __always_inline int refuse(struct xdp_md *ctx, void *udp, __u32 why)
{
	struct udphdr *u = udp;

	if ((void *)(u + 1) > (void *)(long)ctx->data_end || u->dest != UDP_PORT)
		return XDP_PASS;
	return drop(why);
}

/* Return: PARSE_OK with @p->udp and *@l4_len set, or a verdict. */
static __always_inline int parse_v4(struct xdp_md *ctx, struct pkt *p, __u32 *l4_len)
{
	struct iphdr *ip = p->l3;
	__u32 hlen;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end || ip->protocol != IPPROTO_UDP ||
	    ip->version != 4)
		return XDP_PASS;
	if (ip->frag_off & bpf_htons(IP_FRAGMENT)) {
		/* Only the first fragment has the port. */
		if (ip->frag_off & bpf_htons(IP_OFFSET))
			return XDP_PASS;
		hlen = ip->ihl * 4;
		return refuse(ctx, p->l3 + hlen, TRIB_DROP_FRAGMENT);
	}
	if (ip->ihl != 5) {
		hlen = ip->ihl * 4;
		if (hlen < 20)
			return XDP_PASS;
		return refuse(ctx, p->l3 + hlen, TRIB_DROP_OPTIONS);
	}
	p->v6 = false;
	p->ce = (ip->tos & ECN_MASK) == ECN_CE;
	p->udp = (void *)(ip + 1);
	*l4_len = bpf_ntohs(ip->tot_len) - 20;
	return PARSE_OK;
}

/* Look behind one extension header, to count packets for our port. */
static __always_inline int parse_v6_more(struct xdp_md *ctx, struct ipv6hdr *ip)
{
	struct {
		__u8 next;
		__u8 len;
		__be16 frag_off;
		__u32 rsvd;
	} *ext = (void *)(ip + 1);
	__u32 len;

	if ((void *)(ext + 1) > (void *)(long)ctx->data_end || ext->next != IPPROTO_UDP)
		return XDP_PASS;
	switch (ip->nexthdr) {
	case IPPROTO_FRAGMENT:
		if (ext->frag_off & bpf_htons(0xfff8))
			return XDP_PASS;
		return refuse(ctx, ext + 1, TRIB_DROP_FRAGMENT);
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
		len = (ext->len + 1) * 8;
		return refuse(ctx, (void *)ext + len, TRIB_DROP_OPTIONS);
	default:
		return XDP_PASS;
	}
}

static __always_inline int parse_v6(struct xdp_md *ctx, struct pkt *p, __u32 *l4_len)
{
	struct ipv6hdr *ip = p->l3;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end || ip->version != 6)
		return XDP_PASS;
	if (ip->nexthdr != IPPROTO_UDP)
		return parse_v6_more(ctx, ip);
	p->v6 = true;
	/* The traffic class straddles the first two bytes. */
	p->ce = (ip->flow_lbl[0] >> 4 & ECN_MASK) == ECN_CE;
	p->udp = (void *)(ip + 1);
	*l4_len = bpf_ntohs(ip->payload_len);
	return PARSE_OK;
}

/* Does the type exist, and travel in this direction? */
static __always_inline bool type_ok(__u8 type, __u8 flags)
{
	switch (type) {
	case TRIB_T_GRAD:
	case TRIB_T_JOIN:
	case TRIB_T_LEAVE:
		return flags & TRIB_F_UP;
	case TRIB_T_START:
		return !(flags & TRIB_F_UP);
	case TRIB_T_RESULT:
	case TRIB_T_NEED:
	case TRIB_T_ALIVE:
	case TRIB_T_ABORT:
	case TRIB_T_PROBE:
		return true;
	default:
		return false;
	}
}

/* Check operation and format of data packets. Return: 0, or the reason to drop. */
static __always_inline __u32 check_format(const struct trib_hdr *h, __u32 nval)
{
	__u8 type = h->type;

	if (h->attempt || (h->nm && !(h->flags & TRIB_F_MASK)))
		return TRIB_DROP_FORMAT;
	if (type != TRIB_T_GRAD && type != TRIB_T_RESULT)
		return type >= TRIB_T_JOIN || !nval ? 0 : TRIB_DROP_FORMAT;
	if (h->op >= TRIB_WOP__MAX || h->fmt == TRIB_FMT_NONE ||
	    (h->op == TRIB_WOP_MAX && h->fmt != TRIB_FMT_W64))
		return TRIB_DROP_FORMAT;
	if (h->fmt > TRIB_FMT_W64) {
		/* Shared pools may sum twice, in another order: no floats. */
		if (h->fmt > TRIB_FMT_BF16 || load16(&h->relay))
			return TRIB_DROP_FORMAT;
		if (nval > trib_fmt_nval_max(h->fmt, TRIB_NVAL))
			return TRIB_DROP_NVAL;
	}
	/* A contribution without values must be marked EMPTY. */
	if (!nval && type == TRIB_T_GRAD && !(h->flags & TRIB_F_EMPTY))
		return TRIB_DROP_FORMAT;
	return 0;
}

/*
 * May the packet have a mask, and this one? Checked before its length, which depends on
 * the mask. Return: 0, or the reason to drop.
 */
static __always_inline __u32 check_mask(const struct trib_hdr *h, __u32 nval)
{
	if (h->type != TRIB_T_GRAD || (h->flags & TRIB_F_EMPTY) || h->op != TRIB_WOP_ADD ||
	    (h->fmt != TRIB_FMT_I32 && h->fmt != TRIB_FMT_F32) || !nval || nval % TRIB_MASK_UNITS ||
	    !trib_nm_is_mask(h->nm))
		return TRIB_DROP_FORMAT;
	return 0;
}

/* The frame is too long: did segmentation offload glue datagrams together? */
static __always_inline int parse_gso(struct xdp_md *ctx, struct pkt *p, __u32 len)
{
	struct trib_hdr *next;

	/* Every verifier keeps this bound; payloads are shorter. */
	HIDE(len);
	next = (void *)(p->h + 1) + (len & 0xfff);
	if ((void *)(next + 1) <= (void *)(long)ctx->data_end &&
	    next->version == TRIB_WIRE_VERSION && load64(&next->auth) == load64(&p->h->auth))
		return drop(TRIB_DROP_GSO);
	return drop(TRIB_DROP_LENGTH);
}

/* The first 8 bytes of a header as one word. */
#define HEAD(version, type, flags, op, fmt)                                                        \
	((__u64)(version) | (__u64)(type) << 8 | (__u64)(flags) << 16 | (__u64)(op) << 24 |        \
	 (__u64)(fmt) << 32)
#define HEAD_GRAD HEAD(TRIB_WIRE_VERSION, TRIB_T_GRAD, TRIB_F_UP, 0, 0)
/* Bits that a plain GRAD may have set: flags, and the formats Q32, I32, W64. */
#define HEAD_FREE HEAD(0, 0, TRIB_F_RESEND | TRIB_F_PUSH | TRIB_F_CE | TRIB_F_HEAD, 0, 3)

/* Most packets are plain: integers for a dedicated tree. One check admits them. */
static __always_inline bool plain_grad(const struct trib_hdr *h)
{
	return (load64(h) & ~HEAD_FREE) == HEAD_GRAD && h->fmt != TRIB_FMT_NONE && h->nval &&
	       !load16(&h->relay);
}

/* Check version, type and sizes. Return: 0, or the reason to drop. */
static __always_inline __u32 check_header(const struct trib_hdr *h, __u32 nval)
{
	if (h->version != TRIB_WIRE_VERSION)
		return TRIB_DROP_VERSION;
	if (!type_ok(h->type, h->flags))
		return TRIB_DROP_TYPE;
	/* tribd refuses a JOIN of another size itself. */
	if (nval > (h->type < TRIB_T_JOIN ? TRIB_NVAL : TRIB_NVAL_LARGE))
		return TRIB_DROP_NVAL;
	return h->bmwords > TRIB_BMWORDS_MAX ? TRIB_DROP_FORMAT : 0;
}

/* Check our header: version, type, lengths, format. Return: as parse(). */
static __always_inline int parse_ours(struct xdp_md *ctx, struct pkt *p, __u32 l4_len)
{
	void *end = (void *)(long)ctx->data_end;
	struct trib_hdr *h = p->h;
	__u32 nval, len, why;
	bool plain;

	if ((void *)(h + 1) > end)
		return drop(TRIB_DROP_SHORT);
	nval = bpf_ntohs(load16(&h->nval));
	plain = nval <= TRIB_NVAL && plain_grad(h);
	p->plain = plain;
	len = trib_payload_len(nval);
	if (!plain) {
		why = check_header(h, nval);
		if (!why && (h->flags & TRIB_F_MASK)) {
			why = check_mask(h, nval);
			len = trib_masked_len(nval, h->nm);
		}
		if (why)
			return drop(why);
		len += h->bmwords * 8;
	}
	if (l4_len != bpf_ntohs(p->udp->len))
		return drop(TRIB_DROP_LENGTH);
	if (l4_len != sizeof(struct udphdr) + sizeof(*h) + len)
		return l4_len > sizeof(struct udphdr) + sizeof(*h) + len ? parse_gso(ctx, p, len)
									 : drop(TRIB_DROP_LENGTH);
	if ((void *)(h + 1) + len != end)
		return drop(TRIB_DROP_LENGTH);
	why = plain ? 0 : check_format(h, nval);
	if (why)
		return drop(why);
	p->len = len;
	return PARSE_OK;
}

/*
 * Make the verifier forget which headers there are. All paths but the most
 * frequent one become one, so it walks the rest of the program twice, not seven
 * times. XOR with an unknown word does it. Return: never false.
 */
static __always_inline bool forget(struct xdp_md *ctx, struct pkt *p)
{
	__u32 word = p->ifindex;

	HIDE(word);
	p->l3_off ^= word;
	p->off ^= word;
	HIDE(p->l3_off);
	HIDE(p->off);
	p->l3_off ^= word;
	p->off ^= word;
	if (!pkt_locate(ctx, p))
		return false;
	p->v6 = *(__u8 *)p->l3 >> 4 == 6;
	return true;
}

static __always_inline int parse(struct xdp_md *ctx, struct pkt *p)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	__u32 l4_len = 0;
	__be16 proto;
	int rc;

	if ((void *)(eth + 1) > end)
		return XDP_PASS;
	if (marked(eth))
		return drop(TRIB_DROP_MARK);
	proto = load16(&eth->h_proto);
	p->l3 = eth + 1;
	p->l3_off = sizeof(*eth);
	p->vlan = 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < 2; i++) {
		struct vlan_tag *tag = p->l3;

		if (!is_vlan(proto))
			break;
		if ((void *)(tag + 1) > end)
			return XDP_PASS;
		p->vlan |= (__u32)(tag->tci & bpf_htons(VLAN_ID_MASK)) << (16 * i);
		proto = tag->proto;
		p->l3 = tag + 1;
		p->l3_off += sizeof(*tag);
	}
	if (proto == bpf_htons(ETH_P_IP))
		rc = parse_v4(ctx, p, &l4_len);
	else if (proto == bpf_htons(ETH_P_IPV6))
		rc = parse_v6(ctx, p, &l4_len);
	else
		rc = proto == bpf_htons(TRIB_NDN_ETHERTYPE) ? PARSE_NDN : XDP_PASS;
	if (rc != PARSE_OK)
		return rc;
	if ((void *)(p->udp + 1) > end)
		return XDP_PASS;
	if (p->udp->dest != UDP_PORT)
		return p->udp->dest == NDN_PORT ? PARSE_NDN : XDP_PASS;
	p->eth = eth;
	p->h = (void *)(p->udp + 1);
	p->off = p->l3_off + (p->v6 ? 40 : 20) + sizeof(struct udphdr) + sizeof(struct trib_hdr);
	p->ifindex = ctx->ingress_ifindex;
	if ((p->v6 || p->l3_off != sizeof(*eth)) && !forget(ctx, p))
		return drop(TRIB_DROP_SHORT);
	return parse_ours(ctx, p, l4_len);
}

#endif /* TRIB_BPF_PARSE_H */
