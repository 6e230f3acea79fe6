// SPDX-License-Identifier: BSD-2-Clause
/* The flow of one link: numbers and credits. */
#include <errno.h>
#include <string.h>

#include "peer/net/flow.h"

#define MASK (PEER_FLOW_WINDOW - 1)

/* State of a chunk; it is complete with CAME and LENGTH. */
enum { IN_CAME = 1, IN_LENGTH = 2, IN_STAGED = 4 };

_Static_assert((PEER_FLOW_WINDOW & MASK) == 0, "the window is a power of two");
_Static_assert(PEER_FLOW_WINDOW < 1 << 14, "numbers have 16 bits");

uint64_t peer_flow_pack(const struct peer_flow_word *w)
{
	return (uint64_t)w->len << 32 | (uint64_t)w->kind << 29 | (uint64_t)w->whole << 28 |
	       (uint64_t)w->link << 16 | w->number;
}

int peer_flow_unpack(uint64_t data, struct peer_flow_word *w)
{
	unsigned int kind = data >> 29 & 7;

	if (kind < PEER_FLOW_STAGED || kind > PEER_FLOW_BYE)
		return -EPROTO;
	w->kind = (enum peer_flow_kind)kind;
	w->whole = data >> 28 & 1;
	w->link = data >> 16 & (PEER_FLOW_LINKS - 1);
	w->number = (uint16_t)data;
	w->len = (uint32_t)(data >> 32);
	return 0;
}

void peer_flow_init(struct peer_flow *f, uint32_t chunk, uint32_t slots)
{
	memset(f, 0, sizeof(*f));
	f->chunk = chunk;
	f->slots = slots;
}

void peer_flow_sent(struct peer_flow *f, bool staged)
{
	f->staged += staged;
	f->sent++;
}

int peer_flow_credit(struct peer_flow *f, uint16_t number)
{
	uint32_t ahead = (uint16_t)(number - f->acked);

	/* An older one may come late. */
	if ((uint16_t)(f->acked - number) <= 2 * PEER_FLOW_WINDOW)
		return 0;
	if (ahead > f->sent - f->acked)
		return -EPROTO;
	f->acked += ahead;
	return 0;
}

/* Entry of a chunk that may still come, or NULL. */
static struct peer_flow_in *flow_in(struct peer_flow *f, uint16_t number)
{
	uint16_t ahead = number - (uint16_t)f->taken;

	return ahead < f->slots ? &f->in[(f->taken + ahead) & MASK] : NULL;
}

int peer_flow_arrived(struct peer_flow *f, uint16_t number, bool staged, uint32_t len)
{
	struct peer_flow_in *in = flow_in(f, number);

	if (!in || in->state & IN_CAME)
		return -EPROTO;
	if (len != UINT32_MAX) {
		if (in->state & IN_LENGTH || len > f->chunk)
			return -EPROTO;
		in->len = len;
		in->state |= IN_LENGTH;
	}
	in->state |= IN_CAME | (staged ? IN_STAGED : 0);
	return 0;
}

int peer_flow_length(struct peer_flow *f, uint16_t number, uint32_t len)
{
	struct peer_flow_in *in = flow_in(f, number);

	if (!in || in->state & IN_LENGTH || len > f->chunk)
		return -EPROTO;
	in->len = len;
	in->state |= IN_LENGTH;
	return 0;
}

bool peer_flow_next(const struct peer_flow *f, int *slot, uint32_t *len)
{
	const struct peer_flow_in *in = &f->in[f->taken & MASK];

	if ((in->state & (IN_CAME | IN_LENGTH)) != (IN_CAME | IN_LENGTH))
		return false;
	*slot = in->state & IN_STAGED ? (int)(f->slot % f->slots) : -1;
	*len = in->len;
	return true;
}

void peer_flow_done(struct peer_flow *f)
{
	struct peer_flow_in *in = &f->in[f->taken & MASK];

	if (in->state & IN_STAGED)
		f->slot++;
	in->state = 0;
	f->taken++;
}
