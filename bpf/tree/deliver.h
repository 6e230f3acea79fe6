/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Delivery to the ranks of this host: results go into cells that they map, and
 * records in their ring buffers wake them.
 */
#ifndef TRIB_BPF_DELIVER_H
#define TRIB_BPF_DELIVER_H

#include "packet/lanes.h"
#include "packet/maps.h"
#include "slot.h"
#include "packet/stats.h"

/**
 * struct deliver_arg - one result for the ranks of this host
 * @row:   row of delivers and of cells.
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
	for (__u32 i = 0; i < TRIB_RINGS_MAX && i < d->nring; i++) {
		__u32 nr = d->ring[i];
		void *ring = bpf_map_lookup_elem(&rings, &nr);

		if (!ring)
			continue;
		/*
		 * Without flags this wakes a rank only if it has read all
		 * records: a rank at work has not, and needs no interrupt.
		 */
		if (bpf_ringbuf_output(ring, ev, sizeof(*ev), 0))
			rc = TRIB_DROP_RING;
		else
			stat(TRIB_RUNG);
	}
	return rc;
}

static __always_inline void ring_result(const struct deliver_arg *a)
{
	struct trib_event ev = {
		.type = TRIB_T_RESULT,
		.flags = a->flags,
		.tree = a->tree,
		.chunk = a->chunk,
		.epoch = a->epoch,
	};

	if (ring_ranks(a->row, &ev) == TRIB_DROP_RING)
		stat(TRIB_DROP_RING);
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

/* The cell of a result. NULL if there is none. */
static __always_inline struct trib_cell *cell_of(const struct trib_deliver *d,
						 const struct deliver_arg *a)
{
	__u32 row = a->row, key = a->chunk & d->cell_mask;
	void *inner = bpf_map_lookup_elem(&cells, &row);

	return inner ? bpf_map_lookup_elem(inner, &key) : NULL;
}

/*
 * Compare a result with the cell's. Return: 0 if it is newer, or the reason to
 * drop. A function with a const argument, because that puts the whole struct
 * trib_cell into BTF, where libbpf needs it: an inner map's value type alone is a
 * forward declaration.
 */
static __noinline int cell_refuses(const struct trib_cell *cell, __u32 epoch, __u32 chunk)
{
	__s32 age = trib_chunk_diff(chunk, (__u32)cell->id);

	if (!cell->id || cell->id >> 32 != epoch || age > 0)
		return 0;
	return age ? TRIB_DROP_STALE : TRIB_DROP_SEEN;
}

/* Lock the cell. Return: 0, and cell_end() must follow; or the reason to drop. */
static __always_inline int cell_begin(struct trib_cell *cell, __u32 epoch, __u32 chunk)
{
	int rc;

	if (!try_lock(&cell->busy))
		return TRIB_DROP_BUSY;
	rc = cell_refuses(cell, epoch, chunk);
	if (rc) {
		unlock(&cell->busy);
		return rc;
	}
	/* Readers must see 0 before any value changes. */
	(void)__sync_lock_test_and_set(&cell->id, 0);
	return 0;
}

static __always_inline void cell_end(struct trib_cell *cell, const struct deliver_arg *a)
{
	cell->nval = a->nval;
	cell->flags = a->flags;
	cell->last = META_LAST(a->meta);
	cell->scale = bpf_ntohl(META_SCALE(a->meta));
	cell->op = META_OP(a->meta);
	cell->fmt = META_FMT(a->meta);
	cell->nm = 0;
	(void)__sync_lock_test_and_set(&cell->id, TRIB_CELL_ID(a->epoch, a->chunk));
	unlock(&cell->busy);
	stat(TRIB_DELIVERED);
}

/*
 * Wake the ranks if this chunk ends a burst, leaves or fills a gap, or if
 * TRIB_RING_EVERY came since. A race of CPUs only rings once too often: a row
 * that another CPU has moved looks like a gap.
 */
static __always_inline void deliver_ring(struct trib_deliver *d, const struct deliver_arg *a)
{
	bool row = a->chunk == d->next;
	__u32 n;

	/* An epoch begins at 0. */
	if (row || !a->chunk || trib_chunk_diff(a->chunk, d->next) > 0)
		d->next = a->chunk + 1;
	n = __sync_fetch_and_add(&d->unrung, 1) + 1;
	if (row && n < TRIB_RING_EVERY && !(a->flags & TRIB_F_PUSH))
		return;
	d->unrung = 0;
	ring_result(a);
}

/**
 * deliver() - write the packet's values into the cell of its chunk
 *
 * A result that the cell already has rings, too: a rank asked for it and may have
 * missed the first ring. Return: 0, or the reason why it was not written.
 */
__noinline int deliver(struct xdp_md *ctx, struct deliver_arg *a)
{
	struct trib_deliver *d;
	struct trib_cell *cell;
	__u32 row, off;
	int rc;

	if (!a)
		return TRIB_DROP_DELIVER;
	off = a->off;
	HIDE(off);
	off &= PKT_OFF_MASK;
	row = a->row;
	d = bpf_map_lookup_elem(&delivers, &row);
	cell = d ? cell_of(d, a) : NULL;
	if (!cell)
		return TRIB_DROP_DELIVER;
	rc = cell_begin(cell, a->epoch, a->chunk);
	if (!rc) {
		copy_in(ctx, off, cell->v, a->nval);
		cell_end(cell, a);
		deliver_ring(d, a);
	} else if (rc == TRIB_DROP_SEEN) {
		ring_result(a);
	}
	return rc;
}

#endif /* TRIB_BPF_DELIVER_H */
