/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps that the rules of a node share: finding the slot of a packet, turning the
 * packet in hand into another one, and delivery to the ranks of this host.
 */
#ifndef TRIB_BPF_NODE_H
#define TRIB_BPF_NODE_H

#include "deliver.h"
#include "packet/packet.h"
#include "packet/send.h"
#include "slot.h"
#include "packet/stats.h"

#define NEED_LEN 8 /* bytes behind the header of NEED: the bitmap */

static __always_inline bool is_root(const struct trib_tree *t)
{
	return t->flags & TRIB_TREE_ROOT;
}

static __always_inline bool is_leaf(const struct trib_tree *t)
{
	return t->flags & TRIB_TREE_LEAF;
}

/* Fill @a from the packet. */
static __always_inline void node_arg(struct slot_arg *a, const struct pkt *p,
				     const struct trib_tree *t, __u8 last)
{
	const struct trib_hdr *h = p->h;

	a->chunk = bpf_ntohl(load32(&h->chunk));
	a->epoch = t->epoch;
	a->key = t->slot0 + (a->chunk & t->slot_mask);
	a->off = p->off;
	a->who = 0;
	a->full = t->full;
	a->meta = SLOT_META(load32(&h->scale), h->op, h->fmt, last);
	a->room = 0;
	a->first_ns = 0;
	a->nval = bpf_ntohs(load16(&h->nval));
	a->flags = h->flags | (p->ce ? TRIB_F_CE : 0);
	a->next = is_root(t) ? TRIB_SLOT_RESULT : TRIB_SLOT_SENT;
}

/* Rewrite the header: @type, with the shape that the slot reported. */
static __always_inline void turn(struct pkt *p, const struct slot_arg *a, __u8 type, __u8 flags)
{
	struct trib_hdr *h = p->h;

	store64(h, head_word(type, flags, a->meta));
	store16(&h->child, head_last(a->meta));
	store32(&h->nval, bpf_htons(a->nval)); /* and aux = 0 */
	store32(&h->scale, META_SCALE(a->meta));
}

/* Are the slot's values too long for the packet? */
static __always_inline bool too_long(const struct pkt *p, const struct slot_arg *a)
{
	return trib_payload_len(a->nval) > p->len;
}

/* Let the clsact program turn the packet into a @type; it reads the slot again. */
static __always_inline int grow(struct xdp_md *ctx, __u8 type, __u32 group, __u32 how)
{
	return to_grow(ctx, group, GROW_TYPE(type) | GROW_FILL | how);
}

/*
 * Describe the result in the packet for the ranks here. The epoch is the packet's, which
 * admission has compared with the row's: the row may have another one by now.
 */
static __always_inline void local_arg(struct deliver_arg *d, const struct pkt *p,
				      const struct trib_tree *t, const struct slot_arg *a)
{
	d->row = t->deliver;
	d->off = p->off;
	d->chunk = a->chunk;
	d->epoch = bpf_ntohl(load32(&p->h->epoch));
	d->meta = a->meta;
	d->nval = a->nval;
	d->flags = a->flags & SLOT_KEEP_FLAGS;
	d->tree = bpf_ntohs(load16(&p->h->tree));
}

/* Deliver at a relay: the packet goes on even if that fails. */
static __always_inline void local_copy(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				       const struct slot_arg *a)
{
	struct deliver_arg d;
	int rc;

	if (!t->deliver)
		return;
	local_arg(&d, p, t, a);
	rc = deliver(ctx, &d);
	if (rc && rc != TRIB_DROP_SEEN)
		stat_call(rc);
}

/* Ring NEED, ALIVE or ABORT for the ranks here. Return: did all get it? */
static __always_inline bool local_event(struct pkt *p, const struct trib_tree *t, __u8 type,
					__u64 seen)
{
	int rc;

	if (!t->deliver)
		return false;
	rc = ring_event(t->deliver, p->h, type, seen);
	if (rc)
		stat_call(rc);
	return !rc;
}

/* Send to a group; drop if there is none because all receivers are ranks here. */
static __always_inline int to_group_or_local(struct xdp_md *ctx, struct pkt *p,
					     const struct trib_tree *t, __u32 group)
{
	if (group == TRIB_NONE && t->deliver)
		return XDP_DROP;
	return to_group(ctx, p, group);
}

/* Send the slot's result to the ranks here and to @group. Return: a verdict. */
static __always_inline int result_out(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				      const struct slot_arg *a, __u32 group)
{
	if (too_long(p, a))
		return grow(ctx, TRIB_T_RESULT, group, 0);
	if (!shrink(ctx, p, trib_payload_len(a->nval)))
		return drop(TRIB_DROP_GROW);
	turn(p, a, TRIB_T_RESULT, a->flags & SLOT_KEEP_FLAGS);
	local_copy(ctx, p, t, a);
	stat(TRIB_TX_RESULT);
	return to_group_or_local(ctx, p, t, group);
}

/* Send the slot's sum to the parent. Return: a verdict. */
static __always_inline int partial_out(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				       const struct slot_arg *a, __u8 resend)
{
	__u8 flags = (a->flags & SLOT_KEEP_FLAGS) | resend;

	if (too_long(p, a))
		return grow(ctx, TRIB_T_GRAD, t->up, 0);
	if (!shrink(ctx, p, trib_payload_len(a->nval)))
		return drop(TRIB_DROP_GROW);
	turn(p, a, TRIB_T_GRAD, flags | (a->nval ? 0 : TRIB_F_EMPTY));
	stat(TRIB_TX_PARTIAL);
	return to_group(ctx, p, t->up);
}

/* Send the result to the child that the packet came from. Return: a verdict. */
static __always_inline int answer_out(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				      const struct slot_arg *a, __be16 port)
{
	if (too_long(p, a) || !can_answer(p))
		return grow(ctx, TRIB_T_RESULT, TRIB_NONE, GROW_ANSWER);
	if (!shrink(ctx, p, trib_payload_len(a->nval)))
		return drop(TRIB_DROP_GROW);
	turn(p, a, TRIB_T_RESULT, a->flags & SLOT_KEEP_FLAGS);
	store64(&p->h->auth, t->auth);
	/* The child may be a rank of this host that missed its ring. */
	local_copy(ctx, p, t, a);
	stat(TRIB_TX_ANSWER);
	return to_sender(p, port);
}

#endif /* TRIB_BPF_NODE_H */
