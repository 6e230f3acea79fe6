// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model's node of a tree: slots, and the rules of the dedicated pools.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "model.h"

enum act { HELD = 1, DONE, ANSWER, AGAIN, ASK, DROPPED };

static bool is_root(void)
{
	return model_row()->flags & TRIB_TREE_ROOT;
}

static bool is_leaf(void)
{
	return model_row()->flags & TRIB_TREE_LEAF;
}

struct trib_slot *model_slot_of(const struct trib_hdr *h)
{
	const struct trib_tree *t = model_row();

	return model_slot(t->slot0 + (ntohl(h->chunk) & t->slot_mask));
}

/* Where the packet's chunk is from the slot's; a free slot is long past. */
static int32_t age_of(const struct trib_slot *s, const struct trib_hdr *h)
{
	if (s->epoch != model_row()->epoch)
		return 1;
	return trib_chunk_diff(ntohl(h->chunk), s->chunk);
}

static void take(struct trib_slot *s, const struct view *v, uint8_t last)
{
	const struct trib_hdr *h = view_hdr(v);

	s->epoch = model_row()->epoch;
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
	/* The fuzzer knows that nobody can say when. */
	s->first_ns = s->chunk % TRIB_LAG_EVERY ? 0 : 1;
}

/* --- contributions */

static uint64_t add_lanes(uint64_t a, uint64_t b)
{
	uint32_t lo = (uint32_t)a + (uint32_t)b;
	uint32_t hi = (uint32_t)(a >> 32) + (uint32_t)(b >> 32);

	return (uint64_t)hi << 32 | lo;
}

static uint64_t combine(const struct trib_hdr *h, uint64_t a, uint64_t b)
{
	if (h->op == TRIB_WOP_MAX)
		return (int64_t)a > (int64_t)b ? a : b;
	return h->fmt == TRIB_FMT_I32 ? add_lanes(a, b) : a + b;
}

static void merge(struct trib_slot *s, const struct view *v)
{
	const struct trib_hdr *h = view_hdr(v);
	int len = trib_payload_len(ntohs(h->nval));
	uint64_t word;

	for (int i = 0; i < len / 8; i++) {
		memcpy(&word, v->f->b + v->pay + 8 * i, 8);
		s->v[i] = s->nval ? combine(h, s->v[i], word) : word;
	}
	s->nval = ntohs(h->nval);
}

/* Does it go with what others contributed? Return: 0 or the reason. */
static int compare(const struct trib_slot *s, const struct trib_hdr *h)
{
	unsigned int nval = ntohs(h->nval);

	if (nval && s->nval && nval != s->nval)
		return TRIB_DROP_MISMATCH;
	if (h->op != s->op || h->fmt != s->fmt)
		return TRIB_DROP_MISMATCH;
	return h->scale != s->scale ? TRIB_DROP_SCALE : 0;
}

static int drop_act(int why)
{
	model_drop(why);
	return DROPPED;
}

static int contribute(struct trib_slot *s, const struct view *v)
{
	const struct trib_hdr *h = view_hdr(v);
	const struct trib_tree *t = model_row();
	int why = s->seen ? compare(s, h) : 0;

	if (why)
		return drop_act(why);
	if (h->nval && !(h->flags & TRIB_F_EMPTY))
		merge(s, v);
	s->seen |= 1ULL << v->child;
	s->flags |= (h->flags | (v->ce ? TRIB_F_CE : 0)) & KEEP;
	if (s->seen != t->full)
		return HELD;
	s->state = is_root() ? TRIB_SLOT_RESULT : TRIB_SLOT_SENT;
	s->last = v->child;
	return DONE;
}

