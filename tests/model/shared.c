// SPDX-License-Identifier: BSD-2-Clause
/* The node of a shared tree: slots, marks, and the rules that shared.h lists. */
#include <arpa/inet.h>
#include <string.h>

#include "shared.h"

/* --- slots and marks */

/* Found by job, tree and chunk, or chunk modulo cap. NULL: none. */
static struct trib_pool_slot *slot_for(const struct node_pool *q, const struct trib_hdr *h)
{
	uint32_t chunk = ntohl(h->chunk), slot;

	slot = q->table[trib_pool_bucket(ntohs(h->job), ntohs(h->tree),
					 q->row->cap ? chunk % q->row->cap : chunk,
					 q->row->table_mask)];
	if (slot == SHARED_NO_SLOT)
		return NULL;
	return (struct trib_pool_slot *)(void *)(q->slots + slot * q->slot_size);
}

struct mark {
	uint32_t epoch; /* 30 bits */
	uint32_t chunk;
	bool met;
	bool acked;
};

static uint64_t *mark_place(const struct node_pool *q, const struct trib_hdr *h)
{
	return &q->marks[q->row->mark0 + (ntohl(h->chunk) & q->row->mark_mask)];
}

/* Read the mark of the packet's chunk. Return: false if it is a newer one's. */
static bool mark_read(const struct node_pool *q, const struct trib_hdr *h, struct mark *m)
{
	uint64_t word = *mark_place(q, h);
	int32_t age, epochs;

	m->epoch = ntohl(h->epoch) & 0x3fffffff;
	m->chunk = ntohl(h->chunk);
	m->met = m->acked = false;
	if (!word)
		return true;
	epochs = (int32_t)((m->epoch - (uint32_t)(word >> 34)) << 2);
	age = epochs ? epochs : (int32_t)(m->chunk - (uint32_t)(word >> 2));
	if (age)
		return age > 0;
	m->met = word & 1;
	m->acked = word & 2;
	return true;
}

static void mark_write(const struct node_pool *q, const struct trib_hdr *h, const struct mark *m)
{
	*mark_place(q, h) = (uint64_t)m->epoch << 34 | (uint64_t)m->chunk << 2 |
			    (uint64_t)m->acked << 1 | m->met;
}

static bool holds(const struct trib_pool_slot *s, const struct trib_hdr *h)
{
	return s->state != TRIB_POOL_FREE && s->job == ntohs(h->job) && s->tree == ntohs(h->tree) &&
	       s->epoch == ntohl(h->epoch) && s->chunk == ntohl(h->chunk);
}

static bool same_shape(const struct trib_pool_slot *s, const struct trib_hdr *h)
{
	unsigned int nval = ntohs(h->nval);

	return s->scale == h->scale && s->op == h->op && s->fmt == h->fmt &&
	       (!nval || !s->nval || nval == s->nval);
}

static void take(struct node *n, const struct node_pool *q, struct trib_pool_slot *s,
		 const struct trib_hdr *h)
{
	if (s->state != TRIB_POOL_FREE)
		n->stats[TRIB_POOL_TAKEN_OVER]++;
	s->job = ntohs(h->job);
	s->tree = ntohs(h->tree);
	s->epoch = ntohl(h->epoch);
	s->chunk = ntohl(h->chunk);
	s->scale = h->scale;
	s->op = h->op;
	s->fmt = h->fmt;
	s->nm = 0;
	s->nval = 0;
	s->flags = 0;
	s->state = TRIB_POOL_COLLECT;
	memset(s->workers, 0, 8 * q->row->bmwords);
}

/* --- bitmaps and values */

/* How the packet's workers relate to the tree's and to the slot's. */
struct bits {
	uint64_t any, outside, known, fresh;
};

static uint64_t word_of(const struct node_packet *p, int i)
{
	uint64_t v;

	memcpy(&v, p->pay + 8 * i, 8);
	return v;
}

static struct bits compare(const struct node_pool *q, const struct trib_pool_slot *s,
			   const struct node_packet *p)
{
	struct bits b = {0};

	for (int i = 0; i < q->row->bmwords; i++) {
		uint64_t w = word_of(p, i);

		b.any |= w;
		b.outside |= w & ~q->row->mask[i];
		b.known |= w & s->workers[i];
		b.fresh |= w & ~s->workers[i];
	}
	return b;
}

