// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chunks at their places: each worker's values are counted once. The rules are
 * those of kmod/uapi/PROTOCOL.md, "PS"; what is written here in comments is
 * why a branch is safe.
 *
 * All values of a chunk are frozen, so whatever a packet brings is the sum of
 * exactly the workers it names. Only disjoint sets are added; a superset may
 * take the place of what is there, because it contains that.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "kernels/sum/words.h"
#include "ps.h"

#define KEEP_FLAGS (TRIB_F_PUSH | TRIB_F_CE)

/*
 * The chunk's place, which begins anew if it is an older chunk's: who sends
 * c + 2W holds RESULT c + W, to which all have contributed, so all hold RESULT
 * c. NULL: a newer one has it.
 */
static struct ps_place *find(struct ps_tree *t, const struct ps_packet *p)
{
	struct ps_place *z = ps_place(t, p->chunk);

	if (z->epoch == p->epoch) {
		if (z->chunk == p->chunk)
			return z;
		if (trib_chunk_diff(p->chunk, z->chunk) < 0) {
			t->stats.drop[PS_DROP_STALE]++;
			return NULL;
		}
	}
	t->ps->ops->settle(t->ps->ctx, z);
	memset(z, 0, sizeof(*z));
	z->epoch = p->epoch;
	z->chunk = p->chunk;
	return z;
}

static bool is_empty(const uint64_t *bitmap, unsigned int words)
{
	uint64_t any = 0;
	unsigned int i;

	for (i = 0; i < words; i++)
		any |= bitmap[i];
	return !any;
}

static bool has(const uint64_t *bitmap, unsigned int rank)
{
	return bitmap[rank / 64] >> rank % 64 & 1;
}

/* Empty packets are compared, too, but for their length. */
static bool fits(const struct ps_place *z, const struct ps_packet *p)
{
	return z->h.op == p->h->op && z->h.fmt == p->h->fmt && z->h.scale == p->h->scale &&
	       (!p->nval || !z->h.nval || z->h.nval == p->h->nval);
}

static void take_values(struct ps_place *z, const struct ps_packet *p)
{
	z->h.nval = 0;
	if (p->flags & TRIB_F_EMPTY)
		return;
	z->h.nval = p->h->nval;
	if (p->flags & TRIB_F_MASK)
		trib_words_expand(z->v, p->v, p->nval, p->h->nm, true);
	else
		memcpy(z->v, p->v, trib_payload_len(p->nval));
}

static void take_shape(struct ps_tree *t, struct ps_place *z, const struct ps_packet *p)
{
	ps_hdr_fill(t, &z->h, TRIB_T_RESULT);
	z->h.op = p->h->op;
	z->h.fmt = p->h->fmt;
	z->h.scale = p->h->scale;
	z->h.chunk = p->h->chunk;
	z->h.epoch = p->h->epoch;
}

static void add(struct ps_place *z, const struct ps_packet *p)
{
	size_t words = trib_payload_len(p->nval) / 8;

	if (!p->nval || (p->flags & TRIB_F_EMPTY))
		return;
	if (!z->h.nval)
		take_values(z, p);
	else if (p->flags & TRIB_F_MASK)
		trib_words_expand(z->v, p->v, p->nval, p->h->nm, false);
	else if (p->h->op == TRIB_WOP_MAX)
		trib_words_max(z->v, p->v, words);
	else if (p->h->fmt == TRIB_FMT_I32)
		trib_words_add32(z->v, p->v, words);
	else
		trib_words_add(z->v, p->v, words);
}

static size_t result_len(const struct ps_place *z)
{
	return sizeof(z->h) + trib_payload_len(be16toh(z->h.nval));
}

/* Whoever lacked it gets it from now on. */
static void complete(struct ps_tree *t, struct ps_place *z, const struct ps_packet *p)
{
	z->done = true;
	z->h.child = htobe16(p->child);
	t->ps->ops->result(t->ps->ctx, t, z);
}

static void answer(struct ps_tree *t, struct ps_place *z, unsigned int rank)
{
	t->stats.count[PS_COUNT_ANSWER]++;
	t->ps->ops->to(t->ps->ctx, &t->job->worker[rank], &z->h, result_len(z), z);
}

static void need(struct ps_tree *t, const struct ps_place *z, unsigned int rank)
{
	struct {
		struct trib_hdr h;
		__be64 have[TRIB_BMWORDS_MAX];
	} n;
	unsigned int i;

	ps_hdr_fill(t, &n.h, TRIB_T_NEED);
	n.h.bmwords = (uint8_t)t->bmwords;
	n.h.chunk = htobe32(z->chunk);
	n.h.epoch = htobe32(z->epoch);
	for (i = 0; i < t->bmwords; i++)
		n.have[i] = htobe64(z->workers[i]);
	ps_auth_one(t, rank, &n.h, n.have, 8 * t->bmwords);
	t->stats.count[PS_COUNT_NEED]++;
	t->ps->ops->to(t->ps->ctx, &t->job->worker[rank], &n, sizeof(n.h) + 8 * t->bmwords, NULL);
}

/*
 * @child lacks the RESULT: ask one of the others whose values we lack; if that
 * does not help, ever more of them. One of them may hold the RESULT, too.
 */
