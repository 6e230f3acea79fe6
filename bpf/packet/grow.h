/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clsact program: sends what XDP cannot. A packet that is shorter than its
 * answer grows here and is filled from its slot; and copies are made here
 * where XDP's own would share one buffer (generic mode) or one port.
 *
 * A packet comes here only from trib_xdp of the same port, which drops
 * TRIB_T_GROW from outside, so it has been admitted. The slot may have moved on
 * meanwhile, and is looked at again.
 */
#ifndef TRIB_BPF_GROW_H
#define TRIB_BPF_GROW_H

#include <linux/pkt_cls.h>
#include "egress.h"
#include "tree/node.h"
#include "pool/pool_slot.h"

/**
 * struct grow_arg - the packet that leaves, without what differs by receiver
 * @h:     our header.
 * @ip:    IP header, 20 or 40 bytes.
 * @seen:  NEED: who has contributed.
 * @group: whose rewrites hold.
 * @len:   bytes behind @h.
 * @vlan:  tags that it came with, outer first.
 * @sport: UDP port that it came from.
 * @v6:    IPv6.
 * @offload: the sender left the UDP checksum to its device, so whoever sends
 *         this packet on wants the pseudo header's sum in its place.
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

/* One's complement sum of the pseudo header, folded: a checksum's start. */
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

/* IP and UDP headers as @r wants them, into the packet. */
static __always_inline long put_l3(struct __sk_buff *skb,
				   const struct grow_arg *a,
				   const struct trib_rewrite *r)
{
	struct udphdr udp = {
		.source = r->sport,
		.dest = r->dport,
		.len = bpf_htons(l4_len(a)),
	};
	struct ipv6hdr ip6;
	struct iphdr ip;
	long rc;

	if (a->v6) {
		__builtin_memcpy(&ip6, a->ip, sizeof(ip6));
		ip6.payload_len = udp.len;
		put_v6(&ip6, r);
		if (a->offload)
			udp.check = pseudo_sum(&ip6.saddr, 32, l4_len(a));
		rc = bpf_skb_store_bytes(skb, L3_OFF, &ip6, sizeof(ip6), 0);
	} else {
		__builtin_memcpy(&ip, a->ip, sizeof(ip));
		ip.tot_len = bpf_htons(sizeof(ip) + l4_len(a));
		put_v4(&ip, r);
		if (a->offload)
			udp.check = pseudo_sum(&ip.saddr, 8, l4_len(a));
		rc = bpf_skb_store_bytes(skb, L3_OFF, &ip, sizeof(ip), 0);
	}
	return rc ?: bpf_skb_store_bytes(skb, l4_off(a), &udp, sizeof(udp), 0);
}

/* Send a copy through @ifindex with the headers of @r. Return: 0 or less. */
static __noinline long send_copy(struct __sk_buff *skb,
				 const struct grow_arg *a,
				 const struct trib_rewrite *r, __u32 ifindex)
{
	struct trib_hdr h = a->h;
	__u8 mac[2 * ETH_ALEN];
	long rc;

	if (r->up) {
		h.flags |= TRIB_F_UP;
		if (r->up == TRIB_REWRITE_UP)
			store16(&h.child, bpf_htons(r->child));
	} else {
		h.flags &= ~TRIB_F_UP;
	}
	__builtin_memcpy(mac, r->dmac, ETH_ALEN);
	__builtin_memcpy(mac + ETH_ALEN, r->smac, ETH_ALEN);
	rc = bpf_skb_store_bytes(skb, 0, mac, sizeof(mac), 0)
		     ?: put_l3(skb, a, r);
	rc = rc
		     ?: bpf_skb_store_bytes(skb,
					    l4_off(a) + sizeof(struct udphdr),
					    &h, sizeof(h), 0);
	/* The innermost tag first; its type says if another is around it. */
	if (!rc && r->vlan[0] && r->vlan[1])
		rc = bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q),
				       bpf_ntohs(r->vlan[1]))
			     ?: bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021AD),
						  bpf_ntohs(r->vlan[0]));
	else if (!rc && r->vlan[0])
		rc = bpf_skb_vlan_push(skb, bpf_htons(ETH_P_8021Q),
				       bpf_ntohs(r->vlan[0]));
	rc = rc ?: bpf_clone_redirect(skb, ifindex, 0);
	if (r->vlan[0])
		bpf_skb_vlan_pop(skb);
	if (r->vlan[0] && r->vlan[1])
		bpf_skb_vlan_pop(skb);
	return rc;
}

