/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Delivery to the ranks of this host: a result goes into a cell of each of them
 * (uapi/trib_cell.h), and a record in its ring buffer wakes the rank that asked for it
 * at its desk.
 *
 * Cells and desks are memory that ranks write, too, at any time. Each word of theirs is
 * read once, and nothing waits for one.
 */
#ifndef TRIB_BPF_DELIVER_H
#define TRIB_BPF_DELIVER_H

#include "cell.h"
#include "packet/lanes.h"
#include "packet/send.h"
#include "packet/stats.h"
#include "slot.h"

/**
 * struct deliver_arg - one result for the ranks of this host
 * @row:   row of delivers.
 * @off:   offset of the values in the packet.
 * @chunk, @epoch, @nval: of the result.
 * @meta:  SLOT_META() of the result.
 * @flags: header flags; TRIB_F_CE also if the packet itself met congestion.
 * @tree:  tree number.
 */
struct deliver_arg {
	__u32 row;
	__u32 off;
	__u32 chunk;
	__u32 epoch;
	__u64 meta;
	__u16 nval;
	__u16 flags;
	__u32 tree;
};

/**
 * ring_rank() - write a record to ring @nr
 * @flags: BPF_RB_FORCE_WAKEUP; 0: only a rank that has read all records wakes. One at
 *         work has not, and needs no interrupt.
 *
 * Return: 0, or TRIB_DROP_RING.
 */
__noinline int ring_rank(__u32 nr, struct trib_event *ev, __u64 flags)
{
	void *ring = bpf_map_lookup_elem(&rings, &nr);

	if (!ring || !ev)
		return 0;
	if (bpf_ringbuf_output(ring, ev, sizeof(*ev), flags & BPF_RB_FORCE_WAKEUP))
		return TRIB_DROP_RING;
	stat(TRIB_RUNG);
	return 0;
}

/**
 * ring_ranks() - write a record to all ranks of a deliver row
 *
 * Return: 0, or the reason why some rank did not get it.
 */
__noinline int ring_ranks(__u32 row, struct trib_event *ev)
{
	struct trib_deliver *d = bpf_map_lookup_elem(&delivers, &row);
	int rc = 0;

	if (!ev || !d)
		return TRIB_DROP_DELIVER;
	for (__u32 i = 0; i < TRIB_RINGS_MAX && i < d->nrank; i++)
		if (d->ring[i] != TRIB_NONE && ring_rank(d->ring[i], ev, 0))
			rc = TRIB_DROP_RING;
	return rc;
}

/* Ring a packet without values for all ranks here. Return: as ring_ranks(). */
static __always_inline int ring_event(__u32 row, const struct trib_hdr *h, __u8 type, __u64 seen)
{
	struct trib_event ev = {
		.type = type,
		.flags = h->flags,
		.tree = bpf_ntohs(load16(&h->tree)),
		.chunk = bpf_ntohl(load32(&h->chunk)),
		.epoch = bpf_ntohl(load32(&h->epoch)),
		.aux = bpf_ntohs(load16(&h->aux)),
		.seen = seen,
	};

	return ring_ranks(row, &ev);
}

/* ring_result() - tell the rank of ring @nr to look at its cells, whatever it does */
__noinline int ring_result(__u32 nr, struct deliver_arg *a)
{
	struct trib_event ev = {}; /* an initialiser with a value would go to .rodata */

	if (!a)
		return 0;
	ev.type = TRIB_T_RESULT;
	ev.flags = a->flags;
	ev.tree = a->tree;
	ev.chunk = a->chunk;
	ev.epoch = a->epoch;
	if (ring_rank(nr, &ev, BPF_RB_FORCE_WAKEUP))
		stat(TRIB_DROP_RING);
	return 0;
}

/*
 * Is it the result of the contribution in the cell? A wrong one would take the place of
 * the right one, which relays then no longer have.
 */
static __always_inline bool cell_fits(const struct trib_cell *cell, const struct deliver_arg *a)
{
	__u64 head = CELL_READ(*(const __u64 *)&cell->h), differ = head ^ head_word(0, 0, a->meta);

	return !(differ >> 24 & 0xffff) && CELL_READ(cell->h.scale) == META_SCALE(a->meta) &&
	       (head & (__u64)TRIB_F_EMPTY << 16 || CELL_READ(cell->h.nval) == bpf_htons(a->nval));
}

/* Write the header fields of a result, and the time that it took. */
static __always_inline void cell_header(struct trib_cell *cell, const struct deliver_arg *a)
{
	__u64 sent, took = 0;

	store64(&cell->h, head_word(TRIB_T_RESULT, a->flags, a->meta));
	store16(&cell->h.child, head_last(a->meta));
	store32(&cell->h.nval, bpf_htons(a->nval)); /* and aux = 0 */
	store32(&cell->h.scale, META_SCALE(a->meta));
	if (trib_cell_stamped(a->chunk)) {
		sent = CELL_READ(cell->sent_ns);
		took = sent ? bpf_ktime_get_ns() - sent : 0;
		if (took > 0xffffffff)
			took = 0xffffffff;
	}
	cell->took_ns = took;
}

