/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots: the sum of one chunk. These functions know neither trees nor faces: the
 * caller names the slot, the packet's contributors and those that make it full.
 * The larger ones are global subprograms: the verifier walks them once, whatever
 * headers precede the payload.
 *
 * The owner word is a bounded try-lock: 50 ns cheaper than bpf_spin_lock, and
 * functions may be called while it is held. Only softirq context touches slots, so
 * no other user of this CPU interrupts a holder.
 */
#ifndef TRIB_BPF_SLOT_H
#define TRIB_BPF_SLOT_H

#include "kfunc.h"
#include "packet/expand.h"
#include "packet/lanes.h"
#include "packet/lock.h"
#include "packet/maps.h"
#include "packet/meta.h"

/* Outcome of a packet at its slot. */
enum slot_act {
	SLOT_HELD,     /* merged; the slot waits for more */
	SLOT_DONE,     /* merged, and the slot is full */
	SLOT_ANSWER,   /* the slot holds the result */
	SLOT_AGAIN,    /* the sum went to the parent; the result is missing */
	SLOT_ASK,      /* the slot waits for other children */
	SLOT_DUP,      /* merged before */
	SLOT_STALE,    /* the slot has a newer chunk */
	SLOT_SEEN,     /* a result that the slot has */
	SLOT_SCALE,    /* scale differs from the slot's */
	SLOT_MISMATCH, /* op, format or length differs from the slot's */
	SLOT_MASK,     /* its mask is wrong */
	SLOT_BUSY,     /* owner word still held after all tries */
	SLOT_BAD,      /* no such slot, or the packet is too short */
};

/* The reason to drop a packet that its slot refused. */
static __always_inline __u32 slot_reason(int act)
{
	switch (act) {
	case SLOT_DUP:
	case SLOT_ANSWER:
		return TRIB_DROP_DUP;
	case SLOT_STALE:
		return TRIB_DROP_STALE;
	case SLOT_SEEN:
		return TRIB_DROP_SEEN;
	case SLOT_SCALE:
		return TRIB_DROP_SCALE;
	case SLOT_MISMATCH:
		return TRIB_DROP_MISMATCH;
	case SLOT_MASK:
		return TRIB_DROP_MASK;
	case SLOT_BUSY:
		return TRIB_DROP_BUSY;
	default:
		return TRIB_DROP_TREE;
	}
}

/**
 * struct slot_arg - one packet and its slot
 * @key:   row of slots.
 * @off:   offset of the payload in the packet.
 * @chunk: of the packet.
 * @epoch: of the packet.
 * @who:   bits of the packet's contributors.
 * @full:  bits that make the slot full.
 * @meta:  SLOT_META() of the packet; on return, of the slot.
 * @room:  bytes of values that the packet has room for; 0: as many as it carries.
 * @seen:  on return, bits of the slot's contributors.
 * @first_ns: on return, time of the first contribution, or 0: the chunk is not timed.
 * @nval:  of the packet; on return, of the slot.
 * @flags: of the packet; on return, of the slot: SLOT_KEEP_FLAGS.
 * @next:  state that a full slot enters.
 *
 * On return of DONE, ANSWER and AGAIN the slot's values are in the packet, if it
 * has room for them.
 */
struct slot_arg {
	__u32 key;
	__u32 off;
	__u32 chunk;
	__u32 epoch;
	__u64 who;
	__u64 full;
	__u64 meta;
	union {
		__u64 room;
		__u64 seen;
	};
	__u64 first_ns;
	__u32 nval;
	__u16 flags;
	__u16 next;
};

static __always_inline __u64 *slot_meta(struct trib_slot *s)
{
	return (__u64 *)(void *)&s->scale;
}

