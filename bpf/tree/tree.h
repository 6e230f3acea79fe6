/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of a node with a dedicated pool (uapi/PROTOCOL.md): first the slot,
 * then one of: drop, answer one child, send to a group.
 */
#ifndef TRIB_BPF_TREE_H
#define TRIB_BPF_TREE_H

#include "host.h"
#include "lag.h"
#include "need.h"
#include "node.h"
#include "packet/admit.h"
#include "reflex.h"
#include "spread.h"

/* Count the reason why the slot refused the packet. Return: a verdict. */
static __always_inline int tree_refuse(int act)
{
	return drop(slot_reason(act));
}

static __always_inline int tree_grad(struct xdp_md *ctx, struct pkt *p, struct trib_tree *t,
				     __u32 child, const bool moved)
{
	struct slot_arg a;
	int act;

	node_arg(&a, p, t, child);
	a.who = 1ULL << (child & 63);
	if (!moved && p->plain && spread_move(&a)) {
		stat(TRIB_TX_MOVED);
		return XDP_REDIRECT;
	}
	stat_rx(p, TRIB_RX_GRAD);
	act = !moved && slot_is_special(&a) ? slot_grad_special(ctx, &a, p->h->nm)
					    : slot_grad(ctx, &a);
	if (act <= SLOT_DONE) {
		stat(TRIB_ADDED);
		if (a.first_ns)
			lag_sample(bpf_ntohs(load16(&p->h->tree)), child, &a, act == SLOT_DONE,
				   p->h->flags & TRIB_F_HEAD);
	}
	switch (act) {
	case SLOT_HELD:
		return XDP_DROP;
	case SLOT_DONE:
		stat(TRIB_DONE);
		return is_root(t) ? result_out(ctx, p, t, &a, t->down)
				  : partial_out(ctx, p, t, &a, 0);
	case SLOT_ANSWER:
		return answer_out(ctx, p, t, &a, t->child[child & 63].port);
	case SLOT_AGAIN:
		return partial_out(ctx, p, t, &a, TRIB_F_RESEND);
	case SLOT_ASK:
		return need_out(ctx, p, t, a.seen, NEED_TO_ALL);
	default:
		return tree_refuse(act);
	}
}

/* A leaf only delivers; its frame may then leave as a contribution. */
static __always_inline int leaf_result(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				       const struct slot_arg *a)
{
	struct reflex_arg r = {
		.l3_off = p->l3_off,
		.len = p->len,
		.ifindex = p->ifindex,
		.window = t->window,
	};
	int rc;

	local_arg(&r.d, p, t, a);
	rc = deliver(ctx, &r.d);
	if (rc)
		return drop(rc);
	rc = reflex(ctx, &r);
	if (rc & REFLEX_RING)
		reflex_ring(&r.d);
	return rc & ~REFLEX_RING;
}

/* Is it the parent's, for the only rank of a leaf, which has no cells but a socket? */
static __always_inline bool is_for_socket(const struct pkt *p, const struct trib_tree *t)
{
	return (t->flags & TRIB_TREE_SOCKET) && p->h->type < TRIB_T_JOIN &&
	       !(p->h->flags & TRIB_F_UP) && face_ok(p, &t->parent, t->flags & TRIB_TREE_V6);
}

/* The parent's face for this host names our port. The rank checks secrets and epoch itself. */
static __always_inline int to_socket(struct pkt *p, const struct trib_tree *t)
{
	store16(&p->udp->dest, t->port);
	store16(&p->udp->check, 0);
	return XDP_PASS;
}

static __always_inline int tree_result(struct xdp_md *ctx, struct pkt *p, struct trib_tree *t)
{
	__u32 last = bpf_ntohs(load16(&p->h->child));
	bool up = p->h->flags & TRIB_F_UP;
	struct slot_arg a;
	int rc;

	stat_rx(p, TRIB_RX_RESULT);
	/* On its way up, child is the sender: the last one is unknown. */
	if (up || last >= TRIB_CHILDREN_MAX)
		last = LAST_NONE;
	node_arg(&a, p, t, last);
	if (is_leaf(t))
		return leaf_result(ctx, p, t, &a);
	a.who = t->up_child;
	rc = slot_result(ctx, &a);
	if (rc != SLOT_DONE)
		return tree_refuse(rc);
	turn(p, &a, TRIB_T_RESULT, a.flags & SLOT_KEEP_FLAGS);
	local_copy(ctx, p, t, &a);
	stat(TRIB_TX_RESULT);
	if (up && !is_root(t))
		return to_all(ctx, p, t);
	if (t->down == TRIB_NONE && t->deliver)
		return host_result(ctx, p, t, &a);
	return to_group_or_local(ctx, p, t, t->down);
}

/* Pass ALIVE and ABORT up to the root, and from there down to everybody. */
static __always_inline int tree_control(struct xdp_md *ctx, struct pkt *p, struct trib_tree *t)
{
	__u8 type = p->h->type;

	stat(TRIB_RX_CONTROL);
	if (type >= TRIB_T_JOIN)
		return XDP_PASS;
	store32(&p->h->scale, control_number(bpf_ntohs(load16(&p->h->tree))));
	if ((p->h->flags & TRIB_F_UP) && !is_root(t))
		return to_group(ctx, p, t->up);
	p->h->flags &= ~TRIB_F_UP;
	if (is_leaf(t) && !t->deliver)
		return drop(TRIB_DROP_DELIVER);
	local_event(p, t, type, 0);
	if (is_leaf(t))
		return XDP_DROP;
	return to_group_or_local(ctx, p, t, t->down);
}

/* Handle an admitted packet; @child sent it, if it travels up. Return: a verdict. */
static __always_inline int tree_packet(struct xdp_md *ctx, struct pkt *p, struct trib_tree *t,
				       __u32 child)
{
	switch (p->h->type) {
	case TRIB_T_GRAD:
		return tree_grad(ctx, p, t, child, false);
	case TRIB_T_RESULT:
		return tree_result(ctx, p, t);
	case TRIB_T_NEED:
		return tree_need(ctx, p, t, child);
	default:
		return tree_control(ctx, p, t);
	}
}

#endif /* TRIB_BPF_TREE_H */
