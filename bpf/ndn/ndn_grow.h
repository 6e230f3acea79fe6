/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clsact program of the NDN forwarder: sends what XDP cannot. ndn_xdp of the
 * same port passes the frame up, with the number of a flight as its orders
 * (packet/errand.h). ndn_grow takes these; ndn_send takes the packet out of the
 * frame, or the stored answer to it, and sends a copy to each receiver.
 */
#ifndef TRIB_BPF_NDN_GROW_H
#define TRIB_BPF_NDN_GROW_H

#include <linux/pkt_cls.h>
#include "cache.h"

/**
 * struct ndn_copy - a packet on its way through clsact
 * @sum:     of @data, for a checksum.
 * @len:     bytes of the packet.
 * @l4:      bytes between Ethernet header and packet in the incoming frame.
 * @offload: a device must compute the checksum: its field holds the sum of the
 *           pseudo header.
 * @data:    the packet; whole words may be read.
 */
struct ndn_copy {
	__u64 sum;
	__u32 len;
	__u32 l4;
	__u32 offload;
	__u32 rsvd;
	__u8 data[NDN_COPY_MAX + 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ndn_copy);
} ndn_copies SEC(".maps");

static __always_inline struct ndn_copy *grow_copy(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&ndn_copies, &zero);
}

/* Sum of the pseudo header, for a device that computes the checksum. */
static __always_inline __u16 pseudo_sum(const struct ndn_face *f, __u32 len)
{
	__u64 sum = bpf_htons(IPPROTO_UDP) + (__u64)bpf_htons(len + 8);

#pragma clang loop unroll(full)
	for (int i = 0; i < 4; i++)
		if ((f->flags & NDN_FACE_V6) || i == 3)
			sum += (__u64)f->saddr[i] + f->daddr[i];
	sum = sum_word(sum);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Write the headers of @f without its tag. Return: 0, or < 0. */
static __always_inline long grow_headers(struct __sk_buff *skb, const struct ndn_face *f,
					 const struct ndn_copy *c)
{
	struct ethhdr eth;
	__u8 ip[40] = {};
	struct udphdr udp = {};
	long rc;

	__builtin_memcpy(eth.h_dest, f->dmac, ETH_ALEN);
	__builtin_memcpy(eth.h_source, f->smac, ETH_ALEN);
	eth.h_proto = face_proto(f);
	rc = bpf_skb_store_bytes(skb, 0, &eth, sizeof(eth), 0);
	if (rc || (f->flags & NDN_FACE_ETHER))
		return rc;
	put_udp(&udp, f, c->len);
	if (c->offload)
		udp.check = pseudo_sum(f, c->len);
	else if (f->flags & NDN_FACE_V6)
		udp.check = sum_fold(sum_head_v6(f, c->len) + c->sum);
	if (f->flags & NDN_FACE_V6) {
		put_ip6(ip, f, c->len);
		rc = bpf_skb_store_bytes(skb, 14, ip, 40, 0)
			     ?: bpf_skb_store_bytes(skb, 54, &udp, sizeof(udp), 0);
	} else {
		put_ip(ip, f, c->len);
		rc = bpf_skb_store_bytes(skb, 14, ip, 20, 0)
			     ?: bpf_skb_store_bytes(skb, 34, &udp, sizeof(udp), 0);
	}
	return rc;
}

/* Write the packet behind @head bytes of headers. Return: 0, or < 0. */
static __always_inline long grow_data(struct __sk_buff *skb, const struct ndn_copy *c, __u32 head)
{
	__u32 n = c->len - 1;

	HIDE(n);
	if (n >= NDN_COPY_MAX)
		return -1;
	return bpf_skb_store_bytes(skb, head, c->data, n + 1, 0);
}

/* ndn_grow_face() - send a copy to @face. Return: 0, or the reason to drop. */
__noinline int ndn_grow_face(struct __sk_buff *skb, __u32 face)
{
	struct ndn_face *f = bpf_map_lookup_elem(&ndn_faces, &face);
	struct ndn_copy *c = grow_copy();
	__u32 l4;
	long rc;

	if (!c || !f || !(f->flags & NDN_FACE_USED))
		return NDN_DROP_PORT;
	l4 = face_l4(f);
	if (l4 + c->len > f->max)
		return NDN_DROP_MTU;
	/* The device would write the checksum at the old offset. */
	if (c->offload && l4 != c->l4)
		return NDN_DROP_OFFLOAD;
	if (bpf_skb_change_tail(skb, 14 + l4 + c->len, 0) || grow_headers(skb, f, c) ||
	    grow_data(skb, c, 14 + l4))
		return NDN_DROP_HEAD;
	if (f->vlan && bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), bpf_ntohs(f->vlan)))
		return NDN_DROP_HEAD;
	rc = bpf_clone_redirect(skb, f->ifindex, 0);
	if (f->vlan)
		bpf_skb_vlan_pop(skb);
	if (rc)
		return NDN_DROP_PORT;
	ndn_count(NDN_STAT_TX_SLOW);
	return 0;
}

