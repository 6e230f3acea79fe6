/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots and marks of shared pools: merging a GRAD that bears our number, and freeing
 * the slot of a RESULT that goes down.
 *
 * The slot's owner word is held from reading the mark to the end. Two chunks that
 * are 2W apart share a mark but not a slot, so marks are exchanged atomically, and
 * the packet that loses the exchange is dropped.
 */
#ifndef TRIB_BPF_POOL_SLOT_H
#define TRIB_BPF_POOL_SLOT_H

#include "packet/expand.h"
#include "packet/lanes.h"
#include "packet/lock.h"
#include "packet/maps.h"
#include "packet/meta.h"
#include "packet/stats.h"

/* Outcome of a GRAD. */
enum pool_act {
	POOL_HELD,  /* merged; the slot waits for more */
	POOL_DONE,  /* merged, and the slot is full: the sum goes up */
	POOL_AGAIN, /* it was full before: the sum goes up again */
	POOL_PASS,  /* no slot here: to the next hop */
	POOL_TAKE,  /* pool_judge() only: take the slot for it */
	POOL_DROP,  /* plus the reason */
};

/**
 * struct pool_arg - one packet and a shared pool
 * @tree:  number, and row of pools.
 * @job:   number.
 * @chunk: of the packet.
 * @epoch: of the packet.
 * @meta:  SLOT_META() of the packet; after DONE and AGAIN, of the slot.
 * @off:   offset of the bitmap in the packet.
 * @nval:  of the packet; after DONE and AGAIN, of the slot.
 * @flags: of the packet; after DONE and AGAIN, those that the slot collected.
 * @nm:    of the packet's mask; 0: dense.
 * @room:  units that the packet's payload has room for.
 *
 * After DONE and AGAIN the slot's workers are in the packet, and its values if
 * there is room for them.
 */
struct pool_arg {
	__u16 tree;
	__u16 job;
	__u32 chunk;
	__u32 epoch;
	__u32 off;
	__u64 meta;
	__u32 nval;
	__u32 flags;
	__u32 nm;
	__u32 room;
};

/* How the packet's workers relate to the tree's and to the slot's. */
struct pool_bits {
	__u64 any;
	__u64 outside; /* of the tree's mask */
	__u64 known;   /* in the slot */
	__u64 fresh;   /* not in the slot */
};

/* Mask for the payload's offset: headers and the longest bitmap. */
#define POOL_OFF_MASK 255

static __always_inline __u64 *pool_meta(struct trib_pool_slot *s)
{
	return (__u64 *)(void *)&s->scale;
}

/* Find the slot of a chunk. NULL: none. */
static __always_inline struct trib_pool_slot *pool_slot_of(const struct trib_pool *row,
							   const struct pool_arg *a)
{
	__u32 key = row->cap ? a->chunk % row->cap : a->chunk;
	__u32 *slot;

	key = trib_pool_bucket(a->job, a->tree, key, row->table_mask);
	slot = bpf_map_lookup_elem(&pool_table, &key);
	return slot ? bpf_map_lookup_elem(&pool_slots, slot) : NULL;
}

static __always_inline __u64 *pool_mark_of(const struct trib_pool *row, const struct pool_arg *a)
{
	__u32 key = row->mark0 + (a->chunk & row->mark_mask);

	return bpf_map_lookup_elem(&pool_marks, &key);
}

static __always_inline bool pool_is_of(const struct trib_pool_slot *s, const struct pool_arg *a)
{
	return s->state != TRIB_POOL_FREE && s->chunk == a->chunk && s->epoch == a->epoch &&
	       s->tree == a->tree && s->job == a->job;
}

/* Set the mark to @to, if it is still @was. */
static __always_inline bool pool_mark_set(__u64 *mark, __u64 was, __u64 to)
{
	return was == to || __sync_val_compare_and_swap(mark, was, to) == was;
}

/* Return: false if the packet ends too early. */
static __always_inline bool pool_compare(const struct trib_pool *row,
					 const struct trib_pool_slot *s, const __u64 *q,
					 const void *end, struct pool_bits *b)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TRIB_BMWORDS_MAX; i++, q++) {
		__u64 w;

		HIDE(q);
		if (i >= row->bmwords)
			break;
		if ((void *)(q + 1) > end)
			return false;
		w = *q;
		b->any |= w;
		b->outside |= w & ~row->mask[i];
		b->known |= w & s->workers[i];
		b->fresh |= w & ~s->workers[i];
	}
	return true;
}

/* Add the packet's workers to the slot's. Return: are these all of the tree's? */
static __always_inline bool pool_unite(const struct trib_pool *row, struct trib_pool_slot *s,
				       const __u64 *q, const void *end)
{
	__u64 missing = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TRIB_BMWORDS_MAX; i++, q++) {
		__u64 w;

		HIDE(q);
		if (i >= row->bmwords || (void *)(q + 1) > end)
			break;
		w = s->workers[i] | *q;
		s->workers[i] = w;
		missing |= row->mask[i] & ~w;
	}
	return !missing;
}