static int slot_grad(struct trib_slot *s, const struct view *v)
{
	const struct trib_hdr *h = view_hdr(v);
	int32_t age = age_of(s, h);

	if (s->busy)
		return drop_act(TRIB_DROP_BUSY);
	if (age < 0)
		return drop_act(TRIB_DROP_STALE);
	if (age > 0)
		take(s, v, v->child);
	if (s->state == TRIB_SLOT_RESULT)
		return ANSWER;
	if (s->state == TRIB_SLOT_COLLECT && !(s->seen >> v->child & 1))
		return contribute(s, v);
	if (!(h->flags & TRIB_F_RESEND))
		return drop_act(TRIB_DROP_DUP);
	return s->state == TRIB_SLOT_SENT ? AGAIN : ASK;
}

/* --- what leaves */

static int grow(struct view *v, uint8_t type, uint32_t group, int how)
{
	view_hdr(v)->type = type;
	return send_to_grow(v, group, HOW_FILL | how);
}

/* The packet becomes @type with what the slot holds. */
static void turn(struct view *v, const struct trib_slot *s, uint8_t type,
		 uint8_t flags)
{
	struct trib_hdr *h = view_hdr(v);

	view_shrink(v, trib_payload_len(s->nval));
	h->type = type;
	h->flags = flags;
	h->op = s->op;
	h->fmt = s->fmt;
	h->nm = h->attempt = h->bmwords = 0;
	h->child = s->last == NOBODY ? 0xffff : htons(s->last);
	h->nval = htons(s->nval);
	h->aux = 0;
	h->scale = s->scale;
	memcpy(v->f->b + v->pay, s->v, trib_payload_len(s->nval));
}

struct result result_of(const struct trib_slot *s)
{
	return (struct result){
		.chunk = s->chunk,
		.epoch = s->epoch,
		.nval = s->nval,
		.flags = s->flags & KEEP,
		.op = s->op,
		.fmt = s->fmt,
		.last = s->last,
		.scale = s->scale,
		.values = s->v,
		.len = trib_payload_len(s->nval),
	};
}

/* A relay's own ranks get it, too; it goes on whatever they say. */
static void local_copy(const struct trib_slot *s)
{
	struct result r = result_of(s);
	int why = model_row()->deliver ? model_deliver(&r) : 0;

	if (why && why != TRIB_DROP_SEEN)
		model_drop(why);
}

static bool fits(const struct view *v, const struct trib_slot *s)
{
	return (int)trib_payload_len(s->nval) <= v->paylen;
}

/* To a group, unless there is none and the ranks here were all there is. */
static int send_or_end(struct view *v, uint32_t group)
{
	if (group == TRIB_NONE && model_row()->deliver)
		return V_DROP;
	return send_group(v, group);
}

static int result_out(struct view *v, const struct trib_slot *s)
{
	if (!fits(v, s))
		return grow(v, TRIB_T_RESULT, model_row()->down, 0);
	turn(v, s, TRIB_T_RESULT, s->flags & KEEP);
	local_copy(s);
	model.stats[TRIB_TX_RESULT]++;
	return send_or_end(v, model_row()->down);
}

static int partial_out(struct view *v, const struct trib_slot *s,
		       uint8_t resend)
{
	if (!fits(v, s))
		return grow(v, TRIB_T_GRAD, model_row()->up, 0);
	turn(v, s, TRIB_T_GRAD,
	     (s->flags & KEEP) | resend | (s->nval ? 0 : TRIB_F_EMPTY));
	model.stats[TRIB_TX_PARTIAL]++;
	return send_group(v, model_row()->up);
}

bool port_answers(uint32_t ifindex)
{
	return ifindex != rig.ifindex[2];
}

static int answer_out(struct view *v, const struct trib_slot *s)
{
	if (!fits(v, s) || !port_answers(v->ifindex))
		return grow(v, TRIB_T_RESULT, TRIB_NONE, HOW_ANSWER);
	turn(v, s, TRIB_T_RESULT, s->flags & KEEP);
	local_copy(s);
	model.stats[TRIB_TX_ANSWER]++;
	return send_answer(v, model_row()->child[v->child].port);
}

enum to { TO_UP, TO_DOWN, TO_ALL };

