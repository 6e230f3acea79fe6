/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sending. A packet for one face leaves with its headers. A packet for several is
 * marked with the number of a flight, a row that lists the receivers, and is
 * redirected to all ports; the devmap program addresses each copy. The clsact
 * program, which gets the number as metadata, sends what XDP cannot: to ports without native XDP, to several faces
 * behind one port, and answers longer than their Interest.
 */
#ifndef TRIB_BPF_NDN_TX_H
#define TRIB_BPF_NDN_TX_H

#include "ndn_rx.h"
#include "packet/errand.h"

/* Takes the place of the MAC addresses of a frame for the devmap program. */
struct ndn_tag {
	__u32 tick;
	__u16 rsvd;
	__u16 mark;
	__u32 place;
} __attribute__((packed));

#define FACE_HEAD_ETHER 14
#define TAG_LEN 4
#define L4_V4 (20 + 8)
#define L4_V6 (40 + 8)

/* Bytes of the headers between Ethernet and the packet. */
static __always_inline __u32 face_l4(const struct ndn_face *f)
{
	if (f->flags & NDN_FACE_ETHER)
		return 0;
	return f->flags & NDN_FACE_V6 ? L4_V6 : L4_V4;
}

static __always_inline __u32 face_l3(const struct ndn_face *f)
{
	return FACE_HEAD_ETHER + (f->vlan ? TAG_LEN : 0);
}

static __always_inline __be16 face_proto(const struct ndn_face *f)
{
	if (f->flags & NDN_FACE_ETHER)
		return NDN_PROTO;
	return f->flags & NDN_FACE_V6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
}

static __always_inline void put_ip(void *to, const struct ndn_face *f, __u32 len)
{
	struct iphdr *ip = to;

	store32(ip, bpf_htonl(0x45000000 | (len + L4_V4)));
	store32(&ip->id, bpf_htonl(0x4000)); /* not to be fragmented */
	store32(&ip->ttl, bpf_htonl(64 << 24 | IPPROTO_UDP << 16));
	store32(&ip->saddr, f->saddr[3]);
	store32(&ip->daddr, f->daddr[3]);
	ip->check = ip_checksum(ip);
}

static __always_inline void put_ip6(void *to, const struct ndn_face *f, __u32 len)
{
	struct ipv6hdr *ip = to;

	store32(ip, bpf_htonl(6 << 28));
	store32(&ip->payload_len, bpf_htonl((len + 8) << 16 | IPPROTO_UDP << 8 | 64));
	__builtin_memcpy(&ip->saddr, f->saddr, 16);
	__builtin_memcpy(&ip->daddr, f->daddr, 16);
}

/* Without checksum: the caller adds one if needed. */
static __always_inline void put_udp(struct udphdr *udp, const struct ndn_face *f, __u32 len)
{
	store16(&udp->source, f->sport);
	store16(&udp->dest, f->dport);
	store32(&udp->len, bpf_htons(len + 8));
}

static __always_inline __u64 sum_word(__u64 w)
{
	return (w & 0xffffffff) + (w >> 32);
}

/* Fold a sum to a checksum. UDP sends 0xffff for 0. */
static __always_inline __u16 sum_fold(__u64 sum)
{
	sum = sum_word(sum);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum ?: 0xffff;
}

/* Sum up the pseudo header and the UDP header that put_udp() made. */
static __always_inline __u64 sum_head_v6(const struct ndn_face *f, __u32 len)
{
	__u64 sum = bpf_htons(IPPROTO_UDP) + 2 * (__u64)bpf_htons(len + 8);

#pragma clang loop unroll(full)
	for (int i = 0; i < 4; i++)
		sum += (__u64)f->saddr[i] + f->daddr[i];
	return sum + f->sport + f->dport;
}

/* ndn_tx_sum() - sum up @len bytes at @off, in parts of 32 bits */
__noinline __u64 ndn_tx_sum(struct xdp_md *ctx, __u32 off, __u32 len)
{
	const void *end = (void *)(long)ctx->data_end, *p;
	__u64 sum = 0;
	__u32 i;

	for (i = 0; i < TRIB_NDN_PACKET_MAX / 32; i++) {
		p = ndn_at(ctx, off);
		if (len < 32 || p + 32 > end)
			break;
		sum += sum_word(load64(p)) + sum_word(load64(p + 8)) + sum_word(load64(p + 16)) +
		       sum_word(load64(p + 24));
		off += 32;
		len -= 32;
	}
	for (i = 0; i < 16; i++) {
		p = ndn_at(ctx, off);
		if (len < 2 || p + 2 > end)
			break;
		sum += load16(p);
		off += 2;
		len -= 2;
	}
	p = ndn_at(ctx, off);
	if (len == 1 && p + 1 <= end)
		sum += *(__u8 *)p;
	return sum;
}

