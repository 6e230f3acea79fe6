// SPDX-License-Identifier: BSD-2-Clause
/* The node of a dedicated tree: its slots, and the rules that node.h lists. */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "node.h"

static bool is_root(const struct node *n)
{
	return n->row->flags & TRIB_TREE_ROOT;
}

static bool is_leaf(const struct node *n)
{
	return n->row->flags & TRIB_TREE_LEAF;
}

struct trib_slot *node_slot(const struct node *n, uint32_t chunk)
{
	uint32_t i = n->row->slot0 + (chunk & n->row->slot_mask);

	return (struct trib_slot *)(void *)(n->slots + i * n->slot_size);
}

/* How much newer the packet's chunk is than the slot's; a free slot is older. */
static int32_t age_of(const struct node *n, const struct trib_slot *s, const struct trib_hdr *h)
{
	if (s->epoch != n->row->epoch)
		return 1;
	return trib_chunk_diff(ntohl(h->chunk), s->chunk);
}

static void slot_begin(struct node *n, struct trib_slot *s, const struct trib_hdr *h, uint8_t last)
{
	s->epoch = n->row->epoch;
	s->chunk = ntohl(h->chunk);
	s->nval = 0;
	s->state = TRIB_SLOT_COLLECT;
	s->flags = 0;
	s->seen = 0;
	s->scale = h->scale;
	s->op = h->op;
	s->fmt = h->fmt;
	s->nm = 0;
	s->last = last;
	/* No clock here: 1 says that there is a time. */
	s->first_ns = !(s->chunk % TRIB_LAG_EVERY) || (h->flags & TRIB_F_HEAD);
}

static uint8_t kept_flags(const struct node_packet *p)
{
	return (p->h->flags | (p->ce ? TRIB_F_CE : 0)) & NODE_KEEP;
}

/* --- contributions */

/* Compare the packet's shape with the slot's. Return: 0 or the reason. */
static int compare(const struct trib_slot *s, const struct trib_hdr *h)
{
	unsigned int nval = ntohs(h->nval);

	if (nval && s->nval && nval != s->nval)
		return TRIB_DROP_MISMATCH;
	if (h->op != s->op || h->fmt != s->fmt)
		return TRIB_DROP_MISMATCH;
	return h->scale != s->scale ? TRIB_DROP_SCALE : 0;
}

static int drop_act(struct node *n, int why)
{
	node_drop(n, why);
	return NODE_DROPPED;
}

static int contribute(struct node *n, struct trib_slot *s, const struct node_packet *p)
{
	const struct trib_hdr *h = p->h;
	int why = s->seen ? compare(s, h) : 0;

	if (why)
		return drop_act(n, why);
	if (h->nval && !(h->flags & TRIB_F_EMPTY)) {
		values_merge(s->v, s->nval, h, p->pay);
		s->nval = ntohs(h->nval);
	}
	s->seen |= 1ULL << p->child;
	s->flags |= kept_flags(p);
	if (s->seen != n->row->full)
		return NODE_HELD;
	values_round(s->v, s->fmt, s->nval);
	s->state = is_root(n) ? TRIB_SLOT_RESULT : TRIB_SLOT_SENT;
	s->last = p->child;
	return NODE_DONE;
}

static int slot_grad(struct node *n, struct trib_slot *s, const struct node_packet *p)
{
	int32_t age = age_of(n, s, p->h);

	if (!values_mask_ok(p->h, p->pay))
		return drop_act(n, TRIB_DROP_MASK);
	if (s->busy)
		return drop_act(n, TRIB_DROP_BUSY);
	if (age < 0)
		return drop_act(n, TRIB_DROP_STALE);
	if (age > 0)
		slot_begin(n, s, p->h, p->child);
	if (s->state == TRIB_SLOT_RESULT)
		return NODE_ANSWER;
	if (s->state == TRIB_SLOT_COLLECT && !(s->seen >> p->child & 1))
		return contribute(n, s, p);
	if (!(p->h->flags & TRIB_F_RESEND))
		return drop_act(n, TRIB_DROP_DUP);
	return s->state == TRIB_SLOT_SENT ? NODE_AGAIN : NODE_ASK;
}