void model_need_event(const struct trib_hdr *h, uint64_t seen)
{
	struct trib_event ev = {
		.type = TRIB_T_NEED,
		.flags = h->flags,
		.tree = model.tree,
		.chunk = ntohl(h->chunk),
		.epoch = ntohl(h->epoch),
		.aux = ntohs(h->aux),
		.seen = seen,
	};

	if (model_row()->deliver)
		model_event(&ev);
}

static int need_out(struct view *v, uint64_t seen, enum to to)
{
	const struct trib_tree *t = model_row();
	struct trib_hdr *h = view_hdr(v);
	uint64_t bitmap = htobe64(seen);

	if (is_root() && to == TO_ALL)
		to = TO_DOWN;
	if (v->paylen < 8)
		return grow(v, TRIB_T_NEED,
			    to == TO_UP	    ? t->up
			    : to == TO_DOWN ? t->down
					    : t->all,
			    to == TO_ALL && !t->all ? HOW_BOTH : 0);
	view_shrink(v, 8);
	h->type = TRIB_T_NEED;
	h->flags = h->op = h->fmt = h->nm = h->attempt = 0;
	h->bmwords = 1;
	h->child = h->nval = h->aux = h->scale = 0;
	memcpy(v->f->b + v->pay, &bitmap, 8);
	model.stats[TRIB_TX_NEED]++;
	if (to == TO_UP)
		return send_group(v, t->up);
	model_need_event(h, seen);
	return to == TO_DOWN ? send_or_end(v, t->down) : send_all(v);
}

/* --- by type */

static void sample_lag(const struct trib_hdr *h, int child, bool last)
{
	struct trib_lag_child *c = &model.lag[model.tree].child[child];

	if (ntohl(h->chunk) % TRIB_LAG_EVERY)
		return;
	c->samples++;
	c->last += last;
	c->chunk = ntohl(h->chunk);
}

static int on_grad(struct view *v)
{
	const struct trib_hdr *h = view_hdr(v);
	struct trib_slot *s = model_slot_of(h);

	model.stats[TRIB_RX_GRAD]++;
	model.stats[TRIB_RX_BYTES] += v->paylen;
	if (h->flags & TRIB_F_RESEND)
		model.stats[TRIB_RX_RESEND]++;
	model.act = slot_grad(s, v);
	if (model.act == HELD || model.act == DONE) {
		model.stats[TRIB_ADDED]++;
		sample_lag(h, v->child, model.act == DONE);
	}
	switch (model.act) {
	case DONE:
		model.stats[TRIB_DONE]++;
		return is_root() ? result_out(v, s) : partial_out(v, s, 0);
	case ANSWER:
		return answer_out(v, s);
	case AGAIN:
		return partial_out(v, s, TRIB_F_RESEND);
	case ASK:
		return need_out(v, s->seen, TO_ALL);
	}
	return V_DROP;
}

static int on_result(struct view *v)
{
	struct trib_hdr *h = view_hdr(v);
	bool up = h->flags & TRIB_F_UP;
	unsigned int last = ntohs(h->child);
	struct trib_slot *s = model_slot_of(h);
	int32_t age = age_of(s, h);

	model.stats[TRIB_RX_RESULT]++;
	model.stats[TRIB_RX_BYTES] += v->paylen;
	if (up || last >= TRIB_CHILDREN_MAX)
		last = NOBODY;
	if (is_leaf()) {
		struct result r = {
			.chunk = ntohl(h->chunk),
			.epoch = model_row()->epoch,
			.nval = ntohs(h->nval),
			.flags = (h->flags | (v->ce ? TRIB_F_CE : 0)) & KEEP,
			.op = h->op,
			.fmt = h->fmt,
			.last = last,
			.scale = h->scale,
			.values = v->f->b + v->pay,
			.len = v->paylen,
		};
		int why = model_deliver(&r);

		return why ? model_drop(why) : V_DROP;
	}
	if (s->busy)
		return model_drop(TRIB_DROP_BUSY);
	if (age < 0)
		return model_drop(TRIB_DROP_STALE);
	if (!age && s->state == TRIB_SLOT_RESULT)
		return model_drop(TRIB_DROP_SEEN);
	take(s, v, last);
	s->nval = ntohs(h->nval);
	memcpy(s->v, v->f->b + v->pay, v->paylen);
	s->flags = (h->flags | (v->ce ? TRIB_F_CE : 0)) & KEEP;
	s->seen = model_row()->full;
	s->state = TRIB_SLOT_RESULT;
	turn(v, s, TRIB_T_RESULT, s->flags);
	local_copy(s);
	model.stats[TRIB_TX_RESULT]++;
	if (up && !is_root())
		return send_all(v);
	return send_or_end(v, model_row()->down);
}

