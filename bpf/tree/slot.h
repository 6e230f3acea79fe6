/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots: what happens to one chunk's sum. These functions know neither trees
 * nor faces: the caller names the slot, the contributors that the packet
 * stands for and those that the slot waits for. They are global subprograms,
 * so the verifier walks them once, whatever headers precede the payload.
 *
 * A slot's owner word is taken by a bounded try-lock: 50 ns less than
 * bpf_spin_lock, and functions may be called while it is held. Slots are
 * touched in softirq context only, so a holder is never interrupted by
 * another user of the same CPU.
 */
#ifndef TRIB_BPF_SLOT_H
#define TRIB_BPF_SLOT_H

#include "kfunc.h"
#include "packet/lanes.h"
#include "packet/lock.h"
#include "packet/maps.h"
#include "packet/meta.h"

/* What became of a packet, and what its sender or others are to be told. */
enum slot_act {
	SLOT_HELD,     /* merged; the slot waits for more */
	SLOT_DONE,     /* merged, and the slot is full */
	SLOT_ANSWER,   /* the slot holds the result */
	SLOT_AGAIN,    /* it was sent to the parent and no result has come */
	SLOT_ASK,      /* it waits for others than these */
	SLOT_DUP,      /* merged before */
	SLOT_STALE,    /* the slot has moved on */
	SLOT_SEEN,     /* result that the slot holds */
	SLOT_SCALE,    /* not the scale of the slot */
	SLOT_MISMATCH, /* not the op, format or length of the slot */
	SLOT_BUSY,     /* the owner word was not had */
	SLOT_BAD,      /* no such slot */
};

/**
 * struct slot_arg - one packet's business with one slot
 * @key:   row of slots.
 * @off:   of the payload from the start of the packet.
 * @chunk: of the packet.
 * @epoch: of the packet.
 * @who:   contributors that it stands for.
 * @full:  contributors that make the slot full.
 * @meta:  SLOT_META() of the packet; on return, of the slot.
 * @seen:  on return, the slot's contributors.
 * @first_ns: on return, when the first contribution came, or 0.
 * @nval:  of the packet; on return, of the slot.
 * @flags: of the packet; on return, those of the slot: TRIB_F_PUSH, TRIB_F_CE.
 * @next:  state of a full slot.
 *
 * When a slot's values are wanted (DONE, ANSWER, AGAIN), they are in the
 * packet on return if it has room for them, @nval units.
 */
struct slot_arg {
	__u32 key;
	__u32 off;
	__u32 chunk;
	__u32 epoch;
	__u64 who;
	__u64 full;
	__u64 meta;
	__u64 seen;
	__u64 first_ns;
	__u32 nval;
	__u16 flags;
	__u16 next;
};

static __always_inline __u64 *slot_meta(struct trib_slot *s)
{
	return (__u64 *)(void *)&s->scale;
}

/* The slot begins a chunk: it holds nothing yet. */
static __always_inline void slot_take(struct trib_slot *s,
				      const struct slot_arg *a)
{
	s->epoch = a->epoch;
	s->chunk = a->chunk;
	s->nval = 0;
	s->state = TRIB_SLOT_COLLECT;
	s->flags = 0;
	s->seen = 0;
	*slot_meta(s) = a->meta;
	s->first_ns = a->chunk % TRIB_LAG_EVERY ? 0 : bpf_ktime_get_ns();
}

/* Tell the caller what the slot holds. */
static __always_inline void slot_report(const struct trib_slot *s,
					struct slot_arg *a)
{
	a->meta = *slot_meta((struct trib_slot *)s);
	a->seen = s->seen;
	a->first_ns = s->first_ns;
	a->nval = s->nval;
	a->flags = s->flags;
}

/* Values into the packet, if they fit. */
static __always_inline void slot_fill(struct trib_slot *s, __u32 room,
				      struct xdp_md *ctx, __u32 off)
{
	if (trib_payload_len(s->nval) <= trib_payload_len(room))
		copy_out(ctx, off, s->v, s->nval);
}

/*
 * Do op, format, scale and length go with what the slot has? Empty packets are
 * compared, too, but for the length: a rank that is at another collective than
 * the others must not be counted among those who contributed.
 */
