// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model of shared trees: tests/sim/pool/README.md's rules for a relay, with
 * what surrounds them: who may send, and in which form.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "model.h"

enum { LEAVE = -1 };

static const struct trib_pool *pool_row(void)
{
	return &rig.pools[model.tree];
}

/* --- who may send */

static bool is_for(const struct view *v, const uint8_t addr[16])
{
	const uint8_t *ip = v->f->b + v->l3;

	return v->v6 ? !memcmp(ip + 24, addr, 16)
		     : addr[10] == 0xff && !memcmp(ip + 16, addr + 12, 4);
}

/* Is it for one of the addresses by which the tree's neighbours know us? */
static bool is_for_us(const struct view *v, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	uint8_t addr[16];

	for (int i = 0; i < t->nchild; i++) {
		rig_local(tree, rig_port(tree, i), addr);
		if (is_for(v, addr))
			return true;
	}
	return false;
}

/* Of which neighbour below? -1: of none. */
static int neighbour(const struct view *v, const struct trib_tree *t)
{
	for (int i = 0; i < t->nchild; i++)
		if (from_face(v, t, &t->child[i]))
			return i;
	return -1;
}

/* Not a neighbour, but the tree's: its values come by here, by whatever way. */
static bool is_guest(const struct trib_hdr *h, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	unsigned int rank = ntohs(h->child);

	for (int i = 0; i < t->nchild; i++)
		if (t->child[i].rank == rank)
			return false;
	return h->type < TRIB_T_JOIN && rank < 64 * TRIB_BMWORDS_MAX &&
	       be64toh(rig.pools[tree].mask[rank / 64]) >> rank % 64 & 1;
}

static int who_up(const struct view *v, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	const struct trib_hdr *h = view_hdr(v);
	int child = neighbour(v, t);
	uint8_t addr[16];

	if (child < 0 && !is_for_us(v, tree))
		return LEAVE;
	if (child < 0 && !is_guest(h, tree))
		return TRIB_DROP_FACE;
	if (child < 0)
		return ntohs(h->child) < t->world ? 0 : TRIB_DROP_CHILD;
	if (h->type >= TRIB_T_JOIN)
		return LEAVE;
	rig_local(tree, rig_port(tree, child), addr);
	if (h->type == TRIB_T_PROBE && !is_for(v, addr))
		return LEAVE;
	return ntohs(h->child) < t->world ? 0 : TRIB_DROP_CHILD;
}

static int who_down(const struct view *v, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	uint8_t type = view_hdr(v)->type;

	if (type >= TRIB_T_JOIN)
		return LEAVE;
	if (!from_face(v, t, &t->parent))
		return is_for_us(v, tree) ? TRIB_DROP_FACE : LEAVE;
	if (type == TRIB_T_NEED || type == TRIB_T_PROBE)
		return TRIB_DROP_TYPE;
	return 0;
}

static int form(const struct trib_hdr *h, int tree)
{
	unsigned int n = h->bmwords, words = rig.pools[tree].bmwords;

	if (h->type == TRIB_T_PROBE)
		return n ? TRIB_DROP_FORMAT : 0;
	if (!h->epoch)
		return TRIB_DROP_EPOCH;
	if (h->type == TRIB_T_GRAD)
		return !h->relay    ? TRIB_DROP_FORMAT
		       : n != words ? TRIB_DROP_BITMAP
				    : 0;
	/* Others need none; NEED may have the one word of dedicated trees. */
	if (!n || n == words || (h->type == TRIB_T_NEED && n == 1))
		return 0;
	return TRIB_DROP_BITMAP;
}

/* --- slots and marks */

/* Which slot: by job, tree and chunk, or chunk modulo cap. */
static struct trib_pool_slot *slot_for(const struct trib_hdr *h)
{
	const struct trib_pool *row = pool_row();
	uint32_t chunk = ntohl(h->chunk), bucket;

	bucket = trib_pool_bucket(ntohs(h->job), ntohs(h->tree),
				  row->cap ? chunk % row->cap : chunk,
				  BUCKETS - 1);
	return bucket == BUCKETS - 1 ? NULL : model_pslot(bucket % POOL_SLOTS);
}

struct mark {
	uint32_t epoch; /* 30 bits */
	uint32_t chunk;
	bool met;
	bool acked;
};

static uint64_t *mark_place(const struct trib_hdr *h)
{
	return &model.marks[model.tree * POOL + ntohl(h->chunk) % POOL];
}