static void add(const struct node_pool *q, struct trib_pool_slot *s, const struct node_packet *p)
{
	int words = q->row->bmwords;

	if (p->h->nval && !(p->h->flags & TRIB_F_EMPTY)) {
		values_merge(s->v, s->nval, p->h, p->pay + 8 * words);
		s->nval = ntohs(p->h->nval);
	}
	for (int i = 0; i < words; i++)
		s->workers[i] |= word_of(p, i);
	s->flags |= p->h->flags & NODE_KEEP;
	s->time_ns = SHARED_NOW;
}

/* --- leaving */

static void head(const struct node_pool *q, struct trib_hdr *h, const struct trib_pool_slot *s,
		 bool resend)
{
	h->type = TRIB_T_GRAD;
	h->flags = TRIB_F_UP | (s->flags & NODE_KEEP) | (resend ? TRIB_F_RESEND : 0) |
		   (s->nval ? 0 : TRIB_F_EMPTY);
	h->op = s->op;
	h->fmt = s->fmt;
	h->nm = 0;
	h->bmwords = q->row->bmwords;
	h->relay = htons(q->row->next);
	h->nval = htons(s->nval);
	h->aux = 0;
	h->scale = s->scale;
}

static int sum_up(struct node *n, const struct node_pool *q, struct node_packet *p,
		  const struct trib_pool_slot *s, bool resend)
{
	int bits = 8 * q->row->bmwords, len = trib_payload_len(s->nval);

	if (bits + len > p->paylen) {
		p->h->flags = TRIB_F_UP | (resend ? TRIB_F_RESEND : 0);
		return n->exits->grow(n, p, n->row->up, HOW_FILL | HOW_POOL);
	}
	n->exits->shrink(n, p, bits + len);
	head(q, p->h, s, resend);
	memcpy(p->pay, s->workers, bits);
	memcpy(p->pay + bits, s->v, len);
	n->stats[TRIB_TX_PARTIAL]++;
	return node_send(n, p, n->row->up);
}

int shared_fill(struct node *n, const struct node_pool *q, struct trib_hdr *h, const void **pay)
{
	static uint8_t bytes[8 * TRIB_BMWORDS_MAX + 4 * TRIB_NVAL_LARGE];
	const struct trib_pool_slot *s = slot_for(q, h);
	int bits = 8 * q->row->bmwords;

	if (s->busy)
		return TRIB_DROP_BUSY;
	if (!holds(s, h) || s->state != TRIB_POOL_SENT)
		return TRIB_DROP_GROW_GONE;
	head(q, h, s, h->flags & TRIB_F_RESEND);
	memcpy(bytes, s->workers, bits);
	memcpy(bytes + bits, s->v, trib_payload_len(s->nval));
	*pay = bytes;
	n->stats[TRIB_TX_GROW]++;
	n->stats[TRIB_TX_PARTIAL]++;
	return 0;
}

static int pass(struct node *n, const struct node_pool *q, struct node_packet *p)
{
	n->stats[TRIB_POOL_PASSED]++;
	p->h->relay = htons(q->row->next);
	return node_send(n, p, n->row->up);
}

/* --- the rules */

static int merge(struct node *n, const struct node_pool *q, struct node_packet *p,
		 struct trib_pool_slot *s)
{
	add(q, s, p);
	n->stats[TRIB_POOL_MERGED]++;
	if (memcmp(s->workers, q->row->mask, 8 * q->row->bmwords))
		return V_DROP;
	n->stats[TRIB_DONE]++;
	s->state = TRIB_POOL_SENT;
	return sum_up(n, q, p, s, false);
}

/* Rule 6: the slot has this chunk. */
static int meet(struct node *n, const struct node_pool *q, struct node_packet *p,
		struct trib_pool_slot *s, const struct bits *b)
{
	if (!same_shape(s, p->h))
		return pass(n, q, p);
	if (!b->known)
		return merge(n, q, p, s);
	if (b->fresh)
		return pass(n, q, p);
	if (!(p->h->flags & TRIB_F_RESEND))
		return node_drop(n, TRIB_DROP_DUP);
	return s->state == TRIB_POOL_SENT ? sum_up(n, q, p, s, true)
					  : node_drop(n, TRIB_DROP_WAITING);
}

