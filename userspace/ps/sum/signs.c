// SPDX-License-Identifier: BSD-2-Clause
/*
 * Signs of life, and of the contrary: PROBE is answered and gives a lease,
 * ALIVE and ABORT go to everybody. How much of it goes out is bounded whatever
 * comes in.
 */
#include <endian.h>

#include "ps.h"

/* Pass the packet on to everybody. */
static void broadcast(struct ps_tree *t, const struct ps_packet *p)
{
	const struct ps_addr *to[PS_GROUP_MAX + TRIB_WORLD_MAX];
	unsigned int i, n = ps_tree_dests(t, t->ps->now, to);
	struct trib_hdr h;

	ps_hdr_fill(t, &h, p->h->type);
	h.flags = p->flags & TRIB_F_RESEND;
	h.child = p->h->child;
	h.chunk = p->h->chunk;
	h.epoch = p->h->epoch;
	h.aux = p->h->aux;
	ps_auth_all(t, &h);
	for (i = 0; i < n; i++)
		t->ps->ops->to(t->ps->ctx, to[i], &h, sizeof(h), NULL);
}

/* The sender goes around a dead relay: what goes to the group misses it. */
void ps_sign_probe(struct ps_tree *t, const struct ps_packet *p)
{
	struct trib_hdr h;

	t->lease_ms[p->child] = t->ps->now + PS_LEASE_MS;
	t->stats.count[PS_COUNT_PROBE]++;
	ps_hdr_fill(t, &h, TRIB_T_PROBE);
	h.relay = htobe16(TRIB_RELAY_PS);
	h.child = p->h->child;
	h.epoch = p->h->epoch;
	h.scale = p->h->scale;
	ps_auth_sign(t, p->child, &h, NULL, 0);
	t->ps->ops->to(t->ps->ctx, &t->job->worker[p->child], &h, sizeof(h), NULL);
}

void ps_sign_alive(struct ps_tree *t, const struct ps_packet *p)
{
	uint64_t *last = &t->alive_ms[p->child], now = t->ps->now;

	if (be16toh(p->h->aux) != p->child) {
		t->stats.drop[PS_DROP_RANK]++;
		return;
	}
	if (*last && now - *last < PS_ALIVE_PACE_MS) {
		t->stats.drop[PS_DROP_PACE]++;
		return;
	}
	*last = now;
	t->stats.count[PS_COUNT_ALIVE]++;
	broadcast(t, p);
}

void ps_sign_abort(struct ps_tree *t, const struct ps_packet *p)
{
	uint64_t now = t->ps->now;

	if (!t->aborts || now - t->abort_ms >= PS_ABORT_PACE_MS) {
		t->aborts = 0;
		t->abort_ms = now;
	}
	if (t->aborts++ >= PS_ABORT_BURST) {
		t->stats.drop[PS_DROP_PACE]++;
		return;
	}
	t->stats.count[PS_COUNT_ABORT]++;
	broadcast(t, p);
}
