/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules of a node of a shared tree (uapi/PROTOCOL.md): it sums GRADs that bear
 * its number, and passes on everything else.
 */
#ifndef TRIB_BPF_POOL_H
#define TRIB_BPF_POOL_H

#include "packet/send.h"
#include "pool_admit.h"
#include "pool_slot.h"

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
	a->nm = h->nm;
	a->room = h->nm ? trib_masked_len(a->nval, h->nm) / 4 : a->nval;
}

/* Send the slot's sum to the next hop, in this packet. Return: a verdict. */
static __always_inline int pool_sum_out(struct xdp_md *ctx, struct pkt *p,
					const struct trib_tree *t, const struct trib_pool *row,
					const struct pool_arg *a, __u8 resend)
{
	__u32 n = row->bmwords, len = n * 8 + trib_payload_len(a->nval);
	__u8 flags = TRIB_F_UP | (a->flags & SLOT_KEEP_FLAGS) | resend;
	struct trib_hdr *h;

	if (len > p->len) {
		p->h->flags = TRIB_F_UP | resend;
		return to_grow(ctx, t->up, GROW_FILL | GROW_POOL);
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
	return to_group(ctx, p, t->up);
}

/* Sum a GRAD that bears our number. Return: a verdict. */
static __always_inline int pool_own(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
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
		return to_group(ctx, p, t->up);
	default:
		return drop(act - POOL_DROP);
	}
}

/* Send PROBE back to its sender, with our number. Return: a verdict. */
static __always_inline int pool_probe(struct xdp_md *ctx, struct pkt *p,
				      const struct trib_pool *row)
{
	struct trib_hdr *h = p->h;

	stat(TRIB_RX_CONTROL);
	stat(TRIB_POOL_PROBED);
	/* Its number stays: that says which PROBE is answered. */
	h->flags &= ~TRIB_F_UP;
	store16(&h->aux, 0);
	store16(&h->relay, bpf_htons(row->relay));
	pool_rank_auth(ctx, p->off, RANK_SIGN);
	if (!pkt_locate(ctx, p))
		return drop(TRIB_DROP_SHORT);
	if (!can_answer(p))
		return to_grow(ctx, TRIB_NONE, GROW_ANSWER | GROW_POOL);
	return to_sender(p, p->udp->source);
}

static __always_inline int pool_down(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t)
{
	struct pool_arg a;
	int rc;

	if (p->h->type == TRIB_T_RESULT) {
		pool_arg_of(&a, p);
		rc = pool_result(&a);
		if (rc)
			stat_call(rc);
		stat(TRIB_TX_RESULT);
	}
	return to_group(ctx, p, t->down);
}

static __always_inline void pool_count(const struct pkt *p)
{
	__u8 type = p->h->type;

	if (type != TRIB_T_GRAD && type != TRIB_T_RESULT) {
		stat_call(type == TRIB_T_NEED ? TRIB_RX_NEED : TRIB_RX_CONTROL);
		return;
	}
	if (type == TRIB_T_GRAD)
		stat_rx(p, TRIB_RX_GRAD);
	else
		stat_rx(p, TRIB_RX_RESULT);
	/* New headers lose the IP header's CE. */
	if (p->ce)
		p->h->flags |= TRIB_F_CE;
}

/* Handle a packet for a shared tree. Return: a verdict. */
static __always_inline int pool_packet(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t)
{
	__u32 key = bpf_ntohs(load16(&p->h->tree)), why;
	struct trib_pool *row = bpf_map_lookup_elem(&pools, &key);

	if (!row)
		return drop(TRIB_DROP_TREE);
	why = pool_admit(ctx, p, t, row);
	if (why)
		return why == POOL_LEAVE ? XDP_PASS : drop(why);
	if (p->h->type == TRIB_T_PROBE)
		return pool_probe(ctx, p, row);
	pool_count(p);
	if (!(p->h->flags & TRIB_F_UP))
		return pool_down(ctx, p, t);
	if (p->h->type == TRIB_T_GRAD && bpf_ntohs(load16(&p->h->relay)) == row->relay)
		return pool_own(ctx, p, t, row);
	stat(TRIB_POOL_FORWARDED);
	return to_group(ctx, p, t->up);
}

#endif /* TRIB_BPF_POOL_H */