/* Copy the slot's workers into the packet. */
static __always_inline void pool_name(const struct trib_pool *row, const struct trib_pool_slot *s,
				      __u64 *q, const void *end)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TRIB_BMWORDS_MAX; i++, q++) {
		HIDE(q);
		if (i >= row->bmwords || (void *)(q + 1) > end)
			break;
		*q = s->workers[i];
	}
}

/* Begin a chunk in the slot, without workers. */
static __always_inline void pool_take(const struct trib_pool *row, struct trib_pool_slot *s,
				      const struct pool_arg *a)
{
	s->job = a->job;
	s->tree = a->tree;
	s->epoch = a->epoch;
	s->chunk = a->chunk;
	*pool_meta(s) = a->meta;
	s->nval = 0;
	s->state = TRIB_POOL_COLLECT;
	s->flags = 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < TRIB_BMWORDS_MAX; i++) {
		if (i >= row->bmwords)
			break;
		s->workers[i] = 0;
	}
}

/* Compare scale, operation, format and, if both have values, length. */
static __always_inline bool pool_same_shape(const struct trib_pool_slot *s,
					    const struct pool_arg *a)
{
	if (*pool_meta((struct trib_pool_slot *)s) != a->meta)
		return false;
	return !a->nval || !s->nval || a->nval == s->nval;
}

/* Merge the packet's values into the slot's. Return: false if it is too short. */
static __always_inline bool pool_merge(struct trib_pool_slot *s, const struct pool_arg *a,
				       struct xdp_md *ctx, __u32 off)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 nblk = blocks(a->nval);
	void *v = data + off;

	if (!a->nval || (a->flags & TRIB_F_EMPTY))
		return true;
	if (a->nm) {
		if (expand_add(ctx, (void *)s->v, off, EXPAND_WHAT(a->nm, a->nval, !s->nval)))
			return false;
		s->nval = a->nval;
	} else if (!s->nval) {
		if (copy_in(ctx, off, s->v, a->nval))
			return false;
		s->nval = a->nval;
	} else if (META_OP(a->meta) == TRIB_WOP_MAX) {
		EACH_WORD(v, end, s->v, nblk, t[j] = max_s64(t[j], q[j]));
	} else if (META_FMT(a->meta) == TRIB_FMT_I32) {
		EACH_WORD(v, end, s->v, nblk, t[j] = add_i32(t[j], q[j]));
	} else {
		EACH_WORD(v, end, s->v, nblk, t[j] += q[j]);
	}
	return true;
}

/* Copy workers, values and shape of the slot into the packet. */
static __always_inline void pool_fill(const struct trib_pool *row, struct trib_pool_slot *s,
				      struct pool_arg *a, struct xdp_md *ctx, __u32 off, __u32 voff)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	pool_name(row, s, data + off, end);
	if (trib_payload_len(s->nval) <= trib_payload_len(a->room))
		copy_out(ctx, voff, s->v, s->nval);
	a->meta = *pool_meta(s);
	a->nval = s->nval;
	a->flags = s->flags;
}

/* Under the owner word: merge the packet. Return: HELD, DONE or DROP. */
static __always_inline int pool_add(const struct trib_pool *row, struct trib_pool_slot *s,
				    struct pool_arg *a, struct xdp_md *ctx, __u32 off, __u32 voff,
				    __u64 now)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	if (!pool_merge(s, a, ctx, voff))
		return POOL_DROP + TRIB_DROP_SHORT;
	s->flags |= a->flags & SLOT_KEEP_FLAGS;
	s->time_ns = now;
	if (!pool_unite(row, s, data + off, end))
		return POOL_HELD;
	s->state = TRIB_POOL_SENT;
	pool_fill(row, s, a, ctx, off, voff);
	return POOL_DONE;
}

/*
 * Apply the rules to a packet whose workers are all of the tree. @k: its mark,
 * updated. Return: POOL_HELD if it must be merged, or its outcome.
 */
static __always_inline int pool_judge(const struct trib_pool *row, struct trib_pool_slot *s,
				      const struct pool_arg *a, const struct pool_bits *b, __u64 *k,
				      __u64 now)
{
	bool resend = a->flags & TRIB_F_RESEND;

	if (pool_is_of(s, a)) {
		if (!pool_same_shape(s, a))
			return POOL_PASS;
		if (!b->known)
			return POOL_HELD;
		if (b->fresh)
			return POOL_PASS;
		if (!resend)
			return POOL_DROP + TRIB_DROP_DUP;
		return s->state == TRIB_POOL_SENT ? POOL_AGAIN : POOL_DROP + TRIB_DROP_WAITING;
	}
	if ((*k & TRIB_MARK_MET) || resend ||
	    (s->state != TRIB_POOL_FREE && now - s->time_ns <= row->age_ns)) {
		*k |= TRIB_MARK_MET;
		return POOL_PASS;
	}
	*k |= TRIB_MARK_MET;
	return POOL_TAKE;
}

