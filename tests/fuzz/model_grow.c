// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model of the clsact program: packets that grow, and copies that XDP
 * could not make.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "model.h"

/* State in which the slot must be found for a packet of the type. */
static uint8_t wanted_state(uint8_t type)
{
	return type == TRIB_T_RESULT ? TRIB_SLOT_RESULT
	       : type == TRIB_T_GRAD ? TRIB_SLOT_SENT
				     : TRIB_SLOT_COLLECT;
}

static void copies(uint32_t group)
{
	if (rig.nmember[group])
		model.stats[TRIB_EGRESS] += rig.nmember[group];
	else
		model.stats[TRIB_DROP_GROUP]++;
}

static void fill_need(struct trib_hdr *h, const struct trib_slot *s,
		      const void **pay)
{
	static uint64_t bitmap;

	bitmap = htobe64(s->seen);
	h->flags = h->op = h->fmt = 0;
	h->bmwords = 1;
	h->child = h->nval = h->aux = h->scale = 0;
	*pay = &bitmap;
	model.stats[TRIB_TX_NEED]++;
	model_need_event(h, s->seen);
}

static void fill_values(struct trib_hdr *h, const struct trib_slot *s, int how,
			const void **pay)
{
	uint8_t flags = s->flags & KEEP;

	if (h->type == TRIB_T_GRAD) {
		flags |= h->flags & TRIB_F_RESEND;
		flags |= s->nval ? 0 : TRIB_F_EMPTY;
		model.stats[TRIB_TX_PARTIAL]++;
	} else {
		struct result r = result_of(s);
		int why;

		r.len = 4 * rig.nval; /* it has no time to lose here */
		why = model_row()->deliver ? model_deliver(&r) : 0;

		if (why && why != TRIB_DROP_SEEN)
			model.stats[why]++;
		model.stats[how & HOW_ANSWER ? TRIB_TX_ANSWER
					     : TRIB_TX_RESULT]++;
	}
	h->flags = flags;
	h->op = s->op;
	h->fmt = s->fmt;
	h->bmwords = 0;
	h->child = s->last == NOBODY ? 0xffff : htons(s->last);
	h->nval = htons(s->nval);
	h->aux = 0;
	h->scale = s->scale;
	*pay = s->v;
}

/* Return: 0, or the reason to drop. */
static int fill(struct trib_hdr *h, int how, const void **pay)
{
	const struct trib_slot *s = model_slot_of(h);

	if (s->busy)
		return TRIB_DROP_BUSY;
	if (s->epoch != model_row()->epoch || s->chunk != ntohl(h->chunk) ||
	    s->state != wanted_state(h->type))
		return TRIB_DROP_GROW_GONE;
	model.stats[TRIB_TX_GROW]++;
	if (h->type == TRIB_T_NEED)
		fill_need(h, s, pay);
	else
		fill_values(h, s, how, pay);
	return 0;
}

int model_grow(const struct frame *f, struct trib_hdr *h, const void **pay)
{
	const struct trib_tree *t;
	int at = 12, how, why;
	uint32_t group;

	memset(model.stats, 0, sizeof(model.stats));
	model.nrecord = 0;
	*pay = NULL;
	while (f->b[at] == 0x81 || f->b[at] == 0x88)
		at += 4;
	at += 2 + (f->b[at] == 0x86 ? 40 : 20) + 8;
	memcpy(h, f->b + at, sizeof(*h));
	memcpy(&group, f->b + 8, 4);
	model.tree = ntohs(h->tree);
	t = model_row();
	if (!(t->flags & TRIB_TREE_SHARED) &&
	    (!t->epoch || t->epoch != ntohl(h->epoch))) {
		model.stats[TRIB_DROP_GROW_GONE]++;
		return V_SHOT;
	}
	how = ntohs(h->relay);
	h->type = h->attempt;
	h->attempt = 0;
	h->relay = 0;
	/* The number was kept where a port is that nobody needs any more. */
	if (!(how & (HOW_FILL | HOW_ANSWER)))
		memcpy(&h->relay, f->b + at - 8, 2);
	if (how & HOW_FILL) {
		why = how & HOW_POOL ? pool_refill(h, pay) : fill(h, how, pay);
		if (why) {
			model.stats[why]++;
			return V_SHOT;
		}
	} else {
		*pay = f->b + at + sizeof(*h);
	}
	model.dirty |= 1U << model.tree;
	if (how & HOW_ANSWER && how & HOW_POOL) {
		h->relay = htons(RELAY);
		h->aux = 0;
		h->scale = 0;
		model.stats[TRIB_TX_GROW]++;
	}
	if (how & HOW_ANSWER) {
		model.stats[TRIB_EGRESS]++;
	} else if (how & HOW_BOTH) {
		copies(t->down);
		copies(t->up);
	} else if (group != TRIB_NONE || !t->deliver) {
		copies(group);
	}
	return V_STOLEN;
}
