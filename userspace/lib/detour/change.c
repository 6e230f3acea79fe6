// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the relay to the ranks. All tell which results they have, and take none of the relay from
 * then on. When the states of all are known, the lowest rank that has a result gives it to those
 * that lack it; their owners sum the others.
 */
#include <errno.h>
#include <stdlib.h>

#include "inner.h"
#include "lib/place/place.h"

static unsigned int held_words(const struct trib_stream *s)
{
	return (s->window + 63u) / 64;
}

int detour_change_init(struct detour_tree *e)
{
	const struct trib_stream *s = e->s;
	unsigned int world = s->eng->world, r;
	uint64_t *held;

	e->peer = calloc(world, sizeof(*e->peer));
	held = calloc((size_t)world * held_words(s), sizeof(*held));
	if (!e->peer || !held || trib_owner_init(&e->owner, world, s->window, s->nval)) {
		free(held);
		free(e->peer);
		e->peer = NULL;
		return -ENOMEM;
	}
	for (r = 0; r < world; r++)
		e->peer[r].held = held + (size_t)r * held_words(s);
	return 0;
}

void detour_change_free(struct detour_tree *e)
{
	if (e->peer)
		free(e->peer[0].held);
	free(e->peer);
	trib_owner_free(&e->owner);
}

/* Nothing is known of this generation yet. */
static void begin(struct detour_tree *e, uint32_t generation)
{
	unsigned int r;

	e->generation = generation;
	e->nonce = 0;
	e->mine = e->told = 0;
	e->held = false;
	for (r = 0; r < e->s->eng->world; r++) {
		e->peer[r].known = false;
		e->peer[r].joined = e->peer[r].next_epoch = 0;
	}
}

static void note_own(struct detour_tree *e)
{
	struct detour_peer *p = &e->peer[e->s->eng->rank];
	unsigned int i;

	p->known = true;
	p->una = e->s->una;
	memset(p->held, 0, held_words(e->s) * sizeof(*p->held));
	for (i = 0; i < e->s->window; i++)
		if (trib_detour_has(e->s, p->una + i))
			p->held[i / 64] |= 1ULL << i % 64;
}

static bool has(const struct detour_tree *e, unsigned int rank, uint64_t c)
{
	const struct detour_peer *p = &e->peer[rank];

	if (c < p->una)
		return true;
	c -= p->una;
	return c < e->s->window && p->held[c / 64] >> c % 64 & 1;
}

static bool all_known(const struct detour_tree *e)
{
	unsigned int r;

	for (r = 0; r < e->s->eng->world; r++)
		if (!e->peer[r].known)
			return false;
	return true;
}

/* Give result @c to those that lack it, if this is the lowest rank that has it. */
static void give_result(struct detour_tree *e, uint64_t c)
{
	unsigned int world = e->s->eng->world, first = 0, r;

	while (first < world && !has(e, first, c))
		first++;
	if (first != e->s->eng->rank)
		return;
	for (r = 0; r < world; r++)
		if (!has(e, r, c))
			detour_give(e, r, c);
}

static void plan(struct detour_tree *e)
{
	uint64_t from = UINT64_MAX, c;
	unsigned int r;

	if (e->s->detour.state != TRIB_DETOUR_FROZEN || !all_known(e))
		return;
	for (r = 0; r < e->s->eng->world; r++)
		if (e->peer[r].una < from)
			from = e->peer[r].una;
	for (c = from; c < from + 2u * e->s->window && !e->s->eng->dead; c++)
		give_result(e, c);
	e->nonce = trib_nonce_next();
	e->join_ns = e->s->eng->now + DETOUR_JOIN;
	trib_detour_go(e->s);
	e->d->news = true;
	trib_mesh_wake(&e->d->mesh);
}

void detour_leave(struct detour_tree *e, uint32_t generation)
{
	struct trib_engine *eng = e->s->eng;
	const struct detour_peer *own;

	if (!e->peer && detour_change_init(e)) {
		trib_die_rank(eng, TRIB_ERR_SYSTEM, -ENOMEM, -1, "out of memory");
		return;
	}
	begin(e, generation);
	trib_detour_begin(e->s);
	trib_mesh_beat(&e->d->mesh, true);
	note_own(e);
	own = &e->peer[eng->rank];
	detour_say_all(e, detour_body(e, DETOUR_LEFT, own->una, e->s->window, own->held,
				      held_words(e->s) * 8));
	plan(e);
}

int detour_rx_left(struct detour_tree *e, unsigned int rank, const struct detour_head *h,
		   const uint8_t *more, uint32_t len)
{
	struct trib_stream *s = e->s;
	struct detour_peer *p;

	if (h->value != s->window || len != held_words(s) * 8 ||
	    h->chunk > s->una + 2u * s->window || h->chunk + 2u * s->window < s->una ||
	    (int32_t)(h->generation - e->generation) > 1)
		return -EPROTO;
	if (h->generation == e->generation + 1)
		detour_leave(e, h->generation);
	if (h->generation != e->generation || s->eng->dead)
		return 0;
	p = &e->peer[rank];
	if (p->known)
		return -EPROTO;
	p->known = true;
	p->una = h->chunk;
	memcpy(p->held, more, len);
	plan(e);
	return 0;
}