/* Under the owner word. Return: as pool_grad(). */
static __always_inline int pool_meet(const struct trib_pool *row, struct trib_pool_slot *s,
				     struct pool_arg *a, struct xdp_md *ctx, __u32 off)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 *mark = pool_mark_of(row, a), was, k, now = bpf_ktime_get_ns();
	__u32 voff = (off + row->bmwords * 8) & POOL_OFF_MASK;
	struct pool_bits b = {};
	int act = POOL_PASS;
	__s32 age;

	if (!mark)
		return POOL_PASS;
	if (!pool_compare(row, s, data + off, end, &b))
		return POOL_DROP + TRIB_DROP_SHORT;
	if (!b.any)
		return POOL_DROP + TRIB_DROP_BITMAP;
	was = *(volatile __u64 *)mark;
	age = was ? trib_mark_diff(a->epoch, a->chunk, was) : 1;
	if (age < 0)
		return POOL_DROP + TRIB_DROP_STALE;
	k = age ? TRIB_MARK(a->epoch, a->chunk) : was;
	if ((k & TRIB_MARK_ACKED) && !(a->flags & TRIB_F_RESEND))
		return POOL_DROP + TRIB_DROP_ACKED;
	if (!b.outside)
		act = pool_judge(row, s, a, &b, &k, now);
	if (!pool_mark_set(mark, was, k))
		return POOL_DROP + TRIB_DROP_BUSY;
	if (act == POOL_TAKE) {
		if (s->state != TRIB_POOL_FREE)
			stat(TRIB_POOL_TAKEN_OVER);
		pool_take(row, s, a);
		act = POOL_HELD;
	}
	if (act == POOL_HELD)
		return pool_add(row, s, a, ctx, off, voff, now);
	if (act == POOL_AGAIN)
		pool_fill(row, s, a, ctx, off, voff);
	return act;
}

/**
 * pool_grad() - merge a GRAD that bears our number
 *
 * Return: enum pool_act, or POOL_DROP plus a reason.
 */
__noinline int pool_grad(struct xdp_md *ctx, struct pool_arg *a)
{
	struct trib_pool_slot *s;
	struct trib_pool *row;
	__u32 off, key;
	int act;

	if (!a)
		return POOL_DROP + TRIB_DROP_TREE;
	off = a->off;
	HIDE(off);
	off &= PKT_OFF_MASK;
	key = a->tree;
	row = bpf_map_lookup_elem(&pools, &key);
	if (!row)
		return POOL_DROP + TRIB_DROP_TREE;
	if (a->nm && mask_check(ctx, off + row->bmwords * 8, EXPAND_WHAT(a->nm, a->nval, 0)))
		return POOL_DROP + TRIB_DROP_MASK;
	s = pool_slot_of(row, a);
	if (!s)
		return POOL_PASS;
	if (!try_lock(&s->busy))
		return POOL_DROP + TRIB_DROP_BUSY;
	act = pool_meet(row, s, a, ctx, off);
	unlock(&s->busy);
	return act;
}

/**
 * pool_result() - free the slot of a RESULT that goes down, and close its chunk
 *
 * Return: 0, or TRIB_POOL_FREED or TRIB_POOL_UNFREED, to be counted.
 */
__noinline int pool_result(struct pool_arg *a)
{
	struct trib_pool_slot *s;
	struct trib_pool *row;
	__u64 *mark, was;
	int rc = 0;
	__u32 key;

	if (!a)
		return 0;
	key = a->tree;
	row = bpf_map_lookup_elem(&pools, &key);
	if (!row)
		return 0;
	mark = pool_mark_of(row, a);
	s = pool_slot_of(row, a);
	if (!mark || !s)
		return 0;
	if (!try_lock(&s->busy))
		return TRIB_POOL_UNFREED;
	was = *(volatile __u64 *)mark;
	/* A lost exchange is fine: a newer chunk or a copy of this won it. */
	if (!was || trib_mark_diff(a->epoch, a->chunk, was) >= 0)
		pool_mark_set(mark, was, TRIB_MARK(a->epoch, a->chunk) | TRIB_MARK_FLAGS);
	if (pool_is_of(s, a)) {
		s->state = TRIB_POOL_FREE;
		rc = TRIB_POOL_FREED;
	}
	unlock(&s->busy);
	return rc;
}

#endif /* TRIB_BPF_POOL_SLOT_H */