static __always_inline int slot_check(const struct trib_slot *s,
				      const struct slot_arg *a)
{
	__u64 diff = (*slot_meta((struct trib_slot *)s) ^ a->meta) & META_SAME;

	if (a->nval && s->nval && a->nval != s->nval)
		return SLOT_MISMATCH;
	if (!diff)
		return SLOT_HELD;
	return diff & META_KIND ? SLOT_MISMATCH : SLOT_SCALE;
}

/* Merge the packet's floats into the slot's accumulators. */
static __always_inline int slot_merge_floats(struct trib_slot *s,
					     const struct slot_arg *a,
					     struct xdp_md *ctx, __u32 off)
{
	if (float_add(ctx, off, s->v, META_FMT(a->meta), a->nval, !s->nval))
		return SLOT_BAD;
	s->nval = a->nval;
	return SLOT_HELD;
}

/* Merge the packet's values into the slot's. */
static __always_inline int slot_merge(struct trib_slot *s,
				      const struct slot_arg *a,
				      struct xdp_md *ctx, __u32 off)
{
	void *data = (void *)(long)ctx->data,
	     *end = (void *)(long)ctx->data_end;
	__u32 nblk = blocks(a->nval);
	void *v = data + off;

	if (!s->nval) {
		if (copy_in(ctx, off, s->v, a->nval))
			return SLOT_BAD;
		s->nval = a->nval;
	} else if (META_OP(a->meta) == TRIB_WOP_MAX) {
		EACH_WORD(v, end, s->v, nblk, t[j] = max_s64(t[j], q[j]));
	} else if (META_FMT(a->meta) == TRIB_FMT_I32) {
		EACH_WORD(v, end, s->v, nblk, t[j] = add_i32(t[j], q[j]));
	} else {
		EACH_WORD(v, end, s->v, nblk, t[j] += q[j]);
	}
	return SLOT_HELD;
}

/*
 * Under the owner word: GRAD for a chunk that the slot is at. Values of a slot
 * that is full are as they travel, whatever they were while it collected.
 */
static __always_inline int slot_contribute(struct trib_slot *s,
					   struct slot_arg *a,
					   struct xdp_md *ctx, __u32 off,
					   const bool floats)
{
	__u64 seen = s->seen | a->who;
	int rc;

	if (seen != a->who) {
		rc = slot_check(s, a);
		if (rc)
			return rc;
	}
	if (a->nval && !(a->flags & TRIB_F_EMPTY)) {
		rc = floats ? slot_merge_floats(s, a, ctx, off)
			    : slot_merge(s, a, ctx, off);
		if (rc)
			return rc;
	}
	s->seen = seen;
	s->flags |= a->flags & SLOT_KEEP_FLAGS;
	a->first_ns = s->first_ns;
	if (seen != a->full)
		return SLOT_HELD;
	if (floats && s->nval && float_round(s->v, META_FMT(a->meta))) {
		s->epoch = 0; /* better lost than wrong */
		return SLOT_BAD;
	}
	s->state = a->next;
	/* As one word: the load that follows is one. */
	*slot_meta(s) = (*slot_meta(s) & META_SAME) | (a->meta & ~META_SAME);
	slot_fill(s, a->nval, ctx, off);
	slot_report(s, a);
	return SLOT_DONE;
}

/* Under the owner word: GRAD from somebody who is in already. */
static __always_inline int slot_repeat(struct trib_slot *s, struct slot_arg *a,
				       struct xdp_md *ctx, __u32 off)
{
	__u32 room = a->nval;
	bool resend = a->flags & TRIB_F_RESEND;

	if (s->state != TRIB_SLOT_RESULT && !resend)
		return SLOT_DUP;
	slot_report(s, a);
	if (s->state == TRIB_SLOT_COLLECT)
		return SLOT_ASK;
	slot_fill(s, room, ctx, off);
	return s->state == TRIB_SLOT_RESULT ? SLOT_ANSWER : SLOT_AGAIN;
}

