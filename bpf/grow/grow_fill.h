/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filling a packet from its slot, after making it as long as the slot's sum.
 * The slot may have moved on since trib_xdp looked at it: then the packet is
 * dropped and counted.
 */
#ifndef TRIB_BPF_GROW_FILL_H
#define TRIB_BPF_GROW_FILL_H

#include "grow_copy.h"
#include "pool/pool_slot.h"
#include "tree/node.h"

/* deliver_skb() - as deliver(), for the clsact program */
__noinline int deliver_skb(struct __sk_buff *skb, struct deliver_arg *a)
{
	return a ? deliver_all(skb, true, a) : TRIB_DROP_DELIVER;
}

/* Deliver the result in the packet, which came from slot @s, to the ranks of this host. */
static __always_inline void grow_deliver(struct __sk_buff *skb, const struct trib_tree *t,
					 struct trib_slot *s, __u32 off, __u32 tree)
{
	struct deliver_arg a = {
		.row = t->deliver,
		.off = off,
		.chunk = s->chunk,
		.epoch = s->epoch,
		.meta = *slot_meta(s),
		.nval = s->nval,
		.flags = s->flags & SLOT_KEEP_FLAGS,
		.tree = tree,
	};
	int rc = deliver_skb(skb, &a);

	if (rc && rc != TRIB_DROP_SEEN)
		stat_call(rc);
}

/* The state that the slot must still have for a packet of @type. */
static __always_inline __u8 grow_state(__u8 type)
{
	return type == TRIB_T_RESULT ? TRIB_SLOT_RESULT
	       : type == TRIB_T_GRAD ? TRIB_SLOT_SENT
				     : TRIB_SLOT_COLLECT;
}

/* Under the owner word: fill header and payload. Return: 0, or the reason. */
static __always_inline __u32 grow_copy(struct __sk_buff *skb, struct grow_arg *a,
				       struct trib_slot *s, __u8 type)
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
		store32(&a->h.scale, control_number(bpf_ntohs(load16(&a->h.tree))));
		return bpf_skb_store_bytes(skb, off, &seen, sizeof(seen), 0) ? TRIB_DROP_GROW : 0;
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
	/* This form proves to every verifier that the length is not 0. */
	len--;
	HIDE(len);
	if (len >= sizeof(s->v) || bpf_skb_store_bytes(skb, off, s->v, len + 1, 0))
		return TRIB_DROP_GROW;
	return 0;
}

/* Make room and fill it. Return: 0, or the reason to drop. */
static __always_inline __u32 grow_fill(struct __sk_buff *skb, struct grow_arg *a,
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
			grow_deliver(skb, t, s, l4_off(a) + sizeof(struct udphdr) + sizeof(a->h),
				     bpf_ntohs(load16(&a->h.tree)));
	}
	unlock(&s->busy);
	return why;
}

/* Same as grow_copy(), from a shared slot. */
static __always_inline __u32 pool_copy(struct __sk_buff *skb, struct grow_arg *a,
				       struct trib_pool_slot *s, const struct trib_pool *row)
{
	__u32 off = l4_off(a) + sizeof(struct udphdr) + sizeof(a->h);
	__u32 n = row->bmwords * 8, len = trib_payload_len(s->nval);
	__u8 flags = TRIB_F_UP | (s->flags & SLOT_KEEP_FLAGS) | (a->h.flags & TRIB_F_RESEND);
	__u64 meta = *pool_meta(s);

	flags |= s->nval ? 0 : TRIB_F_EMPTY;
	store64(&a->h, head_word(TRIB_T_GRAD, flags, meta) | (__u64)row->bmwords << 56);
	store16(&a->h.relay, bpf_htons(row->next));
	store32(&a->h.nval, bpf_htons(s->nval));
	store32(&a->h.scale, META_SCALE(meta));
	/* This form proves to every verifier that lengths are not 0. */
	n--;
	HIDE(n);
	if (n >= sizeof(s->workers) || bpf_skb_store_bytes(skb, off, s->workers, n + 1, 0))
		return TRIB_DROP_GROW;
	if (!len)
		return 0;
	off += n + 1;
	len--;
	HIDE(len);
	if (len >= sizeof(s->v) || bpf_skb_store_bytes(skb, off, s->v, len + 1, 0))
		return TRIB_DROP_GROW;
	return 0;
}

/* Same as grow_fill(), for a shared slot, found by identity. */
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
	if (!pool_is_of(s, &id) || s->state != TRIB_POOL_SENT || s->nval != nval)
		why = TRIB_DROP_GROW_GONE;
	else
		why = pool_copy(skb, a, s, row);
	unlock(&s->busy);
	return why;
}

#endif /* TRIB_BPF_GROW_FILL_H */