/* --- what leaves */

static int grow(struct node *n, struct node_packet *p, uint8_t type, uint32_t group, int how)
{
	p->h->type = type;
	return n->exits->grow(n, p, group, HOW_FILL | how);
}

/* Header of a packet of @type that carries the slot's values. */
static void head(struct trib_hdr *h, const struct trib_slot *s, uint8_t type, uint8_t resend)
{
	h->type = type;
	h->flags = (s->flags & NODE_KEEP) | resend;
	if (type == TRIB_T_GRAD && !s->nval)
		h->flags |= TRIB_F_EMPTY;
	h->op = s->op;
	h->fmt = s->fmt;
	h->nm = h->attempt = h->bmwords = 0;
	h->child = s->last == NODE_NOBODY ? 0xffff : htons(s->last);
	h->nval = htons(s->nval);
	h->aux = 0;
	h->scale = s->scale;
}

static __be32 next_number(struct node *n)
{
	return n->sent ? htonl(++*n->sent) : 0;
}

static void head_need(struct node *n, struct trib_hdr *h)
{
	h->type = TRIB_T_NEED;
	h->flags = h->op = h->fmt = h->nm = h->attempt = 0;
	h->bmwords = 1;
	h->child = h->nval = h->aux = 0;
	h->scale = next_number(n);
}

/* The packet becomes @type with the slot's values. */
static void turn(struct node *n, struct node_packet *p, const struct trib_slot *s, uint8_t type,
		 uint8_t resend)
{
	n->exits->shrink(n, p, trib_payload_len(s->nval));
	head(p->h, s, type, resend);
	memcpy(p->pay, s->v, trib_payload_len(s->nval));
}

static bool fits(const struct node_packet *p, const struct trib_slot *s)
{
	return (int)trib_payload_len(s->nval) <= p->paylen;
}

/* The slot's result, for the ranks of this host. @len: bytes to copy. */
static void local_copy(struct node *n, const struct trib_slot *s, uint32_t len)
{
	struct node_result r = {
		.chunk = s->chunk,
		.epoch = s->epoch,
		.nval = s->nval,
		.flags = s->flags & NODE_KEEP,
		.op = s->op,
		.fmt = s->fmt,
		.last = s->last,
		.scale = s->scale,
		.values = s->v,
		.len = len,
	};
	int why = n->row->deliver ? n->exits->deliver(n, &r) : 0;

	if (why && why != TRIB_DROP_SEEN)
		node_drop(n, why);
}

/* To a group; to nobody if there is none and the ranks here had it. */
static int send_or_end(struct node *n, struct node_packet *p, uint32_t group)
{
	if (group == TRIB_NONE && n->row->deliver)
		return V_DROP;
	return node_send(n, p, group);
}

static int send_all(struct node *n, struct node_packet *p)
{
	if (is_root(n))
		return node_send(n, p, n->row->down);
	if (n->row->all == TRIB_NONE)
		return n->exits->grow(n, p, TRIB_NONE, HOW_BOTH);
	return node_send(n, p, n->row->all);
}

static int result_out(struct node *n, struct node_packet *p, const struct trib_slot *s)
{
	if (!fits(p, s))
		return grow(n, p, TRIB_T_RESULT, n->row->down, 0);
	turn(n, p, s, TRIB_T_RESULT, 0);
	local_copy(n, s, trib_payload_len(s->nval));
	n->stats[TRIB_TX_RESULT]++;
	return send_or_end(n, p, n->row->down);
}

static int partial_out(struct node *n, struct node_packet *p, const struct trib_slot *s,
		       uint8_t resend)
{
	if (!fits(p, s))
		return grow(n, p, TRIB_T_GRAD, n->row->up, 0);
	turn(n, p, s, TRIB_T_GRAD, resend);
	n->stats[TRIB_TX_PARTIAL]++;
	return node_send(n, p, n->row->up);
}