/* Begin the packet's chunk: empty, collecting. */
static __always_inline void slot_take(struct trib_slot *s, const struct slot_arg *a)
{
	s->epoch = a->epoch;
	s->chunk = a->chunk;
	s->nval = 0;
	s->state = TRIB_SLOT_COLLECT;
	s->flags = 0;
	s->seen = 0;
	*slot_meta(s) = a->meta;
	s->first_ns = 0;
	if (!(a->chunk % TRIB_LAG_EVERY) || (a->flags & TRIB_F_HEAD))
		s->first_ns = bpf_ktime_get_ns();
}

/* Report the slot's state to the caller. */
static __always_inline void slot_report(const struct trib_slot *s, struct slot_arg *a)
{
	a->meta = *slot_meta((struct trib_slot *)s);
	a->seen = s->seen;
	a->first_ns = s->first_ns;
	a->nval = s->nval;
	a->flags = s->flags;
}

/* Bytes of values that the packet has room for. @nm: its mask, or 0. */
static __always_inline __u32 slot_room(const struct slot_arg *a, __u32 nm)
{
	if (a->room)
		return a->room;
	return nm ? trib_masked_len(a->nval, nm) : trib_payload_len(a->nval);
}

/* Copy the slot's values into the packet, if they fit into @room bytes. */
static __always_inline void slot_fill(struct trib_slot *s, __u32 room, struct xdp_md *ctx,
				      __u32 off)
{
	if (trib_payload_len(s->nval) <= room)
		copy_out(ctx, off, s->v, s->nval);
}

/*
 * Compare op, format, scale and length with the slot's. Empty packets are compared,
 * too, except for the length: a rank at another collective must not count as a
 * contributor.
 */
static __always_inline int slot_check(const struct trib_slot *s, const struct slot_arg *a)
{
	__u64 diff = (*slot_meta((struct trib_slot *)s) ^ a->meta) & META_SAME;

	if (a->nval && s->nval && a->nval != s->nval)
		return SLOT_MISMATCH;
	if (!diff)
		return SLOT_HELD;
	return diff & META_KIND ? SLOT_MISMATCH : SLOT_SCALE;
}

/* Merge floats, or values with the mask @nm, into the slot's. */
static __always_inline int slot_merge_special(struct trib_slot *s, const struct slot_arg *a,
					      struct xdp_md *ctx, __u32 off, __u32 nm)
{
	bool first = !s->nval;
	int rc;

	if (!trib_fmt_is_float(META_FMT(a->meta)))
		rc = expand_add(ctx, (void *)s->v, off, EXPAND_WHAT(nm, a->nval, first));
	else if (nm)
		rc = float_expand(ctx, off, s->v, nm, a->nval, first);
	else
		rc = float_add(ctx, off, s->v, META_FMT(a->meta), a->nval, first);
	if (rc)
		return SLOT_BAD;
	s->nval = a->nval;
	return SLOT_HELD;
}

/* Merge the packet's values into the slot's. */
static __always_inline int slot_merge(struct trib_slot *s, const struct slot_arg *a,
				      struct xdp_md *ctx, __u32 off)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
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
 * Under the owner word: merge a GRAD of the slot's chunk. A full slot has its values
 * in the packet's format, also if they were accumulators while it collected.
 */
static __always_inline int slot_contribute(struct trib_slot *s, struct slot_arg *a,
					   struct xdp_md *ctx, __u32 off, const bool special,
					   __u32 nm)
{
	__u64 seen = s->seen | a->who;
	int rc;

	if (seen != a->who) {
		rc = slot_check(s, a);
		if (rc)
			return rc;
	}
	if (a->nval && !(a->flags & TRIB_F_EMPTY)) {
		rc = special ? slot_merge_special(s, a, ctx, off, nm) : slot_merge(s, a, ctx, off);
		if (rc)
			return rc;
	}
	s->seen = seen;
	s->flags |= a->flags & SLOT_KEEP_FLAGS;
	a->first_ns = s->first_ns;
	if (seen != a->full)
		return SLOT_HELD;
	if (special && s->nval && float_round(s->v, META_FMT(a->meta))) {
		s->epoch = 0; /* free: a lost sum, not a wrong one */
		return SLOT_BAD;
	}
	s->state = a->next;
	/* One 8-byte store: the load that follows is as wide. */
	*slot_meta(s) = (*slot_meta(s) & META_SAME) | (a->meta & ~META_SAME);
	slot_fill(s, slot_room(a, nm), ctx, off);
	slot_report(s, a);
	return SLOT_DONE;
}