static __always_inline int slot_give(struct xdp_md *ctx, struct slot_arg *a,
				     const bool floats)
{
	int act = SLOT_HELD;
	struct trib_slot *s;
	__u32 key, off;
	__s32 age;

	if (!a)
		return SLOT_BAD;
	off = a->off;
	HIDE(off);
	off &= PKT_OFF_MASK;
	key = a->key;
	s = bpf_map_lookup_elem(&slots, &key);
	if (!s)
		return SLOT_BAD;
	if (!try_lock(&s->busy))
		return SLOT_BUSY;
	age = trib_chunk_diff(a->chunk, s->chunk);
	if (s->epoch != a->epoch || age > 0)
		slot_take(s, a);
	else if (age < 0)
		act = SLOT_STALE;
	else if (s->state != TRIB_SLOT_COLLECT || (s->seen & a->who))
		act = slot_repeat(s, a, ctx, off);
	if (act == SLOT_HELD)
		act = slot_contribute(s, a, ctx, off, floats);
	unlock(&s->busy);
	return act;
}

/**
 * slot_grad() - a contribution of integers
 *
 * Return: SLOT_HELD, DONE, ANSWER, AGAIN, ASK, DUP, STALE, SCALE, MISMATCH,
 * BUSY or BAD.
 */
static __always_inline int slot_grad(struct xdp_md *ctx, struct slot_arg *a)
{
	return slot_give(ctx, a, false);
}

/**
 * slot_grad_floats() - a contribution of floats
 *
 * Apart from the other, which is inline, so that floats cost those nothing who
 * have none. Return: as slot_grad().
 */
__noinline int slot_grad_floats(struct xdp_md *ctx, struct slot_arg *a)
{
	return slot_give(ctx, a, true);
}

/**
 * slot_result() - a finished chunk comes by: keep it
 *
 * Return: SLOT_DONE, SEEN, STALE, BUSY or BAD.
 */
__noinline int slot_result(struct xdp_md *ctx, struct slot_arg *a)
{
	struct trib_slot *s;
	int act = SLOT_DONE;
	__u32 key, off;
	__s32 age;

	if (!a)
		return SLOT_BAD;
	off = a->off;
	HIDE(off);
	off &= PKT_OFF_MASK;
	key = a->key;
	s = bpf_map_lookup_elem(&slots, &key);
	if (!s)
		return SLOT_BAD;
	if (!try_lock(&s->busy))
		return SLOT_BUSY;
	age = trib_chunk_diff(a->chunk, s->chunk);
	if (s->epoch == a->epoch && age < 0) {
		act = SLOT_STALE;
	} else if (s->epoch == a->epoch && !age &&
		   s->state == TRIB_SLOT_RESULT) {
		act = SLOT_SEEN;
	} else {
		slot_take(s, a);
		if (copy_in(ctx, off, s->v, a->nval))
			act = SLOT_BAD;
		s->nval = a->nval;
		s->flags = a->flags & SLOT_KEEP_FLAGS;
		s->seen = a->full;
		s->state = TRIB_SLOT_RESULT;
	}
	unlock(&s->busy);
	return act;
}

/**
 * slot_look() - somebody lacks this chunk: where is it?
 *
 * Return: SLOT_ANSWER, AGAIN, ASK (with @a->seen; none if the slot is free or
 * has not reached the chunk), STALE, BUSY or BAD.
 */
__noinline int slot_look(struct slot_arg *a)
{
	struct trib_slot *s;
	__u32 key;
	__s32 age;
	int act;

	if (!a)
		return SLOT_BAD;
	key = a->key;
	s = bpf_map_lookup_elem(&slots, &key);
	if (!s)
		return SLOT_BAD;
	if (!try_lock(&s->busy))
		return SLOT_BUSY;
	age = trib_chunk_diff(a->chunk, s->chunk);
	if (s->epoch != a->epoch || age > 0) {
		a->seen = 0;
		act = SLOT_ASK;
	} else if (age < 0) {
		act = SLOT_STALE;
	} else {
		slot_report(s, a);
		act = s->state == TRIB_SLOT_RESULT ? SLOT_ANSWER
		      : s->state == TRIB_SLOT_SENT ? SLOT_AGAIN
						   : SLOT_ASK;
	}
	unlock(&s->busy);
	return act;
}

#endif /* TRIB_BPF_SLOT_H */
