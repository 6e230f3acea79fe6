/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Admission to a shared tree: neighbours by their faces and secrets, and ranks of the
 * tree that bypass their own relay by their secrets.
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

/* Work of pool_rank_auth(). */
enum rank_auth {
	RANK_CHECK,  /* compare the authenticator */
	RANK_SIGN,   /* write it: an answer to the rank */
	RANK_SECRET, /* compare the secret of a data packet */
};

/**
 * pool_rank_auth() - check, or write, what only the rank of the packet and relays know
 * @off: offset behind our header, whose child is the rank.
 * @how: enum rank_auth.
 *
 * Derives the rank's key each time: these packets are few. Return: 0, or the reason to
 * drop.
 */
__noinline int pool_rank_auth(struct xdp_md *ctx, __u32 off, __u32 how)
{
	struct trib_hdr *h = auth_header(ctx, off);
	struct trib_pool *row;
	struct trib_key key;
	__u32 tree;
	__u64 auth;

	if (!h)
		return TRIB_DROP_SHORT;
	tree = bpf_ntohs(load16(&h->tree));
	row = bpf_map_lookup_elem(&pools, &tree);
	if (!row)
		return TRIB_DROP_TREE;
	trib_key_up(&key, &row->key, tree, bpf_ntohs(load16(&h->child)));
	auth = how == RANK_SECRET ? trib_key_secret(&key) : auth_of(ctx, h, &key);
	if (how == RANK_SIGN)
		store64(&h->auth, auth);
	return load64(&h->auth) == auth ? 0 : TRIB_DROP_AUTH;
}

/*
 * Find a neighbouring worker by its rank, without a look-up: ranks of children are
 * mostly in order, and most packets come from them. Return: its index, or
 * TRIB_CHILDREN_MAX.
 */
static __always_inline __u32 pool_child(const struct pkt *p, const struct trib_tree *t,
					const struct trib_pool *row)
{
	__u32 i = bpf_ntohs(load16(&p->h->child)) - row->rank0;

	if (i >= TRIB_CHILDREN_MAX || i >= t->nchild || p->h->type != TRIB_T_GRAD)
		return TRIB_CHILDREN_MAX;
	HIDE(i);
	i &= TRIB_CHILDREN_MAX - 1;
	return t->child[i].rank == bpf_ntohs(load16(&p->h->child)) &&
			       face_ok(p, &t->child[i], t->flags & TRIB_TREE_V6)
		       ? i
		       : TRIB_CHILDREN_MAX;
}

/* pool_index() - find the child that is @rank. Return: its index, or less than 0 */
__noinline int pool_index(__u32 tree, __u32 rank)
{
	struct trib_tree *t = bpf_map_lookup_elem(&trees, &tree);

	if (!t)
		return -1;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TRIB_CHILDREN_MAX && i < t->nchild; i++)
		if (t->child[i].rank == rank)
			return i;
	return -1;
}

/*
 * Check the face of a packet that goes up; *@relay: the secret of relays, if it comes
 * from one. Return: as pool_admit().
 */
static __always_inline __u32 pool_face(const struct pkt *p, __u32 tree, __be64 *relay)
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
	*relay = local->auth;
	if (type != TRIB_T_PROBE)
		return type < TRIB_T_JOIN ? 0 : POOL_LEAVE;
	/* The PS answers probes, too. */
	pool_addr(p, 16, 24, to);
	return to[0] == local->addr[0] && to[1] == local->addr[1] && to[2] == local->addr[2] &&
			       to[3] == local->addr[3]
		       ? 0
		       : POOL_LEAVE;
}

/* May the rank, which is no neighbour, bypass its own relay, or probe us? */
static __always_inline bool pool_guest(const struct pkt *p, const struct trib_pool *row, __u32 rank)
{
	__u32 i = rank / 64;

	if (p->h->type >= TRIB_T_JOIN)
		return false;
	HIDE(i);
	return i < TRIB_BMWORDS_MAX && bpf_be64_to_cpu(row->mask[i]) >> (rank & 63) & 1;
}

/*
 * pool_alone() - does a worker's GRAD name that worker alone?
 * @off: offset behind our header.
 * Return: 0, or the reason to drop.
 */