static int own_grad(struct node *n, const struct node_pool *q, struct node_packet *p)
{
	const struct trib_hdr *h = p->h;
	struct trib_pool_slot *s = slot_for(q, h);
	bool resend = h->flags & TRIB_F_RESEND;
	struct bits b;
	struct mark m;

	if (!values_mask_ok(h, p->pay + 8 * q->row->bmwords))
		return node_drop(n, TRIB_DROP_MASK);
	if (!s)
		return pass(n, q, p);
	if (s->busy)
		return node_drop(n, TRIB_DROP_BUSY);
	b = compare(q, s, p);
	if (!b.any)
		return node_drop(n, TRIB_DROP_BITMAP);
	if (!mark_read(q, h, &m))
		return node_drop(n, TRIB_DROP_STALE);
	if (m.acked && !resend)
		return node_drop(n, TRIB_DROP_ACKED);
	mark_write(q, h, &m);
	if (b.outside)
		return pass(n, q, p);
	if (holds(s, h))
		return meet(n, q, p, s, &b);
	if (m.met || resend || (s->state != TRIB_POOL_FREE && s->time_ns)) {
		m.met = true;
		mark_write(q, h, &m);
		return pass(n, q, p);
	}
	m.met = true;
	mark_write(q, h, &m);
	take(n, q, s, h);
	return merge(n, q, p, s);
}

static void result_down(struct node *n, const struct node_pool *q, const struct trib_hdr *h)
{
	struct trib_pool_slot *s = slot_for(q, h);
	struct mark m;

	if (!s)
		return;
	if (s->busy) {
		n->stats[TRIB_POOL_UNFREED]++;
		return;
	}
	if (mark_read(q, h, &m)) {
		m.met = m.acked = true;
		mark_write(q, h, &m);
	}
	if (holds(s, h)) {
		s->state = TRIB_POOL_FREE;
		n->stats[TRIB_POOL_FREED]++;
	}
}

static int probe(struct node *n, const struct node_pool *q, struct node_packet *p)
{
	struct trib_hdr *h = p->h;
	struct trib_key key;

	n->stats[TRIB_RX_CONTROL]++;
	n->stats[TRIB_POOL_PROBED]++;
	h->flags &= ~TRIB_F_UP;
	h->aux = 0;
	h->relay = htons(q->row->relay);
	trib_key_up(&key, &q->row->key, ntohs(h->tree), ntohs(h->child));
	h->auth = trib_auth(&key, h, NULL, 0);
	if (!n->exits->answers(n, p))
		return n->exits->grow(n, p, TRIB_NONE, HOW_ANSWER | HOW_POOL);
	return n->exits->answer(n, p, 0);
}

static void count(struct node *n, const struct node_packet *p)
{
	struct trib_hdr *h = p->h;

	if (h->type == TRIB_T_NEED) {
		n->stats[TRIB_RX_NEED]++;
	} else if (h->type != TRIB_T_GRAD && h->type != TRIB_T_RESULT) {
		n->stats[TRIB_RX_CONTROL]++;
	} else {
		n->stats[h->type == TRIB_T_GRAD ? TRIB_RX_GRAD : TRIB_RX_RESULT]++;
		n->stats[TRIB_RX_BYTES] += p->paylen;
		if (h->type == TRIB_T_GRAD && h->flags & TRIB_F_RESEND)
			n->stats[TRIB_RX_RESEND]++;
		if (p->ce)
			h->flags |= TRIB_F_CE;
	}
}

int shared_rx(struct node *n, const struct node_pool *q, struct node_packet *p)
{
	struct trib_hdr *h = p->h;

	if (h->type == TRIB_T_PROBE)
		return probe(n, q, p);
	count(n, p);
	if (!(h->flags & TRIB_F_UP)) {
		if (h->type == TRIB_T_RESULT) {
			result_down(n, q, h);
			n->stats[TRIB_TX_RESULT]++;
		}
		return node_send(n, p, n->row->down);
	}
	if (h->type == TRIB_T_GRAD && ntohs(h->relay) == q->row->relay)
		return own_grad(n, q, p);
	n->stats[TRIB_POOL_FORWARDED]++;
	return node_send(n, p, n->row->up);
}