/* Write the headers of @f into the frame. Return: 0, or the reason to drop. */
static __always_inline __u32 face_headers(struct xdp_md *ctx, const struct ndn_face *f, __u32 len)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct vlan_tag *tag = data + FACE_HEAD_ETHER;
	__u32 l3 = face_l3(f), l4;
	struct udphdr *udp;

	l4 = face_l4(f);
	HIDE(l3);
	l3 &= 31;
	if (data + sizeof(*eth) + sizeof(*tag) > end)
		return NDN_DROP_HEAD;
	__builtin_memcpy(eth->h_dest, f->dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, f->smac, ETH_ALEN);
	eth->h_proto = face_proto(f);
	if (f->vlan) {
		tag->proto = eth->h_proto;
		eth->h_proto = bpf_htons(ETH_P_8021Q);
		tag->tci = f->vlan;
	}
	if (l4 == L4_V4) {
		if (data + l3 + L4_V4 > end)
			return NDN_DROP_HEAD;
		put_ip(data + l3, f, len);
		put_udp(data + l3 + 20, f, len);
	} else if (l4 == L4_V6) {
		udp = data + l3 + 40;
		if (data + l3 + L4_V6 > end)
			return NDN_DROP_HEAD;
		put_ip6(data + l3, f, len);
		put_udp(udp, f, len);
		udp->check = sum_fold(sum_head_v6(f, len) + ndn_tx_sum(ctx, l3 + L4_V6, len));
	}
	return 0;
}

/*
 * ndn_tx_put() - turn the frame into one for @face, with the @len bytes at @off
 * as its packet. Return: 0, or the reason to drop it.
 */
__noinline int ndn_tx_put(struct xdp_md *ctx, __u32 face, __u32 off, __u32 len)
{
	struct ndn_face *f = bpf_map_lookup_elem(&ndn_faces, &face);
	__u32 head, frame;

	if (!f || !(f->flags & NDN_FACE_USED))
		return NDN_DROP_PORT;
	head = face_l3(f) + face_l4(f);
	if (face_l4(f) + len > f->max)
		return NDN_DROP_MTU;
	if (off != head && bpf_xdp_adjust_head(ctx, (int)off - (int)head))
		return NDN_DROP_HEAD;
	frame = ctx->data_end - ctx->data;
	if (frame > head + len && bpf_xdp_adjust_tail(ctx, (int)(head + len) - (int)frame))
		return NDN_DROP_HEAD;
	return face_headers(ctx, f, len);
}

/*
 * ndn_tx_flight() - make a flight of @kind to the receivers in struct ndn_work, with
 * the number &ndn_work.tick. Return: its row, or < 0.
 */
__noinline int ndn_tx_flight(__u32 kind)
{
	struct ndn_work *w = ndn_work();
	struct ndn_flight *l;
	__u32 place, tick;

	if (!w)
		return -1;
	tick = ++w->tick;
	place = bpf_get_smp_processor_id() * NDN_FLIGHTS + (tick & (NDN_FLIGHTS - 1));
	l = bpf_map_lookup_elem(&ndn_flights, &place);
	if (!l)
		return -1;
	l->tick = tick;
	l->kind = kind;
	l->mark = w->mark;
	l->count = w->count;
	l->off = w->base + w->v.packet_off;
	l->len = w->v.packet_len;
	l->name_off = w->base + w->v.name_off + w->start;
	l->name_len = w->size;
	l->key = w->key;
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++)
		l->faces[i] = w->faces[i];
	return place;
}

/* Mark the frame as the flight in row @place. Return: false if it is too short. */
static __always_inline bool tx_mark(struct xdp_md *ctx, const struct ndn_work *w, __u32 place)
{
	struct ndn_tag *tag = (void *)(long)ctx->data;

	if ((void *)(tag + 1) > (void *)(long)ctx->data_end)
		return false;
	tag->tick = w->tick;
	tag->rsvd = 0;
	tag->mark = NDN_MARK;
	tag->place = place;
	return true;
}

/* Find flight number @tick in row @place. NULL: the row was reused. */
static __always_inline struct ndn_flight *tx_flight_of(__u32 place, __u32 tick)
{
	struct ndn_flight *l = bpf_map_lookup_elem(&ndn_flights, &place);

	return l && l->tick == tick ? l : NULL;
}

static __always_inline bool face_in(const __u64 *set, __u32 face)
{
	return set[face >> 6 & (NDN_FACE_WORDS - 1)] >> (face & 63) & 1;
}

static __always_inline void face_add(__u64 *set, __u32 face)
{
	set[face >> 6 & (NDN_FACE_WORDS - 1)] |= 1ULL << (face & 63);
}

