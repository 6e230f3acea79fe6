/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Admission to a shared tree: neighbours by their faces, and ranks of the tree
 * that come round their own relay.
 */
#ifndef TRIB_BPF_POOL_ADMIT_H
#define TRIB_BPF_POOL_ADMIT_H

#include "packet/admit.h"

/* Return of pool_admit(): not for us, leave it to IP. No reason is 1. */
#define POOL_LEAVE 1

/* Read an address of the IP header, at @off4 or @off6. */
static __always_inline void pool_addr(const struct pkt *p, __u32 off4, __u32 off6, __be32 addr[4])
{
	if (p->v6) {
#pragma clang loop unroll(full)
		for (int i = 0; i < 4; i++)
			addr[i] = load32(p->l3 + off6 + 4 * i);
		return;
	}
	addr[0] = 0;
	addr[1] = 0;
	addr[2] = bpf_htonl(0xffff);
	addr[3] = load32(p->l3 + off4);
}

/*
 * Refuse a sender that is no neighbour, if the packet is for us. Others may be on
 * their way between a worker and the PS. Return: POOL_LEAVE, or TRIB_DROP_FACE.
 */
static __always_inline __u32 pool_stranger(const struct pkt *p, __u32 tree)
{
	struct trib_pool_face key = {.tree = tree};

	pool_addr(p, 16, 24, key.addr);
	return bpf_map_lookup_elem(&pool_faces, &key) ? TRIB_DROP_FACE : POOL_LEAVE;
}

/*
 * Admit a GRAD of a neighbouring worker by its rank, without a look-up: ranks of
 * children are mostly in order, and most packets come from them.
 */
static __always_inline bool pool_child(const struct pkt *p, const struct trib_tree *t,
				       const struct trib_pool *row)
{
	__u32 i = bpf_ntohs(load16(&p->h->child)) - row->rank0;

	if (i >= TRIB_CHILDREN_MAX || i >= t->nchild || p->h->type != TRIB_T_GRAD)
		return false;
	HIDE(i);
	i &= TRIB_CHILDREN_MAX - 1;
	return face_ok(p, &t->child[i], t->flags & TRIB_TREE_V6);
}

/* Check the sender of a packet that goes up. Return: as pool_admit(). */
static __always_inline __u32 pool_face(const struct pkt *p, __u32 tree)
{
	struct trib_pool_face key = {
		.tree = tree,
		.ifindex = p->ifindex,
		.vlan = {p->vlan, p->vlan >> 16},
	};
	struct trib_pool_local *local;
	__be32 to[4];
	__u8 type = p->h->type;

	pool_addr(p, 12, 8, key.addr);
	local = bpf_map_lookup_elem(&pool_faces, &key);
	if (!local)
		return pool_stranger(p, tree);
	if (type != TRIB_T_PROBE)
		return type < TRIB_T_JOIN ? 0 : POOL_LEAVE;
	/* The PS answers probes, too. */
	pool_addr(p, 16, 24, to);
	return to[0] == local->addr[0] && to[1] == local->addr[1] && to[2] == local->addr[2] &&
			       to[3] == local->addr[3]
		       ? 0
		       : POOL_LEAVE;
}

/*
 * Admit a rank of the row that bypasses its own relay or probes us. Its cookie is
 * enough, as at the PS. Ranks that are neighbours must come from their face.
 */
static __always_inline bool pool_guest(const struct pkt *p, const struct trib_tree *t,
				       const struct trib_pool *row)
{
	__u32 rank = bpf_ntohs(load16(&p->h->child)), i;

	if (p->h->type >= TRIB_T_JOIN)
		return false;
#pragma clang loop unroll(disable)
	for (i = 0; i < TRIB_CHILDREN_MAX && i < t->nchild; i++)
		if (t->child[i].rank == rank)
			return false;
	i = rank / 64;
	HIDE(i);
	return i < TRIB_BMWORDS_MAX && bpf_be64_to_cpu(row->mask[i]) >> (rank & 63) & 1;
}

/* Check a packet from the next hop. Return: as pool_admit(). */
static __always_inline __u32 pool_admit_down(const struct pkt *p, const struct trib_tree *t)
{
	__u8 type = p->h->type;

	if (type >= TRIB_T_JOIN)
		return POOL_LEAVE;
	if (!face_ok(p, &t->parent, t->flags & TRIB_TREE_V6))
		return pool_stranger(p, bpf_ntohs(load16(&p->h->tree)));
	return type == TRIB_T_RESULT || type == TRIB_T_ALIVE || type == TRIB_T_ABORT
		       ? 0
		       : TRIB_DROP_TYPE;
}

/* Check bitmap, epoch and relay number. Return: 0, or the reason to drop. */
static __always_inline __u32 pool_form(const struct trib_hdr *h, const struct trib_pool *row)
{
	__u8 type = h->type, n = h->bmwords;

	if (type == TRIB_T_PROBE)
		return n ? TRIB_DROP_FORMAT : 0;
	if (!load32(&h->epoch))
		return TRIB_DROP_EPOCH;
	if (type == TRIB_T_GRAD && !load16(&h->relay))
		return TRIB_DROP_FORMAT;
	if (n == row->bmwords || (!n && type != TRIB_T_GRAD) || (n == 1 && type == TRIB_T_NEED))
		return 0;
	return TRIB_DROP_BITMAP;
}

/* Return: 0, POOL_LEAVE, or the reason to drop. */
static __always_inline __u32 pool_admit(const struct pkt *p, const struct trib_tree *t,
					const struct trib_pool *row)
{
	const struct trib_hdr *h = p->h;
	__u32 why;

	if (!(h->flags & TRIB_F_UP)) {
		why = pool_admit_down(p, t);
	} else {
		why = pool_child(p, t, row) ? 0 : pool_face(p, bpf_ntohs(load16(&h->tree)));
		if (why == TRIB_DROP_FACE && pool_guest(p, t, row))
			why = 0;
		if (!why && bpf_ntohs(load16(&h->child)) >= t->world)
			why = TRIB_DROP_CHILD;
	}
	return why ?: pool_form(h, row);
}

#endif /* TRIB_BPF_POOL_ADMIT_H */
