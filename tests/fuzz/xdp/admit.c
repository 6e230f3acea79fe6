// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model's admission: which packets are ours, and which may reach the rules.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"

struct model model;

enum { ADMITTED = -1 };

static uint16_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

void model_open(void)
{
	model.slots = calloc(T__MAX * POOL, rig.slot_size);
	for (int i = 0; i < T__MAX; i++)
		for (int j = 0; j < RING_RANKS; j++)
			if (rig.cells[i][j])
				model.cells[i][j] = calloc(1, rig_cells_size());
	model.pslots = calloc(POOL_SLOTS, rig.pslot_size);
	model_reset(~0U);
}

void model_reset(uint32_t dirty)
{
	if (dirty & T_SHARED) {
		memset(model.pslots, 0, POOL_SLOTS * rig.pslot_size);
		memset(model.marks, 0, sizeof(model.marks));
	}
	for (int i = 0; i < T__MAX; i++) {
		if (!(dirty >> i & 1))
			continue;
		memset(model_slot(i * POOL), 0, POOL * rig.slot_size);
		memset(&model.lag[i], 0, sizeof(model.lag[i]));
		memset(&model.counts[i], 0, sizeof(model.counts[i]));
		model.delivers[i] = rig.delivers[i];
		for (int j = 0; j < RING_RANKS; j++)
			if (model.cells[i][j])
				memset(model.cells[i][j], 0, rig_cells_size());
	}
	model.dirty = 0;
}

/* A form that we do not read: ours if the UDP port is. */
static int odd(const struct view *v, int udp, int why)
{
	if (udp + 8 > v->f->len || be16(v->f->b + udp + 2) != TRIB_UDP_PORT)
		return V_PASS;
	return model_drop(why);
}

static int read_v4(struct view *v, int *l4_len)
{
	const uint8_t *ip = v->f->b + v->l3;
	int hlen;

	if (v->l3 + 20 > v->f->len || ip[0] >> 4 != 4 || ip[9] != 17)
		return V_PASS;
	hlen = (ip[0] & 15) * 4;
	if (be16(ip + 6) & 0x3fff) {
		if (be16(ip + 6) & 0x1fff)
			return V_PASS;
		return odd(v, v->l3 + hlen, TRIB_DROP_FRAGMENT);
	}
	if (hlen != 20)
		return hlen < 20 ? V_PASS : odd(v, v->l3 + hlen, TRIB_DROP_OPTIONS);
	v->p.ce = (ip[1] & 3) == 3;
	v->l4 = v->l3 + 20;
	*l4_len = be16(ip + 2) - 20;
	return ADMITTED;
}

static int read_v6(struct view *v, int *l4_len)
{
	const uint8_t *ip = v->f->b + v->l3, *ext = ip + 40;

	if (v->l3 + 40 > v->f->len || ip[0] >> 4 != 6)
		return V_PASS;
	v->v6 = true;
	v->p.ce = (ip[1] >> 4 & 3) == 3;
	v->l4 = v->l3 + 40;
	*l4_len = be16(ip + 4);
	if (ip[6] == 17)
		return ADMITTED;
	/* One header in between, before UDP. */
	if (v->l4 + 8 > v->f->len || ext[0] != 17)
		return V_PASS;
	if (ip[6] == 44)
		return be16(ext + 2) & 0xfff8 ? V_PASS : odd(v, v->l4 + 8, TRIB_DROP_FRAGMENT);
	if (ip[6] == 0 || ip[6] == 43 || ip[6] == 60)
		return odd(v, v->l4 + (ext[1] + 1) * 8, TRIB_DROP_OPTIONS);
	return V_PASS;
}

static int read_headers(struct view *v, int *l4_len)
{
	const uint8_t *b = v->f->b;
	uint16_t proto;
	int rc;

	if (v->f->len < 14)
		return V_PASS;
	if (be16(b + 6) == 0x0354 || be16(b + 6) == 0x036e)
		return model_drop(TRIB_DROP_MARK);
	proto = be16(b + 12);
	v->l3 = 14;
	for (int i = 0; i < 2 && (proto == 0x8100 || proto == 0x88a8); i++) {
		if (v->l3 + 4 > v->f->len)
			return V_PASS;
		v->vlan[i] = be16(b + v->l3) & 0xfff;
		proto = be16(b + v->l3 + 2);
		v->l3 += 4;
	}
	rc = proto == 0x0800 ? read_v4(v, l4_len) : proto == 0x86dd ? read_v6(v, l4_len) : V_PASS;
	if (rc != ADMITTED)
		return rc;
	if (v->l4 + 8 > v->f->len || be16(b + v->l4 + 2) != TRIB_UDP_PORT)
		return V_PASS;
	v->p.h = (struct trib_hdr *)(v->f->b + v->l4 + 8);
	v->pay = v->l4 + 8 + sizeof(struct trib_hdr);
	v->p.pay = v->f->b + v->pay;
	return ADMITTED;
}

