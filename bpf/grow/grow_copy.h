/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of a packet that the clsact program sends: new headers for each
 * receiver, then a clone through its port.
 */
#ifndef TRIB_BPF_GROW_COPY_H
#define TRIB_BPF_GROW_COPY_H

#include "packet/egress.h"
#include "packet/parse.h"

/**
 * struct grow_arg - the packet that leaves, except for each receiver's headers
 * @h:     our header.
 * @ip:    IP header, 20 or 40 bytes.
 * @seen:  NEED of a dedicated tree: children that have contributed.
 * @group: its rewrites are used.
 * @len:   bytes behind @h.
 * @vlan:  tags that it came with, outer first.
 * @sport: UDP port that it came from.
 * @v6:    IPv6.
 * @offload: the sender left the UDP checksum to its device: the device that sends
 *         the copy wants the pseudo header's sum in the field.
 */
struct grow_arg {
	struct trib_hdr h;
	__u8 ip[40];
	__u64 seen;
	__u32 group;
	__u32 len;
	__be16 vlan[2];
	__be16 sport;
	__u16 v6;
	__u32 offload;
};

#define L3_OFF sizeof(struct ethhdr) /* tags are popped first */

static __always_inline __u32 l4_off(const struct grow_arg *a)
{
	return L3_OFF + (a->v6 ? 40 : 20);
}

static __always_inline __u32 l4_len(const struct grow_arg *a)
{
	return sizeof(struct udphdr) + sizeof(a->h) + a->len;
}

/* Folded one's complement sum of the pseudo header. */
static __always_inline __u16 pseudo_sum(const void *addrs, __u32 n, __u32 len)
{
	__u64 sum = bpf_htons(IPPROTO_UDP) + bpf_htons(len);

	for (__u32 i = 0; i < n; i += 4)
		sum += load32(addrs + i);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Write IP and UDP headers for the receiver @r. Return: 0 or less. */
static __always_inline long put_l3(struct __sk_buff *skb, const struct grow_arg *a,
				   const struct trib_rewrite *r)
{
	struct udphdr udp = {
		.source = r->sport,
		.dest = r->dport,
		.len = bpf_htons(l4_len(a)),
	};
	union {
		struct ipv6hdr ip6;
		struct iphdr ip;
	} u;
	long rc;

	if (a->v6) {
		__builtin_memcpy(&u.ip6, a->ip, sizeof(u.ip6));
		u.ip6.payload_len = udp.len;
		put_v6(&u.ip6, r);
		if (a->offload)
			udp.check = pseudo_sum(&u.ip6.saddr, 32, l4_len(a));
		rc = bpf_skb_store_bytes(skb, L3_OFF, &u.ip6, sizeof(u.ip6), 0);
	} else {
		__builtin_memcpy(&u.ip, a->ip, sizeof(u.ip));
		u.ip.tot_len = bpf_htons(sizeof(u.ip) + l4_len(a));
		put_v4(&u.ip, r);
		if (a->offload)
			udp.check = pseudo_sum(&u.ip.saddr, 8, l4_len(a));
		rc = bpf_skb_store_bytes(skb, L3_OFF, &u.ip, sizeof(u.ip), 0);
	}
	return rc ?: bpf_skb_store_bytes(skb, l4_off(a), &udp, sizeof(udp), 0);
}

/* Send a copy through @ifindex with the headers of @r. Return: 0 or less. */
static __noinline long send_copy(struct __sk_buff *skb, const struct grow_arg *a,
				 const struct trib_rewrite *r, __u32 ifindex)
{
	struct trib_hdr h = a->h;
	struct trib_sip sip;
	__u8 mac[2 * ETH_ALEN];
	long rc;

	if (put_ours(&h, r)) {
		trib_auth_begin(&sip, &r->key, &h);
		if (h.bmwords)
			trib_sip_word(&sip, bpf_cpu_to_be64(a->seen));
		h.auth = trib_auth_end(&sip, h.bmwords ? 8 : 0);
	}
	__builtin_memcpy(mac, r->dmac, ETH_ALEN);
	__builtin_memcpy(mac + ETH_ALEN, r->smac, ETH_ALEN);
	rc = bpf_skb_store_bytes(skb, 0, mac, sizeof(mac), 0) ?: put_l3(skb, a, r);
	rc = rc ?: bpf_skb_store_bytes(skb, l4_off(a) + sizeof(struct udphdr), &h, sizeof(h), 0);
	/* The innermost tag first. */
	if (!rc && r->vlan[0] && r->vlan[1])
		rc = bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), bpf_ntohs(r->vlan[1]))
			     ?: bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021AD),
						  bpf_ntohs(r->vlan[0]));
	else if (!rc && r->vlan[0])
		rc = bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q), bpf_ntohs(r->vlan[0]));
	rc = rc ?: bpf_clone_redirect(skb, ifindex, 0);
	if (r->vlan[0])
		bpf_skb_vlan_pop(skb);
	if (r->vlan[0] && r->vlan[1])
		bpf_skb_vlan_pop(skb);
	return rc;
}

