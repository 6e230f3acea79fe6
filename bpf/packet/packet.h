/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs know of the packet in hand, and the byte-level helpers
 * that all of them use: loads from headers, IP checksum, ECN.
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

/* The compiler must take @x for unknown from here on. */
#define HIDE(x) asm volatile("" : "+r"(x))

/*
 * Source MAC of a frame of the NDN forwarder that has no headers yet, as MARK
 * of send.h: no real one has the multicast bit.
 */
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
	return proto == bpf_htons(ETH_P_8021Q) ||
	       proto == bpf_htons(ETH_P_8021AD);
}

/*
 * Headers of a packet are packed, so the compiler would load their fields byte
 * by byte; both kernels' programs may load at any alignment.
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
 * @eth:    start of the frame; like the other pointers valid until the packet
 *          is resized, and set anew by pkt_locate().
 * @l3:     IP header.
 * @udp:    UDP header.
 * @h:      ours.
 * @l3_off: of @l3 from the start of the frame: 14, 18 or 22.
 * @off:    of what follows @h: bitmap or payload.
 * @len:    bytes that follow @h.
 * @vlan:   the VLAN ids as in &trib_peer.vlan, both in one word.
 * @ifindex: where it came in.
 * @v6:     IPv6, else IPv4 without options.
 * @ce:     congestion was experienced on the way here.
 * @plain:  a GRAD for a dedicated tree, with nothing that needs a second look.
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

/* No @off is larger: 110 with 2 tags and IPv6. Every verifier keeps a mask. */
#define PKT_OFF_MASK 127

/* Recompute the pointers of @p. Return: false if the frame is too short. */
static __always_inline bool pkt_locate(struct xdp_md *ctx, struct pkt *p)
{
	void *data = (void *)(long)ctx->data,
	     *end = (void *)(long)ctx->data_end;
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
	/* Whichever IP it is, UDP and we come after it. */
	return (void *)(p->eth + 1) <= end && (void *)(p->h + 1) <= end &&
	       p->l3 + sizeof(struct ipv6hdr) <= end;
}

/* @ecn marked CE says so in our header; the packet that goes on is new. */
static __always_inline __u8 ecn_renew(__u8 tos)
{
	return (tos & ECN_MASK) == ECN_CE ? tos - ECN_CE + ECN_ECT0 : tos;
}

/* Of a header without options whose check field is 0. */
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
