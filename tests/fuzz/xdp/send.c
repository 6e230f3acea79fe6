// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model's exits: how a packet looks that leaves trib_xdp, and the node that
 * it leaves.
 */
#include <arpa/inet.h>
#include <string.h>
#include "model.h"

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static uint16_t ip_sum(const uint8_t *p, int len)
{
	uint32_t sum = 0;

	for (int i = 0; i < len; i += 2)
		sum += p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Source MAC of a frame on its way to a group: a mark and the number. */
static void mark(struct view *v, uint32_t group)
{
	v->f->b[6] = 0x03;
	v->f->b[7] = 0x54;
	memcpy(v->f->b + 8, &group, 4);
}

/* Cut the frame, and the lengths in its headers. */
void model_shrink(struct node *n, struct node_packet *p, int paylen)
{
	struct view *v = view_of(p);
	uint8_t *b = v->f->b;
	int l4_len = 48 + paylen;

	(void)n;
	if (paylen >= p->paylen)
		return;
	p->paylen = paylen;
	v->f->len = v->pay + paylen;
	if (v->v6)
		put16(b + v->l3 + 4, l4_len);
	else
		put16(b + v->l3 + 2, 20 + l4_len);
	put16(b + v->l4 + 4, l4_len);
}

static int to_grow(struct node *n, struct node_packet *p, uint32_t group, int how)
{
	struct view *v = view_of(p);
	struct trib_hdr *h = p->h;

	(void)n;
	model.pay = v->pay;
	model.errand = (struct trib_errand){.arg = {group, how}, .magic = TRIB_ERRAND};
	/* The frame stays as it came. */
	if ((how & HOW_FILL) && !(how & HOW_POOL)) {
		model.errand.arg[1] |= h->type << 8;
		h->type = model.type;
	}
	return V_PASS;
}

static int to_group(struct node *n, struct node_packet *p, uint32_t group)
{
	if (rig.mapped[group]) {
		mark(view_of(p), group);
		return V_REDIRECT;
	}
	if (!rig.nmember[group])
		return model_drop(TRIB_DROP_GROUP);
	return to_grow(n, p, group, 0);
}

void model_turn_ip(struct view *v, const uint8_t *saddr)
{
	uint8_t *ip = v->f->b + v->l3;

	if (v->v6) {
		memcpy(ip + 24, ip + 8, 16);
		memcpy(ip + 8, saddr, 16);
		if ((ip[1] >> 4 & 3) == 3)
			ip[1] -= 0x10; /* CE becomes ECT(0) */
		ip[7] = 64;
		return;
	}
	memcpy(ip + 16, ip + 12, 4);
	memcpy(ip + 12, saddr + 12, 4);
	if ((ip[1] & 3) == 3)
		ip[1]--;
	ip[8] = 64;
	put16(ip + 10, 0);
	put16(ip + 10, ip_sum(ip, 20));
}

static int to_sender(struct node *n, struct node_packet *p, uint16_t be_port)
{
	struct view *v = view_of(p);
	uint8_t *b = v->f->b, mac[6], us[16];

	(void)n;
	memcpy(us + (v->v6 ? 0 : 12), b + v->l3 + (v->v6 ? 24 : 16), v->v6 ? 16 : 4);
	memcpy(mac, b + 6, 6);
	memcpy(b + 6, b, 6);
	memcpy(b, mac, 6);
	b[6] &= ~1;
	model_turn_ip(v, us);
	if (!be_port)
		memcpy(&be_port, b + v->l4, 2);
	memcpy(b + v->l4, b + v->l4 + 2, 2);
	memcpy(b + v->l4 + 2, &be_port, 2);
	put16(b + v->l4 + 6, 0);
	return V_REDIRECT;
}

/* One port has no native XDP. */
bool model_answers(const struct node *n, const struct node_packet *p)
{
	(void)n;
	return ((const struct view *)(const void *)p)->ifindex != rig.ifindex[2];
}

const struct node_exits model_exits = {
	.group = to_group,
	.answer = to_sender,
	.answers = model_answers,
	.grow = to_grow,
	.shrink = model_shrink,
	.deliver = model_deliver,
	.event = model_event,
	.reflex = model_reflex,
	.host = model_host,
};

struct node model_node(void)
{
	return (struct node){
		.row = model_row(),
		.slots = model.slots,
		.slot_size = rig.slot_size,
		.lag = &model.lag[model.tree],
		.sent = &model.counts[model.tree].sent,
		.stats = model.stats,
		.exits = &model_exits,
	};
}

struct node_pool model_pool(void)
{
	return (struct node_pool){
		.row = &rig.pools[model.tree],
		.slots = model.pslots,
		.slot_size = rig.pslot_size,
		.table = rig.table,
		.marks = model.marks,
	};
}
