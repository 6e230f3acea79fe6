/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs should do: a second description of the same rules, in
 * plain C, from uapi/trib_wire.h and trib_maps.h. It keeps slots, cells and
 * rows of its own; the fuzzer compares them with the kernel's.
 */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "rig.h"

#define MODEL_RECORDS 64

/* Verdicts of trib_xdp. */
enum { V_ABORTED, V_DROP, V_PASS, V_TX, V_REDIRECT };
/* Verdicts of trib_grow. */
enum { V_UNSPEC = -1, V_SHOT = 2, V_STOLEN = 4 };

/**
 * struct model - the state, and what one packet did
 * @slots, @cells, @delivers, @lag: as in struct rig.
 * @pslots, @marks: as in struct rig. A slot's time_ns is TIME_NOW once the
 *           packet has touched it.
 * @stats:   what the packet's counters must be.
 * @record:  records that must be in the rings.
 * @dirty:   trees whose state changed since model_reset().
 * @tree:    row of the packet's tree, once it is admitted; else T_NONE.
 * @act:     what the slot said: for the fuzzer's feedback.
 * @fill:    the packet goes on to trib_grow, which fills what is at @pay.
 */
struct model {
	uint8_t *slots;
	uint8_t *cells[T__MAX];
	struct trib_deliver delivers[T__MAX];
	struct trib_lag lag[T__MAX];
	uint8_t *pslots;
	uint64_t marks[T__MAX * POOL];
	uint64_t stats[TRIB_STAT__MAX];
	struct rig_record record[MODEL_RECORDS];
	int nrecord;
	uint32_t dirty;
	int tree;
	int act;
	bool fill;
	int pay;
};

#define TIME_NOW (~0ULL)

extern struct model model;

void model_open(void);
/* As rig_reset(). */
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
 * @l3, @l4, @h, @pay: offsets of the IP, UDP and our header, and of what
 *          follows it.
 * @paylen: bytes that follow it.
 * @vlan:   ids, outer first.
 * @v6:     IPv6.
 * @ce:     it met congestion.
 * @child:  who sent it, if it travels up.
 */
struct view {
	struct frame *f;
	uint32_t ifindex;
	int l3, l4, h, pay, paylen;
	uint16_t vlan[2];
	bool v6;
	bool ce;
	int child;
};

static inline struct trib_hdr *view_hdr(const struct view *v)
{
	return (struct trib_hdr *)(v->f->b + v->h);
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

/* An admitted packet. */
int model_tree(struct view *v);

/*
 * A packet for a shared tree, admitted or not (model_pool.c). Return: the
 * verdict.
 */
int model_pool(struct view *v);
/* The clsact program's part: as fill() in model_grow.c. */
int pool_refill(struct trib_hdr *h, const void **pay);
bool from_face(const struct view *v, const struct trib_tree *t,
	       const struct trib_peer *p);

/*
 * A result for the ranks of this host. @values: padded. Return: 0 or the
 * reason why no cell took it.
 */
struct result {
	uint32_t chunk;
	uint32_t epoch;
	uint32_t nval;
	uint8_t flags, op, fmt, last;
	uint32_t scale; /* as on the wire */
	const void *values;
	uint32_t len; /* of them; what is behind the padding is undefined */
};
int model_deliver(const struct result *r);
/* What a slot holds, for them; values stay in the slot. */
struct result result_of(const struct trib_slot *s);
struct trib_slot *model_slot_of(const struct trib_hdr *h);
/* A record for all ranks; counts what goes wrong. */
void model_event(const struct trib_event *ev);
void model_need_event(const struct trib_hdr *h, uint64_t seen);

/* How a packet leaves (model_send.c). */
int send_group(struct view *v, uint32_t group);
int send_all(struct view *v);
int send_answer(struct view *v, uint16_t be_port);
bool port_answers(uint32_t ifindex);
int send_to_grow(struct view *v, uint32_t group, int how);
void view_shrink(struct view *v, int paylen);

#define KEEP (TRIB_F_PUSH | TRIB_F_CE) /* flags that slots collect */
#define NOBODY 0xff		       /* &trib_slot.last: not known */

enum { HOW_FILL = 1, HOW_ANSWER = 2, HOW_BOTH = 4, HOW_POOL = 8 };

#endif /* FUZZ_MODEL_H */