static int answer_out(struct node *n, struct node_packet *p, const struct trib_slot *s)
{
	if (!fits(p, s) || !n->exits->answers(n, p))
		return grow(n, p, TRIB_T_RESULT, TRIB_NONE, HOW_ANSWER);
	turn(n, p, s, TRIB_T_RESULT, 0);
	local_copy(n, s, trib_payload_len(s->nval));
	n->stats[TRIB_TX_ANSWER]++;
	p->h->auth = n->row->auth;
	return n->exits->answer(n, p, n->row->child[p->child].port);
}

/* A packet without values, for the ranks of this host. */
static void local_event(struct node *n, const struct trib_hdr *h, uint8_t flags, uint64_t seen)
{
	struct trib_event ev = {
		.type = h->type,
		.flags = flags,
		.tree = ntohs(h->tree),
		.chunk = ntohl(h->chunk),
		.epoch = ntohl(h->epoch),
		.aux = ntohs(h->aux),
		.seen = seen,
	};

	if (n->row->deliver)
		n->exits->event(n, &ev);
}

enum to { TO_UP, TO_DOWN, TO_ALL };

static int need_out(struct node *n, struct node_packet *p, uint64_t seen, enum to to)
{
	const struct trib_tree *t = n->row;
	uint64_t bitmap = htobe64(seen);

	if (is_root(n) && to == TO_ALL)
		to = TO_DOWN;
	if (p->paylen < 8)
		return grow(n, p, TRIB_T_NEED,
			    to == TO_UP	    ? t->up
			    : to == TO_DOWN ? t->down
					    : t->all,
			    to == TO_ALL && !t->all ? HOW_BOTH : 0);
	n->exits->shrink(n, p, 8);
	head_need(n, p->h);
	memcpy(p->pay, &bitmap, 8);
	n->stats[TRIB_TX_NEED]++;
	if (to == TO_UP)
		return node_send(n, p, t->up);
	local_event(n, p->h, p->h->flags, seen);
	return to == TO_DOWN ? send_or_end(n, p, t->down) : send_all(n, p);
}

/* --- by type */

static void sample_lag(struct node *n, const struct trib_slot *s, const struct trib_hdr *h,
		       int child, bool last)
{
	bool head = h->flags & TRIB_F_HEAD;
	struct trib_lag_child *c;

	if (!n->lag || !s->first_ns)
		return;
	c = &n->lag->child[child];
	c->starts += head;
	c->start_last += head && last;
	if (!(ntohl(h->chunk) % TRIB_LAG_EVERY)) {
		c->samples++;
		c->last += last;
	}
	c->chunk = ntohl(h->chunk);
}

static int rx_grad(struct node *n, struct node_packet *p)
{
	struct trib_slot *s = node_slot(n, ntohl(p->h->chunk));

	n->stats[TRIB_RX_GRAD]++;
	n->stats[TRIB_RX_BYTES] += p->paylen;
	if (p->h->flags & TRIB_F_RESEND)
		n->stats[TRIB_RX_RESEND]++;
	n->act = slot_grad(n, s, p);
	if (n->act == NODE_HELD || n->act == NODE_DONE) {
		n->stats[TRIB_ADDED]++;
		sample_lag(n, s, p->h, p->child, n->act == NODE_DONE);
	}
	switch (n->act) {
	case NODE_DONE:
		n->stats[TRIB_DONE]++;
		return is_root(n) ? result_out(n, p, s) : partial_out(n, p, s, 0);
	case NODE_ANSWER:
		return answer_out(n, p, s);
	case NODE_AGAIN:
		return partial_out(n, p, s, TRIB_F_RESEND);
	case NODE_ASK:
		return need_out(n, p, s->seen, TO_ALL);
	}
	return V_DROP;
}

int node_add(struct node *n, const struct node_packet *p)
{
	struct trib_slot *s = node_slot(n, ntohl(p->h->chunk));
	int act = slot_grad(n, s, p);

	if (act == NODE_ANSWER)
		return drop_act(n, TRIB_DROP_DUP);
	if (act == NODE_HELD || act == NODE_DONE)
		sample_lag(n, s, p->h, p->child, act == NODE_DONE);
	return act;
}