/* Under the owner word: GRAD of a child that has contributed. */
static __always_inline int slot_repeat(struct trib_slot *s, struct slot_arg *a, struct xdp_md *ctx,
				       __u32 off, __u32 nm)
{
	__u32 room = slot_room(a, nm);
	bool resend = a->flags & TRIB_F_RESEND;

	if (s->state != TRIB_SLOT_RESULT && !resend)
		return SLOT_DUP;
	slot_report(s, a);
	if (s->state == TRIB_SLOT_COLLECT)
		return SLOT_ASK;
	slot_fill(s, room, ctx, off);
	return s->state == TRIB_SLOT_RESULT ? SLOT_ANSWER : SLOT_AGAIN;
}

static __always_inline int slot_give(struct xdp_md *ctx, struct slot_arg *a, const bool special,
				     __u32 nm)
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
	if (special && nm && mask_check(ctx, off, EXPAND_WHAT(nm, a->nval, 0)))
		return SLOT_MASK;
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
		act = slot_repeat(s, a, ctx, off, nm);
	if (act == SLOT_HELD)
		act = slot_contribute(s, a, ctx, off, special, nm);
	unlock(&s->busy);
	return act;
}

/* Is it for slot_grad_special(): floats, or values with a mask? */
static __always_inline bool slot_is_special(const struct slot_arg *a)
{
	return trib_fmt_is_float(META_FMT(a->meta)) || (a->flags & TRIB_F_MASK);
}

/**
 * slot_grad() - merge a contribution of dense integers
 *
 * Return: SLOT_HELD, DONE, ANSWER, AGAIN, ASK, DUP, STALE, SCALE, MISMATCH,
 * BUSY or BAD.
 */
static __always_inline int slot_grad(struct xdp_md *ctx, struct slot_arg *a)
{
	return slot_give(ctx, a, false, 0);
}

/**
 * slot_grad_special() - merge a contribution of floats, or a masked one
 * @nm: of its mask; 0: floats without a mask.
 *
 * Separate from slot_grad(), which is inlined: dense integers pay nothing for these
 * paths. Return: as slot_grad(), or SLOT_MASK.
 */
__noinline int slot_grad_special(struct xdp_md *ctx, struct slot_arg *a, __u32 nm)
{
	return slot_give(ctx, a, true, nm);
}

/*
 * The child that completed the chunk, as the nodes below know it: if this node did at its
 * parent, the one that completed the sum here.
 */
static __always_inline __u8 slot_last(const struct trib_slot *s, const struct slot_arg *a,
				      __s32 age)
{
	bool here = s->epoch == a->epoch && !age && s->state == TRIB_SLOT_SENT;

	return here && META_LAST(a->meta) == a->who ? s->last : LAST_NONE;
}

/**
 * slot_result() - keep a result that passes
 * @a: @a->who is this node's index at its parent. On return @a->meta names the child that
 *     completed the chunk, among the children here.
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
	} else if (s->epoch == a->epoch && !age && s->state == TRIB_SLOT_RESULT) {
		act = SLOT_SEEN;
	} else {
		a->meta = (a->meta & META_SAME) | (__u64)slot_last(s, a, age) << 56;
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
 * slot_look() - report how far a chunk is, for a NEED
 *
 * Return: SLOT_ANSWER, AGAIN, ASK (with @a->seen, 0 if the slot is free or has an
 * older chunk), STALE, BUSY or BAD.
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