static bool type_travels(uint8_t type, bool up)
{
	switch (type) {
	case TRIB_T_GRAD:
	case TRIB_T_JOIN:
	case TRIB_T_LEAVE:
		return up;
	case TRIB_T_START:
		return !up;
	case TRIB_T_RESULT:
	case TRIB_T_NEED:
	case TRIB_T_ALIVE:
	case TRIB_T_ABORT:
	case TRIB_T_PROBE:
		return true;
	}
	return false;
}

static bool carries_values(uint8_t type)
{
	return type == TRIB_T_GRAD || type == TRIB_T_RESULT;
}

/* Are type, format and sizes consistent? */
static bool form_ok(const struct trib_hdr *h)
{
	if (h->attempt || (h->nm && !(h->flags & TRIB_F_MASK)))
		return false;
	if (h->type >= TRIB_T_JOIN)
		return true;
	if (!carries_values(h->type))
		return !h->nval;
	/* Dedicated trees alone have no relay number. */
	if (trib_fmt_is_float(h->fmt))
		return h->op == TRIB_WOP_ADD && !h->relay;
	return (h->op == TRIB_WOP_ADD && (h->fmt == TRIB_FMT_Q32 || h->fmt == TRIB_FMT_I32)) ||
	       (h->op <= TRIB_WOP_MAX && h->fmt == TRIB_FMT_W64);
}

/* May the packet be masked, by this mask? */
static bool mask_fits(const struct trib_hdr *h)
{
	static const int groups[8] = {1, 2, 4, 8, 16, 32};
	int nval = ntohs(h->nval);

	return h->type == TRIB_T_GRAD && !(h->flags & TRIB_F_EMPTY) && h->op == TRIB_WOP_ADD &&
	       (h->fmt == TRIB_FMT_I32 || h->fmt == TRIB_FMT_F32) && nval && nval % 32 == 0 &&
	       (h->nm & 31) + 1 < groups[h->nm >> 5];
}

/* Bytes of values and mask, padding included. */
static int values_len(const struct trib_hdr *h)
{
	int units = ntohs(h->nval);

	/* Each mask word, and what it marks: M of N. */
	if (h->flags & TRIB_F_MASK)
		units = units / 32 + units * ((h->nm & 31) + 1) / (1 << (h->nm >> 5));
	return (units + 15) / 16 * 64;
}

/* Check the number of values. Return: 0, or the reason to drop. */
static int amount(const struct trib_hdr *h)
{
	unsigned int nval = ntohs(h->nval);

	if (!carries_values(h->type))
		return 0;
	if (trib_fmt_is_half(h->fmt) && 2 * nval > rig.nval)
		return TRIB_DROP_NVAL;
	if (h->type == TRIB_T_GRAD && !nval && !(h->flags & TRIB_F_EMPTY))
		return TRIB_DROP_FORMAT;
	return 0;
}

/* Is there a second datagram of ours behind the first? */
static bool is_batch(const struct view *v, int paylen)
{
	const struct trib_hdr *h = v->p.h, *next;
	int at = v->pay + paylen;

	if (paylen > TRIB_NVAL_LARGE * 4 + TRIB_BMWORDS_MAX * 8 ||
	    at + (int)sizeof(*next) > v->f->len)
		return false;
	next = (const struct trib_hdr *)(v->f->b + at);
	return next->version == TRIB_WIRE_VERSION && next->auth == h->auth;
}

static int read_ours(struct view *v, int l4_len)
{
	const struct trib_hdr *h = v->p.h;
	unsigned int nval, most;
	int paylen, why;

	if (v->pay > v->f->len)
		return model_drop(TRIB_DROP_SHORT);
	if (h->version != TRIB_WIRE_VERSION)
		return model_drop(TRIB_DROP_VERSION);
	if (!type_travels(h->type, h->flags & TRIB_F_UP))
		return model_drop(TRIB_DROP_TYPE);
	nval = ntohs(h->nval);
	most = h->type < TRIB_T_JOIN ? rig.nval : TRIB_NVAL_LARGE;
	if (nval > most)
		return model_drop(TRIB_DROP_NVAL);
	if (h->bmwords > TRIB_BMWORDS_MAX)
		return model_drop(TRIB_DROP_FORMAT);
	if ((h->flags & TRIB_F_MASK) && !mask_fits(h))
		return model_drop(TRIB_DROP_FORMAT);
	paylen = h->bmwords * 8 + values_len(h);
	if (be16(v->f->b + v->l4 + 4) != l4_len)
		return model_drop(TRIB_DROP_LENGTH);
	if (l4_len > 48 + paylen && is_batch(v, paylen))
		return model_drop(TRIB_DROP_GSO);
	if (l4_len != 48 + paylen || v->pay + paylen != v->f->len)
		return model_drop(TRIB_DROP_LENGTH);
	if (!form_ok(h))
		return model_drop(TRIB_DROP_FORMAT);
	why = amount(h);
	if (why)
		return model_drop(why);
	v->p.paylen = paylen;
	return ADMITTED;
}

bool from_face(const struct view *v, const struct trib_tree *t, const struct trib_peer *p)
{
	const uint8_t *ip = v->f->b + v->l3;

	if (p->ifindex != v->ifindex || v->v6 != !!(t->flags & TRIB_TREE_V6) ||
	    p->vlan[0] != htons(v->vlan[0]) || p->vlan[1] != htons(v->vlan[1]))
		return false;
	return v->v6 ? !memcmp(ip + 8, p->addr, 16) : !memcmp(ip + 12, &p->addr[3], 4);
}