static int need_from_child(struct view *v, const struct trib_slot *s,
			   int32_t age)
{
	uint64_t seen = age ? 0 : s->seen;

	if (!age && s->state == TRIB_SLOT_RESULT)
		return grow(v, TRIB_T_RESULT, TRIB_NONE, HOW_ANSWER);
	if (!age && s->state == TRIB_SLOT_SENT)
		return need_out(v, seen, TO_UP);
	return need_out(v, seen | 1ULL << v->child, TO_ALL);
}

static int need_from_parent(struct view *v, const struct trib_slot *s,
			    int32_t age)
{
	const struct trib_tree *t = model_row();

	if (!age && s->state == TRIB_SLOT_RESULT)
		return grow(v, TRIB_T_RESULT, t->up, 0);
	if (!age && s->state == TRIB_SLOT_SENT)
		return grow(v, TRIB_T_GRAD, t->up, 0);
	return need_out(v, age ? 0 : s->seen, TO_DOWN);
}

static int on_need(struct view *v)
{
	const struct trib_hdr *h = view_hdr(v);
	bool up = h->flags & TRIB_F_UP;
	struct trib_slot *s = model_slot_of(h);
	uint64_t bitmap;
	int32_t age = age_of(s, h);

	memcpy(&bitmap, v->f->b + v->pay, 8);
	bitmap = be64toh(bitmap);
	model.stats[TRIB_RX_NEED]++;
	if (is_leaf()) {
		if (!model_row()->deliver)
			return model_drop(TRIB_DROP_DELIVER);
		model_need_event(h, bitmap);
		return V_DROP;
	}
	if (!up && bitmap >> model_row()->up_child & 1)
		return model_drop(TRIB_DROP_SEEN);
	if (s->busy)
		return model_drop(TRIB_DROP_BUSY);
	if (age < 0)
		return model_drop(TRIB_DROP_STALE);
	model.act = age ? 0 : s->state + 1;
	return up ? need_from_child(v, s, age) : need_from_parent(v, s, age);
}

static int on_notice(struct view *v)
{
	const struct trib_tree *t = model_row();
	struct trib_hdr *h = view_hdr(v);
	struct trib_event ev = {
		.type = h->type,
		.flags = h->flags & ~TRIB_F_UP,
		.tree = model.tree,
		.chunk = ntohl(h->chunk),
		.epoch = ntohl(h->epoch),
		.aux = ntohs(h->aux),
	};

	model.stats[TRIB_RX_CONTROL]++;
	if (h->type >= TRIB_T_JOIN)
		return V_PASS;
	if ((h->flags & TRIB_F_UP) && !is_root())
		return send_group(v, t->up);
	h->flags &= ~TRIB_F_UP;
	if (is_leaf() && !t->deliver)
		return model_drop(TRIB_DROP_DELIVER);
	if (t->deliver)
		model_event(&ev);
	return is_leaf() ? V_DROP : send_or_end(v, t->down);
}

int model_tree(struct view *v)
{
	model.dirty |= 1U << model.tree;
	switch (view_hdr(v)->type) {
	case TRIB_T_GRAD:
		return on_grad(v);
	case TRIB_T_RESULT:
		return on_result(v);
	case TRIB_T_NEED:
		return on_need(v);
	default:
		return on_notice(v);
	}
}