/* The mark of the packet's chunk. Return: false if its place is a newer's. */
static bool mark_read(const struct trib_hdr *h, struct mark *m)
{
	uint64_t word = *mark_place(h);
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

static void mark_write(const struct trib_hdr *h, const struct mark *m)
{
	*mark_place(h) = (uint64_t)m->epoch << 34 | (uint64_t)m->chunk << 2 |
			 (uint64_t)m->acked << 1 | m->met;
}

static bool holds(const struct trib_pool_slot *s, const struct trib_hdr *h)
{
	return s->state != TRIB_POOL_FREE && s->job == ntohs(h->job) &&
	       s->tree == ntohs(h->tree) && s->epoch == ntohl(h->epoch) &&
	       s->chunk == ntohl(h->chunk);
}

static bool same_shape(const struct trib_pool_slot *s, const struct trib_hdr *h)
{
	unsigned int nval = ntohs(h->nval);

	return s->scale == h->scale && s->op == h->op && s->fmt == h->fmt &&
	       (!nval || !s->nval || nval == s->nval);
}

/* --- values */

static uint64_t word_of(const uint8_t *p, unsigned int i)
{
	uint64_t v;

	memcpy(&v, p + 8 * i, 8);
	return v;
}

static uint64_t combine(const struct trib_hdr *h, uint64_t a, uint64_t b)
{
	if (h->op == TRIB_WOP_MAX)
		return (int64_t)a > (int64_t)b ? a : b;
	if (h->fmt == TRIB_FMT_I32)
		return (uint32_t)(a + b) | (((a >> 32) + (b >> 32)) << 32);
	return a + b;
}

static void add(const struct view *v, struct trib_pool_slot *s)
{
	const struct trib_hdr *h = view_hdr(v);
	unsigned int words = pool_row()->bmwords, nval = ntohs(h->nval);
	const uint8_t *bits = v->f->b + v->pay, *values = bits + 8 * words;

	if (nval && !(h->flags & TRIB_F_EMPTY)) {
		for (unsigned int i = 0; i < (nval + 15) / 16 * 8; i++)
			s->v[i] = s->nval ? combine(h, s->v[i],
						    word_of(values, i))
					  : word_of(values, i);
		s->nval = nval;
	}
	for (unsigned int i = 0; i < words; i++)
		s->workers[i] |= word_of(bits, i);
	s->flags |= h->flags & KEEP;
	s->time_ns = TIME_NOW;
}

static void take(struct trib_pool_slot *s, const struct trib_hdr *h)
{
	if (s->state != TRIB_POOL_FREE)
		model.stats[TRIB_POOL_TAKEN_OVER]++;
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
	memset(s->workers, 0, 8 * pool_row()->bmwords);
}

/* --- leaving */

static void head(struct trib_hdr *h, const struct trib_pool_slot *s,
		 bool resend)
{
	h->type = TRIB_T_GRAD;
	h->flags = TRIB_F_UP | (s->flags & KEEP) |
		   (resend ? TRIB_F_RESEND : 0) | (s->nval ? 0 : TRIB_F_EMPTY);
	h->op = s->op;
	h->fmt = s->fmt;
	h->bmwords = pool_row()->bmwords;
	h->relay = htons(NEXT);
	h->nval = htons(s->nval);
	h->aux = 0;
	h->scale = s->scale;
}

static int sum_up(struct view *v, const struct trib_pool_slot *s, bool resend)
{
	int bits = 8 * pool_row()->bmwords, len = trib_payload_len(s->nval);
	struct trib_hdr *h = view_hdr(v);

	if (bits + len > v->paylen) {
		h->flags = TRIB_F_UP | (resend ? TRIB_F_RESEND : 0);
		return send_to_grow(v, model_row()->up, HOW_FILL | HOW_POOL);
	}
	view_shrink(v, bits + len);
	head(view_hdr(v), s, resend);
	memcpy(v->f->b + v->pay, s->workers, bits);
	memcpy(v->f->b + v->pay + bits, s->v, len);
	model.stats[TRIB_TX_PARTIAL]++;
	return send_group(v, model_row()->up);
}

int pool_refill(struct trib_hdr *h, const void **pay)
{
	static uint8_t bytes[8 * TRIB_BMWORDS_MAX + 4 * TRIB_NVAL_LARGE];
	const struct trib_pool_slot *s = slot_for(h);
	int bits = 8 * pool_row()->bmwords;

	if (s->busy)
		return TRIB_DROP_BUSY;
	if (!holds(s, h) || s->state != TRIB_POOL_SENT)
		return TRIB_DROP_GROW_GONE;
	head(h, s, h->flags & TRIB_F_RESEND);
	memcpy(bytes, s->workers, bits);
	memcpy(bytes + bits, s->v, trib_payload_len(s->nval));
	*pay = bytes;
	model.stats[TRIB_TX_GROW]++;
	model.stats[TRIB_TX_PARTIAL]++;
	return 0;
}

static int pass(struct view *v)
{
	model.stats[TRIB_POOL_PASSED]++;
	view_hdr(v)->relay = htons(NEXT);
	return send_group(v, model_row()->up);
}

/* --- the rules */

/* Merge; and if that was the last one: the sum. */
static int merge(struct view *v, struct trib_pool_slot *s)
{
	const struct trib_pool *row = pool_row();

	add(v, s);
	model.stats[TRIB_POOL_MERGED]++;
	if (memcmp(s->workers, row->mask, 8 * row->bmwords))
		return V_DROP;
	model.stats[TRIB_DONE]++;
	s->state = TRIB_POOL_SENT;
	return sum_up(v, s, false);
}

/* The slot is this chunk's. */
static int meet(struct view *v, struct trib_pool_slot *s)
{
	const struct trib_hdr *h = view_hdr(v);
	const uint8_t *bits = v->f->b + v->pay;
	bool some = false, more = false;

	if (!same_shape(s, h))
		return pass(v);
	for (int i = 0; i < pool_row()->bmwords; i++) {
		some |= word_of(bits, i) & s->workers[i];
		more |= word_of(bits, i) & ~s->workers[i];
	}
	if (!some)
		return merge(v, s);
	if (more)
		return pass(v);
	if (!(h->flags & TRIB_F_RESEND))
		return model_drop(TRIB_DROP_DUP);
	return s->state == TRIB_POOL_SENT ? sum_up(v, s, true)
					  : model_drop(TRIB_DROP_WAITING);
}

/* Return: 0, or 1: somebody outside the mask, or 2: nobody. */
static int outside(const struct view *v)
{
	uint64_t any = 0, out = 0;

	for (int i = 0; i < pool_row()->bmwords; i++) {
		uint64_t w = word_of(v->f->b + v->pay, i);

		any |= w;
		out |= w & ~pool_row()->mask[i];
	}
	return !any ? 2 : !!out;
}

static int own_grad(struct view *v)
{
	const struct trib_hdr *h = view_hdr(v);
	struct trib_pool_slot *s = slot_for(h);
	bool resend = h->flags & TRIB_F_RESEND;
	struct mark m;

	if (!s)
		return pass(v);
	if (s->busy)
		return model_drop(TRIB_DROP_BUSY);
	if (outside(v) == 2)
		return model_drop(TRIB_DROP_BITMAP);
	if (!mark_read(h, &m))
		return model_drop(TRIB_DROP_STALE);
	if (m.acked && !resend)
		return model_drop(TRIB_DROP_ACKED);
	mark_write(h, &m);
	if (outside(v))
		return pass(v);
	if (holds(s, h))
		return meet(v, s);
	if (m.met || resend || (s->state != TRIB_POOL_FREE && s->time_ns)) {
		m.met = true;
		mark_write(h, &m);
		return pass(v);
	}
	m.met = true;
	mark_write(h, &m);
	take(s, h);
	return merge(v, s);
}

static void result_down(const struct trib_hdr *h)
{
	struct trib_pool_slot *s = slot_for(h);
	struct mark m;

	if (!s)
		return;
	if (s->busy) {
		model.stats[TRIB_POOL_UNFREED]++;
		return;
	}
	if (mark_read(h, &m)) {
		m.met = m.acked = true;
		mark_write(h, &m);
	}
	if (holds(s, h)) {
		s->state = TRIB_POOL_FREE;
		model.stats[TRIB_POOL_FREED]++;
	}
}

static int probe(struct view *v)
{
	struct trib_hdr *h = view_hdr(v);
	uint16_t port;

	model.stats[TRIB_RX_CONTROL]++;
	model.stats[TRIB_POOL_PROBED]++;
	h->flags &= ~TRIB_F_UP;
	h->aux = 0;
	h->scale = 0;
	if (!port_answers(v->ifindex))
		return send_to_grow(v, TRIB_NONE, HOW_ANSWER | HOW_POOL);
	h->relay = htons(RELAY);
	memcpy(&port, v->f->b + v->l4, 2);
	return send_answer(v, port);
}

static void count(const struct view *v)
{
	struct trib_hdr *h = view_hdr(v);

	if (h->type == TRIB_T_NEED) {
		model.stats[TRIB_RX_NEED]++;
	} else if (h->type != TRIB_T_GRAD && h->type != TRIB_T_RESULT) {
		model.stats[TRIB_RX_CONTROL]++;
	} else {
		model.stats[h->type == TRIB_T_GRAD ? TRIB_RX_GRAD
						   : TRIB_RX_RESULT]++;
		model.stats[TRIB_RX_BYTES] += v->paylen;
		if (h->type == TRIB_T_GRAD && h->flags & TRIB_F_RESEND)
			model.stats[TRIB_RX_RESEND]++;
		if (v->ce)
			h->flags |= TRIB_F_CE;
	}
}

int model_pool(struct view *v)
{
	struct trib_hdr *h = view_hdr(v);
	int tree = ntohs(h->tree), why;

	why = h->flags & TRIB_F_UP ? who_up(v, tree) : who_down(v, tree);
	if (!why)
		why = form(h, tree);
	if (why)
		return why == LEAVE ? V_PASS : model_drop(why);
	model.tree = tree;
	model.dirty |= 1U << tree;
	if (h->type == TRIB_T_PROBE)
		return probe(v);
	count(v);
	if (!(h->flags & TRIB_F_UP)) {
		if (h->type == TRIB_T_RESULT) {
			result_down(h);
			model.stats[TRIB_TX_RESULT]++;
		}
		return send_group(v, model_row()->down);
	}
	if (h->type == TRIB_T_GRAD && ntohs(h->relay) == RELAY)
		return own_grad(v);
	model.stats[TRIB_POOL_FORWARDED]++;
	return send_group(v, model_row()->up);
}
