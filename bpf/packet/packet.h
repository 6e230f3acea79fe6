/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packet in hand, and byte-level helpers: loads from headers, IP checksum,
 * ECN.
 */
#ifndef TRIB_BPF_PACKET_H
#define TRIB_BPF_PACKET_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "uapi/trib_wire.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "payload words are little-endian and are added without swapping"
#endif

/* Hide the value of @x from the compiler. */
#define HIDE(x) asm volatile("" : "+r"(x))

/*
 * First bytes of the source MAC of a frame between XDP and the devmap program: one
 * for a group, and an NDN frame without headers. No real source has the multicast
 * bit, and no frame with a mark comes in (marked()).
 */
#define MARK bpf_htons(0x0354)
#define NDN_MARK bpf_htons(0x036e)

#define VLAN_ID_MASK 0x0fff
#define IP_FRAGMENT 0x3fff /* more fragments, or an offset */
#define IP_OFFSET 0x1fff
#define ECN_MASK 3
#define ECN_CE 3
#define ECN_ECT0 2

struct vlan_tag {
	__be16 tci;
	__be16 proto;
};

static __always_inline bool is_vlan(__be16 proto)
{
	return proto == bpf_htons(ETH_P_8021Q) || proto == bpf_htons(ETH_P_8021AD);
}

/*
 * Header structs are packed, so the compiler would load fields byte by byte. XDP
 * and clsact programs may load at any alignment.
 */
static __always_inline __u16 load16(const void *p)
{
	return *(const __u16 *)p;
}

static __always_inline __u32 load32(const void *p)
{
	return *(const __u32 *)p;
}

static __always_inline __u64 load64(const void *p)
{
	return *(const __u64 *)p;
}

/* Does the frame, as it arrived, bear a mark of ours? */
static __always_inline bool marked(const struct ethhdr *eth)
{
	__u16 first = load16(eth->h_source);

	return (first & 1) && (first == MARK || first == NDN_MARK);
}

static __always_inline void store16(void *p, __u16 v)
{
	*(__u16 *)p = v;
}

static __always_inline void store32(void *p, __u32 v)
{
	*(__u32 *)p = v;
}

static __always_inline void store64(void *p, __u64 v)
{
	*(__u64 *)p = v;
}

/**
 * struct pkt - one packet for our port
 * @eth:    start of the frame. All pointers are valid until the packet is resized;
 *          pkt_locate() sets them again.
 * @l3:     IP header.
 * @udp:    UDP header.
 * @h:      our header.
 * @l3_off: offset of @l3 in the frame: 14, 18 or 22.
 * @off:    offset of the bitmap or payload behind @h.
 * @len:    bytes behind @h.
 * @vlan:   VLAN ids as in &trib_peer.vlan, both in one word.
 * @ifindex: port it arrived at.
 * @v6:     IPv6; else IPv4 without options.
 * @ce:     the IP header's ECN field is CE.
 * @plain:  GRAD of integers for a dedicated tree: the frequent case.
 */
struct pkt {
	struct ethhdr *eth;
	void *l3;
	struct udphdr *udp;
	struct trib_hdr *h;
	__u32 l3_off;
	__u32 off;
	__u32 len;
	__u32 vlan;
	__u32 ifindex;
	bool v6;
	bool ce;
	bool plain;
};

/* Mask for &pkt.off, at most 110 (2 tags, IPv6): every verifier keeps a mask. */
#define PKT_OFF_MASK 127

/* Recompute the pointers of @p. Return: false if the frame is too short. */
static __always_inline bool pkt_locate(struct xdp_md *ctx, struct pkt *p)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 l3_off = p->l3_off;
	__u32 off = p->off - sizeof(struct trib_hdr) - sizeof(struct udphdr);

	HIDE(l3_off);
	HIDE(off);
	l3_off &= 31;
	off &= PKT_OFF_MASK;
	p->eth = data;
	p->l3 = data + l3_off;
	p->udp = data + off;
	p->h = (void *)(p->udp + 1);
	/* 40 bytes cover both IP versions: UDP and our header follow. */
	return (void *)(p->eth + 1) <= end && (void *)(p->h + 1) <= end &&
	       p->l3 + sizeof(struct ipv6hdr) <= end;
}

/* CE becomes ECT(0): the packet that leaves is new, and our header has F_CE. */
static __always_inline __u8 ecn_renew(__u8 tos)
{
	return (tos & ECN_MASK) == ECN_CE ? tos - ECN_CE + ECN_ECT0 : tos;
}

/* Checksum of an IPv4 header without options whose check field is 0. */
static __always_inline __u16 ip_checksum(const void *ip)
{
	__u64 sum = 0;

#pragma clang loop unroll(full)
	for (int i = 0; i < 20; i += 4)
		sum += load32(ip + i);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

#endif /* TRIB_BPF_PACKET_H */
