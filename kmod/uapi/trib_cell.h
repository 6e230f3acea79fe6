/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Cells: what a rank and the XDP program of its host share. One array for each rank and
 * tree, mapped by the rank, of N cells and behind them a desk. PROTOCOL.md has the rules
 * ("Cells"); tests/sim/reflex runs them.
 *
 *	rank				cell of chunk p			trib_xdp, on RESULT c
 *	fills it with GRAD p	  --->	READY
 *	late: sends it by socket  --->	SENT		       <---	p = c + D: sends it
 *					WRITING, RESULT	       <---	p = c: delivers it
 *	reads RESULT p, and later
 *	fills it with GRAD p + N
 *
 * The rank may write anything at any time, so XDP reads each word once, waits for none,
 * and takes from a cell only values and a bounded shape; all else in a packet is of rows
 * that tribd writes. N is a power of 2, at least 2W and TRIB_CELLS_MIN.
 */
#ifndef _UAPI_TRIB_CELL_H
#define _UAPI_TRIB_CELL_H

#include "trib_wire.h"

/* Units per cell, those of a slot. */
#ifndef TRIB_NVAL
#define TRIB_NVAL TRIB_NVAL_SMALL
#endif

#define TRIB_CELLS_MIN 8

/**
 * enum trib_cell_state - the lowest 3 bits of &trib_cell.state
 * @TRIB_CELL_FREE:    nothing.
 * @TRIB_CELL_READY:   GRAD p is complete. Who sends it moves the cell to SENT by
 *                     compare-and-swap before it reads the values: the rank, or XDP.
 * @TRIB_CELL_SENT:    GRAD p has been sent, or will be. A copy made for a resend counts
 *                     only if the state is still SENT afterwards.
 * @TRIB_CELL_WRITING: XDP writes RESULT p; it has moved the cell by compare-and-swap.
 * @TRIB_CELL_RESULT:  RESULT p is complete; stored by an exchange, because XDP then looks
 *                     at the desk and at other cells.
 */
enum trib_cell_state {
	TRIB_CELL_FREE = 0,
	TRIB_CELL_READY = 1,
	TRIB_CELL_SENT = 2,
	TRIB_CELL_WRITING = 3,
	TRIB_CELL_RESULT = 4,
};

#define TRIB_CELL_STATES 7U /* mask */

/*
 * The word of chunk @chunk: its lowest 3 bits follow from the cell's index. Never 0,
 * because epoch 0 never runs: a new array holds no chunk.
 */
#define TRIB_CELL(epoch, chunk, state)                                                             \
	((__u64)(epoch) << 32 | ((__u32)(chunk) & ~TRIB_CELL_STATES) | (state))

/**
 * struct trib_cell - GRAD p of a rank, and later RESULT p
 * @state:   TRIB_CELL().
 * @sent_ns: CLOCK_MONOTONIC of the first sending, of chunks that trib_cell_stamped();
 *           by who sends, before SENT.
 * @took_ns: of these, time from there to the RESULT; 0: unknown. By XDP.
 * @h:       header. GRAD: complete, by the rank; XDP takes from it flags of
 *           TRIB_CELL_FLAGS, op, fmt, nm, nval and scale. RESULT: XDP writes its first 8
 *           bytes, child, nval, aux and scale; the rest remains.
 * @v:       the payload.
 */
struct trib_cell {
	__u64 state;
	__u64 sent_ns;
	__u32 took_ns;
	__u32 rsvd;
	struct trib_hdr h;
	__u64 v[TRIB_NVAL / 2];
};
TRIB_ASSERT(sizeof(struct trib_cell) == 64 + TRIB_NVAL * 4, "trib_cell");

/* Flags of a GRAD that XDP takes from its cell. */
#define TRIB_CELL_FLAGS (TRIB_F_PUSH | TRIB_F_EMPTY | TRIB_F_MASK | TRIB_F_HEAD)

/* One chunk in 4 is stamped, of each lane in turn. */
static inline __attribute__((always_inline)) int trib_cell_stamped(__u32 chunk)
{
	return !((chunk ^ chunk >> 4) & 3);
}

/**
 * struct trib_desk_cpu - what XDP does on a CPU for the rank
 * @delivered: RESULTs delivered; by XDP.
 * @carried:   GRADs that it sent; by XDP.
 * @wake_at:   value of @delivered that wakes the rank, if it is armed; by the rank.
 *
 * CPU i has line i % TRIB_DESK_CPUS. Counts wrap; they are compared by difference. A line
 * that the rank has not written wakes it at once: it did not know of this CPU.
 */
struct trib_desk_cpu {
	__u64 delivered;
	__u64 carried;
	__u64 wake_at;
	__u64 rsvd[5];
};
TRIB_ASSERT(sizeof(struct trib_desk_cpu) == 64, "trib_desk_cpu");

#define TRIB_DESK_CPUS (TRIB_NVAL_SMALL / 16)

/**
 * struct trib_desk - what a rank tells XDP; in the array behind the last cell
 * @dist:  D, 1 to W: on RESULT c, once that is in its cell, XDP sends GRAD p = c + D if it
 *         is READY and RESULT p - W is in its cell. If D is not W it looks at p = c + W,
 *         too, which needs RESULT p - D. Of two it sends the first. One that may go and
 *         does not, because it is the second, longer than RESULT c, or malformed, or because
 *         the port has no native XDP, stays READY, and XDP rings. Chunks before 0 count as there, unless their cell
 *         holds them: numbers wrap. 0, or more than W: it sends nothing, and
 *         does not ring. By the rank.
 * @armed: 1: wake the rank at &trib_desk_cpu.wake_at; XDP clears it by an exchange, and
 *         then rings. By the rank, by an exchange; then it looks at its cells again before it
 *         sleeps.
 * @cpu:   see there.
 */
struct trib_desk {
	__u32 dist;
	__u32 armed;
	__u32 rsvd[14];
	struct trib_desk_cpu cpu[TRIB_DESK_CPUS];
};
TRIB_ASSERT(sizeof(struct trib_desk) == 64 + TRIB_NVAL_SMALL * 4, "trib_desk fits in a cell");

/* Bytes of each rank's ring buffer; the rank maps it twice, after 2 pages. */
#define TRIB_RING_BYTES 65536

/**
 * struct trib_event - a ring buffer record for one rank
 * @type:  TRIB_T_RESULT (look at the cells), NEED, ALIVE or ABORT.
 * @flags: header flags.
 * @tree:  tree number.
 * @chunk: &trib_hdr.chunk.
 * @epoch: &trib_hdr.epoch.
 * @aux:   &trib_hdr.aux.
 * @seen:  NEED: children seen by the sender.
 */
struct trib_event {
	__u8 type;
	__u8 flags;
	__u16 tree;
	__u32 chunk;
	__u32 epoch;
	__u16 aux;
	__u16 rsvd;
	__u64 seen;
};
TRIB_ASSERT(sizeof(struct trib_event) == 24, "trib_event");

/* Lanes are spread over so many CPUs at most, the first ones (struct trib_spread). */
#define TRIB_SPREAD_MAX 16

/*
 * The CPU, of @n, that results of @chunk are made on when there are many. @n is a power of 2.
 * Neighbours stay together: then packets come in batches.
 */
static inline __u32 trib_spread_home(__u32 n, __u32 chunk)
{
	return chunk % TRIB_SPREAD_MAX * n / TRIB_SPREAD_MAX;
}

#endif /* _UAPI_TRIB_CELL_H */