__noinline int pool_alone(struct xdp_md *ctx, __u32 off)
{
	void *end = (void *)(long)ctx->data_end;
	struct trib_hdr *h = auth_header(ctx, off);
	__u64 strange = 0;
	__u32 rank, n;
	__u64 *q;

	if (!h)
		return TRIB_DROP_SHORT;
	rank = bpf_ntohs(load16(&h->child));
	n = h->bmwords;
	q = (void *)(h + 1);
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TRIB_BMWORDS_MAX; i++, q++) {
		HIDE(q);
		if (i >= n)
			break;
		if ((void *)(q + 1) > end)
			return TRIB_DROP_SHORT;
		strange |= *q ^ (i == rank / 64 ? bpf_cpu_to_be64(1ULL << (rank & 63)) : 0);
	}
	return strange ? TRIB_DROP_BITMAP : 0;
}

/*
 * Check what a packet from another than a relay proves. @child: the neighbour's index,
 * or less than 0: a guest. Return: 0, or the reason to drop.
 */
static __always_inline __u32 pool_prove(struct xdp_md *ctx, const struct pkt *p,
					const struct trib_tree *t, int child)
{
	__u32 why = TRIB_DROP_AUTH, rank = bpf_ntohs(load16(&p->h->child));
	const __be64 *q = (const void *)(p->h + 1);

	if (child < 0)
		why = pool_rank_auth(ctx, p->off, RANK_SECRET);
	else if (load64(&p->h->auth) == t->child[child & (TRIB_CHILDREN_MAX - 1)].auth)
		why = 0;
	if (why || p->h->type != TRIB_T_GRAD)
		return why;
	/* Up to 64 ranks: one word. */
	if (p->h->bmwords != 1 || (void *)(q + 1) > (void *)(long)ctx->data_end)
		return pool_alone(ctx, p->off);
	return load64(q) == (rank < 64 ? bpf_cpu_to_be64(1ULL << rank) : 0) ? 0 : TRIB_DROP_BITMAP;
}

/*
 * Check what a packet that goes up proves: a relay its kind, a worker itself. Control
 * packets prove their rank, whoever passed them on. Return: as pool_admit().
 */
static __always_inline __u32 pool_admit_up(struct xdp_md *ctx, const struct pkt *p,
					   const struct trib_tree *t, const struct trib_pool *row)
{
	__u32 tree = bpf_ntohs(load16(&p->h->tree)), rank = bpf_ntohs(load16(&p->h->child));
	__u32 i = pool_child(p, t, row), why;
	__be64 relay = 0;
	int child = i;

	if (i == TRIB_CHILDREN_MAX) {
		why = pool_face(p, tree, &relay);
		child = relay ? -1 : pool_index(tree, rank);
		if (child < 0 && !relay && (!why || why == TRIB_DROP_FACE))
			why = pool_guest(p, row, rank) ? 0 : why ?: TRIB_DROP_CHILD;
		if (why)
			return why;
		if (rank >= t->world)
			return TRIB_DROP_CHILD;
		if (!trib_auth_is_secret(p->h->type))
			return pool_rank_auth(ctx, p->off, RANK_CHECK);
		if (relay)
			return load64(&p->h->auth) == relay ? 0 : TRIB_DROP_AUTH;
	}
	return pool_prove(ctx, p, t, child);
}

/* Check a packet from the next hop. Return: as pool_admit(). */
static __always_inline __u32 pool_admit_down(struct xdp_md *ctx, const struct pkt *p,
					     const struct trib_tree *t)
{
	__u32 tree = bpf_ntohs(load16(&p->h->tree));
	__u8 type = p->h->type;

	if (type >= TRIB_T_JOIN)
		return POOL_LEAVE;
	if (!face_ok(p, &t->parent, t->flags & TRIB_TREE_V6))
		return pool_stranger(p, tree);
	if (type == TRIB_T_RESULT)
		return load64(&p->h->auth) == t->parent.auth ? 0 : TRIB_DROP_AUTH;
	return type == TRIB_T_ALIVE || type == TRIB_T_ABORT
		       ? control_admit(ctx, p->off, tree, FROM_PARENT)
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
static __always_inline __u32 pool_admit(struct xdp_md *ctx, const struct pkt *p,
					const struct trib_tree *t, const struct trib_pool *row)
{
	__u32 why = p->h->flags & TRIB_F_UP ? pool_admit_up(ctx, p, t, row)
					    : pool_admit_down(ctx, p, t);

	return why ?: pool_form(p->h, row);
}

#endif /* TRIB_BPF_POOL_ADMIT_H */
