/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of one relay of a shared tree, in plain C; see node.h and
 * kmod/uapi/PROTOCOL.md.
 *
 * The slot of a chunk is found by hash; none may be there. A mark (one of 2W a
 * tree) remembers of a chunk whether a contribution came by (MET) and whether its
 * RESULT went down (ACKED). Passed on: to the next hop, with its number.
 *
 * GRAD with our number:
 *  0. its mask has groups with too many or too few bits: drop
 *  1. no slot for it: pass it on
 *  2. nobody in its bitmap: drop
 *  3. the mark is of a newer chunk: drop
 *  4. ACKED, no RESEND: drop
 *  5. somebody outside our mask of workers: pass it on
 *  6. the slot has this chunk:
 *     a. another shape: pass it on
 *     b. nobody of it is in: merge; all of the mask are in: the sum goes up
 *     c. some are in, others not: pass it on
 *     d. all are in, no RESEND: drop
 *     e. all are in, RESEND: the sum goes up again, or drop while some miss
 *  7. MET, RESEND, or the slot has a young chunk: MET, and pass it on
 *  8. take the slot: MET, and merge
 *
 * RESULT down: ACKED and MET; its slot is free; pass it down.
 * PROBE: back to its sender with our number. Everything else goes on.
 */
#ifndef MODEL_SHARED_H
#define MODEL_SHARED_H

#include "node.h"

/* &trib_pool_slot.time_ns of a slot that a packet has touched: no clock here. */
#define SHARED_NOW (~0ULL)
#define SHARED_NO_SLOT (~0U) /* in node_pool.table */

/**
 * struct node_pool - a node of a shared tree, beside struct node
 * @row:   its row of `pools`.
 * @slots: of all shared trees, @slot_size bytes each.
 * @table: slot of each bucket, or SHARED_NO_SLOT.
 * @marks: of all shared trees.
 */
struct node_pool {
	const struct trib_pool *row;
	uint8_t *slots;
	size_t slot_size;
	const uint32_t *table;
	uint64_t *marks;
};

/* Handle an admitted packet of a shared tree. Return: the verdict. */
int shared_rx(struct node *n, const struct node_pool *q, struct node_packet *p);

/* Same as node_fill(), for the sum of a shared slot. */
int shared_fill(struct node *n, const struct node_pool *q, struct trib_hdr *h, const void **pay);

#endif /* MODEL_SHARED_H */
