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

/*
 * Check that the packet comes from the face of its child or parent, in this epoch.
 * Return: 0, and *@child for packets that travel up; or the reason to drop.
 */
static __always_inline __u32 tree_admit(struct pkt *p, struct trib_tree *t, __u32 *child)
{
	struct trib_peer *peer;
	__u32 i;

	*child = 0;
	if (!p->plain) {
		i = tree_form(p->h, t);
		if (i)
			return i;
	}
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
	/* Joining children do not know the epoch yet; tribd checks them. */
	if (p->h->type < TRIB_T_JOIN && (!t->epoch || bpf_ntohl(load32(&p->h->epoch)) != t->epoch))
		return TRIB_DROP_EPOCH;
	return 0;
}

#endif /* TRIB_BPF_TREE_ADMIT_H */