/* ndn_grow_sum() - sum up the copy; clears the bytes behind its end */
__noinline int ndn_grow_sum(void)
{
	struct ndn_copy *c = grow_copy();
	__u64 sum = 0;
	__u32 n, i;

	if (!c)
		return 0;
	n = c->len;
	HIDE(n);
	if (n > NDN_COPY_MAX)
		return 0;
	store64(c->data + n, 0);
	for (i = 0; i < NDN_COPY_MAX / 8; i++) {
		if (8 * i >= n)
			break;
		sum += sum_word(load64(c->data + 8 * i));
	}
	c->sum = sum;
	return 0;
}

/* Load the copy from a row. Return: false: it does not fit. */
static __always_inline bool grow_take(struct ndn_copy *c, const void *from, __u32 len)
{
	__u32 n = len - 1;

	HIDE(n);
	if (n >= NDN_KEEP_MAX)
		return false;
	c->len = n + 1;
	return !bpf_probe_read_kernel(c->data, n + 1, from);
}

/* Copy the name out of the frame, to where ndn_name_is() reads it. */
static __always_inline bool grow_name(struct __sk_buff *skb, const struct ndn_flight *l, __u32 pop)
{
	struct ndn_work *w = ndn_work();
	__u32 n = l->name_len - 1;

	HIDE(n);
	if (!w || n >= TRIB_NDN_NAME_MAX)
		return false;
	return !bpf_skb_load_bytes(skb, l->name_off - pop, w->raw, n + 1);
}

/* ndn_grow_ack() - load entry @key's acknowledgement. 0, or the reason not to. */
__noinline int ndn_grow_ack(__u64 key, __u32 len)
{
	struct ndn_copy *c = grow_copy();
	struct ndn_entry *e;
	struct ndn_more *m;
	bool good;
	int row;

	if (!c)
		return NDN_DROP_GONE;
	row = ndn_pit_find(key, len);
	if (row < 0)
		return row == -NDN_DROP_BUSY ? NDN_DROP_BUSY : NDN_DROP_GONE;
	e = pit_entry(row);
	m = pit_more(row);
	if (!e || !m)
		return NDN_DROP_GONE;
	good = grow_take(c, m->ack, m->ack_len);
	unlock(&e->lock);
	return good ? 0 : NDN_DROP_GONE;
}

/* ndn_grow_kept() - load cached Data of @key. Return: 0, or the reason not to. */
__noinline int ndn_grow_kept(__u64 key, __u32 len)
{
	const struct ndn_config *conf = ndn_conf();
	struct ndn_copy *c = grow_copy();
	struct ndn_kept *k;
	bool good;

	if (!c || !conf)
		return NDN_DROP_GONE;
	k = cache_place(conf, key);
	if (!k)
		return NDN_DROP_GONE;
	if (!try_lock(&k->lock))
		return NDN_DROP_BUSY;
	good = ndn_name_is(&k->name, len, NDN_MARK_DISTRIBUTE) && grow_take(c, k->data, k->len);
	unlock(&k->lock);
	return good ? 0 : NDN_DROP_GONE;
}

