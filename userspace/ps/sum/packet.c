// SPDX-License-Identifier: BSD-2-Clause
/*
 * Packets: everything that can be told from a packet and the plan is checked
 * here, before anything is changed.
 */
#include <endian.h>
#include <string.h>

#include "kernels/sum/words.h"
#include "ps.h"

/* Does a sum of this op, format and length exist? */
static bool has_format(const struct ps_tree *t, const struct ps_packet *p)
{
	const struct trib_hdr *h = p->h;

	if (p->nval > t->job->nval)
		return false;
	if (p->flags & TRIB_F_MASK)
		return h->type == TRIB_T_GRAD && h->op == TRIB_WOP_ADD && h->fmt == TRIB_FMT_I32 &&
		       p->nval && !(p->flags & TRIB_F_EMPTY);
	if (h->nm)
		return false;
	switch (h->fmt) {
	case TRIB_FMT_Q32:
	case TRIB_FMT_I32:
		return h->op == TRIB_WOP_ADD;
	case TRIB_FMT_W64:
		return h->op < TRIB_WOP__MAX && !(p->nval & 1);
	default:
		return false;
	}
}

static bool has_workers(const struct ps_tree *t, const struct ps_packet *p)
{
	bool relayed = p->h->auth == t->relay_secret;
	uint64_t any = 0, strange = 0, may;
	unsigned int i;

	if (p->h->bmwords != t->bmwords)
		return false;
	/* A rank brings its own values, a relay those of many. */
	for (i = 0; i < t->bmwords; i++) {
		may = i == p->child / 64u ? 1ULL << p->child % 64 : 0;
		any |= p->bitmap[i];
		strange |= p->bitmap[i] & ~(relayed ? t->all[i] : may);
	}
	return any && !strange;
}

/* A packet of the running epoch. Return: PS_DROP__MAX, or why not. */
static enum ps_drop rx_data(struct ps_tree *t, struct ps_packet *p)
{
	bool values = p->h->type == TRIB_T_GRAD || p->h->type == TRIB_T_RESULT;
	uint32_t before = t->epoch;

	if (values && !has_format(t, p))
		return PS_DROP_FORMAT;
	if (p->h->type == TRIB_T_GRAD && !has_workers(t, p))
		return PS_DROP_BITMAP;
	if (values && (p->flags & TRIB_F_MASK) && !trib_words_mask_ok(p->v, p->nval, p->h->nm))
		return PS_DROP_MASK;
	if (!ps_tree_epoch(t, p->epoch))
		return PS_DROP_EPOCH;
	if (!ps_auth_fresh(t, p))
		return PS_DROP_REPLAY;
	if (t->epoch != before)
		ps_members_epoch(t, t->epoch);
	switch (p->h->type) {
	case TRIB_T_GRAD:
		ps_chunk_grad(t, p);
		break;
	case TRIB_T_NEED:
		ps_chunk_ask(t, p);
		break;
	case TRIB_T_RESULT:
		ps_chunk_result(t, p);
		break;
	case TRIB_T_PROBE:
		ps_sign_probe(t, p);
		break;
	case TRIB_T_ALIVE:
		ps_sign_alive(t, p);
		break;
	default:
		ps_sign_abort(t, p);
		break;
	}
	return PS_DROP__MAX;
}

static enum ps_drop rx_tree(struct ps_tree *t, struct ps_packet *p)
{
	if (p->child >= t->job->world)
		return PS_DROP_RANK;
	if (!ps_auth_ok(t, p))
		return PS_DROP_AUTH;
	switch (p->h->type) {
	case TRIB_T_JOIN:
	case TRIB_T_LEAVE:
		ps_members_packet(t, p);
		return PS_DROP__MAX;
	case TRIB_T_GRAD:
	case TRIB_T_RESULT:
	case TRIB_T_NEED:
	case TRIB_T_PROBE:
	case TRIB_T_ALIVE:
	case TRIB_T_ABORT:
		return rx_data(t, p);
	default:
		return PS_DROP_TYPE;
	}
}

void ps_rx(struct ps *ps, const struct ps_addr *from, const void *pkt, size_t len, bool ce,
	   uint64_t now_ms)
{
	struct ps_stats *stats = &ps->stats;
	enum ps_drop why = PS_DROP_SHORT;
	struct ps_packet p;
	struct trib_hdr h;
	struct ps_tree *t;
	unsigned int i;
	__be64 be;

	ps->now = now_ms;
	if (len < sizeof(h))
		goto drop;
	memcpy(&h, pkt, sizeof(h));
	why = PS_DROP_VERSION;
	if (h.version != TRIB_WIRE_VERSION)
		goto drop;
	why = PS_DROP_FORMAT;
	p.nval = be16toh(h.nval);
	if ((h.flags & TRIB_F_MASK) && (!trib_nm_is_mask(h.nm) || p.nval % TRIB_MASK_UNITS))
		goto drop;
	why = PS_DROP_LENGTH;
	if (h.bmwords > TRIB_BMWORDS_MAX || p.nval > TRIB_NVAL_LARGE ||
	    len != sizeof(h) + 8u * h.bmwords + trib_values_len(h.flags, h.nm, p.nval))
		goto drop;
	why = PS_DROP_TYPE;
	if (!(h.flags & TRIB_F_UP))
		goto drop;
	why = PS_DROP_TREE;
	t = ps->by_tree[be16toh(h.tree)];
	if (!t || t->job->number != be16toh(h.job))
		goto drop;
	stats = &t->stats;
	p.h = &h;
	p.from = from;
	p.child = be16toh(h.child);
	p.chunk = be32toh(h.chunk);
	p.epoch = be32toh(h.epoch);
	p.flags = (uint8_t)(h.flags | (ce ? TRIB_F_CE : 0));
	p.body = (const uint8_t *)pkt + sizeof(h);
	p.v = (const uint8_t *)p.body + 8u * h.bmwords;
	p.len = len;
	for (i = 0; i < h.bmwords; i++) {
		memcpy(&be, (const uint8_t *)pkt + sizeof(h) + 8 * i, 8);
		p.bitmap[i] = be64toh(be);
	}
	why = rx_tree(t, &p);
	if (why == PS_DROP__MAX)
		return;
drop:
	stats->drop[why]++;
}
