/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NEED, down ("children that the bitmap lacks: contribute") and up ("ASK: I lack
 * the result"): recovers chunks after loss and after a node lost its slots.
 */
#ifndef TRIB_BPF_NEED_H
#define TRIB_BPF_NEED_H

#include "node.h"

/* Destination of a NEED. */
enum need_to {
	NEED_TO_UP,
	NEED_TO_DOWN,
	NEED_TO_ALL,
};

/* Turn the packet into NEED(@seen) and send it. Return: a verdict. */
static __always_inline int need_out(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				    __u64 seen, enum need_to to)
{
	void *bitmap;

	if (p->len < NEED_LEN) {
		bool both = to == NEED_TO_ALL && !is_root(t) && !t->all;
		__u32 group = to == NEED_TO_UP			 ? t->up
			      : to == NEED_TO_DOWN || is_root(t) ? t->down
								 : t->all;

		return grow(ctx, TRIB_T_NEED, group, both ? GROW_BOTH : 0);
	}
	if (!shrink(ctx, p, NEED_LEN))
		return drop(TRIB_DROP_GROW);
	bitmap = p->h + 1;
	if (bitmap + NEED_LEN > (void *)(long)ctx->data_end)
		return drop(TRIB_DROP_SHORT);
	store64(p->h, head_word(TRIB_T_NEED, 0, 0) | 1ULL << 56);
	store16(&p->h->child, 0);
	store32(&p->h->nval, 0);
	store32(&p->h->scale, control_number(bpf_ntohs(load16(&p->h->tree))));
	store64(bitmap, bpf_cpu_to_be64(seen));
	stat(TRIB_TX_NEED);
	if (to == NEED_TO_UP)
		return to_group(ctx, p, t->up);
	local_event(p, t, TRIB_T_NEED, seen);
	if (to == NEED_TO_DOWN || is_root(t))
		return to_group_or_local(ctx, p, t, t->down);
	return to_all(ctx, p, t);
}

/* Answer a child that lacks the result. Return: a verdict. */
static __always_inline int need_up(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				   const struct slot_arg *a, int act, __u32 child)
{
	switch (act) {
	case SLOT_ANSWER:
		return grow(ctx, TRIB_T_RESULT, TRIB_NONE, GROW_ANSWER);
	case SLOT_AGAIN:
		return need_out(ctx, p, t, a->seen, NEED_TO_UP);
	default:
		return need_out(ctx, p, t, a->seen | 1ULL << (child & 63), NEED_TO_ALL);
	}
}

/* Answer the parent, which lacks our sum. Return: a verdict. */
static __always_inline int need_down(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				     const struct slot_arg *a, int act)
{
	switch (act) {
	case SLOT_ANSWER:
		return grow(ctx, TRIB_T_RESULT, t->up, 0);
	case SLOT_AGAIN:
		return grow(ctx, TRIB_T_GRAD, t->up, 0);
	default:
		return need_out(ctx, p, t, a->seen, NEED_TO_DOWN);
	}
}

static __always_inline int tree_need(struct xdp_md *ctx, struct pkt *p, struct trib_tree *t,
				     __u32 child)
{
	bool up = p->h->flags & TRIB_F_UP;
	void *bitmap = p->h + 1;
	struct slot_arg a;
	__u64 seen;
	int act;

	stat(TRIB_RX_NEED);
	if (bitmap + NEED_LEN > (void *)(long)ctx->data_end)
		return drop(TRIB_DROP_SHORT);
	seen = bpf_be64_to_cpu(load64(bitmap));
	if (is_leaf(t)) {
		if (!t->deliver)
			return drop(TRIB_DROP_DELIVER);
		local_event(p, t, TRIB_T_NEED, seen);
		return XDP_DROP;
	}
	if (!up && (seen >> (t->up_child & 63) & 1))
		return drop(TRIB_DROP_SEEN);
	node_arg(&a, p, t, LAST_NONE);
	act = slot_look(&a);
	switch (act) {
	case SLOT_STALE:
		return drop(TRIB_DROP_STALE);
	case SLOT_BUSY:
		return drop(TRIB_DROP_BUSY);
	case SLOT_BAD:
		return drop(TRIB_DROP_TREE);
	}
	return up ? need_up(ctx, p, t, &a, act, child) : need_down(ctx, p, t, &a, act);
}

#endif /* TRIB_BPF_NEED_H */
