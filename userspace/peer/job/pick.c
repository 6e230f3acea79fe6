// SPDX-License-Identifier: BSD-2-Clause
/* The choice of "auto", and its description. */
#include <stdio.h>
#include <string.h>

#include "hello.h"

void peer_agreed_rate(struct peer_agreed *a, size_t chunk, const struct peer_rates *r)
{
	struct peer_costs costs = {0};
	unsigned int i;

	a->rates = *r;
	peer_rates_costs(r, &costs);
	/* A shape that cannot be tuned keeps its sizes: right, if not the fastest. */
	for (i = 0; i < a->nshape; i++)
		(void)peer_shape_tune(&a->shape[i], 4, chunk, &costs);
	peer_agreed_apart(a);
	if (a->nshape > 1)
		peer_table_init(&a->table, a->shape, a->nshape, chunk, &costs);
}

unsigned int peer_agreed_pick(struct peer_agreed *a, const struct trib_peer_call *c)
{
	uint64_t bytes = c->count * (c->words ? 8 : trib_reduce_size(c->dtype));

	if (!a->table.nshape)
		return 0;
	return peer_table_pick(&a->table, (enum peer_collective)c->collective, bytes);
}

/* "torus 2x2 from 64 KiB", where allreduces change their shape. */
static size_t describe_sizes(struct peer_agreed *a, char *buf, size_t room)
{
	uint32_t last = UINT32_MAX, pick;
	char text[64];
	size_t at = 0;
	int i;

	for (i = 10; i <= 30 && at < room; i++) {
		pick = peer_table_pick(&a->table, PEER_ALLREDUCE, 1ULL << i);
		if (pick == last)
			continue;
		peer_shape_text(&a->shape[pick], text, sizeof(text));
		if (last == UINT32_MAX)
			at += (size_t)snprintf(buf + at, room - at, "%s", text);
		else
			at += (size_t)snprintf(buf + at, room - at, ", %s from %llu KiB", text,
					       1ULL << (i - 10));
		last = pick;
	}
	if (at < room)
		at += (size_t)snprintf(buf + at, room - at, " (%.0f us a message, %.2f Gb/s)",
				       a->rates.alpha * 1e6, 8e-9 / (a->rates.beta + 1e-15));
	return at;
}

void peer_agreed_describe(struct peer_agreed *a, char *buf, size_t room)
{
	size_t at;
	unsigned int i;

	if (a->table.nshape) {
		at = describe_sizes(a, buf, room);
	} else {
		peer_shape_text(&a->shape[0], buf, room);
		at = strlen(buf);
	}
	for (i = 0; i < a->nnic && at < room; i++)
		at += (size_t)snprintf(buf + at, room - at, "%s%s", i ? "," : "; NICs ", a->nic[i]);
	if (a->provider && at < room)
		at += (size_t)snprintf(buf + at, room - at, "; %s", a->provider);
	if (a->why_leader[0] && at < room)
		snprintf(buf + at, room - at, "; %s", a->why_leader);
}
