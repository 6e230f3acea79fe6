// SPDX-License-Identifier: BSD-2-Clause
/* Chunks between ranks: GRADs to the owner of their chunk, results to all. */
#include <endian.h>
#include <errno.h>

#include "inner.h"

static unsigned int rank_of(const struct detour_tree *e)
{
	return e->s->eng->rank;
}

/* A chunk that this rank owns is complete: all get it, this one at the next turn. */
static void publish(struct detour_tree *e, struct trib_sum_place *z)
{
	unsigned int len = sizeof(z->h) + trib_payload_len(be16toh(z->h.nval));
	struct boot_body *b = detour_body(e, DETOUR_RESULT, z->chunk, 0, NULL, len);
	uint8_t *to;

	if (b) {
		to = b->data + sizeof(struct detour_head);
		memcpy(to, &z->h, sizeof(z->h));
		memcpy(to + sizeof(z->h), z->v, len - sizeof(z->h));
	}
	detour_say_all(e, b);
	if (z->listed)
		return;
	z->listed = true;
	z->next = e->due;
	e->due = z;
	trib_mesh_wake(&e->d->mesh);
}

/* All ranks have sent the chunk, but with different shapes. */
static void disagree(struct detour_tree *e, unsigned int rank, uint64_t chunk)
{
	trib_die_rank(
		e->s->eng, TRIB_ERR_ARGUMENT, -EPROTO, (int)rank,
		"rank %u sends another chunk %llu of tree %u than others: do they all issue the same collectives?",
		rank, (unsigned long long)chunk, e->s->tree);
}

static int add(struct detour_tree *e, unsigned int rank, uint64_t chunk, const struct trib_hdr *h,
	       const void *v, unsigned int len)
{
	struct trib_sum_place *z = NULL;
	int rc = trib_owner_add(&e->owner, rank, chunk, h, v, len, &z);

	if (rc == 1)
		publish(e, z);
	else if (rc == -EINVAL)
		disagree(e, rank, chunk);
	else if (rc == -ENOMEM)
		trib_die_rank(e->s->eng, TRIB_ERR_SYSTEM, rc, -1, "out of memory");
	return rc == -EPROTO ? rc : 0;
}

void detour_grad(struct detour_tree *e, uint64_t chunk, const struct trib_hdr *h, unsigned int len)
{
	unsigned int owner = trib_owner_of(chunk, e->s->eng->world);

	if (owner == rank_of(e)) {
		if (add(e, owner, chunk, h, h + 1, len - (unsigned int)sizeof(*h)))
			detour_garbage(e->d, (int)owner, "made a wrong packet");
		return;
	}
	detour_say(e, owner, detour_body(e, DETOUR_GRAD, chunk, 0, h, len));
}

/* No chunk so far from ours can be under way. */
static bool is_near(const struct detour_tree *e, uint64_t chunk)
{
	uint64_t reach = 4ull * e->s->window, una = e->s->una;

	return chunk < una + reach && chunk + reach >= una;
}

int detour_rx_grad(struct detour_tree *e, unsigned int rank, uint64_t chunk, const uint8_t *pkt,
		   uint32_t len)
{
	struct trib_hdr h;

	if (!e->peer || len < sizeof(h) || !is_near(e, chunk) ||
	    trib_owner_of(chunk, e->s->eng->world) != rank_of(e))
		return -EPROTO;
	memcpy(&h, pkt, sizeof(h));
	return add(e, rank, chunk, &h, pkt + sizeof(h), len - (uint32_t)sizeof(h));
}

int detour_rx_result(struct detour_tree *e, uint64_t chunk, const uint8_t *pkt, uint32_t len)
{
	struct trib_hdr h;

	if (!e->peer || len < sizeof(h))
		return -EPROTO;
	memcpy(&h, pkt, sizeof(h));
	return trib_detour_take(e->s, chunk, &h, pkt + sizeof(h), len - (uint32_t)sizeof(h));
}

void detour_give(struct detour_tree *e, unsigned int rank, uint64_t chunk)
{
	unsigned int len = 0;
	const struct trib_hdr *h = trib_detour_result(e->s, chunk, &len);

	if (h)
		detour_say(e, rank, detour_body(e, DETOUR_RESULT, chunk, 0, h, len));
	else
		trib_die_rank(e->s->eng, TRIB_ERR_RELAY, -EHOSTUNREACH, (int)rank,
			      "tree %u lost its relay, and rank %u lacks chunk %llu, which is gone",
			      e->s->tree, rank, (unsigned long long)chunk);
}

void detour_take_due(struct detour_tree *e)
{
	struct trib_sum_place *z;

	while ((z = e->due)) {
		e->due = z->next;
		z->listed = false;
		if (trib_detour_take(e->s, z->chunk, &z->h, z->v,
				     trib_payload_len(be16toh(z->h.nval))))
			detour_garbage(e->d, (int)rank_of(e), "made a wrong sum");
		e->d->news = true;
	}
}