/* grow_member() - a copy for the member of @a's group behind @ifindex */
__noinline int grow_member(struct __sk_buff *skb, struct grow_arg *a,
			   __u32 ifindex)
{
	struct trib_rewrite_key key = {.ifindex = ifindex};
	struct trib_rewrite *r;

	if (!a)
		return 0;
	key.group = a->group;
	r = bpf_map_lookup_elem(&rewrites, &key);
	if (!r || !r->v6 != !a->v6)
		stat(TRIB_DROP_REWRITE);
	else if (send_copy(skb, a, r, ifindex))
		stat(TRIB_DROP_GROW);
	else
		stat(TRIB_EGRESS);
	return 0;
}

static __always_inline void grow_group(struct __sk_buff *skb,
				       struct grow_arg *a, __u32 group)
{
	struct trib_group *row = bpf_map_lookup_elem(&members, &group);
	__u32 last = 0;

	if (!row || !row->n) {
		stat(TRIB_DROP_GROUP);
		return;
	}
	a->group = group;
	/* Members behind one port follow each other. */
	for (__u32 i = 0; i < TRIB_GROUP_MAX && i < row->n; i++) {
		a->group = row->ifindex[i] == last
				   ? a->group + (1 << TRIB_NTH_SHIFT)
				   : group;
		last = row->ifindex[i];
		grow_member(skb, a, last);
	}
}

/* A UDP port and two tags as one argument: there may be five. */
#define ANSWER_TO(port, vlan)                                                  \
	((__u64)(port) | (__u64)(vlan)[0] << 16 | (__u64)(vlan)[1] << 32)

