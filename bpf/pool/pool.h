/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of a node of a shared tree: who may send to it, and what becomes of
 * a packet. It adds up what bears its number, and passes on everything else.
 */
#ifndef TRIB_BPF_POOL_H
#define TRIB_BPF_POOL_H

#include "packet/parse.h"
#include "pool_slot.h"
#include "packet/send.h"

/* Verdict of pool_admit(): not for us, leave it to IP. No reason is 1. */
#define POOL_LEAVE 1

/* An address of the IP header, at @off there for IPv4 or IPv6. */
static __always_inline void pool_addr(const struct pkt *p, __u32 off4,
				      __u32 off6, __be32 addr[4])
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
 * From a stranger. What is not for us may be on its way between a worker and the
 * PS, who also reach each other past us. Return: POOL_LEAVE, or DROP_FACE.
 */
static __always_inline __u32 pool_stranger(const struct pkt *p, __u32 tree)
{
	struct trib_pool_face key = {.tree = tree};

	pool_addr(p, 16, 24, key.addr);
	return bpf_map_lookup_elem(&pool_faces, &key) ? TRIB_DROP_FACE
						      : POOL_LEAVE;
}

/*
 * Most packets come from a worker next to us, and these are mostly in order: no
 * need to look it up. It is as good as an entry of pool_faces.
 */
static __always_inline bool pool_child(const struct pkt *p,
				       const struct trib_tree *t,
				       const struct trib_pool *row)
{
	__u32 i = bpf_ntohs(load16(&p->h->child)) - row->rank0;

	if (i >= TRIB_CHILDREN_MAX || i >= t->nchild ||
	    p->h->type != TRIB_T_GRAD)
		return false;
	HIDE(i);
	i &= TRIB_CHILDREN_MAX - 1;
	return face_ok(p, &t->child[i], t->flags & TRIB_TREE_V6);
}

/* Who may send up. Return: 0, POOL_LEAVE, or the reason to drop. */
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
	return to[0] == local->addr[0] && to[1] == local->addr[1] &&
			       to[2] == local->addr[2] &&
			       to[3] == local->addr[3]
		       ? 0
		       : POOL_LEAVE;
}

/*
 * A packet for us from somebody who is no neighbour: a rank that goes round its
 * own relay, or looks whether we live. As at the PS the cookie must do, but for
 * ranks that are neighbours: these come from their face, or not at all.
 */
static __always_inline bool pool_guest(const struct pkt *p,
				       const struct trib_tree *t,
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
	return i < TRIB_BMWORDS_MAX &&
	       bpf_be64_to_cpu(row->mask[i]) >> (rank & 63) & 1;
}

/* What our next hop may send. */
static __always_inline __u32 pool_admit_down(const struct pkt *p,
					     const struct trib_tree *t)
{
	__u8 type = p->h->type;

	if (type >= TRIB_T_JOIN)
		return POOL_LEAVE;
	if (!face_ok(p, &t->parent, t->flags & TRIB_TREE_V6))
		return pool_stranger(p, bpf_ntohs(load16(&p->h->tree)));
	return type == TRIB_T_RESULT || type == TRIB_T_ALIVE ||
			       type == TRIB_T_ABORT
		       ? 0
		       : TRIB_DROP_TYPE;
}

/* Does the packet say whose values it has, in as many words as we do? */
static __always_inline __u32 pool_form(const struct trib_hdr *h,
				       const struct trib_pool *row)
{
	__u8 type = h->type, n = h->bmwords;

	if (type == TRIB_T_PROBE)
		return n ? TRIB_DROP_FORMAT : 0;
	if (!load32(&h->epoch))
		return TRIB_DROP_EPOCH;
	if (type == TRIB_T_GRAD && !load16(&h->relay))
		return TRIB_DROP_FORMAT;
	if (n == row->bmwords || (!n && type != TRIB_T_GRAD) ||
	    (n == 1 && type == TRIB_T_NEED))
		return 0;
	return TRIB_DROP_BITMAP;
}

/* Return: 0, POOL_LEAVE, or the reason to drop. */
static __always_inline __u32 pool_admit(const struct pkt *p,
					const struct trib_tree *t,
					const struct trib_pool *row)
{
	const struct trib_hdr *h = p->h;
	__u32 why;

	if (!(h->flags & TRIB_F_UP)) {
		why = pool_admit_down(p, t);
	} else {
		why = pool_child(p, t, row)
			      ? 0
			      : pool_face(p, bpf_ntohs(load16(&h->tree)));
		if (why == TRIB_DROP_FACE && pool_guest(p, t, row))
			why = 0;
		if (!why && bpf_ntohs(load16(&h->child)) >= t->world)
			why = TRIB_DROP_CHILD;
	}
	return why ?: pool_form(h, row);
}

static __always_inline void pool_arg_of(struct pool_arg *a, const struct pkt *p)
{
	const struct trib_hdr *h = p->h;

	a->tree = bpf_ntohs(load16(&h->tree));
	a->job = bpf_ntohs(load16(&h->job));
	a->chunk = bpf_ntohl(load32(&h->chunk));
	a->epoch = bpf_ntohl(load32(&h->epoch));
	a->off = p->off;
	a->meta = SLOT_META(load32(&h->scale), h->op, h->fmt, 0);
	a->nval = bpf_ntohs(load16(&h->nval));
	a->flags = h->flags;
}

