/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of one relay in plain C: the second description that the BPF
 * programs are compared with, and the relay of every test that needs one.
 * kmod/uapi/PROTOCOL.md gives the reason for each rule. No clock and no sockets:
 * packets leave through struct node_exits.
 *
 * Slot of a packet: row->slot0 + (chunk & row->slot_mask). A slot of another
 * epoch or of an older chunk is free. A packet of an older chunk is dropped.
 *
 * GRAD from child c:
 *  0. its mask has groups with too many or too few bits: drop
 *  1. free slot: it begins the packet's chunk, empty, and collects
 *  2. slot has the result: answer c with it
 *  3. c has contributed, no RESEND: drop
 *  4. c has contributed, RESEND, sum was sent: send the sum up again, RESEND
 *  5. c has contributed, RESEND, others are missing: NEED to all
 *  6. shape differs from what others contributed: drop
 *  7. merge, expanding what is masked; when all children are in: root: RESULT down,
 *     else GRAD up, both dense
 *
 * RESULT, from the parent or from a child that holds it:
 *  1. slot has the result of this chunk: drop
 *  2. keep it in the slot; send it down; from a child: also up
 *
 * NEED from a child (ASK):             NEED from the parent:
 *  1. slot has the result: answer it    1. we are in its bitmap: drop
 *  2. sum was sent: NEED up             2. slot has the result: RESULT up
 *  3. NEED(seen + the child) to all     3. sum was sent: GRAD up
 *                                       4. NEED(seen) down
 *
 * ALIVE, ABORT: up to the root, from there down to everybody.
 * Each NEED, ALIVE and ABORT that leaves has a number of this node's.
 * JOIN, START, LEAVE: to the daemon.
 */
#ifndef MODEL_NODE_H
#define MODEL_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef TRIB_NVAL
#define TRIB_NVAL 832 /* slots are addressed by node.slot_size: the larger one */
#endif
#include "uapi/trib_maps.h"

/* Verdicts: those of XDP. */
enum { V_ABORTED, V_DROP, V_PASS, V_TX, V_REDIRECT };

/* Outcome of a packet at its slot. */
enum node_act {
	NODE_HELD = 1,
	NODE_DONE,
	NODE_ANSWER,
	NODE_AGAIN,
	NODE_ASK,
	NODE_DROPPED,
};

/* Orders for a packet that leaves longer than the one in hand. */
enum { HOW_FILL = 1, HOW_ANSWER = 2, HOW_BOTH = 4, HOW_POOL = 8 };

#define NODE_KEEP (TRIB_F_PUSH | TRIB_F_CE | TRIB_F_HEAD) /* flags that slots collect */
#define NODE_NOBODY 0xff				  /* &trib_slot.last: not known */

/**
 * struct node_packet - the packet in hand, which the rules change in place
 * @h, @pay: header and what follows it, @paylen bytes. Payload and header need
 *          room for no more than the packet has: a longer one leaves by grow().
 * @child:  sender, if it travels up.
 * @ce:     it met congestion.
 */
struct node_packet {
	struct trib_hdr *h;
	uint8_t *pay;
	int paylen;
	int child;
	bool ce;
};

/**
 * struct node_result - a result for the ranks of this host
 * @scale:  as on the wire.
 * @values: @len bytes; those behind the padding are undefined.
 */
struct node_result {
	uint32_t chunk;
	uint32_t epoch;
	uint32_t nval;
	uint8_t flags, op, fmt, last;
	uint32_t scale;
	const void *values;
	uint32_t len;
};

struct node;

/**
 * struct node_exits - how packets leave; each returns a verdict
 * @group:   to all members of a group, never TRIB_NONE.
 * @answer:  to the sender, at UDP port @be_port, or, if 0, the one it came from.
 * @answers: can answer() reach this sender with a packet of this length?
 * @grow:    as h->type says, by node_fill() where @how has HOW_FILL: to the
 *           sender (HOW_ANSWER), to down and up (HOW_BOTH), or to @group.
 * @shrink:  @p is @paylen bytes long from now on.
 * @deliver: a result for the ranks here. Return: 0, or the reason to drop.
 * @event:   a record for the ranks here.
 * @reflex:  a result that was new to the ranks of a leaf.
 * @host:    a result that was new to a node and goes to no child but the ranks here: what
 *           these have ready may be added (node_add()), and @p leave as a sum (node_sum()).
 *           NULL: never.
 *
 * The last four are only called where the row has a deliver row.
 */
struct node_exits {
	int (*group)(struct node *n, struct node_packet *p, uint32_t group);
	int (*answer)(struct node *n, struct node_packet *p, uint16_t be_port);
	bool (*answers)(const struct node *n, const struct node_packet *p);
	int (*grow)(struct node *n, struct node_packet *p, uint32_t group, int how);
	void (*shrink)(struct node *n, struct node_packet *p, int paylen);
	int (*deliver)(struct node *n, const struct node_result *r);
	void (*event)(struct node *n, const struct trib_event *ev);
	int (*reflex)(struct node *n, struct node_packet *p, const struct node_result *r);
	int (*host)(struct node *n, struct node_packet *p);
};

/**
 * struct node - one relay's node of one tree
 * @row:   its row of `trees`. Groups are only told apart, and from TRIB_NONE.
 * @slots: all slots, of @slot_size bytes each, struct trib_slot in front.
 * @lag:   its row of `lag`, or NULL.
 * @stats: enum trib_stat.
 * @sent:  number of its newest control packet, or NULL: it numbers none.
 * @act:   enum node_act of the last packet, or the state of the slot + 1.
 */
struct node {
	const struct trib_tree *row;
	uint8_t *slots;
	size_t slot_size;
	struct trib_lag *lag;
	uint64_t *stats;
	uint32_t *sent;
	int act;
	const struct node_exits *exits;
};

/* Handle an admitted packet of a dedicated tree. Return: the verdict. */
int node_rx(struct node *n, struct node_packet *p);

/*
 * Fill @h from the slot, as @h->type and @how say, and point *@pay to what
 * follows: in the slot, or valid until the next call. Return: 0, or the reason
 * to drop.
 */
int node_fill(struct node *n, struct trib_hdr *h, int how, const void **pay);

struct trib_slot *node_slot(const struct node *n, uint32_t chunk);

/*
 * Add a contribution of a rank here, which is no packet. Return: NODE_HELD; NODE_DONE if its
 * slot is full; else it was refused and counted.
 */
int node_add(struct node *n, const struct node_packet *p);
/* @p leaves as the sum of chunk @chunk, which is full. Return: the verdict. */
int node_sum(struct node *n, struct node_packet *p, uint32_t chunk);

/* Count @why. Return: V_DROP. */
static inline int node_drop(struct node *n, int why)
{
	n->stats[why]++;
	return V_DROP;
}

/* To a group; dropped and counted if there is none. */
static inline int node_send(struct node *n, struct node_packet *p, uint32_t group)
{
	if (group == TRIB_NONE)
		return node_drop(n, TRIB_DROP_HOPS);
	return n->exits->group(n, p, group);
}

/* --- values (values.c) */

/* Has each group of the packet's mask as many bits as it must have? Without one: true. */
bool values_mask_ok(const struct trib_hdr *h, const void *values);
/* Combine the packet's values with those at @v, which has @had units. */
void values_merge(__u64 *v, unsigned int had, const struct trib_hdr *h, const void *values);
/* Round accumulators of 16-bit floats, once, to the packet's format. */
void values_round(__u64 *v, uint8_t fmt, unsigned int nval);

#endif /* MODEL_NODE_H */