int node_sum(struct node *n, struct node_packet *p, uint32_t chunk)
{
	n->stats[TRIB_DONE]++;
	p->h->chunk = htonl(chunk);
	return partial_out(n, p, node_slot(n, chunk), 0);
}

/* A leaf only delivers; then the packet may leave as a contribution. */
static int leaf_result(struct node *n, struct node_packet *p, uint8_t last)
{
	const struct trib_hdr *h = p->h;
	struct node_result r = {
		.chunk = ntohl(h->chunk),
		.epoch = n->row->epoch,
		.nval = ntohs(h->nval),
		.flags = kept_flags(p),
		.op = h->op,
		.fmt = h->fmt,
		.last = last,
		.scale = h->scale,
		.values = p->pay,
		.len = p->paylen,
	};
	int why = n->row->deliver ? n->exits->deliver(n, &r) : TRIB_DROP_DELIVER;

	if (why)
		return node_drop(n, why);
	return n->exits->reflex(n, p, &r);
}

static int rx_result(struct node *n, struct node_packet *p)
{
	bool up = p->h->flags & TRIB_F_UP;
	unsigned int last = ntohs(p->h->child);
	struct trib_slot *s = node_slot(n, ntohl(p->h->chunk));
	int32_t age = age_of(n, s, p->h);

	n->stats[TRIB_RX_RESULT]++;
	n->stats[TRIB_RX_BYTES] += p->paylen;
	/* On its way up, the header names the sender: the last one is unknown. */
	if (up || last >= TRIB_CHILDREN_MAX)
		last = NODE_NOBODY;
	if (is_leaf(n))
		return leaf_result(n, p, last);
	if (s->busy)
		return node_drop(n, TRIB_DROP_BUSY);
	if (age < 0)
		return node_drop(n, TRIB_DROP_STALE);
	if (!age && s->state == TRIB_SLOT_RESULT)
		return node_drop(n, TRIB_DROP_SEEN);
	/* The parent names this node; below, the child that completed its sum is meant. */
	if (age || s->state != TRIB_SLOT_SENT || last != n->row->up_child)
		last = NODE_NOBODY;
	else
		last = s->last;
	slot_begin(n, s, p->h, last);
	s->nval = ntohs(p->h->nval);
	memcpy(s->v, p->pay, p->paylen);
	s->flags = kept_flags(p);
	s->seen = n->row->full;
	s->state = TRIB_SLOT_RESULT;
	turn(n, p, s, TRIB_T_RESULT, 0);
	local_copy(n, s, trib_payload_len(s->nval));
	n->stats[TRIB_TX_RESULT]++;
	if (up && !is_root(n))
		return send_all(n, p);
	if (n->row->down == TRIB_NONE && n->row->deliver && n->exits->host)
		return n->exits->host(n, p);
	return send_or_end(n, p, n->row->down);
}

static int need_from_child(struct node *n, struct node_packet *p, const struct trib_slot *s,
			   int32_t age)
{
	uint64_t seen = age ? 0 : s->seen;

	if (!age && s->state == TRIB_SLOT_RESULT)
		return grow(n, p, TRIB_T_RESULT, TRIB_NONE, HOW_ANSWER);
	if (!age && s->state == TRIB_SLOT_SENT)
		return need_out(n, p, seen, TO_UP);
	return need_out(n, p, seen | 1ULL << p->child, TO_ALL);
}

static int need_from_parent(struct node *n, struct node_packet *p, const struct trib_slot *s,
			    int32_t age)
{
	if (!age && s->state == TRIB_SLOT_RESULT)
		return grow(n, p, TRIB_T_RESULT, n->row->up, 0);
	if (!age && s->state == TRIB_SLOT_SENT)
		return grow(n, p, TRIB_T_GRAD, n->row->up, 0);
	return need_out(n, p, age ? 0 : s->seen, TO_DOWN);
}