/* The answer to @to, whose MAC XDP has put into aux and scale. */
static __noinline void grow_answer(struct __sk_buff *skb, struct grow_arg *a,
				   __u64 to, const __u8 *mac, const __u8 *dmac)
{
	struct trib_rewrite r = {
		.sport = UDP_PORT,
		.dport = to,
		.vlan = {to >> 16, to >> 32},
		.v6 = a->v6,
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
		stat(TRIB_DROP_GROW);
	else
		stat(TRIB_EGRESS);
}

/* A result that a slot holds, to the ranks of this host. */
static __noinline void grow_deliver(const struct trib_tree *t,
				    struct trib_slot *s, __u32 tree)
{
	struct deliver_arg a = {
		.row = t->deliver,
		.chunk = s->chunk,
		.epoch = s->epoch,
		.meta = *slot_meta(s),
		.nval = s->nval,
		.flags = s->flags & SLOT_KEEP_FLAGS,
		.tree = tree,
	};
	__u32 row = t->deliver;
	struct trib_deliver *d = bpf_map_lookup_elem(&delivers, &row);
	struct trib_cell *cell = d ? cell_of(d, &a) : NULL;
	int rc;

	if (!cell) {
		stat(TRIB_DROP_DELIVER);
		return;
	}
	rc = cell_begin(cell, a.epoch, a.chunk);
	if (!rc) {
#pragma clang loop unroll_count(8)
		for (int j = 0; j < TRIB_NVAL / 2; j++)
			cell->v[j] = s->v[j];
		cell_end(cell, &a);
		deliver_ring(d, &a);
	} else if (rc == TRIB_DROP_SEEN) {
		ring_result(&a);
	} else {
		stat(rc);
	}
}

/* The state that a slot must still be in for a packet of @type. */
static __always_inline __u8 grow_state(__u8 type)
{
	return type == TRIB_T_RESULT ? TRIB_SLOT_RESULT
	       : type == TRIB_T_GRAD ? TRIB_SLOT_SENT
				     : TRIB_SLOT_COLLECT;
}

/* Under the owner word: our header and what follows it, from the slot. */
static __always_inline __u32 grow_copy(struct __sk_buff *skb,
				       struct grow_arg *a, struct trib_slot *s,
				       __u8 type)
{
	__u32 off = l4_off(a) + sizeof(struct udphdr) + sizeof(a->h);
	__u8 flags = s->flags & SLOT_KEEP_FLAGS;
	__u64 meta = *slot_meta(s), seen;
	__u32 len = a->len;

	if (type == TRIB_T_NEED) {
		a->seen = s->seen;
		seen = bpf_cpu_to_be64(a->seen);
		store64(&a->h, head_word(TRIB_T_NEED, 0, 0) | 1ULL << 56);
		store16(&a->h.child, 0);
		store32(&a->h.nval, 0);
		store32(&a->h.scale, 0);
		return bpf_skb_store_bytes(skb, off, &seen, sizeof(seen), 0)
			       ? TRIB_DROP_GROW
			       : 0;
	}
	if (type == TRIB_T_GRAD) {
		flags |= a->h.flags & TRIB_F_RESEND;
		flags |= s->nval ? 0 : TRIB_F_EMPTY;
	}
	store64(&a->h, head_word(type, flags, meta));
	store16(&a->h.child, head_last(meta));
	store32(&a->h.nval, bpf_htons(s->nval));
	store32(&a->h.scale, META_SCALE(meta));
	if (!len)
		return 0;
	/* In this form every verifier sees that it is not 0. */
	len--;
	HIDE(len);
	if (len >= sizeof(s->v) ||
	    bpf_skb_store_bytes(skb, off, s->v, len + 1, 0))
		return TRIB_DROP_GROW;
	return 0;
}

/* Make room and fill it. Return: 0, or the reason to drop. */
static __always_inline __u32 grow_fill(struct __sk_buff *skb,
				       struct grow_arg *a,
				       const struct trib_tree *t, __u8 type)
{
	__u32 chunk = bpf_ntohl(load32(&a->h.chunk)), why, nval;
	__u32 key = t->slot0 + (chunk & t->slot_mask);
	struct trib_slot *s = bpf_map_lookup_elem(&slots, &key);

	if (!s)
		return TRIB_DROP_TREE;
	nval = s->nval;
	a->len = type == TRIB_T_NEED ? NEED_LEN : trib_payload_len(nval);
	if (bpf_skb_change_tail(skb, l4_off(a) + l4_len(a), 0))
		return TRIB_DROP_GROW;
	if (!try_lock(&s->busy))
		return TRIB_DROP_BUSY;
	if (s->epoch != t->epoch || s->chunk != chunk || s->nval != nval ||
	    s->state != grow_state(type)) {
		why = TRIB_DROP_GROW_GONE;
	} else {
		why = grow_copy(skb, a, s, type);
		if (!why && type == TRIB_T_RESULT && t->deliver)
			grow_deliver(t, s, bpf_ntohs(load16(&a->h.tree)));
	}
	unlock(&s->busy);
	return why;
}

/* As grow_copy(), of a shared pool's slot. */
static __always_inline __u32 pool_copy(struct __sk_buff *skb,
				       struct grow_arg *a,
				       struct trib_pool_slot *s,
				       const struct trib_pool *row)
{
	__u32 off = l4_off(a) + sizeof(struct udphdr) + sizeof(a->h);
	__u32 n = row->bmwords * 8, len = trib_payload_len(s->nval);
	__u8 flags = TRIB_F_UP | (s->flags & SLOT_KEEP_FLAGS) |
		     (a->h.flags & TRIB_F_RESEND);
	__u64 meta = *pool_meta(s);

	flags |= s->nval ? 0 : TRIB_F_EMPTY;
	store64(&a->h, head_word(TRIB_T_GRAD, flags, meta) | (__u64)row->bmwords
								     << 56);
	store16(&a->h.relay, bpf_htons(row->next));
	store32(&a->h.nval, bpf_htons(s->nval));
	store32(&a->h.scale, META_SCALE(meta));
	/* In this form every verifier sees that they are not 0. */
	n--;
	HIDE(n);
	if (n >= sizeof(s->workers) ||
	    bpf_skb_store_bytes(skb, off, s->workers, n + 1, 0))
		return TRIB_DROP_GROW;
	if (!len)
		return 0;
	off += n + 1;
	len--;
	HIDE(len);
	if (len >= sizeof(s->v) ||
	    bpf_skb_store_bytes(skb, off, s->v, len + 1, 0))
		return TRIB_DROP_GROW;
	return 0;
}

/* As grow_fill(), for a sum of a shared pool, whose identity counts. */
static __noinline __u32 pool_grow(struct __sk_buff *skb, struct grow_arg *a)
{
	struct pool_arg id = {
		.tree = bpf_ntohs(load16(&a->h.tree)),
		.job = bpf_ntohs(load16(&a->h.job)),
		.chunk = bpf_ntohl(load32(&a->h.chunk)),
		.epoch = bpf_ntohl(load32(&a->h.epoch)),
	};
	__u32 key = id.tree, why, nval;
	struct trib_pool_slot *s;
	struct trib_pool *row;

	row = bpf_map_lookup_elem(&pools, &key);
	if (!row)
		return TRIB_DROP_TREE;
	s = pool_slot_of(row, &id);
	if (!s)
		return TRIB_DROP_GROW_GONE;
	nval = s->nval;
	a->len = row->bmwords * 8 + trib_payload_len(nval);
	if (bpf_skb_change_tail(skb, l4_off(a) + l4_len(a), 0))
		return TRIB_DROP_GROW;
	if (!try_lock(&s->busy))
		return TRIB_DROP_BUSY;
	if (!pool_is_of(s, &id) || s->state != TRIB_POOL_SENT ||
	    s->nval != nval)
		why = TRIB_DROP_GROW_GONE;
	else
		why = pool_copy(skb, a, s, row);
	unlock(&s->busy);
	return why;
}

/*
 * Is the UDP checksum still to be computed by a device? Only then does the
 * kernel leave the field alone when the data under it is said to change.
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

/*
 * UDP to our port: XDP let such a packet of type GROW pass only if it made it
 * one itself. Anything else with the mark comes from outside, unadmitted.
 */
static __always_inline bool grow_is_ours(struct __sk_buff *skb,
					 const struct grow_arg *a, __be16 proto)
{
	__be16 dport;

	if (bpf_skb_load_bytes(skb, l4_off(a) + 2, &dport, sizeof(dport)) ||
	    dport != bpf_htons(TRIB_UDP_PORT))
		return false;
	if (a->v6)
		return a->ip[6] == IPPROTO_UDP;
	return proto == bpf_htons(ETH_P_IP) && a->ip[0] == 0x45 &&
	       !(a->ip[6] & 0x3f) && !a->ip[7] && a->ip[9] == IPPROTO_UDP;
}

/*
 * Take the tags off and read the headers. They were admitted by XDP, so a
 * packet that does not look like it is none of ours.
 */
static __always_inline bool grow_read(struct __sk_buff *skb, struct grow_arg *a,
				      struct ethhdr *eth)
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
	    bpf_skb_load_bytes(skb, l4_off(a) + sizeof(struct udphdr), &a->h,
			       sizeof(a->h)))
		return false;
	a->len = skb->len - l4_off(a) - sizeof(struct udphdr) - sizeof(a->h);
	a->offload = offloaded(skb, l4_off(a));
	return a->h.type == TRIB_T_GROW && a->h.version == TRIB_WIRE_VERSION;
}

