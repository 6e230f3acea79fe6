// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the ranks back to the relay. Each rank keeps joining. When all have joined the same
 * epoch, each says which chunk it would send next, and holds it. The largest is where the relay
 * goes on; a rank follows when it has all results of before.
 */
#include <errno.h>

#include "inner.h"

/* A new epoch runs for this rank: tell the others. */
static void note_epoch(struct detour_tree *e)
{
	uint32_t epoch = e->s->detour.back;

	if (!epoch || epoch == e->mine)
		return;
	e->mine = epoch;
	e->peer[e->s->eng->rank].joined = epoch;
	detour_say_all(e, detour_body(e, DETOUR_JOINED, 0, epoch, NULL, 0));
}

static void join(struct detour_tree *e)
{
	uint64_t now = e->s->eng->now;

	if (!e->nonce || now < e->join_ns)
		return;
	e->join_ns = now + DETOUR_JOIN;
	trib_detour_join(e->s, e->nonce);
}

static void say_next(struct detour_tree *e)
{
	struct detour_peer *own = &e->peer[e->s->eng->rank];
	unsigned int r;

	if (!e->mine || e->told == e->mine)
		return;
	for (r = 0; r < e->s->eng->world; r++)
		if (e->peer[r].joined != e->mine)
			return;
	if (!e->held)
		e->hold = e->s->high;
	e->held = true;
	e->told = e->mine;
	trib_detour_hold(e->s, e->hold);
	own->next_epoch = e->mine;
	own->next = e->hold;
	detour_say_all(e, detour_body(e, DETOUR_NEXT, e->hold, e->mine, NULL, 0));
}

static void go_back(struct detour_tree *e)
{
	uint64_t at = 0;
	unsigned int r;

	if (!e->mine)
		return;
	for (r = 0; r < e->s->eng->world; r++) {
		if (e->peer[r].next_epoch != e->mine)
			return;
		if (e->peer[r].next > at)
			at = e->peer[r].next;
	}
	/* The chunks before stay with the ranks. */
	trib_detour_hold(e->s, at);
	e->d->news = true;
	if (e->s->una < at)
		return;
	trib_detour_end(e->s, e->mine);
	e->d->epochs(e->d->t);
}

void detour_back(struct detour_tree *e)
{
	if (e->s->detour.state != TRIB_DETOUR_RANKS)
		return;
	join(e);
	note_epoch(e);
	say_next(e);
	go_back(e);
}

int detour_rx_joined(struct detour_tree *e, unsigned int rank, const struct detour_head *h)
{
	if (!e->peer || !h->value)
		return -EPROTO;
	if (h->generation == e->generation && detour_is_away(e))
		e->peer[rank].joined = h->value;
	return 0;
}

int detour_rx_next(struct detour_tree *e, unsigned int rank, const struct detour_head *h)
{
	if (!e->peer || !h->value || h->chunk > e->s->una + 4ull * e->s->window)
		return -EPROTO;
	if (h->generation != e->generation || !detour_is_away(e))
		return 0;
	e->peer[rank].next_epoch = h->value;
	e->peer[rank].next = h->chunk;
	return 0;
}
