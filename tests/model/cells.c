// SPDX-License-Identifier: BSD-2-Clause
/* See cells.h. Written from the rules in tests/sim/reflex, not from the BPF program. */
#include <endian.h>
#include <string.h>

#include "cells.h"

static size_t stride(uint16_t nval)
{
	return offsetof(struct trib_cell, v) + 4ul * nval;
}

size_t cells_bytes(uint32_t n, uint16_t nval)
{
	/* Tests have chunks that are shorter than a desk. */
	return n * stride(nval) + sizeof(struct trib_desk);
}

struct trib_cell *cells_at(const struct cells *c, uint32_t chunk)
{
	return (void *)(c->base + (chunk & (c->n - 1)) * stride(c->nval));
}

struct trib_desk *cells_desk(const struct cells *c)
{
	return (void *)(c->base + c->n * stride(c->nval));
}

static bool is(const struct cells *c, uint32_t chunk, enum trib_cell_state state)
{
	return cells_at(c, chunk)->state == TRIB_CELL(c->epoch, chunk, state);
}

/* Is it the result of this GRAD? */
static bool fits(const struct trib_hdr *grad, const struct trib_hdr *h)
{
	return grad->op == h->op && grad->fmt == h->fmt && grad->scale == h->scale &&
	       (grad->flags & TRIB_F_EMPTY || grad->nval == h->nval);
}

static void deliver(struct cells *c, const struct trib_hdr *h, uint64_t now)
{
	uint32_t chunk = be32toh(h->chunk);
	struct trib_cell *cell = cells_at(c, chunk);
	uint64_t took = now - cell->sent_ns;

	memcpy(cell->v, h + 1, trib_payload_len(be16toh(h->nval)));
	memcpy(&cell->h, h, 8);
	cell->h.child = h->child;
	cell->h.nval = h->nval;
	cell->h.aux = 0;
	cell->h.scale = h->scale;
	if (trib_cell_stamped(chunk))
		cell->took_ns = !cell->sent_ns	    ? 0
				: took < UINT32_MAX ? (uint32_t)took
						    : UINT32_MAX;
	cell->state = TRIB_CELL(c->epoch, chunk, TRIB_CELL_RESULT);
}

/* Send the cell of chunk @p. Return: bytes; 0: it stays with the rank. */
static size_t send(struct cells *c, uint32_t p, uint32_t room, uint64_t now, void *out)
{
	struct trib_cell *cell = cells_at(c, p);
	struct trib_hdr *h = out;
	uint32_t len = trib_values_len(cell->h.flags, cell->h.nm, be16toh(cell->h.nval));

	if (len > room) {
		c->left++;
		return 0;
	}
	if (trib_cell_stamped(p))
		cell->sent_ns = now;
	cell->state = TRIB_CELL(c->epoch, p, TRIB_CELL_SENT);
	*h = cell->h;
	h->type = TRIB_T_GRAD;
	h->flags = TRIB_F_UP | (cell->h.flags & TRIB_CELL_FLAGS);
	h->child = htobe16(c->child);
	h->chunk = htobe32(p);
	h->epoch = htobe32(c->epoch);
	h->auth = c->auth;
	memcpy(h + 1, cell->v, len);
	c->carried++;
	return sizeof(*h) + len;
}

/* Let GRADs go that wait for RESULT @chunk. */
static size_t carry(struct cells *c, uint32_t chunk, uint32_t room, uint64_t now, void *out,
		    bool *rings)
{
	uint32_t dist = cells_desk(c)->dist, p[2] = {chunk + dist, chunk + c->window};
	size_t len = 0, n;
	unsigned int i;

	if (!c->reflex || !dist || dist > c->window)
		return 0;
	for (i = 0; i < (dist == c->window ? 1u : 2u); i++) {
		if (!is(c, p[i], TRIB_CELL_READY) || !is(c, p[i] - c->window, TRIB_CELL_RESULT) ||
		    !is(c, p[i] - dist, TRIB_CELL_RESULT))
			continue;
		n = len ? 0 : send(c, p[i], room, now, out);
		len += n;
		*rings |= !n;
	}
	return len;
}

/* Does the rank's alarm go off? */
static bool alarm(struct cells *c, unsigned int cpu)
{
	struct trib_desk *desk = cells_desk(c);
	struct trib_desk_cpu *line = &desk->cpu[cpu % TRIB_DESK_CPUS];

	if (!desk->armed || (int64_t)(line->delivered - line->wake_at) < 0)
		return false;
	desk->armed = 0;
	return true;
}

size_t cells_result(struct cells *c, const struct trib_hdr *h, unsigned int cpu, uint64_t now,
		    void *out, bool *rings)
{
	uint32_t chunk = be32toh(h->chunk);
	size_t len;

	*rings = false;
	if (is(c, chunk, TRIB_CELL_RESULT))
		*rings = true; /* the rank may have missed it */
	if (be32toh(h->epoch) != c->epoch || !is(c, chunk, TRIB_CELL_SENT) ||
	    !fits(&cells_at(c, chunk)->h, h))
		return 0;
	cells_desk(c)->cpu[cpu % TRIB_DESK_CPUS].delivered++;
	deliver(c, h, now);
	*rings |= alarm(c, cpu);
	len = carry(c, chunk, trib_payload_len(be16toh(h->nval)), now, out, rings);
	if (len)
		cells_desk(c)->cpu[cpu % TRIB_DESK_CPUS].carried++;
	return len;
}