/* The tree that XDP has admitted the packet to, if it is still as it was. */
static __always_inline struct trib_tree *grow_tree(const struct trib_hdr *h)
{
	__u32 row = bpf_ntohs(load16(&h->tree));
	struct trib_tree *t = bpf_map_lookup_elem(&trees, &row);

	if (!t || !(t->flags & TRIB_TREE_USED) ||
	    t->cookie != load64(&h->cookie))
		return NULL;
	/* In a shared tree a slot's identity has it. */
	return (t->flags & TRIB_TREE_SHARED) ||
			       t->epoch == bpf_ntohl(load32(&h->epoch))
		       ? t
		       : NULL;
}

static __always_inline void grow_count(__u8 type, __u32 how)
{
	stat(TRIB_TX_GROW);
	if (type == TRIB_T_NEED)
		stat(TRIB_TX_NEED);
	else if (type == TRIB_T_GRAD)
		stat(TRIB_TX_PARTIAL);
	else
		stat(how & GROW_ANSWER ? TRIB_TX_ANSWER : TRIB_TX_RESULT);
}

static __always_inline int grow_drop(__u32 why)
{
	stat(why);
	return TC_ACT_SHOT;
}

/* PROBE becomes its answer. Return: false if the tree's row is gone. */
static __always_inline bool grow_probe(struct trib_hdr *h)
{
	__u32 key = bpf_ntohs(load16(&h->tree));
	struct trib_pool *row = bpf_map_lookup_elem(&pools, &key);

	if (!row)
		return false;
	store16(&h->relay, bpf_htons(row->relay));
	store16(&h->aux, 0);
	store32(&h->scale, 0);
	stat(TRIB_TX_GROW);
	return true;
}