static int rx_need(struct node *n, struct node_packet *p)
{
	bool up = p->h->flags & TRIB_F_UP;
	struct trib_slot *s = node_slot(n, ntohl(p->h->chunk));
	int32_t age = age_of(n, s, p->h);
	uint64_t bitmap;

	memcpy(&bitmap, p->pay, 8);
	bitmap = be64toh(bitmap);
	n->stats[TRIB_RX_NEED]++;
	if (is_leaf(n)) {
		if (!n->row->deliver)
			return node_drop(n, TRIB_DROP_DELIVER);
		local_event(n, p->h, p->h->flags, bitmap);
		return V_DROP;
	}
	if (!up && bitmap >> n->row->up_child & 1)
		return node_drop(n, TRIB_DROP_SEEN);
	if (s->busy)
		return node_drop(n, TRIB_DROP_BUSY);
	if (age < 0)
		return node_drop(n, TRIB_DROP_STALE);
	n->act = age ? 0 : s->state + 1;
	return up ? need_from_child(n, p, s, age) : need_from_parent(n, p, s, age);
}

/* ALIVE and ABORT; other types go on to the daemon. */
static int rx_control(struct node *n, struct node_packet *p)
{
	struct trib_hdr *h = p->h;

	n->stats[TRIB_RX_CONTROL]++;
	if (h->type >= TRIB_T_JOIN)
		return V_PASS;
	h->scale = next_number(n);
	if ((h->flags & TRIB_F_UP) && !is_root(n))
		return node_send(n, p, n->row->up);
	h->flags &= ~TRIB_F_UP;
	if (is_leaf(n) && !n->row->deliver)
		return node_drop(n, TRIB_DROP_DELIVER);
	local_event(n, h, h->flags, 0);
	return is_leaf(n) ? V_DROP : send_or_end(n, p, n->row->down);
}

int node_rx(struct node *n, struct node_packet *p)
{
	switch (p->h->type) {
	case TRIB_T_GRAD:
		return rx_grad(n, p);
	case TRIB_T_RESULT:
		return rx_result(n, p);
	case TRIB_T_NEED:
		return rx_need(n, p);
	default:
		return rx_control(n, p);
	}
}

/* --- packets that grow */

/* State in which the slot must still be for a packet of @type. */
static uint8_t wanted_state(uint8_t type)
{
	return type == TRIB_T_RESULT ? TRIB_SLOT_RESULT
	       : type == TRIB_T_GRAD ? TRIB_SLOT_SENT
				     : TRIB_SLOT_COLLECT;
}

static const void *fill_need(struct node *n, struct trib_hdr *h, const struct trib_slot *s)
{
	static _Thread_local uint64_t bitmap;

	bitmap = htobe64(s->seen);
	head_need(n, h);
	n->stats[TRIB_TX_NEED]++;
	local_event(n, h, 0, s->seen);
	return &bitmap;
}

static const void *fill_values(struct node *n, struct trib_hdr *h, const struct trib_slot *s,
			       int how)
{
	uint8_t resend = 0;

	if (h->type == TRIB_T_GRAD) {
		resend = h->flags & TRIB_F_RESEND;
		n->stats[TRIB_TX_PARTIAL]++;
	} else {
		local_copy(n, s, trib_payload_len(s->nval));
		n->stats[how & HOW_ANSWER ? TRIB_TX_ANSWER : TRIB_TX_RESULT]++;
	}
	head(h, s, h->type, resend);
	return s->v;
}

int node_fill(struct node *n, struct trib_hdr *h, int how, const void **pay)
{
	const struct trib_slot *s = node_slot(n, ntohl(h->chunk));

	if (s->busy)
		return TRIB_DROP_BUSY;
	if (s->epoch != n->row->epoch || s->chunk != ntohl(h->chunk) ||
	    s->state != wanted_state(h->type))
		return TRIB_DROP_GROW_GONE;
	n->stats[TRIB_TX_GROW]++;
	*pay = h->type == TRIB_T_NEED ? fill_need(n, h, s) : fill_values(n, h, s, how);
	return 0;
}