static void ask(struct ps_tree *t, struct ps_place *z, unsigned int child)
{
	unsigned int r, left;

	if (z->asks && t->ps->now - z->asked_ms < PS_NEED_PACE_MS)
		return;
	z->asked_ms = t->ps->now;
	left = 1u << z->asks;
	if (z->asks < PS_NEED_ASKS_MAX)
		z->asks++;
	for (r = 0; r < t->job->world && left; r++) {
		if (r == child || has(z->workers, r))
			continue;
		need(t, z, r);
		left--;
	}
}

/* Ranks that are at another collective, or computed another scale. */
static void name_shape(struct ps_tree *t, const struct ps_place *z, const struct ps_packet *p)
{
	unsigned int r = 0;
	char line[200];

	t->stats.drop[PS_DROP_SHAPE]++;
	if (t->named_ms && t->ps->now - t->named_ms < PS_NAME_PACE_MS)
		return;
	t->named_ms = t->ps->now;
	while (!has(p->bitmap, r))
		r++;
	snprintf(
		line, sizeof(line),
		"tree %u: chunk %u from rank %u%s has op %u, format %u, scale %d, %u values; others' has %u, %u, %d, %u",
		t->number, p->chunk, r,
		has(p->bitmap, p->child) && p->child != r ? " and others" : "", p->h->op, p->h->fmt,
		(int32_t)be32toh(p->h->scale), p->nval, z->h.op, z->h.fmt,
		(int32_t)be32toh(z->h.scale), be16toh(z->h.nval));
	t->ps->ops->log(t->ps->ctx, line);
}

/* Return: whether it brought anything. */
static bool merge(struct ps_tree *t, struct ps_place *z, const struct ps_packet *p)
{
	uint64_t common = 0, news = 0, lost = 0;
	unsigned int i, stands_for = 0;

	for (i = 0; i < t->bmwords; i++) {
		common |= z->workers[i] & p->bitmap[i];
		news |= p->bitmap[i] & ~z->workers[i];
		lost |= z->workers[i] & ~p->bitmap[i];
	}
	if (common && (!news || lost)) {
		t->stats.drop[news ? PS_DROP_OVERLAP : PS_DROP_KNOWN]++;
		return false;
	}
	if (common) {
		t->stats.count[PS_COUNT_SUPERSET]++;
		z->h.flags = 0;
		take_values(z, p);
	} else {
		add(z, p);
	}
	for (i = 0; i < t->bmwords; i++) {
		z->workers[i] |= p->bitmap[i];
		stands_for += (unsigned int)__builtin_popcountll(p->bitmap[i]);
	}
	t->stats.count[PS_COUNT_GRAD]++;
	t->stats.count[PS_COUNT_PARTIAL] += stands_for > 1;
	t->stats.count[PS_COUNT_BYTES] += 4u * p->nval;
	z->h.flags |= p->flags & KEEP_FLAGS;
	return true;
}

void ps_chunk_grad(struct ps_tree *t, const struct ps_packet *p)
{
	struct ps_place *z = find(t, p);

	if (!z)
		return;
	if (z->done) {
		if (p->flags & TRIB_F_RESEND)
			answer(t, z, p->child);
		else
			t->stats.drop[PS_DROP_DONE]++;
		return;
	}
	if (is_empty(z->workers, t->bmwords)) {
		take_shape(t, z, p);
	} else if (!fits(z, p)) {
		name_shape(t, z, p);
		return;
	}
	if (!merge(t, z, p)) {
		if (p->flags & TRIB_F_RESEND)
			ask(t, z, p->child);
		return;
	}
	if (memcmp(z->workers, t->all, 8 * t->bmwords))
		return;
	t->stats.count[PS_COUNT_DONE]++;
	complete(t, z, p);
}

void ps_chunk_ask(struct ps_tree *t, const struct ps_packet *p)
{
	struct ps_place *z = find(t, p);

	if (!z)
		return;
	t->stats.count[PS_COUNT_ASK]++;
	if (z->done) {
		answer(t, z, p->child);
		return;
	}
	if (!has(z->workers, p->child))
		need(t, z, p->child);
	ask(t, z, p->child);
}

void ps_chunk_result(struct ps_tree *t, const struct ps_packet *p)
{
	struct ps_place *z = find(t, p);

	if (!z)
		return;
	if (z->done) {
		t->stats.drop[PS_DROP_DONE]++;
		return;
	}
	take_shape(t, z, p);
	take_values(z, p);
	z->h.flags = p->flags & KEEP_FLAGS;
	t->stats.count[PS_COUNT_TAKEN]++;
	complete(t, z, p);
}

int ps_chunk_stuck(struct ps_tree *t, const uint64_t *missing, uint32_t *chunk)
{
	uint32_t n, i;

	for (n = 0; n <= t->mask; n++) {
		const struct ps_place *z = ps_place(t, t->scan);

		if (z->epoch == t->epoch && z->epoch && !z->done &&
		    !is_empty(z->workers, t->bmwords)) {
			for (i = 0; i < t->job->world; i++) {
				if (!has(missing, i) || has(z->workers, i))
					continue;
				*chunk = z->chunk;
				return (int)i;
			}
		}
		t->scan = (t->scan + 1) & t->mask;
	}
	return -1;
}