/* Load the packet to send into the copy. Return: 0, or the reason to drop. */
static __always_inline __u32 grow_fill(struct __sk_buff *skb, struct ndn_copy *c,
				       const struct ndn_flight *l, __u32 pop)
{
	__u32 n = l->len - 1;

	if (l->kind != NDN_FLIGHT_COPY) {
		if (!grow_name(skb, l, pop))
			return NDN_DROP_FLIGHT;
		return l->kind == NDN_FLIGHT_ACK ? ndn_grow_ack(l->key, l->name_len)
						 : ndn_grow_kept(l->key, l->name_len);
	}
	HIDE(n);
	if (n >= NDN_COPY_MAX)
		return NDN_DROP_MTU;
	c->len = n + 1;
	return bpf_skb_load_bytes(skb, l->off - pop, c->data, n + 1) ? NDN_DROP_FLIGHT : 0;
}

/*
 * Must a device still compute the checksum at @off? Only then does the kernel
 * leave the field alone when told that the data under it changed.
 */
static __always_inline bool grow_offloaded(struct __sk_buff *skb, __u32 off)
{
	__u16 check = 0;

	bpf_skb_store_bytes(skb, off, &check, sizeof(check), 0);
	bpf_l4_csum_replace(skb, off, 0, 1, sizeof(check));
	bpf_skb_load_bytes(skb, off, &check, sizeof(check));
	return !check;
}

/* Check that the frame is of a kind that ndn_xdp handles; fill in @c->l4, @c->offload. */
static __always_inline bool grow_is_ours(struct __sk_buff *skb, struct ndn_copy *c)
{
	__u8 ip[40];
	__be16 port, proto;

	c->l4 = 0;
	c->offload = 0;
	if (bpf_skb_load_bytes(skb, 12, &proto, sizeof(proto)))
		return false;
	if (proto == NDN_PROTO)
		return true;
	if (bpf_skb_load_bytes(skb, 14, ip, 20))
		return false;
	if (proto == bpf_htons(ETH_P_IP) && ip[0] == 0x45 && !(ip[6] & 0x3f) && !ip[7] &&
	    ip[9] == IPPROTO_UDP)
		c->l4 = L4_V4;
	else if (proto == bpf_htons(ETH_P_IPV6) && ip[6] == IPPROTO_UDP)
		c->l4 = L4_V6;
	if (!c->l4 || bpf_skb_load_bytes(skb, 14 + c->l4 - 6, &port, sizeof(port)) ||
	    port != NDN_PORT)
		return false;
	c->offload = grow_offloaded(skb, 14 + c->l4 - 2);
	return true;
}

/* Send a copy to each face of @l. */
static __always_inline void grow_faces(struct __sk_buff *skb, const struct ndn_flight *l)
{
	__u32 face, why;

	for (face = 1; face < NDN_FACES; face++) {
		if (!face_in(l->faces, face))
			continue;
		why = ndn_grow_face(skb, face);
		if (why)
			ndn_count_call(why);
	}
}

static __always_inline int grow_drop(__u32 why)
{
	ndn_count_call(why);
	return TC_ACT_SHOT;
}

/* Send flight number @tick, of row @place. Return: a verdict. */
static __always_inline int grow_flight(struct __sk_buff *skb, __u32 place, __u32 tick)
{
	struct ndn_copy *c = grow_copy();
	struct ndn_flight *row, l;
	__u32 why, pop = 0;

	row = tx_flight_of(place, tick);
	if (!row || !c)
		return grow_drop(NDN_DROP_FLIGHT);
	l = *row;
	if (skb->vlan_present || is_vlan(skb->protocol)) {
		if (bpf_skb_vlan_pop(skb))
			return grow_drop(NDN_DROP_HEAD);
		pop = TAG_LEN;
	}
	if (!grow_is_ours(skb, c))
		return grow_drop(NDN_DROP_FLIGHT);
	why = grow_fill(skb, c, &l, pop);
	if (why)
		return grow_drop(why);
	ndn_grow_sum();
	grow_faces(skb, &l);
	return TC_ACT_STOLEN;
}

#endif /* TRIB_BPF_NDN_GROW_H */