/* Find the packet's tree. Return: NULL, and in *@why the reason to drop. */
static const struct trib_tree *tree_of(const struct trib_hdr *h, int *why)
{
	unsigned int row = ntohs(h->tree);
	const struct trib_tree *t = row < T__MAX ? &rig.trees[row] : NULL;

	*why = TRIB_DROP_TREE;
	if (!t || !(t->flags & TRIB_TREE_USED) || t->job != ntohs(h->job))
		return NULL;
	return t;
}

int has_key(const struct view *v, const struct trib_key *key, struct trib_window *w)
{
	const struct trib_hdr *h = v->p.h;

	if (carries_values(h->type))
		return h->auth == trib_key_secret(key) ? 0 : TRIB_DROP_AUTH;
	if (h->auth != trib_auth(key, h, v->p.pay, 8 * h->bmwords))
		return TRIB_DROP_AUTH;
	return !w || trib_replay_take(&w->r, ntohl(h->epoch), ntohl(h->scale)) ? 0
									       : TRIB_DROP_REPLAY;
}

/* Check the sender to a dedicated tree. Return: 0, or the reason to drop. */
static int admit(struct view *v, const struct trib_tree *t)
{
	const struct trib_hdr *h = v->p.h;
	unsigned int child = ntohs(h->child), tree = ntohs(h->tree);
	const struct trib_key *key = &t->parent.key;
	struct trib_window *w = &model.counts[tree].parent;

	if (h->flags & TRIB_F_UP) {
		if (child >= t->nchild)
			return TRIB_DROP_CHILD;
		v->p.child = child;
		if (!from_face(v, t, &t->child[child]))
			return TRIB_DROP_FACE;
		key = &t->child[child].key;
		w = &model.counts[tree].child[child];
	} else if ((t->flags & TRIB_TREE_ROOT) || !from_face(v, t, &t->parent)) {
		return TRIB_DROP_FACE;
	}
	if (carries_values(h->type) && has_key(v, key, NULL))
		return TRIB_DROP_AUTH;
	/* Forms of shared trees. */
	if (h->type == TRIB_T_PROBE)
		return TRIB_DROP_TYPE;
	if (h->relay || h->bmwords != (h->type == TRIB_T_NEED ? 1 : 0))
		return TRIB_DROP_FORMAT;
	/* The object is loaded without the kernel module. */
	if (h->type == TRIB_T_GRAD && trib_fmt_is_float(h->fmt))
		return TRIB_DROP_MODULE;
	if (h->type >= TRIB_T_JOIN)
		return 0;
	if (!t->epoch || ntohl(h->epoch) != t->epoch)
		return TRIB_DROP_EPOCH;
	if (carries_values(h->type))
		return 0;
	/* The model sees the packets that the programs take, and those alone. */
	model.dirty |= 1U << tree;
	return has_key(v, key, w);
}

/* Packets of the parent to a rank's socket are passed on. */
static bool for_socket(const struct view *v, const struct trib_tree *t)
{
	const struct trib_hdr *h = v->p.h;

	return t->flags & TRIB_TREE_SOCKET && h->type < TRIB_T_JOIN && !(h->flags & TRIB_F_UP) &&
	       from_face(v, t, &t->parent);
}

static int to_socket(struct view *v, const struct trib_tree *t)
{
	memcpy(v->f->b + v->l4 + 2, &t->port, 2);
	memset(v->f->b + v->l4 + 6, 0, 2);
	return V_PASS;
}

int model_xdp(struct frame *f, uint32_t ifindex)
{
	struct view v = {.f = f, .ifindex = ifindex};
	const struct trib_tree *t;
	int rc, l4_len = 0;
	struct node_pool q;
	struct node n;
	bool shared;

	memset(model.stats, 0, sizeof(model.stats));
	model.nrecord = 0;
	model.ntime = 0;
	model.tree = T_NONE;
	model.act = model.refused = 0;
	memset(&model.errand, 0, sizeof(model.errand));
	rc = read_headers(&v, &l4_len);
	if (rc == ADMITTED)
		rc = read_ours(&v, l4_len);
	if (rc != ADMITTED)
		return rc;
	t = tree_of(v.p.h, &rc);
	if (!t)
		return model_drop(rc);
	if (for_socket(&v, t))
		return to_socket(&v, t);
	shared = t->flags & TRIB_TREE_SHARED;
	rc = shared ? admit_pool(&v, ntohs(v.p.h->tree)) : admit(&v, t);
	if (rc)
		return rc == POOL_LEAVE ? V_PASS : model_drop(rc);
	model.tree = ntohs(v.p.h->tree);
	model.type = v.p.h->type;
	model.dirty |= 1U << model.tree;
	n = model_node();
	q = model_pool();
	rc = shared ? shared_rx(&n, &q, &v.p) : node_rx(&n, &v.p);
	model.act = n.act;
	return rc;
}
