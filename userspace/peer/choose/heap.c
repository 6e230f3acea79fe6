// SPDX-License-Identifier: BSD-2-Clause
/* A heap of events: the earliest one first, of equal times the older one. */
#include <errno.h>
#include <stdlib.h>

#include "sim.h"

static bool before(const struct peer_event *a, const struct peer_event *b)
{
	return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

int peer_heap_push(struct peer_heap *h, double at, enum peer_event_kind kind, uint32_t lane,
		   uint32_t op)
{
	struct peer_event e = {at, h->seq++, lane, op, kind};
	size_t i;

	if (h->n == h->room) {
		size_t room = h->room ? 2 * h->room : 1024;
		struct peer_event *event = realloc(h->event, room * sizeof(*event));

		if (!event)
			return -ENOMEM;
		h->event = event;
		h->room = room;
	}
	for (i = h->n++; i && before(&e, &h->event[(i - 1) / 2]); i = (i - 1) / 2)
		h->event[i] = h->event[(i - 1) / 2];
	h->event[i] = e;
	return 0;
}

bool peer_heap_pop(struct peer_heap *h, struct peer_event *out)
{
	struct peer_event last;
	size_t i = 0, kid;

	if (!h->n)
		return false;
	*out = h->event[0];
	last = h->event[--h->n];
	while ((kid = 2 * i + 1) < h->n) {
		if (kid + 1 < h->n && before(&h->event[kid + 1], &h->event[kid]))
			kid++;
		if (!before(&h->event[kid], &last))
			break;
		h->event[i] = h->event[kid];
		i = kid;
	}
	h->event[i] = last;
	return true;
}
