// SPDX-License-Identifier: BSD-2-Clause
/* tests/model behind relay_model.h: a row, slots, and exits that call @out. */
#include "relay_model.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "secrets.h"
#include "tests/model/node.h"

enum { DOWN = 1, ALL, UP }; /* groups of the row */

/**
 * struct relay_impl - the state that the model needs
 * @node:  the model's node; the first member, so that exits find the rest.
 * @r:     the relay that owns this.
 * @from:  sender of the current packet.
 * @pkt:   the current packet: room for any length.
 */
struct relay_impl {
	struct node node;
	struct relay *r;
	struct trib_tree row;
	uint64_t stats[TRIB_STAT__MAX];
	uint32_t nslots;
	int from;
	struct {
		struct trib_hdr h;
		uint8_t pay[4 * TRIB_NVAL_LARGE];
	} pkt;
};

static struct relay_impl *impl_of(struct node *n)
{
	return (struct relay_impl *)(void *)n;
}

/* @p is the current packet; its header is changed for the receiver. */
static void send_one(struct relay_impl *m, int to, const struct node_packet *p)
{
	struct trib_hdr *h = p->h;

	if (to == RELAY_UP) {
		h->flags |= TRIB_F_UP;
		h->child = htobe16((uint16_t)m->r->up_child);
	} else {
		h->flags &= (uint8_t)~TRIB_F_UP;
		secrets_down(h, p->pay, (size_t)p->paylen, m->r->addr);
	}
	m->r->out(m->r, to, h, sizeof(*h) + (size_t)p->paylen);
}

static int to_group(struct node *n, struct node_packet *p, uint32_t group)
{
	struct relay_impl *m = impl_of(n);
	unsigned int i;

	for (i = 0; group != UP && i < m->r->nchild; i++)
		send_one(m, (int)i, p);
	if (group == UP || (group == ALL && !m->r->root))
		send_one(m, RELAY_UP, p);
	return V_REDIRECT;
}

static int to_sender(struct node *n, struct node_packet *p, uint16_t be_port)
{
	(void)be_port;
	send_one(impl_of(n), impl_of(n)->from, p);
	return V_REDIRECT;
}

static bool answers(const struct node *n, const struct node_packet *p)
{
	(void)n;
	(void)p;
	return true;
}

/*
 * The packet has room for any length, so the clsact program's work is done at
 * once.
 */
static int grow(struct node *n, struct node_packet *p, uint32_t group, int how)
{
	const void *pay;

	if (node_fill(n, p->h, how, &pay))
		return V_DROP;
	p->paylen = p->h->bmwords * 8 + (int)trib_payload_len(be16toh(p->h->nval));
	memcpy(p->pay, pay, (size_t)p->paylen);
	return how & HOW_ANSWER ? to_sender(n, p, 0) : to_group(n, p, group);
}

static void shrink(struct node *n, struct node_packet *p, int paylen)
{
	(void)n;
	p->paylen = paylen;
}

static const struct node_exits exits = {
	.group = to_group,
	.answer = to_sender,
	.answers = answers,
	.grow = grow,
	.shrink = shrink,
};

int relay_init(struct relay *r, unsigned int nchild, unsigned int window)
{
	struct relay_impl *m = calloc(1, sizeof(*m));

	r->nchild = nchild;
	r->impl = m;
	if (!m)
		return -ENOMEM;
	m->r = r;
	m->nslots = 2 * window;
	m->node = (struct node){
		.row = &m->row,
		.slot_size = sizeof(struct trib_slot),
		.stats = m->stats,
		.exits = &exits,
		.slots = calloc(m->nslots, sizeof(struct trib_slot)),
	};
	return m->node.slots ? 0 : -ENOMEM;
}

void relay_free(struct relay *r)
{
	struct relay_impl *m = r->impl;

	if (m)
		free(m->node.slots);
	free(m);
}

void relay_wipe(struct relay *r)
{
	struct relay_impl *m = r->impl;

	memset(m->node.slots, 0, m->nslots * m->node.slot_size);
	r->resets++;
}

void relay_rx(struct relay *r, int from, const void *pkt, size_t len)
{
	struct relay_impl *m = r->impl;
	struct node_packet p = {.h = &m->pkt.h,
				.pay = m->pkt.pay,
				.paylen = (int)(len - sizeof(m->pkt.h)),
				.child = from};

	if (len < sizeof(m->pkt.h) || len > sizeof(m->pkt))
		return;
	memcpy(&m->pkt, pkt, len);
	if ((p.h->flags & TRIB_F_MASK) &&
	    (!trib_nm_is_mask(p.h->nm) || be16toh(p.h->nval) % TRIB_MASK_UNITS))
		return;
	if ((int)trib_values_len(p.h->flags, p.h->nm, be16toh(p.h->nval)) + p.h->bmwords * 8 >
	    p.paylen)
		return;
	if (be32toh(p.h->epoch) != r->epoch)
		return;
	m->from = from;
	m->row = (struct trib_tree){
		.epoch = r->epoch,
		.flags = r->root ? TRIB_TREE_ROOT : 0,
		.nchild = (uint8_t)r->nchild,
		.full = r->nchild < 64 ? (1ULL << r->nchild) - 1 : ~0ULL,
		.slot_mask = m->nslots - 1,
		.down = DOWN,
		.all = ALL,
		.up = UP,
		.up_child = (uint16_t)r->up_child,
	};
	if (from == RELAY_UP)
		p.h->flags &= (uint8_t)~TRIB_F_UP;
	else
		p.h->flags |= TRIB_F_UP;
	node_rx(&m->node, &p);
}