/* A packet with the mark. */
static __always_inline int grow_marked(struct __sk_buff *skb, __u32 group)
{
	struct grow_arg a = {};
	struct trib_tree *t;
	struct ethhdr eth;
	__u32 child, how, why;
	__u8 mac[ETH_ALEN], type;

	if (!grow_read(skb, &a, &eth))
		return grow_drop(TRIB_DROP_TYPE);
	t = grow_tree(&a.h);
	if (!t)
		return grow_drop(TRIB_DROP_GROW_GONE);
	how = bpf_ntohs(load16(&a.h.relay));
	child = bpf_ntohs(load16(&a.h.child));
	__builtin_memcpy(mac, &a.h.aux, ETH_ALEN);
	type = a.h.attempt;
	a.h.type = type;
	a.h.attempt = 0;
	store16(&a.h.relay, how & (GROW_FILL | GROW_ANSWER) ? 0 : a.sport);
	if (how & GROW_FILL) {
		why = how & GROW_POOL ? pool_grow(skb, &a)
				      : grow_fill(skb, &a, t, type);
		if (why)
			return grow_drop(why);
		grow_count(type, how);
	}
	if (type == TRIB_T_NEED && (how & GROW_FILL) && t->deliver)
		ring_event(t->deliver, &a.h, TRIB_T_NEED, a.seen);
	if ((how & GROW_ANSWER) && (how & GROW_POOL)) {
		if (!grow_probe(&a.h))
			return grow_drop(TRIB_DROP_GROW_GONE);
		grow_answer(skb, &a, ANSWER_TO(a.sport, a.vlan), mac,
			    eth.h_dest);
	} else if (how & GROW_ANSWER) {
		if (child >= TRIB_CHILDREN_MAX)
			return grow_drop(TRIB_DROP_CHILD);
		grow_answer(
			skb, &a,
			ANSWER_TO(t->child[child].port, t->child[child].vlan),
			mac, eth.h_dest);
	} else if (how & GROW_BOTH) {
		grow_group(skb, &a, t->down);
		grow_group(skb, &a, t->up);
	} else if (group != TRIB_NONE || !t->deliver) {
		grow_group(skb, &a, group);
	}
	return TC_ACT_STOLEN;
}

static __always_inline int grow_skb(struct __sk_buff *skb)
{
	void *data = (void *)(long)skb->data,
	     *end = (void *)(long)skb->data_end;
	struct ethhdr *eth = data;

	if ((void *)(eth + 1) > end || load16(eth->h_source) != MARK)
		return TC_ACT_UNSPEC;
	return grow_marked(skb, load32(eth->h_source + 2));
}

#endif /* TRIB_BPF_GROW_H */