/* grow_member() - send a copy to the member of @a's group behind @ifindex */
__noinline int grow_member(struct __sk_buff *skb, struct grow_arg *a, __u32 ifindex)
{
	struct trib_rewrite_key key = {.ifindex = ifindex};
	struct trib_rewrite *r;

	if (!a)
		return 0;
	key.group = a->group;
	r = bpf_map_lookup_elem(&rewrites, &key);
	if (!r || !r->v6 != !a->v6)
		stat_call(TRIB_DROP_REWRITE);
	else if (send_copy(skb, a, r, ifindex))
		stat_call(TRIB_DROP_GROW);
	else
		stat_call(TRIB_EGRESS);
	return 0;
}

static __always_inline void grow_group(struct __sk_buff *skb, struct grow_arg *a, __u32 group)
{
	struct trib_group *row = bpf_map_lookup_elem(&members, &group);
	__u32 last = 0;

	if (!row || !row->n) {
		stat_call(TRIB_DROP_GROUP);
		return;
	}
	a->group = group;
	/* Members behind one port follow each other. */
	for (__u32 i = 0; i < TRIB_GROUP_MAX && i < row->n; i++) {
		a->group = row->ifindex[i] == last ? a->group + (1 << TRIB_NTH_SHIFT) : group;
		last = row->ifindex[i];
		grow_member(skb, a, last);
	}
}

/* A UDP port and two tags as one argument: there may be five. */
#define ANSWER_TO(port, vlan) ((__u64)(port) | (__u64)(vlan)[0] << 16 | (__u64)(vlan)[1] << 32)

/* Answer @to at @mac. @a->h is complete, with its secret or authenticator. */
static __noinline void grow_answer(struct __sk_buff *skb, struct grow_arg *a, __u64 to,
				   const __u8 *mac, const __u8 *dmac)
{
	struct trib_rewrite r = {
		.sport = UDP_PORT,
		.dport = to,
		.vlan = {to >> 16, to >> 32},
		.up = TRIB_REWRITE_PASS,
		.v6 = a->v6,
		.auth = a->h.auth,
	};
	const struct ipv6hdr *ip6 = (void *)a->ip;
	const struct iphdr *ip = (void *)a->ip;

	__builtin_memcpy(r.dmac, mac, ETH_ALEN);
	__builtin_memcpy(r.smac, dmac, ETH_ALEN);
	r.smac[0] &= ~1;
	if (a->v6) {
		__builtin_memcpy(r.saddr, &ip6->daddr, 16);
		__builtin_memcpy(r.daddr, &ip6->saddr, 16);
	} else {
		r.saddr[3] = load32(&ip->daddr);
		r.daddr[3] = load32(&ip->saddr);
	}
	if (send_copy(skb, a, &r, skb->ifindex))
		stat_call(TRIB_DROP_GROW);
	else
		stat_call(TRIB_EGRESS);
}

#endif /* TRIB_BPF_GROW_COPY_H */
