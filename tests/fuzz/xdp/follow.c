// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model of the clsact program: packets that grow, and copies that XDP cannot
 * make.
 */
#include <arpa/inet.h>
#include <string.h>
#include "model.h"

static void copies(uint32_t group)
{
	if (rig.nmember[group])
		model.stats[TRIB_EGRESS] += rig.nmember[group];
	else
		model.stats[TRIB_DROP_GROUP]++;
}

int model_grow(const struct frame *f, struct trib_hdr *h, const void **pay)
{
	const struct trib_tree *t;
	int at = 12, how, why;
	struct node_pool q;
	struct node n;
	uint32_t group;

	memset(model.stats, 0, sizeof(model.stats));
	model.nrecord = 0;
	model.ntime = 0;
	*pay = NULL;
	while (f->b[at] == 0x81 || f->b[at] == 0x88)
		at += 4;
	at += 2 + (f->b[at] == 0x86 ? 40 : 20) + 8;
	memcpy(h, f->b + at, sizeof(*h));
	group = model.errand.arg[0];
	model.tree = ntohs(h->tree);
	t = model_row();
	n = model_node();
	q = model_pool();
	if (!(t->flags & TRIB_TREE_SHARED) && (!t->epoch || t->epoch != ntohl(h->epoch))) {
		model.stats[TRIB_DROP_GROW_GONE]++;
		return V_SHOT;
	}
	how = model.errand.arg[1] & 0xff;
	if (how & HOW_FILL) {
		if (!(how & HOW_POOL))
			h->type = model.errand.arg[1] >> 8;
		why = how & HOW_POOL ? shared_fill(&n, &q, h, pay) : node_fill(&n, h, how, pay);
		if (why) {
			model.stats[why]++;
			return V_SHOT;
		}
	} else {
		*pay = f->b + at + sizeof(*h);
	}
	model.dirty |= 1U << model.tree;
	if (how & HOW_ANSWER && how & HOW_POOL) {
		model.stats[TRIB_TX_GROW]++;
	}
	if ((how & HOW_ANSWER) && !(how & HOW_POOL))
		h->auth = t->auth;
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
