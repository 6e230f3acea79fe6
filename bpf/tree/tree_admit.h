/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Admission to a dedicated tree: only packets that pass tree_admit() reach a
 * slot, and no code behind it checks a header again.
 */
#ifndef TRIB_BPF_TREE_ADMIT_H
#define TRIB_BPF_TREE_ADMIT_H

#include "kfunc.h"
#include "packet/admit.h"

/*
 * Refuse forms of shared trees, and floats that cannot be added (now). Return: 0, or
 * the reason to drop.
 */
static __always_inline __u32 tree_form(const struct trib_hdr *h, const struct trib_tree *t)
{
	if (h->type == TRIB_T_PROBE)
		return TRIB_DROP_TYPE;
	if (load16(&h->relay) || h->bmwords != (h->type == TRIB_T_NEED))
		return TRIB_DROP_FORMAT;
	if (h->type == TRIB_T_GRAD && trib_fmt_is_float(h->fmt)) {
		if (!trib_kfuncs)
			return TRIB_DROP_MODULE;
		if (t->flags & TRIB_TREE_WIPED)
			return TRIB_DROP_WIPED;
	}
	return 0;
}

/* Is it of the running epoch? Return: 0, or the reason to drop. */
static __always_inline __u32 tree_epoch(const struct pkt *p, const struct trib_tree *t)
{
	return t->epoch && bpf_ntohl(load32(&p->h->epoch)) == t->epoch ? 0 : TRIB_DROP_EPOCH;
}

/* Check a packet without values, from the face of @child. Return: as tree_admit(). */
static __always_inline __u32 tree_admit_control(struct xdp_md *ctx, const struct pkt *p,
						const struct trib_tree *t, __u32 child)
{
	__u32 why = tree_form(p->h, t);

	/* Joining children do not know the epoch yet; tribd checks all of these. */
	if (why || p->h->type >= TRIB_T_JOIN)
		return why;
	why = tree_epoch(p, t);
	return why ?: control_admit(ctx, p->off, bpf_ntohs(load16(&p->h->tree)), child);
}

/*
 * Check that the packet comes from its child or parent, by face and secret, in this
 * epoch. Return: 0, and *@child for packets that travel up; or the reason to drop.
 */
static __always_inline __u32 tree_admit(struct xdp_md *ctx, struct pkt *p, struct trib_tree *t,
					__u32 *child)
{
	struct trib_peer *peer;
	__u32 i;

	*child = FROM_PARENT;
	if (p->h->flags & TRIB_F_UP) {
		i = bpf_ntohs(load16(&p->h->child));
		if (i >= TRIB_CHILDREN_MAX || i >= t->nchild || (t->flags & TRIB_TREE_LEAF))
			return TRIB_DROP_CHILD;
		/* Not every verifier keeps the bound of a spilled word. */
		HIDE(i);
		i &= TRIB_CHILDREN_MAX - 1;
		peer = &t->child[i];
		*child = i;
	} else {
		if (t->flags & TRIB_TREE_ROOT)
			return TRIB_DROP_FACE;
		peer = &t->parent;
	}
	if (!face_ok(p, peer, t->flags & TRIB_TREE_V6))
		return TRIB_DROP_FACE;
	if (!p->plain && !trib_auth_is_secret(p->h->type))
		return tree_admit_control(ctx, p, t, *child);
	if (load64(&p->h->auth) != peer->auth)
		return TRIB_DROP_AUTH;
	i = p->plain ? 0 : tree_form(p->h, t);
	return i ?: tree_epoch(p, t);
}

#endif /* TRIB_BPF_TREE_ADMIT_H */