/* The packet becomes the slot's sum, for the next hop. */
static __always_inline int pool_sum_out(struct xdp_md *ctx, struct pkt *p,
					const struct trib_tree *t,
					const struct trib_pool *row,
					const struct pool_arg *a, __u8 resend)
{
	__u32 n = row->bmwords, len = n * 8 + trib_payload_len(a->nval);
	__u8 flags = TRIB_F_UP | (a->flags & SLOT_KEEP_FLAGS) | resend;
	struct trib_hdr *h;

	if (len > p->len) {
		p->h->flags = TRIB_F_UP | resend;
		return to_grow(p, t->up, GROW_FILL | GROW_POOL);
	}
	if (!shrink(ctx, p, len))
		return drop(TRIB_DROP_GROW);
	h = p->h;
	flags |= a->nval ? 0 : TRIB_F_EMPTY;
	store64(h, head_word(TRIB_T_GRAD, flags, a->meta) | (__u64)n << 56);
	store16(&h->relay, bpf_htons(row->next));
	store32(&h->nval, bpf_htons(a->nval)); /* and aux = 0 */
	store32(&h->scale, META_SCALE(a->meta));
	stat(TRIB_TX_PARTIAL);
	return to_group(p, t->up);
}

/* A GRAD that bears our number. */
static __always_inline int pool_own(struct xdp_md *ctx, struct pkt *p,
				    const struct trib_tree *t,
				    const struct trib_pool *row)
{
	struct pool_arg a;
	int act;

	pool_arg_of(&a, p);
	act = pool_grad(ctx, &a);
	if (act < POOL_AGAIN)
		stat(TRIB_POOL_MERGED);
	switch (act) {
	case POOL_HELD:
		return XDP_DROP;
	case POOL_DONE:
		stat(TRIB_DONE);
		return pool_sum_out(ctx, p, t, row, &a, 0);
	case POOL_AGAIN:
		return pool_sum_out(ctx, p, t, row, &a, TRIB_F_RESEND);
	case POOL_PASS:
		stat(TRIB_POOL_PASSED);
		store16(&p->h->relay, bpf_htons(row->next));
		return to_group(p, t->up);
	default:
		return drop(act - POOL_DROP);
	}
}

/* Back to its sender, with our number: we live. */
static __always_inline int pool_probe(struct pkt *p,
				      const struct trib_pool *row)
{
	struct trib_hdr *h = p->h;

	stat(TRIB_RX_CONTROL);
	stat(TRIB_POOL_PROBED);
	h->flags &= ~TRIB_F_UP;
	store16(&h->aux, 0);
	store32(&h->scale, 0);
	if (!can_answer(p))
		return to_grow(p, TRIB_NONE, GROW_ANSWER | GROW_POOL);
	store16(&h->relay, bpf_htons(row->relay));
	return to_sender(p, p->udp->source);
}

static __always_inline int pool_down(struct pkt *p, const struct trib_tree *t)
{
	struct pool_arg a;
	int rc;

	if (p->h->type == TRIB_T_RESULT) {
		pool_arg_of(&a, p);
		rc = pool_result(&a);
		if (rc)
			stat(rc);
		stat(TRIB_TX_RESULT);
	}
	return to_group(p, t->down);
}

static __always_inline void pool_count(const struct pkt *p)
{
	__u8 type = p->h->type;

	if (type == TRIB_T_GRAD || type == TRIB_T_RESULT) {
		stat(type == TRIB_T_GRAD ? TRIB_RX_GRAD : TRIB_RX_RESULT);
		stat_add(TRIB_RX_BYTES, p->len);
		if (type == TRIB_T_GRAD && (p->h->flags & TRIB_F_RESEND))
			stat(TRIB_RX_RESEND);
		/* New headers forget it. */
		if (p->ce)
			p->h->flags |= TRIB_F_CE;
	} else {
		stat(type == TRIB_T_NEED ? TRIB_RX_NEED : TRIB_RX_CONTROL);
	}
}

/* A packet for a shared tree. */
static __always_inline int pool_packet(struct xdp_md *ctx, struct pkt *p,
				       const struct trib_tree *t)
{
	__u32 key = bpf_ntohs(load16(&p->h->tree)), why;
	struct trib_pool *row = bpf_map_lookup_elem(&pools, &key);

	if (!row)
		return drop(TRIB_DROP_TREE);
	why = pool_admit(p, t, row);
	if (why)
		return why == POOL_LEAVE ? XDP_PASS : drop(why);
	if (p->h->type == TRIB_T_PROBE)
		return pool_probe(p, row);
	pool_count(p);
	if (!(p->h->flags & TRIB_F_UP))
		return pool_down(p, t);
	if (p->h->type == TRIB_T_GRAD &&
	    bpf_ntohs(load16(&p->h->relay)) == row->relay)
		return pool_own(ctx, p, t, row);
	stat(TRIB_POOL_FORWARDED);
	return to_group(p, t->up);
}

#endif /* TRIB_BPF_POOL_H */