/* Count a result at the desk. Return: the count of this CPU's line. */
static __always_inline __u64 desk_count(struct trib_desk_cpu *line)
{
	return line ? __sync_fetch_and_add(&line->delivered, 1) + 1 : 0;
}

/* Ring the rank if it waits for this CPU's count to become @count. */
static __always_inline void desk_ring(struct trib_desk *desk, struct trib_desk_cpu *line,
				      __u64 count, __u32 nr, struct deliver_arg *a)
{
	if (!desk || !line || !CELL_READ(desk->armed))
		return;
	if ((__s64)(count - CELL_READ(line->wake_at)) < 0)
		return;
	if (__sync_lock_test_and_set(&desk->armed, 0))
		ring_result(nr, a);
}

/* Copy the values of a result from the packet, by the helper of the program's kind. */
static __always_inline long cell_values(void *ctx, bool skb, const struct deliver_arg *a,
					struct trib_cell *cell)
{
	__u32 off = a->off;

	HIDE(off);
	off &= PKT_OFF_MASK;
	return skb ? copy_in_skb(ctx, off, cell->v, a->nval) : copy_in(ctx, off, cell->v, a->nval);
}

/* Deliver to one rank. Return: 0, or the reason why it was not written. */
static __always_inline int deliver_one(void *ctx, bool skb, struct deliver_arg *a, __u32 row,
				       __u32 mask, __u32 nr)
{
	void *array = bpf_map_lookup_elem(&cells, &row);
	struct trib_desk_cpu *line;
	struct trib_cell *cell;
	struct trib_desk *desk;
	__u64 count;
	int rc;

	if (!a || !array)
		return TRIB_DROP_DELIVER;
	cell = cell_at(array, a->chunk & mask);
	desk = desk_at(array, mask);
	if (!cell || !desk)
		return TRIB_DROP_DELIVER;
	if (!cell_swap(cell, a->epoch, a->chunk, TRIB_CELL_SENT, TRIB_CELL_WRITING)) {
		if (!cell_has(cell, a->epoch, a->chunk, TRIB_CELL_RESULT))
			return TRIB_DROP_STALE;
		ring_result(nr, a);
		return TRIB_DROP_SEEN;
	}
	rc = cell_fits(cell, a) ? 0 : TRIB_DROP_MISMATCH;
	if (!rc && cell_values(ctx, skb, a, cell))
		rc = TRIB_DROP_SHORT;
	if (rc) {
		cell_put(cell, a->epoch, a->chunk, TRIB_CELL_SENT);
		return rc;
	}
	cell_header(cell, a);
	line = desk_line(desk);
	count = desk_count(line);
	cell_put(cell, a->epoch, a->chunk, TRIB_CELL_RESULT);
	stat(TRIB_DELIVERED);
	desk_ring(desk, line, count, nr, a);
	return 0;
}

/**
 * deliver_rank() - deliver to one rank: array @row of cells, whose mask is @mask, and ring @nr
 *
 * A subprogram, because the loop over ranks would have the verifier walk it 16 times.
 */
__noinline int deliver_rank(struct xdp_md *ctx, struct deliver_arg *a, __u32 row, __u32 mask,
			    __u32 nr)
{
	return deliver_one(ctx, false, a, row, mask, nr);
}

/* deliver_rank_skb() - the same for the clsact program */
__noinline int deliver_rank_skb(struct __sk_buff *skb, struct deliver_arg *a, __u32 row, __u32 mask,
				__u32 nr)
{
	return deliver_one(skb, true, a, row, mask, nr);
}

/* The better of two outcomes: new to some rank, seen by some, old, or no cells at all. */
static __always_inline int deliver_sum(int rc, int next)
{
	if (!next || rc == TRIB_DROP_DELIVER)
		return next;
	return rc && next == TRIB_DROP_SEEN ? next : rc;
}

/* Deliver to all ranks of the row. Return: as deliver(). */
static __always_inline int deliver_all(void *ctx, bool skb, struct deliver_arg *a)
{
	int rc = TRIB_DROP_DELIVER, next;
	struct trib_deliver *d;
	__u32 row = a->row, nr;

	d = bpf_map_lookup_elem(&delivers, &row);
	if (!d)
		return rc;
	for (__u32 i = 0; i < TRIB_RINGS_MAX && i < d->nrank; i++) {
		nr = d->ring[i];
		if (nr == TRIB_NONE)
			continue;
		row = TRIB_CELLS_ROW(a->row, i);
		next = skb ? deliver_rank_skb(ctx, a, row, d->cell_mask, nr)
			   : deliver_rank(ctx, a, row, d->cell_mask, nr);
		rc = deliver_sum(rc, next);
		/* One state of the verifier instead of four. */
		HIDE(rc);
	}
	return rc;
}

/**
 * deliver() - write the packet's values into the cell of its chunk, of each rank here
 *
 * A result that a cell already has rings, too: the rank asked for it and may have
 * missed the first ring. Return: 0 if it was new to a rank, or the reason why not.
 */
__noinline int deliver(struct xdp_md *ctx, struct deliver_arg *a)
{
	return a ? deliver_all(ctx, false, a) : TRIB_DROP_DELIVER;
}

#endif /* TRIB_BPF_DELIVER_H */