static __always_inline void face_remove(__u64 *set, __u32 face)
{
	set[face >> 6 & (NDN_FACE_WORDS - 1)] &= ~(1ULL << (face & 63));
}

/* ndn_tx_slow() - pass the frame to the clsact program. Return: a verdict. */
__noinline int ndn_tx_slow(struct xdp_md *ctx, __u32 kind)
{
	struct ndn_work *w = ndn_work();
	int place = ndn_tx_flight(kind);

	if (!w || place < 0)
		return ndn_drop(NDN_DROP_FLIGHT);
	return errand_put(ctx, TRIB_ERRAND_NDN, place, w->tick) ? XDP_PASS
								: ndn_drop(NDN_DROP_META);
}

/*
 * ndn_tx_one() - send the @len bytes at @off to @face, by the clsact program if
 * its port has no native XDP. Return: a verdict.
 */
__noinline int ndn_tx_one(struct xdp_md *ctx, __u32 face, __u32 off, __u32 len)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_face *f;
	__u32 why;

	f = bpf_map_lookup_elem(&ndn_faces, &face);
	if (!w || !c || !f)
		return ndn_drop(NDN_DROP_PORT);
	if (face_in(c->generic, face)) {
#pragma clang loop unroll(full)
		for (int i = 0; i < NDN_FACE_WORDS; i++)
			w->faces[i] = 0;
		face_add(w->faces, face);
		w->v.packet_off = off - w->base;
		w->v.packet_len = len;
		return ndn_tx_slow(ctx, NDN_FLIGHT_COPY);
	}
	if (bpf_redirect_map(&ndn_ports, f->ifindex, XDP_ABORTED) != XDP_REDIRECT)
		return ndn_drop(NDN_DROP_PORT);
	why = ndn_tx_put(ctx, face, off, len);
	return why ? ndn_drop(why) : XDP_REDIRECT;
}

/* Position of the only bit of a word. */
static __always_inline __u32 bit_place(__u64 bit)
{
	__u32 n = 0;

#pragma clang loop unroll(full)
	for (int s = 32; s; s >>= 1)
		if (bit >> s) {
			bit >>= s;
			n += s;
		}
	return n;
}

/* The only face of the set, or NDN_FACE_NONE: none or several. */
static __always_inline __u32 only_face(const __u64 *set)
{
	__u64 word = 0;
	__u32 base = 0;

#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++) {
		if (!set[i])
			continue;
		if (word)
			return NDN_FACE_NONE;
		word = set[i];
		base = 64 * i;
	}
	return word & (word - 1) ? NDN_FACE_NONE : base + bit_place(word);
}

/* Send the Data in hand to its receivers. Return: a verdict. */
static __always_inline int tx_faces(struct xdp_md *ctx, struct ndn_work *w,
				    const struct ndn_config *c)
{
	__u64 slow = 0;
	__u32 face;
	int place;

	ndn_count(NDN_STAT_TX_DATA);
	face = only_face(w->faces);
	if (face)
		return ndn_tx_one(ctx, face, w->base + w->v.packet_off, w->v.packet_len);
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++)
		slow |= w->faces[i] & (c->extra[i] | c->generic[i]);
	if (slow)
		return ndn_tx_slow(ctx, NDN_FLIGHT_COPY);
	place = ndn_tx_flight(NDN_FLIGHT_COPY);
	if (place < 0)
		return ndn_drop(NDN_DROP_FLIGHT);
	if (!tx_mark(ctx, w, place))
		return ndn_drop(NDN_DROP_SHORT);
	return bpf_redirect_map(&ndn_out, 0, BPF_F_BROADCAST);
}

/* The devmap program: address a copy at the port it leaves by. */
static __always_inline int tx_egress(struct xdp_md *ctx)
{
	struct ndn_tag *tag = (void *)(long)ctx->data;
	__u32 ifindex = ctx->egress_ifindex, *face, why;
	struct ndn_flight *l;

	if ((void *)(tag + 1) > (void *)(long)ctx->data_end || tag->mark != NDN_MARK)
		return XDP_PASS;
	l = tx_flight_of(tag->place, tag->tick);
	if (!l)
		return ndn_drop(NDN_DROP_FLIGHT);
	face = bpf_map_lookup_elem(&ndn_first, &ifindex);
	if (!face || !face_in(l->faces, *face)) {
		ndn_count(NDN_STAT_SPARED);
		return XDP_DROP;
	}
	why = ndn_tx_put(ctx, *face, l->off, l->len);
	if (why)
		return ndn_drop(why);
	ndn_count(NDN_STAT_TX_COPY);
	return XDP_PASS;
}

#endif /* TRIB_BPF_NDN_TX_H */
