/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts that add up: a node whose children are all ranks of this host. RESULT c lets GRAD
 * c + D of each of them go (reflex.h), and no child needs its frame. So the frame takes
 * their READY cells, one after the other, and each is added to its slot as if the rank had
 * sent it. The one that fills a slot leaves as this node's sum.
 *
 * A frame leaves once. Contributions for which a slot waits no longer come last: the first
 * of them uses the frame, and the ranks of the others are rung.
 */
#ifndef TRIB_BPF_HOST_H
#define TRIB_BPF_HOST_H

#include "lag.h"
#include "node.h"
#include "reflex.h"

/**
 * struct host_arg - a node of ranks to which a result was new, and the rank that is looked at
 * @full:   bits that make a slot full.
 * @slot0, @slot_mask: as in struct trib_tree.
 * @window: W of the row.
 * @len:    bytes of values that the frame has room for.
 * @array:  row of cells of the rank.
 * @mask:   of its cells.
 * @child:  its index among the children.
 * @length: bytes of the values in the cell that was won.
 * @nm:     mask of these, or 0.
 * @floats: floats can be added (now).
 * @last:   contributions that fill a slot may go.
 * @used:   one has: none may touch the frame.
 */
struct host_arg {
	__u64 full;
	__u32 slot0;
	__u32 slot_mask;
	__u32 window;
	__u32 len;
	__u32 array;
	__u32 mask;
	__u32 child;
	__u32 length;
	__u8 nm;
	__u8 floats;
	__u8 last;
	__u8 used;
	__u32 rsvd;
};

/*
 * Would the rank's contribution to chunk @p fill its slot? Another CPU may change the slot
 * at once: then a contribution uses the frame earlier, or one pass is in vain.
 */
static __always_inline bool host_fills(const struct host_arg *h, __u32 epoch, __u32 p)
{
	__u64 who = 1ULL << (h->child & 63);
	__u32 key = h->slot0 + (p & h->slot_mask);
	const struct trib_slot *s = bpf_map_lookup_elem(&slots, &key);

	if (!s)
		return false;
	if (s->chunk == p && s->epoch == epoch)
		who |= s->seen;
	return who == h->full;
}

/* Describe the contribution of shape @s to chunk @p for its slot. */
static __always_inline void host_slot(struct host_arg *h, struct slot_arg *a,
				      const struct deliver_arg *d, const struct reflex_shape *s,
				      __u32 p)
{
	a->key = h->slot0 + (p & h->slot_mask);
	a->off = d->off;
	a->chunk = p;
	a->epoch = d->epoch;
	a->who = 1ULL << (h->child & 63);
	a->full = h->full;
	a->meta = SLOT_META(s->tail >> 32, SHAPE_OP(s->head), SHAPE_FMT(s->head), h->child);
	a->room = h->len;
	a->first_ns = 0;
	a->nval = SHAPE_NVAL(s->tail);
	a->flags = SHAPE_FLAGS(s->head) & TRIB_CELL_FLAGS;
	a->next = TRIB_SLOT_SENT;
	h->length = s->len;
	h->nm = SHAPE_NM(s->head);
}

/* May values of shape @s be added here, in this frame? */
static __always_inline bool host_shape_ok(const struct host_arg *h, struct reflex_shape *s)
{
	return reflex_shape_ok(s) && s->len <= h->len &&
	       (h->floats || !trib_fmt_is_float(SHAPE_FMT(s->head)));
}

/* May GRAD @p go now, which also waits for RESULT @other? Then win its cell. */
static __always_inline enum reflex_look host_take(struct host_arg *h, struct slot_arg *a,
						  const struct deliver_arg *d, void *array,
						  struct trib_cell *cell, __u32 p, __u32 other)
{
	struct reflex_shape s;

	if (!reflex_may(d, array, h->mask, cell, p, other) ||
	    (!h->last && host_fills(h, d->epoch, p)))
		return REFLEX_NO;
	if (h->used)
		return REFLEX_STAY;
	reflex_read(&s, cell);
	if (!host_shape_ok(h, &s))
		return REFLEX_STAY;
	host_slot(h, a, d, &s, p);
	return reflex_win(cell, d->epoch, p);
}

/**
 * host_look() - look at what RESULT c lets rank @i of the row send
 * @second: at the chunk that has waited for it as its window's, if D is less than W.
 *
 * Return: REFLEX_WON if @a and @h describe a contribution, whose cell is SENT.
 */
__noinline int host_look(struct host_arg *h, struct slot_arg *a, struct deliver_arg *d, __u32 i,
			 __u32 second)
{
	struct trib_deliver *dl;
	struct trib_cell *cell;
	struct trib_desk *desk;
	__u32 row, dist, far;
	void *array;
	int look;

	if (!h || !a || !d || i >= TRIB_RINGS_MAX)
		return REFLEX_NO;
	row = d->row;
	dl = bpf_map_lookup_elem(&delivers, &row);
	row = TRIB_CELLS_ROW(row, i);
	array = bpf_map_lookup_elem(&cells, &row);
	if (!dl || !array || dl->ring[i] == TRIB_NONE)
		return REFLEX_NO;
	h->array = row;
	h->mask = dl->cell_mask;
	h->child = dl->child[i];
	desk = desk_at(array, h->mask);
	cell = cell_at(array, d->chunk & h->mask);
	if (!desk || !cell || !cell_has(cell, d->epoch, d->chunk, TRIB_CELL_RESULT))
		return REFLEX_NO;
	far = h->window;
	dist = CELL_READ(desk->dist);
	HIDE(dist);
	if (!dist || dist > far || (second && dist == far))
		return REFLEX_NO;
	if (second) {
		far = dist;
		dist = h->window;
	}
	cell = cell_at(array, (d->chunk + dist) & h->mask);
	if (!cell)
		return REFLEX_NO;
	look = host_take(h, a, d, array, cell, d->chunk + dist, d->chunk + dist - far);
	if (look == REFLEX_WON)
		reflex_count(desk);
	return look;
}

