/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of frames: tests/model's rules, and around them headers, admission and
 * copies. It keeps slots, cells and
 * rows of its own; the fuzzer compares them with the kernel's.
 */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "rig.h"
#include "tests/model/shared.h"

#define MODEL_RECORDS 64
#define MODEL_TIMES (3 * RING_RANKS)

/* Verdicts of trib_grow; those of trib_xdp are in node.h. */
enum { V_UNSPEC = -1, V_SHOT = 2, V_STOLEN = 4 };

/**
 * struct model - the state, and what one packet did
 * @slots, @cells, @delivers, @lag, @counts: as in struct rig.
 * @pslots, @marks: as in struct rig. A slot's time_ns is SHARED_NOW once the
 *           packet has touched it.
 * @stats:   counters that the packet must change, and by how much.
 * @record:  records that must be in the rings.
 * @times:   cells whose time the packet must have written; only the clock knows it.
 * @dirty:   trees whose state changed since model_reset().
 * @tree:    row of the packet's tree, once it is admitted; else T_NONE.
 * @act:     outcome at the slot: for the fuzzer's feedback.
 * @refused: contributions out of cells that their slots refused.
 * @type:    of the packet as it came.
 * @errand:  as in struct rig.
 * @pay:     where trib_send fills the packet from, if that is its errand.
 */
struct model {
	uint8_t *slots;
	uint8_t *cells[T__MAX][RING_RANKS];
	struct trib_deliver delivers[T__MAX];
	struct trib_lag lag[T__MAX];
	struct trib_count counts[T__MAX];
	uint8_t *pslots;
	uint64_t marks[T__MAX * POOL];
	uint64_t stats[TRIB_STAT__MAX];
	struct rig_record record[MODEL_RECORDS];
	int nrecord;
	struct model_time {
		struct trib_cell *model, *cell;
		bool took; /* took_ns; else sent_ns */
	} times[MODEL_TIMES];
	int ntime;
	uint32_t dirty;
	int tree;
	int act;
	int refused;
	uint8_t type;
	struct trib_errand errand;
	int pay;
};

extern struct model model;

void model_open(void);
/* Reset the model like rig_reset(). */
void model_reset(uint32_t dirty);

/* @f arrives at @ifindex. Return: the verdict; @f becomes what it leaves. */
int model_xdp(struct frame *f, uint32_t ifindex);
/*
 * And goes on to the clsact program: @f as trib_xdp left it. Return: the
 * verdict. If anything is sent, *@h and *@pay become what follows UDP in it,
 * but for the flag and the child that depend on the receiver.
 */
int model_grow(const struct frame *f, struct trib_hdr *h, const void **pay);

/* --- between the files of the model */

/**
 * struct view - a frame whose headers have been read
 * @p:      the packet in it, as the rules see it; first, so that exits find the
 *          rest.
 * @l3, @l4, @pay: offsets of the IP and UDP headers and of @p's payload.
 * @vlan:   ids, outer first.
 * @v6:     IPv6.
 */
struct view {
	struct node_packet p;
	struct frame *f;
	uint32_t ifindex;
	int l3, l4, pay;
	uint16_t vlan[2];
	bool v6;
};

static inline struct view *view_of(struct node_packet *p)
{
	return (struct view *)(void *)p;
}

static inline const struct trib_tree *model_row(void)
{
	return &rig.trees[model.tree];
}

static inline struct trib_slot *model_slot(unsigned int i)
{
	return (struct trib_slot *)(model.slots + i * rig.slot_size);
}

static inline struct trib_pool_slot *model_pslot(unsigned int i)
{
	return (struct trib_pool_slot *)(model.pslots + i * rig.pslot_size);
}

static inline int model_drop(int why)
{
	model.stats[why]++;
	return V_DROP;
}

/* The rules' view of the packet's tree, model.tree (send.c). */
struct node model_node(void);
struct node_pool model_pool(void);
extern const struct node_exits model_exits;

bool from_face(const struct view *v, const struct trib_tree *t, const struct trib_peer *p);
/*
 * Has the packet the secret, or the authenticator, of @key? The second has a number, too,
 * that is noted in @w. Return: 0, or the reason to drop.
 */
int has_key(const struct view *v, const struct trib_key *key, struct trib_window *w);
/*
 * Admit a packet to shared tree @tree (admit_pool.c). Return: 0, POOL_LEAVE, or
 * the reason to drop.
 */
enum { POOL_LEAVE = -1 };
int admit_pool(const struct view *v, int tree);

/* Exits for the ranks of this host (local.c). */
int model_deliver(struct node *n, const struct node_result *r);
void model_event(struct node *n, const struct trib_event *ev);
/* And what a result lets go (reflex.c). */
int model_reflex(struct node *n, struct node_packet *p, const struct node_result *r);
/* And at a node of ranks (host.c). */
int model_host(struct node *n, struct node_packet *p);
/* Is the chunk READY in @cells, and RESULT @other there, which it waits for? */
bool model_ready(uint8_t *cells, uint32_t epoch, uint32_t chunk, uint32_t other);
/* Would a relay admit the shape of a cell's header, and how long are its values? */
bool model_shape_ok(const struct trib_hdr *h);
int model_length(const struct trib_hdr *h);
/* Ring rank @i of the row: its result is there, or it must send. */
void model_ring(struct node *n, int i, const struct node_result *r);
void model_timed(struct trib_cell *cell, int tree, int rank, bool took);
/* Exits of send.c that model_reflex() uses, too. */
void model_shrink(struct node *n, struct node_packet *p, int paylen);
bool model_answers(const struct node *n, const struct node_packet *p);
/* @f goes back where it came from: MAC and IP addresses, TTL, ECN, checksum. */
void model_turn_ip(struct view *v, const uint8_t *saddr);

#endif /* FUZZ_MODEL_H */