/**
 * host_copy() - copy the values of the cell that was won into the frame
 *
 * Return: 0. If the rank has changed the state since, the copy may be half a RESULT:
 * then SLOT_STALE.
 */
__noinline int host_copy(struct xdp_md *ctx, struct host_arg *h, struct slot_arg *a)
{
	struct trib_cell *cell;
	__u32 row, off;
	void *array;

	if (!h || !a)
		return SLOT_BAD;
	row = h->array;
	array = bpf_map_lookup_elem(&cells, &row);
	if (!array)
		return SLOT_BAD;
	cell = cell_at(array, a->chunk & h->mask);
	if (!cell)
		return SLOT_BAD;
	off = a->off;
	HIDE(off);
	off &= PKT_OFF_MASK;
	if (copy_out_bytes(ctx, off, cell->v, h->length))
		return SLOT_BAD;
	return cell_has(cell, a->epoch, a->chunk, TRIB_CELL_SENT) ? 0 : SLOT_STALE;
}

/* host_dense() - slot_grad(), out of line */
__noinline int host_dense(struct xdp_md *ctx, struct slot_arg *a)
{
	return a ? slot_grad(ctx, a) : SLOT_BAD;
}

/* Add the cell that was won to its slot, through the frame, as tree_grad() does. */
static __always_inline void host_add(struct xdp_md *ctx, struct host_arg *h, struct slot_arg *a,
				     __u32 tree)
{
	bool head = a->flags & TRIB_F_HEAD;
	int act = host_copy(ctx, h, a);

	if (act == SLOT_HELD)
		act = slot_is_special(a) ? slot_grad_special(ctx, a, h->nm) : host_dense(ctx, a);
	if (act > SLOT_DONE) {
		stat_call(slot_reason(act));
		return;
	}
	stat(TRIB_ADDED_HERE);
	if (a->first_ns)
		lag_sample(tree, h->child, a, act == SLOT_DONE, head);
	if (act == SLOT_DONE)
		h->used = 1;
}

/* host_ring() - ring rank @i of the row: it must send a chunk itself */
__noinline int host_ring(struct deliver_arg *d, __u32 i)
{
	struct trib_deliver *dl;
	__u32 row;

	if (!d || i >= TRIB_RINGS_MAX)
		return 0;
	stat(TRIB_REFLEX_LEFT);
	row = d->row;
	dl = bpf_map_lookup_elem(&delivers, &row);
	return dl ? ring_result(dl->ring[i], d) : 0;
}

/* host_step() - look @nth: each rank has two, one after the other */
__noinline int host_step(struct xdp_md *ctx, struct host_arg *h, struct slot_arg *a,
			 struct deliver_arg *d, __u32 nth)
{
	int look;

	if (!h || !a || !d)
		return 0;
	look = host_look(h, a, d, nth / 2, nth % 2);
	if (look == REFLEX_WON)
		host_add(ctx, h, a, d->tree);
	else if (look == REFLEX_STAY && h->last)
		host_ring(d, nth / 2);
	return 0;
}

/**
 * host_reflex() - add up what a result lets the ranks here send, in its frame
 * @d:   the result, which is in the cells.
 * @a:   on return of true, the slot that is full; its values are in the frame.
 * @len: bytes of values that the frame has room for.
 *
 * Return: true if a slot is full.
 */
__noinline int host_reflex(struct xdp_md *ctx, struct deliver_arg *d, struct slot_arg *a, __u32 len)
{
	struct host_arg h = {};
	struct trib_deliver *dl;
	struct trib_tree *t;
	__u32 key, looks;

	if (!d || !a)
		return false;
	key = d->row;
	dl = bpf_map_lookup_elem(&delivers, &key);
	key = d->tree;
	t = bpf_map_lookup_elem(&trees, &key);
	if (!dl || !t || !dl->host || is_root(t))
		return false;
	h.full = t->full;
	h.slot0 = t->slot0;
	h.slot_mask = t->slot_mask;
	h.window = t->window;
	h.len = len;
	h.floats = trib_kfuncs && !(t->flags & TRIB_TREE_WIPED);
	looks = 2 * dl->nrank;
	for (__u32 i = 0; i < 2 * TRIB_RINGS_MAX && i < looks; i++)
		host_step(ctx, &h, a, d, i);
	h.last = 1;
	for (__u32 i = 0; i < 2 * TRIB_RINGS_MAX && i < looks; i++)
		host_step(ctx, &h, a, d, i);
	return h.used;
}

/* RESULT c, at a node that sends it to no other host, is in the cells here. Return: a verdict. */
static __always_inline int host_result(struct xdp_md *ctx, struct pkt *p, const struct trib_tree *t,
				       struct slot_arg *a)
{
	struct deliver_arg d;

	local_arg(&d, p, t, a);
	if (!host_reflex(ctx, &d, a, p->len))
		return XDP_DROP;
	stat(TRIB_DONE);
	store32(&p->h->chunk, bpf_htonl(a->chunk));
	return partial_out(ctx, p, t, a, 0);
}

#endif /* TRIB_BPF_HOST_H */
